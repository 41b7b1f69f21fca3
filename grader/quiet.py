"""Nothing but the report reaches the notebook while a check runs.

nbgrader gives 0 to a check that wrote a single word to stderr, and a right answer may print, warn or log.

>>> import sys, warnings
>>> with quiet():
...     print("a learner's print"); warnings.warn("deprecated"); print("trouble", file=sys.stderr)
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Swallow what is printed, warned and logged inside."""
    nowhere = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        yield
