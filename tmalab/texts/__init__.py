"""The sentences that a learner reads, by key, so that a translation is a folder of files and not a change of code.

`en/map.toml` holds the keys of the area `map`; another language is another folder beside `en`, with a file `map.po`
(see `tmalab.texts.po`). A key that a translation lacks, or whose English was changed since, is read in English.

>>> from tmalab.texts import Catalogue
>>> Catalogue("tmalab").languages()
['en', 'zh']
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path

from tmalab.texts.po import translations

FALLBACK = "en"
LANGUAGE = "TMALAB_LANGUAGE"  # the environment's variable


def language() -> str:
    """What is read now: the environment's `TMALAB_LANGUAGE`, else that of the notebook that runs, else English."""
    chosen = os.environ.get(LANGUAGE)
    if not chosen and "ipykernel" in sys.modules:
        chosen = _of_notebooks(os.path.abspath(os.curdir))  # a kernel starts in its notebook's folder
    return chosen or FALLBACK


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Read this language in here, whatever else is chosen."""
    before = os.environ.get(LANGUAGE)
    os.environ[LANGUAGE] = language
    try:
        yield
    finally:
        os.environ.pop(LANGUAGE)
        os.environ.update({} if before is None else {LANGUAGE: before})


@lru_cache(maxsize=8)
def _of_notebooks(folder: str) -> str | None:
    """The language of the course's notebook in a folder; None where there is none."""
    return next(filter(None, map(language_of, sorted(Path(folder).glob("*.ipynb")))), None)


def language_of(notebook: Path) -> str | None:
    """The language that one of the course's notebooks is written in; None where it does not say so."""
    try:
        told = json.loads(notebook.read_text("utf-8"))["metadata"]["tmalab"]["language"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return told if isinstance(told, str) else None


class Catalogue:
    """The texts of one package: `text(key, **values)` formats the sentence that `key` names.

    The language is what `language()` says, English where that holds no such key.
    """

    def __init__(self, package: str):
        self.package = package
        self._area = lru_cache(maxsize=None)(self._read_area)

    def __call__(self, key: str, /, **values: object) -> str:
        return self.template(key).format(**values)

    def template(self, key: str) -> str:
        """The sentence with its {places} open, for a figure that fills them in its own language (JavaScript)."""
        area, _, name = key.partition(".")
        template = self._area(language(), area).get(name)
        if template is None:
            raise KeyError(f"no text {key!r} in {self.package}/texts/{FALLBACK}/{area}.toml")
        return template

    def languages(self) -> list[str]:
        """The languages that have a folder of texts, sorted."""
        return sorted(entry.name for entry in self._root().iterdir() if entry.is_dir() and entry.name != "__pycache__")

    def areas(self) -> list[str]:
        """The areas of the English texts, sorted."""
        files = (entry.name for entry in (self._root() / FALLBACK).iterdir())
        return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))

    def keys(self) -> list[str]:
        """Every key, as `area.name`, sorted."""
        return sorted(f"{area}.{name}" for area in self.areas() for name in self._area(FALLBACK, area))

    def english(self, area: str) -> dict[str, str]:
        """The English texts of an area, by their names."""
        return dict(self._area(FALLBACK, area))

    def _root(self):
        return resources.files(self.package) / "texts"

    def _read_area(self, language: str, area: str) -> dict[str, str]:
        file = self._root() / FALLBACK / f"{area}.toml"
        english = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
        if language == FALLBACK or not language.isalpha():
            return english
        translated = translations(self._root() / language / f"{area}.po")
        return {name: translated.get((name, sentence), sentence) for name, sentence in english.items()}


text = Catalogue("tmalab")
