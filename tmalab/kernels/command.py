"""What every kernel's file does when it is run: `python -m tmalab.kernels.NAME [--on gpu]`.

It runs the kernel once, says what it shows, and fails where a byte is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from tmalab.console import print_to_any_console
from tmalab.run import Run
from tmalab.texts import text

Shown = tuple[str, Run, np.ndarray, np.ndarray]  # what it was, the run, the result, the expected result


def main(demonstrate: Callable[[str], list[Shown]]) -> None:
    """Run a kernel's demonstration on the chosen backend; exit 1 where a run or a byte is wrong."""
    print_to_any_console()
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--on", choices=("simulator", "gpu"), default="simulator")
    on = parser.parse_args().on
    try:
        shown = demonstrate(on)
    except RuntimeError as error:  # no GPU: one sentence, no traceback
        sys.exit(str(error))
    for name, run, result, expected in shown:
        wrong = np.count_nonzero(result.view(np.uint8) != expected.view(np.uint8))
        print(text("gpu.demonstrated", name=name, on=on, verdict=str(run), wrong=wrong, total=result.nbytes))
    sys.exit(any(not run.ok or not np.array_equal(result, expected) for _, run, result, expected in shown))
