"""The course in other languages: the same cells, the same grades, no text missing where none may be."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from grader import translations as files
from grader.classroom.course import write_course
from grader.lesson import lessons
from grader.notebook_run import execute, scores
from grader.release import CONFIG, student_notebooks
from tests.lessons import COURSE, LESSONS
from tmalab import translation
from tmalab.texts.po import translations

LANGUAGES = [language for language in translation.languages() if language != "en"]
FINISHED = [(language, lesson) for language in LANGUAGES for lesson in files.finished(language)["lessons"]]
HELPFUL = {"zh": re.compile("填|写|没有返回|没有批量张量复制")}  # what the check of a stub says
RUN_BY_CI = 1  # lessons of a language; the others are slow
RUNS = [
    pytest.param(*pair, marks=[pytest.mark.slow] if number >= RUN_BY_CI else [])
    for language in LANGUAGES
    for number, pair in enumerate(pair for pair in FINISHED if pair[0] == language)
]


def notebook(kind: str, lesson: str) -> dict:
    path = next((COURSE / kind / lesson).glob("*.ipynb"))
    return json.loads(path.read_text("utf-8"))


def run(kind: str, lesson: str, language: str, monkeypatch):
    monkeypatch.setenv("TMALAB_LANGUAGE", language)
    made = nbformat.from_dict(translation.translated(notebook(kind, lesson), lesson, language))
    execute(made, COURSE)
    outputs = [output for cell in made.cells for output in cell.get("outputs", [])]
    assert [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"] == []
    return scores(made)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_to_be_finished_lacks_no_text(language):
    assert files.unfinished(language) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_places_the_code_the_numbers_and_the_headings_of_the_english(language):
    assert files.faults(language) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_translated_lesson_has_the_same_cells_with_the_same_marks(language, lesson):
    for kind in ("source", "release"):
        english = notebook(kind, lesson)
        made = translation.translated(english, lesson, language)
        assert made["metadata"]["tmalab"] == {"assignment": lesson, "language": language}
        without_texts = [[{**cell, "source": ""} for cell in cells["cells"]] for cells in (english, made)]
        assert without_texts[0] == without_texts[1]
        nbformat.validate(nbformat.from_dict(made))


@pytest.mark.parametrize(("language", "lesson"), FINISHED)
def test_no_cell_of_text_of_a_finished_lesson_stays_english(language, lesson):
    english = notebook("release", lesson)
    made = translation.translated(english, lesson, language)
    pairs = zip(english["cells"], made["cells"])
    assert [old["id"] for old, new in pairs if old["cell_type"] == "markdown" and old["source"] == new["source"]] == []


@pytest.mark.parametrize(("language", "lesson"), FINISHED)
def test_the_courses_own_cells_are_known_to_the_grader_in_every_language(language, lesson):
    made = translation.translated(notebook("release", lesson), lesson, language)
    code = {translation.source_of(cell).strip() for cell in made["cells"] if cell["cell_type"] == "code"}
    assert code <= lessons()[lesson].sources


@pytest.mark.parametrize(("language", "lesson"), RUNS)
def test_solutions_score_everything_in_every_language(language, lesson, monkeypatch):
    found = run("source", lesson, language, monkeypatch)
    assert len(found) >= 4
    assert [score.points for score in found] == [score.maximum for score in found]


@pytest.mark.parametrize(("language", "lesson"), RUNS)
def test_a_release_scores_nothing_in_every_language_with_a_helpful_word(language, lesson, monkeypatch):
    found = run("release", lesson, language, monkeypatch)
    assert [score.points for score in found] == [0.0] * len(found)
    for score in found:
        assert HELPFUL[language].search(score.report), score.report


@pytest.mark.parametrize(
    ("english", "translated", "fault"),
    [
        ("{count} of {total:,} bytes", "{total:,} 字节中的 {number}", "places"),
        ("{count} of {total:,} bytes", "{total} 字节中的 {count}", "places"),
        ("two arrivals, 128 threads", "128 个线程，2 次到达", "numbers"),
    ],
)
def test_a_sentence_with_other_places_or_numbers_is_a_fault(english, translated, fault, monkeypatch):
    monkeypatch.setattr(files, "sources", lambda: iter([files.Source("tmalab", "demo", [("a", english)])]))
    monkeypatch.setattr(files, "translations", lambda file: {("a", english): translated})
    (found,) = files.faults("zh")
    assert found.startswith(f"tmalab demo a: other {fault}")


@pytest.mark.parametrize(
    ("translated", "fault"),
    [
        ("## 练习 1（3 分）\n`tile[i]`", "headings"),
        ("### 练习 1（4 分）\n`tile[i]`", "numbers"),
        ("### 练习 1（3 分）\n`tile[j]`", "code"),
    ],
)
def test_a_cell_with_another_heading_number_or_code_is_a_fault(translated, fault, monkeypatch):
    english = "### Exercise 1 (3 points)\n`tile[i]`"
    monkeypatch.setattr(files, "sources", lambda: iter([files.Source("lessons", "demo", [("a", english)])]))
    monkeypatch.setattr(files, "translations", lambda file: {("a", english): translated})
    (found,) = files.faults("zh")
    assert found.startswith(f"lessons demo a: other {fault}")


def test_a_cell_that_a_finished_lesson_gains_or_changes_is_missed(monkeypatch):
    source = next(source for source in files.sources() if source.name == "00-start")
    (key, english), *others = source.texts
    grown = files.Source("lessons", "00-start", [(key, f"{english} More."), *others, ("new", "A new cell.")])
    monkeypatch.setattr(files, "sources", lambda: iter([grown]))
    missed = {line.split(":")[0] for line in files.unfinished("zh") if line.startswith("lessons 00-start ")}
    assert missed == {f"lessons 00-start {key}", "lessons 00-start new"}


def test_a_translation_of_other_words_than_the_english_is_not_shown():
    cell = {"id": "a", "cell_type": "markdown", "source": "Two bytes."}
    found = {("a", "Two bytes."): "两个字节。"}
    assert translation.translated_source(cell, found) == "两个字节。"
    assert translation.translated_source({**cell, "source": "Three bytes."}, found) == "Three bytes."
    assert translation.translated_source({**cell, "id": "b"}, found) == "Two bytes."


CODE = '''def twice(x):
    """Two times x."""
    # a line
    # and another
    return 2 * x  # done


print(f"{twice(3)} of {7:>3} are {'right' if twice(1) == 2 else 'wrong'}", "right", flag, sep=" and ")
'''


def test_code_is_translated_in_comments_docstrings_and_what_is_printed():
    cell = {"id": "a", "cell_type": "code", "source": CODE}
    docstring, comment, done, sentence, right = translation.messages(cell)
    assert (docstring, comment, done, right) == ('"""Two times x."""', "a line\nand another", "done", '"right"')
    found = {
        ("a", docstring): '"""x 的两倍。"""',
        ("a", comment): "一行\n又一行\n再一行",
        ("a", sentence): "f\"{7:>3} 个中有 {twice(3)} 个{'对' if twice(1) == 2 else '错'}\"",
    }
    assert translation.translated_source(cell, found) == '''def twice(x):
    """x 的两倍。"""
    # 一行
    # 又一行
    # 再一行
    return 2 * x  # done


print(f"{7:>3} 个中有 {twice(3)} 个{'对' if twice(1) == 2 else '错'}", "right", flag, sep=" and ")
'''


@pytest.mark.parametrize(
    "changed",
    [
        "f\"{twice(4)} of {7:>3} are {'对' if twice(1) == 2 else '错'}\"",  # another value
        "f\"{twice(3)} {'对' if twice(1) == 2 else '错'}\"",  # one less
        "f\"{twice(3)} of {7:>4} are {'对' if twice(1) == 2 else '错'}\"",  # another format
        '"对", exit()',
        '"对',
    ],
)
def test_a_translation_that_would_change_what_a_cell_does_is_not_taken(changed):
    cell = {"id": "a", "cell_type": "code", "source": CODE}
    sentence = translation.messages(cell)[3]
    assert translation.translated_source(cell, {("a", sentence): changed}) == CODE


def test_an_update_adds_new_texts_and_marks_what_has_other_words_as_a_guess(tmp_path, monkeypatch):
    texts = [("kept", "One."), ("changed", "Two.")]
    monkeypatch.setattr(files, "sources", lambda: iter([files.Source("lessons", "demo", texts)]))
    monkeypatch.setattr(translation, "folder", lambda: tmp_path)
    (path,) = files.update("zh")
    path.write_text(path.read_text("utf-8").replace('"One."\nmsgstr ""', '"One."\nmsgstr "一。"'), "utf-8")
    path.write_text(path.read_text("utf-8").replace('"Two."\nmsgstr ""', '"Two."\nmsgstr "二。"'), "utf-8")
    assert files.update("zh") == []
    translations.cache_clear()
    assert translations(path) == {("kept", "One."): "一。", ("changed", "Two."): "二。"}
    texts[1:] = [("changed", "Two or three."), ("new", "Three.")]
    assert files.update("zh") == [path]
    translations.cache_clear()
    assert translations(path) == {("kept", "One."): "一。"}
    assert '#, fuzzy\nmsgctxt "changed"\nmsgid "Two or three."\nmsgstr "二。"' in path.read_text("utf-8")
    assert files.update("zh") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_course_in_another_language_is_released_without_solutions(language, tmp_path):
    write_course(tmp_path, language=language)
    source = next((tmp_path / "source" / "00-start").glob("*.ipynb"))
    made = student_notebooks(tmp_path / CONFIG, "00-start", {source.name: source.read_text("utf-8")})
    released = json.loads(made[source.name])
    expected = translation.translated(notebook("release", "00-start"), "00-start", language)
    assert [cell["id"] for cell in released["cells"]] == [cell["id"] for cell in expected["cells"]]
    assert [*map(translation.source_of, released["cells"])] == [*map(translation.source_of, expected["cells"])]
