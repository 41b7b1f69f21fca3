"""Words that the figures of runs share.

>>> capital("thread 0 waits"), at_line("thread 0 waits", None)
('Thread 0 waits', 'thread 0 waits')
"""

from __future__ import annotations

from tmalab.texts import text


def capital(words: str) -> str:
    """The words as a sentence begins."""
    return words[:1].upper() + words[1:]


def at_line(words: str, line: int | None) -> str:
    """The words with the line of the source, where one is known."""
    return words if line is None else text("steps.at-line", what=words, line=line)
