"""Questions are printed in the reader's language, and have the same words for everybody who compares them."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence

import pytest

from grader import exercises
from grader.sentence import Sentence

ENGLISH = "store A, wait_group.read 0: may A be filled again?"
WORKED_OUT = ["stores.safe", "maps.doctor", "maps.life", "pipelines.curves", "gemm.steps", "gemm.tiles", "gemm.ladder"]
WORKED_OUT += ["clusters.masks", "clusters.expect", "clusters.counts", "clusters.leave"]
HAN = re.compile("[一-鿿]")
CHINESE = "存储 A，wait_group.read 0：A 可以重新填充吗？"


@pytest.fixture
def chinese(monkeypatch):
    monkeypatch.setenv("TMALAB_LANGUAGE", "zh")


def test_a_question_is_printed_in_the_readers_language(chinese, capsys):
    question = Sentence("stores.safe-not-committed")
    print(question)
    assert capsys.readouterr().out == f"{CHINESE}\n"
    assert f"{question} 0: {question:>40}" == f"{CHINESE} 0: {CHINESE:>40}"


def test_a_question_has_english_words_in_every_language(chinese):
    question = Sentence("stores.safe-not-committed")
    assert question == ENGLISH
    assert {question: 1}[ENGLISH] == 1
    assert question.partition(", ")[0] == "store A"
    assert "commit" not in question
    assert json.loads(json.dumps([question])) == [ENGLISH]


def test_a_question_is_a_plain_string_in_another_process(chinese):
    copy = pickle.loads(pickle.dumps(Sentence("stores.safe-not-committed")))
    assert type(copy) is str
    assert str(copy) == ENGLISH


def words_of(asked: object) -> Iterator[str]:
    """All strings in what an exercise asks."""
    if isinstance(asked, str):
        yield asked
    elif isinstance(asked, Mapping):
        yield from words_of([*asked, *asked.values()])
    elif isinstance(asked, Sequence):
        for each in asked:
            yield from words_of(each)


def sentences_of(seed: int) -> dict[str, list[str]]:
    """What has several words of what all exercises ask, by exercise."""
    asking = {each.id: each.questions for each in exercises.all_exercises() if each.questions}
    return {name: [words for words in words_of(ask(seed)) if " " in words] for name, ask in asking.items()}


@pytest.mark.parametrize("seed", [0, 7])
def test_no_sentence_of_a_question_is_english_to_a_chinese_reader(seed, chinese):
    said = sentences_of(seed)
    assert sum(map(len, said.values())) > 50
    english = [(name, f"{words}") for name, found in said.items() for words in found if not HAN.search(f"{words}")]
    assert english == []


@pytest.mark.parametrize("seed", [0, 7])
def test_the_questions_that_answers_are_worked_out_from_are_the_same_in_every_language(seed, monkeypatch):
    asked = {}
    for language in ("en", "zh"):
        monkeypatch.setenv("TMALAB_LANGUAGE", language)
        asked[language] = [sentences_of(seed)[name] for name in WORKED_OUT]
    assert asked["zh"] == asked["en"]
    assert all(asked["en"])
