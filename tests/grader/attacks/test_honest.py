"""Honest oddities lose nothing: what students' notebooks look like when nobody meant any harm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader import trusted
from grader.sandbox.host import Sandbox
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, LESSON, SECTOR, SETUP, cell, notebook, solved, without

COUNT, SWIZZLE = {"copy-2d.count": 3.0}, {"copy-2d.swizzle": 4.0}
CHECK_SECTOR = 'grader.check("copy-2d.swizzle", physical_sector)'

ODD = {
    "warnings, prints and noise on stderr": (
        (
            SETUP,
            "import sys, warnings, logging\nwarnings.warn('deprecated')\nprint('trouble', file=sys.stderr)\n"
            "logging.error('trouble')\nnp.float32(1e38) * np.float32(1e38)",
            "def physical_sector(row, sector, span):\n    warnings.warn('slow')\n    print(row, file=sys.stderr)\n"
            "    return sector ^ (row * span // 128) % (span // 16)\n",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "extra cells, one that raises, one that never ends": (
        (SETUP, "1 / 0", COUNTS, CHECK_COUNTS, "while True:\n    pass", "raise SystemExit"),
        COUNT,
    ),
    "a cell that is no Python": ((SETUP, "for", COUNTS, "def broken(:", CHECK_COUNTS), COUNT),
    "commands of the notebook": (
        ("%matplotlib inline\n" + SETUP, "!ls\n%pip list", "%%time\n" + COUNTS, "counts?", CHECK_COUNTS),
        COUNT,
    ),
    "a cell that is indented as a whole": ((SETUP, f"    {COUNTS}\n    counts", CHECK_COUNTS), COUNT),
    "a cell that is pasted with prompts": (
        (SETUP, f">>> {COUNTS}\n>>> for _ in counts:\n...     pass", CHECK_COUNTS),
        COUNT,
    ),
    "a top-level await": (
        (SETUP, "import asyncio\nawait asyncio.sleep(0)\n" + COUNTS, CHECK_COUNTS),
        COUNT,
    ),
    "the check is gone": ((SETUP, COUNTS), COUNT),
    "the check is there three times": ((SETUP, CHECK_COUNTS, COUNTS, CHECK_COUNTS, CHECK_COUNTS), COUNT),
    "an answer filled in piece by piece": (
        (
            SETUP,
            "counts = {}",
            "counts['element by element'] = 64 * 64",
            "counts.update({'cp.async': 1024})",
            "counts['TMA'] = 1",
        ),
        COUNT,
    ),
    "an answer that a function fills in": (
        (
            SETUP,
            "counts = [None] * 3\ndef fill(values):\n    values[:] = [4096, 1024, 1]",
            "fill(counts)",
            CHECK_COUNTS,
        ),
        COUNT,
    ),
    "an answer that goes by another name": (
        (SETUP, "mine = [4096, 4096 * 4 // 16, np.int64(1)]", 'grader.check("copy-2d.count", mine)'),
        COUNT,
    ),
    "a variable that is used again later": (
        (SETUP, COUNTS, CHECK_COUNTS, "# something else\ncounts = 17"),
        COUNT,
    ),
    "helpers in other cells, and after the answer": (
        (
            SETUP,
            "def address_of(row, sector, span):\n    return row * span + sector * BYTES",
            "def physical_sector(row, sector, span):\n    address = address_of(row, sector, span)\n"
            "    return swizzled(address, span) % span // BYTES",
            "from math import *\nBYTES = 16\n"
            "def swizzled(address, span):\n    return address ^ (address >> 3 & span - BYTES)",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "a function with a cache": ((SETUP, "import functools\n@functools.cache" + SECTOR, CHECK_SECTOR), SWIZZLE),
    "a lambda": (
        (
            SETUP,
            "physical_sector = lambda row, sector, span: sector ^ (row * span // 128) % (span // 16)",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "a placeholder that another function fills in": (
        (
            SETUP,
            "counts = [0, 0, 0]\ndef fill(values):\n    values[:] = [4096, 1024, 1]",
            "fill(counts)",
            CHECK_COUNTS,
        ),
        COUNT,
    ),
    "an answer written into the check": ((SETUP, 'grader.check("copy-2d.count", [4096, 1024, 1])'), COUNT),
    "an array of objects": ((SETUP, "counts = np.array([4096, 1024, 1], object)", CHECK_COUNTS), COUNT),
    "a module written by a cell": (
        (
            SETUP,
            "%%writefile own_helpers.py\n"
            "def place(row, sector, span):\n    return sector ^ (row * span // 128) % (span // 16)",
            "from own_helpers import place as physical_sector",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "lines that end as on Windows": (
        (SETUP.replace("\n", "\r\n"), SECTOR.replace("\n", "\r\n"), CHECK_SECTOR),
        SWIZZLE,
    ),
    "a function made by a function": (
        (
            SETUP,
            "def make(size):\n    def at(row, sector, span):\n"
            "        return sector ^ (row * span // 128) % (span // size)\n"
            "    return at",
            "physical_sector = make(16)",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "threads of its own": (
        (
            SETUP,
            "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
            "def physical_sector(row, sector, span):\n"
            "    return pool.submit(lambda: sector ^ (row * span // 128) % (span // 16)).result()",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "names that are no ASCII": (
        (
            SETUP,
            "größe = 16  # 🙂",
            "def physical_sector(row, sector, span):\n    return sector ^ (row * span // 128) % (span // größe)",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "an object that can be called": (
        (
            SETUP,
            "class Swizzler:\n    calls = 0\n    def __call__(self, row, sector, span):\n        self.calls += 1\n"
            "        return np.int32(sector ^ (row * span // 128) % (span // 16))\nphysical_sector = Swizzler()",
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
    "a global counter": (
        (
            SETUP,
            "calls = 0",
            SECTOR.replace("    address", "    global calls\n    calls += 1\n    address", 1),
            CHECK_SECTOR,
        ),
        SWIZZLE,
    ),
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def earned(report: trusted.Report) -> dict[str, float]:
    return {graded.exercise: graded.points for graded in report.exercises if graded.points}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_notebook_earns_what_it_answers(name, sandbox, monkeypatch):
    monkeypatch.setattr(trusted, "WHOLE", replace(trusted.WHOLE, wall=3))
    cells, points = ODD[name]
    assert earned(trusted.regrade(notebook(*cells), LESSON, sandbox=sandbox)) == points


def test_the_instructors_notebook_earns_everything_with_the_evidence_of_the_hardware(sandbox):
    report = trusted.regrade(solved(), sandbox=sandbox)
    assert report.points == report.maximum == 25.0
    assert report.assignment == LESSON
    kernel = next(graded for graded in report.exercises if graded.exercise == "copy-2d.kernel")
    assert [part.part for part in kernel.parts] == ["compiles", "bytes", "order", "hardware"]
    assert kernel.time_s > 0
    assert kernel.memory > 10 << 20
    assert "hint" not in "".join(graded.report for graded in report.exercises)


def test_a_notebook_without_metadata_in_another_order_with_cells_split_earns_all_but_what_was_deleted(sandbox):
    odd = without(solved(), "count-answer", "kernel-answer", "kernel-check", "halo-answer")
    answer = cell(odd, "map-answer")
    place = odd["cells"].index(answer)
    odd["cells"].insert(0, odd["cells"].pop(place))  # before the import that it needs, and again where it was
    odd["cells"].insert(place + 1, dict(answer))
    for each in odd["cells"]:
        each["metadata"], each["source"] = {}, list("".join(each["source"]).splitlines(True))
    odd["metadata"] = {}
    assert earned(trusted.regrade(odd, sandbox=sandbox)) == {
        "copy-2d.map": 6.0,
        "copy-2d.predict": 3.0,
        "copy-2d.swizzle": 4.0,
    }


def test_hidden_inputs_do_not_come_back_in_feedback(sandbox):
    telling = notebook(
        SETUP,
        "def physical_sector(row, sector, span):\n"
        "    raise type(f'Row{row}Sector{sector}', (Exception,), {})(f'{row} {sector} {span}')\n",
        CHECK_SECTOR,
    )
    open_words = trusted.regrade(telling, LESSON, seed=0, sandbox=sandbox).exercises[3].report
    assert "Row0Sector0" in open_words
    graded = trusted.regrade(telling, LESSON, seed=11, sandbox=sandbox).exercises[3]
    assert graded.points == 0
    assert "Row" not in graded.report
    assert "0 0 128" not in graded.report
    assert "an argument that the notebook does not show" in " ".join(graded.report.split())


def test_the_classs_questions_are_those_of_its_seed(sandbox):
    asks = notebook(
        SETUP,
        "questions = grader.questions('copy-2d.predict')\nprediction = [sector ^ row for row, sector in questions]",
        'grader.check("copy-2d.predict", prediction)',
    )
    fixed = notebook(SETUP, "prediction = [2, 2, 5, 4, 4, 0]", 'grader.check("copy-2d.predict", prediction)')
    for seed in (0, 7):
        assert earned(trusted.regrade(asks, LESSON, seed=seed, sandbox=sandbox)) == {"copy-2d.predict": 3.0}
    assert earned(trusted.regrade(fixed, LESSON, seed=0, sandbox=sandbox)) == {"copy-2d.predict": 3.0}
    assert earned(trusted.regrade(fixed, LESSON, seed=7, sandbox=sandbox)).get("copy-2d.predict", 0) < 3.0
