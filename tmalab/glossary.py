"""The glossary: the field's terms in English and Chinese, with what each means and the lesson that introduces it.

`glossary.toml` beside this file is its one source; the documentation's page is made from it.

>>> look_up("tail").chinese
'收尾等待'
>>> look_up("Expect_TX").term
'promise'
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources

from tmalab.texts import text


@dataclass(frozen=True)
class Term:
    """A term of the field.

    term      in English, with `also`, other words for it; in Chinese `chinese`
    meaning   one sentence, and the same in Chinese
    lesson    the number of the lesson that introduces it
    """

    term: str
    chinese: str
    lesson: int
    meaning: str
    meaning_chinese: str
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called in English."""
        return (self.term, *self.also)

    def __str__(self) -> str:
        head = f"{', '.join(self.names)} · {self.chinese} ({text('glossary.lesson', number=self.lesson)})"
        return "\n  ".join((head, self.meaning, self.meaning_chinese))


@cache
def glossary() -> tuple[Term, ...]:
    """All terms, in the order of the lessons."""
    source = resources.files("tmalab").joinpath("glossary.toml").read_text("utf-8")
    entries = tomllib.loads(source)["terms"]
    terms = [Term(**{**entry, "also": tuple(entry.get("also", ()))}) for entry in entries]
    return tuple(sorted(terms, key=lambda term: term.lesson))


def look_up(word: str) -> Term:
    """The term that is called so, in English or Chinese, one or many. Raises KeyError with those that come near."""
    wanted = word.strip().lower()
    by_name = {name.lower(): term for term in glossary() for name in (*term.names, term.chinese)}
    found = by_name.get(wanted) or by_name.get(wanted.removesuffix("s"))
    if found is not None:
        return found
    parts = [name for name in by_name if set(name.split()) & set(wanted.split())]
    near = dict.fromkeys(by_name[name].term for name in [*parts, *get_close_matches(wanted, by_name)])
    raise KeyError(text("glossary.near" if near else "glossary.unknown", word=word, near=", ".join(near)))
