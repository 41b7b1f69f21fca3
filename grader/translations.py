"""Files of translations kept in step with the English texts, and what is wrong with them.

For each language there is a file for each lesson, in `notebooks/translations/`, and for each area of the catalogues, in
`tmalab/texts/` and `grader/texts/`. `finished.toml` beside the lessons' says which of them lack nothing; a check holds
them to it, so that an English text that was changed or added is noticed. Until somebody translates it, or takes the
file off the list, its reader gets it in English.
"""

from __future__ import annotations

import io
import json
import re
import string
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from grader.texts import text as grader_text
from tmalab import translation
from tmalab.lab import released
from tmalab.texts import Catalogue
from tmalab.texts import text as tmalab_text
from tmalab.texts.po import translations

HEADER = r"""msgid ""
msgstr ""
"Language: {language}\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=utf-8\n"
"Content-Transfer-Encoding: 8bit\n"

"""
CODE_SPAN = re.compile(r"`([^`]+)`")
NUMBER = re.compile(r"\d+")
CATALOGUES: Mapping[str, Catalogue] = {"tmalab": tmalab_text, "grader": grader_text}


@dataclass(frozen=True)
class Source:
    """English texts that are translated together: a lesson, or an area of a catalogue.

    kind     "lessons", "tmalab" or "grader", as in finished.toml
    texts    (key, English): the id of a cell, or the name of a sentence
    """

    kind: str
    name: str
    texts: Sequence[tuple[str, str]]

    def file(self, language: str) -> Path:
        """Its file of translations."""
        if self.kind == "lessons":
            return translation.folder() / language / f"{self.name}.po"
        return Path(__file__).parents[1] / self.kind / "texts" / language / f"{self.name}.po"

    def missing(self, language: str) -> list[tuple[str, str]]:
        """The texts that have no translation, or one of other words."""
        found = translations(self.file(language))
        return [text for text in self.texts if text not in found]


def sources() -> Iterator[Source]:
    """All that can be translated."""
    for path in sorted(released().glob("*/*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        texts = [(cell["id"], text) for cell in cells for text in translation.messages(cell)]
        yield Source("lessons", path.parent.name, texts)
    for kind, catalogue in CATALOGUES.items():
        for area in catalogue.areas():
            yield Source(kind, area, list(catalogue.english(area).items()))


def update(language: str) -> list[Path]:
    """Bring a language's files up to date; returns those that changed.

    New texts are added without a translation. One whose English was changed keeps the old translation as a guess,
    marked `fuzzy`.
    """
    translations.cache_clear()
    changed = []
    for source in sources():
        path = source.file(language)
        old = path.read_text("utf-8") if path.is_file() else ""
        new = HEADER.format(language=language) + _written(_merged(source.texts, old))
        if new != old:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, "utf-8")
            changed.append(path)
    return changed


def _merged(texts: Sequence[tuple[str, str]], old: str) -> Catalog:
    """The texts with their translations out of an older file."""
    kept: dict[tuple[str, str], Message] = {}
    for message in read_po(io.StringIO(old)):
        if message.id:
            kept[message.context or "", str(message.id)] = message
    replaced = defaultdict(list)  # by key, what has lost its English
    for (key, english), message in kept.items():
        if (key, english) not in set(texts) and message.string:
            replaced[key].append(message)
    catalogue = Catalog()
    for key, english in texts:
        same = kept.get((key, english))
        if same is None and replaced[key]:
            before = replaced[key].pop(0)
            catalogue.add(english, before.string, flags={"fuzzy"}, context=key)
        else:
            catalogue.add(english, same.string if same else "", flags=_flags(same), context=key)
    return catalogue


def _flags(message: Message | None) -> set[str]:
    return {"fuzzy"} if message and message.fuzzy else set()


def _written(catalogue: Catalog) -> str:
    for message in catalogue:
        message.flags &= {"fuzzy"}  # nothing here is formatted by %
    file = io.BytesIO()
    write_po(file, catalogue, width=0, omit_header=True)
    return file.getvalue().decode("utf-8")


def finished(language: str) -> dict[str, list[str]]:
    """What of a language is said to lack nothing: names of lessons and of areas, by kind."""
    return tomllib.loads((translation.folder() / "finished.toml").read_text("utf-8"))[language]


def unfinished(language: str) -> list[str]:
    """What a finished lesson or area lacks, as kind, name, key and the beginning of the English."""
    lists = finished(language)
    held = [source for source in sources() if source.name in lists.get(source.kind, ())]
    known = {(source.kind, source.name) for source in held}
    gone = [f"{kind} {name}" for kind, names in lists.items() for name in names if (kind, name) not in known]
    lacking = ((source, key, english) for source in held for key, english in source.missing(language))
    return gone + [f"{source.kind} {source.name} {key}: {english[:60]!r}" for source, key, english in lacking]


def faults(language: str) -> list[str]:
    """Translations that say something else than the English: other {places}, code, numbers or headings."""
    found = []
    for source in sources():
        made = translations(source.file(language))
        pairs = ((key, english, made[key, english]) for key, english in source.texts if (key, english) in made)
        checks = LESSON_CHECKS if source.kind == "lessons" else CATALOGUE_CHECKS
        for key, english, translated in pairs:
            for name, of in checks.items():
                if of(english) != of(translated):
                    found.append(f"{source.kind} {source.name} {key}: other {name}: {of(english)} {of(translated)}")
    return found


def _places(template: str) -> set[tuple[str, str, str]]:
    """The {places} of a sentence, each with its format."""
    parts = string.Formatter().parse(template)
    return {(name, spec or "", conversion or "") for _, name, spec, conversion in parts if name is not None}


def _numbers(sentence: str) -> Counter[str]:
    return Counter(NUMBER.findall(sentence))


def _headings(cell: str) -> list[int]:
    return [len(marks) for marks in re.findall(r"^(#+) ", cell, re.MULTILINE)]


def _code_spans(cell: str) -> set[str]:
    return {" ".join(span.split()) for span in CODE_SPAN.findall(cell)}


LESSON_CHECKS: Mapping[str, Callable] = {"numbers": _numbers, "headings": _headings, "code": _code_spans}
CATALOGUE_CHECKS: Mapping[str, Callable] = {"places": _places, "numbers": _numbers}
