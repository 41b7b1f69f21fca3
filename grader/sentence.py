"""What an exercise asks, said to whoever reads it in their language and compared by everybody in the same words.

A class's notebooks are written in several languages and graded in one place. An answer that is worked out from the
words of a question must come out the same everywhere, so a question's words are English, whatever it is printed as.

>>> first = Sentence("stores.safe-not-committed")
>>> first.rpartition(": ")[2]
'may A be filled again?'
"""

from __future__ import annotations

from typing import Any

from grader.texts import text


class Sentence(str):
    """A sentence of the catalogue: its English words, which `print`, `str` and f-strings show in the reader's language.

    What is cut out of it, and its copy in another process, is plain English.
    """

    key: str
    values: dict[str, object]

    def __new__(cls, key: str, /, **values: object) -> Sentence:
        area, _, name = key.partition(".")
        made = super().__new__(cls, text.english(area)[name].format(**values))
        made.key, made.values = key, values
        return made

    def __str__(self) -> str:
        return text(self.key, **self.values)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str.__str__(self),)
