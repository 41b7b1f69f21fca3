"""The course: its languages, aims and words."""

from __future__ import annotations

from collections import defaultdict

from docs.tables.markdown import table
from grader.aims import aims_for
from grader.lesson import lessons
from grader.translations import Source, sources
from tmalab import translation
from tmalab.glossary import glossary as terms_of_the_field


def languages() -> str:
    """How far each lesson, and the sentences of checks and figures, are translated."""
    others = [language for language in translation.languages() if language != "en"]
    found = defaultdict(list)
    for source in sources():
        kind = source.name if source.kind == "lessons" else "sentences of checks, hazards, figures and commands"
        found[kind].append(source)
    rows = [(kind, *(_translated(kept, language) for language in others)) for kind, kept in found.items()]
    return table(("lesson", *others), rows)


def _translated(kept: list[Source], language: str) -> str:
    count = sum(len(source.texts) for source in kept)
    missing = sum(len(source.missing(language)) for source in kept)
    if missing == count:
        return "English only"
    return "all" if not missing else f"{count - missing} of {count} texts, the others in English"


def aims() -> str:
    """Which aim of its lesson each exercise is for."""
    rows = [
        (lesson, f"`{check.exercise}`", "; ".join(aims_for(check.exercise)))
        for lesson, each in lessons().items()
        for check in each.checks
    ]
    return table(("lesson", "exercise", "for this aim"), rows)


def glossary() -> str:
    """The words of the lessons in both languages, by lesson."""
    rows = (
        (f"**{term.term}**", ", ".join(term.also), term.chinese, str(term.lesson), term.meaning, term.meaning_chinese)
        for term in terms_of_the_field()
    )
    return table(("term", "also", "中文", "lesson", "meaning", "含义"), rows)


TABLES = (languages, aims, glossary)
