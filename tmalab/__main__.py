"""`python -m tmalab`: the command `tmalab`, in a fresh clone too."""

import sys

from tmalab.bootstrap import ensure

if __name__ == "__main__":
    ensure("tmalab", sys.argv[1:])

    from tmalab.cli import main

    main(prog_name="tmalab")
