"""`python -m grader` is the command `grader`, in a fresh clone too."""

import sys

from tmalab.bootstrap import ensure

if __name__ == "__main__":
    ensure("grader", sys.argv[1:])

    from grader.cli import main

    main(prog_name="grader")
