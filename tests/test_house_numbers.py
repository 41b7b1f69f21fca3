"""Numbers that README and docs write out are those of the code and the recordings; tables are made with the pages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from grader.cli import main
from grader.exercises.hunt import BUGS
from grader.exercises.maps_broken import broken_maps
from grader.variants import VARIANTS
from tests.test_house_repository import PROJECT
from tmalab import demo
from tmalab.bench.products import SETTLE
from tmalab.bench.shapes import COPIES, PRODUCTS
from tmalab.bootstrap import NEWEST, OLDEST, ROOT
from tmalab.doctor import OLDEST_DRIVER
from tmalab.gpu.verdicts import COUNT
from tmalab.timing.constants import Constants

WORDS = dict(
    zip(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        range(1, 13),
    )
) | {"fifteen": 15}


def written(number: str) -> float:
    """A number in digits or in words."""
    return WORDS.get(number) or float(number.replace(",", ""))


def default(command: str, option: str) -> float:
    """What an option of a command of `grader` is where it is not given."""
    return next(given.default for given in main.commands[command].params if given.name == option)


def minutes() -> tuple[int, int]:
    """The shortest and the longest lesson, as their first cells say."""
    said = [path.read_text("utf-8") for path in ROOT.glob("notebooks/source/*/*.py") if path.name != "answers.py"]
    found = [re.search(r"It takes about (?:(\d+) minutes|an hour)", text) for text in said]
    return tuple(find(int(match[1] or 60) for match in found) for find in (min, max))


def tile_of_the_product() -> tuple[float, ...]:
    """Of 128 x 256 x 64: cycles of the tensor core, KiB of A and B; KiB for two tiles of half the size."""
    cycles = 128 // 64 * 64 // 16 * 256 * Constants.read()["wgmma_column"]
    return cycles, (128 + 256) * 64 * 2 / 1024, 2 * (128 + 128) * 64 * 2 / 1024


PYTHONS = tuple(float(f"3.{minor}") for minor in range(OLDEST[1], NEWEST[1] + 1))
HUNTED = sum(map(len, BUGS.values()))
Found = Callable[[], tuple[float, ...]]
NUMBERS: list[tuple[str, str, Found]] = [  # page, a sentence with its numbers in groups, what they must be
    ("README.md", r"Python ([\d.]+), ([\d.]+) or ([\d.]+) with pip", lambda: PYTHONS),
    ("README.md", r"asks the driver about ([\d,]+) random maps", lambda: (COUNT,)),
    ("README.md", r"(\w+) broken maps", lambda: (len(broken_maps(0)),)),
    ("README.md", r"(\w+) kernels, each wrong in one way", lambda: (HUNTED,)),
    ("README.md", r"over (\w+) products", lambda: (len(PRODUCTS),)),
    ("README.md", r"\(release (\d+)\)", lambda: (OLDEST_DRIVER,)),
    ("README.md", r"tile of a (\d+)x(\d+) fp16 tensor", lambda: demo.SHAPE),
    ("docs/learner.md", r"Python ([\d.]+), ([\d.]+) or ([\d.]+) with pip", lambda: PYTHONS),
    ("docs/learner.md", r"(\w+) broken maps", lambda: (len(broken_maps(0)),)),
    ("docs/learner.md", r"(\w+) kernels, each wrong in one way", lambda: (HUNTED,)),
    ("docs/learner.md", r"between (\d+) and (\d+) minutes", minutes),
    ("docs/instructor.md", r"grades (\d+) submissions", lambda: (default("bench", "submissions"),)),
    ("docs/instructor.md", r"one of (\d+) variants", lambda: (VARIANTS,)),
    ("docs/instructor.md", r"listens at port (\d+)", lambda: (default("serve", "port"),)),
    ("docs/benchmarks.md", r"a copy of (\d+) GiB", lambda: (COPIES[0] >> 30,)),
    ("docs/benchmarks.md", r"over (\w+) products", lambda: (len(PRODUCTS),)),
    ("docs/ladder.md", r"([\d,]+) cycles, for which (\d+) KiB .* want (\d+) KiB", tile_of_the_product),
    ("docs/ladder.md", r"runs for ([\d.]+) s before", lambda: (SETTLE,)),
    ("docs/ladder.md", r"over (\w+) products", lambda: (len(PRODUCTS),)),
    ("docs/ladder.md", r"a copy of (\d+) GiB", lambda: (COPIES[0] >> 30,)),
]


@pytest.mark.parametrize(("page", "sentence", "found"), NUMBERS, ids=[f"{page}: {said}" for page, said, _ in NUMBERS])
def test_a_number_in_a_page_is_what_it_is(page, sentence, found):
    said = " ".join((ROOT / page).read_text("utf-8").split())
    matches = re.findall(sentence, said)
    assert matches, f"{page} has no such sentence any more: take it out of this list"
    for match in matches:
        numbers = (match,) if isinstance(match, str) else match
        assert tuple(map(written, numbers)) == pytest.approx(tuple(found()))


def test_the_version_of_nbgrader_that_the_guide_names_is_the_one_that_is_installed():
    (pin,) = PROJECT["project"]["optional-dependencies"]["classroom"]
    assert f"installs {pin.replace('==', ' ')}," in (ROOT / "docs/instructor.md").read_text("utf-8")
