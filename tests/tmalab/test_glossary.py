"""The glossary: every word that a lesson introduces is in it, in both languages, under the lesson that it is from."""

from __future__ import annotations

import re

import pytest

from grader.percent import parse
from tests.lessons import COURSE, LESSONS
from tmalab.glossary import glossary, look_up

TERM = re.compile(r"\*\*([A-Za-z][a-z.-]*(?: [a-z]+){0,2})\*\*")  # a bold word or three, without code, as terms come in
EMPHASIS = {  # what is set in bold for its weight in a sentence, and is no term
    *("address", "addresses", "bytes", "hint", "load", "part", "work", "two loads on one barrier", "in every thread"),
    *("After it", "All bytes", "Before it", "Other CTAs", "How to work", "Read first", "The word"),
    *("Element by element", "A recording", "A live run", "The reference", "The simulator"),
    *("before", "one", "adds", "MiB"),
}


def texts(lesson: str) -> str:
    """The lesson's text, without its code."""
    cells = parse((next((COURSE / "source" / lesson).glob("*.ipynb")).with_suffix(".py")).read_text("utf-8"))
    return "\n".join(cell.source for cell in cells if cell.markdown)


def introduced(lesson: str) -> set[str]:
    """The words that a lesson sets in bold, and that are no mere emphasis."""
    return {" ".join(found.split()).removesuffix(".") for found in TERM.findall(texts(lesson))} - EMPHASIS


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_word_that_a_lesson_introduces_is_in_the_glossary(lesson):
    for word in introduced(lesson):
        look_up(word)


def test_lessons_introduce_words_by_setting_them_in_bold():
    assert {"tile", "phase", "generic proxy", "cluster"} <= set().union(*map(introduced, LESSONS))


@pytest.mark.parametrize("term", glossary(), ids=lambda term: term.term)
def test_a_term_occurs_in_its_lesson_and_is_explained_in_both_languages(term):
    assert all(re.search("[\u4e00-\u9fff]|cp.async|im2col", words) for words in (term.chinese, term.meaning_chinese))
    assert term.meaning.endswith(".")
    assert term.meaning_chinese.endswith("。")
    lesson = next((lesson for lesson in LESSONS if lesson.startswith(f"{term.lesson:02}-")), None)
    if lesson is not None:  # some are of a lesson that is still to come
        found = " ".join(texts(lesson).lower().split())
        assert any(name.lower().removesuffix("s") in found for name in term.names)


def test_no_word_stands_for_two_terms():
    names = [name.lower() for term in glossary() for name in (*term.names, term.chinese)]
    assert len(set(names)) == len(names)


def test_a_word_that_is_not_there_is_told_with_those_that_come_near():
    with pytest.raises(KeyError, match="bounding box"):
        look_up("bounding volume")
