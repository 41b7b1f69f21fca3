"""Printing where stdout does not take every sign: Windows without UTF-8, `LC_ALL=C`."""

from __future__ import annotations

import io
import sys


def print_to_any_console() -> None:
    """From here on a sign that stdout or stderr cannot take is printed as `?`, and ends nothing with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
