"""The sentences that a learner reads, by key, so that a translation is a folder of files and not a change of code.

`en/map.toml` holds the keys of the area `map`; another language is another folder beside `en`. A key that a
translation lacks is read in English.

>>> from tmalab.texts import Catalogue
>>> Catalogue("tmalab").languages()
['en']
"""

from __future__ import annotations

import os
import tomllib
from functools import lru_cache
from importlib import resources

FALLBACK = "en"


class Catalogue:
    """The texts of one package: `text(key, **values)` formats the sentence that `key` names.

    The language is the environment's `TMALAB_LANGUAGE`, English where it is unset or holds no such key.
    """

    def __init__(self, package: str):
        self.package = package
        self._area = lru_cache(maxsize=None)(self._read_area)

    def __call__(self, key: str, /, **values: object) -> str:
        return self.template(key).format(**values)

    def template(self, key: str) -> str:
        """The sentence with its {places} open, for a figure that fills them in its own language (JavaScript)."""
        area, _, name = key.partition(".")
        for language in (os.environ.get("TMALAB_LANGUAGE", FALLBACK), FALLBACK):
            template = self._area(language, area).get(name)
            if template is not None:
                return template
        raise KeyError(f"no text {key!r} in {self.package}/texts/{FALLBACK}/{area}.toml")

    def languages(self) -> list[str]:
        """The languages that have a folder of texts, sorted."""
        return sorted(entry.name for entry in self._root().iterdir() if entry.is_dir() and entry.name != "__pycache__")

    def keys(self, language: str = FALLBACK) -> list[str]:
        """Every key of a language, as `area.name`, sorted."""
        files = (entry for entry in (self._root() / language).iterdir() if entry.name.endswith(".toml"))
        areas = sorted(entry.name.removesuffix(".toml") for entry in files)
        return sorted(f"{area}.{name}" for area in areas for name in self._area(language, area))

    def _root(self):
        return resources.files(self.package) / "texts"

    def _read_area(self, language: str, area: str) -> dict[str, str]:
        file = self._root() / language / f"{area}.toml"
        return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


text = Catalogue("tmalab")
