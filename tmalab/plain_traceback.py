"""PlainTraceback: errors that a notebook shows with the learner's own lines and the sentence, without ours.

IPython asks an exception how to show itself. Outside notebooks nothing changes.

>>> class Refused(PlainTraceback, ValueError): ...
>>> try:
...     raise Refused("one clear sentence")
... except Refused as error:
...     print(error._render_traceback_()[-1])
Refused: one clear sentence
"""

from __future__ import annotations

import os
import traceback

PACKAGE = os.path.dirname(__file__)


class PlainTraceback(BaseException):
    """To be named first among an error's bases."""

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows: where the learner's code was, innermost last, then the sentence."""
        lines = []
        for frame in traceback.extract_tb(self.__traceback__):
            if not frame.filename.startswith(PACKAGE) and os.sep + "IPython" + os.sep not in frame.filename:
                lines.append(f"  {_shown(frame.filename)}, line {frame.lineno}: {frame.line or ''}".rstrip(": "))
        return [*lines, f"{type(self).__name__}: {self}"]


def _shown(filename: str) -> str:
    return "cell" if "ipykernel_" in filename or filename.startswith("<") else os.path.basename(filename)
