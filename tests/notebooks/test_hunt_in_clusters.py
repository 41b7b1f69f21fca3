"""The bug hunt of lesson 8: each kernel is wrong in the way that its check holds to be right."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

from grader.exercises.clusters import HUNT
from grader.percent import parse
from tests.lessons import COURSE

LESSON = COURSE / "source" / "08-clusters" / "clusters.py"
MEET = "    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n"
RELEASE = "            if thread == 32:\n                ptx.mbarrier_arrive(empty[s])\n"
TO_ALL = "            if thread - 32 < CTAS:\n                ptx.mbarrier_arrive_cluster(empty[s], thread - 32)\n"
MENDED = {  # letter: the hazard that is reported, and what makes the kernel right
    "bug_a": ("c", "peer-not-started", ("    cuda.syncthreads()\n", MEET)),
    "bug_b": ("d", "too-few-bytes", ("HALF_BYTES", "TILE_BYTES")),
    "bug_c": ("f", "multicast-mask", ("1 << rank", "0b11")),
    "bug_d": ("b", "overwrite-in-use", ("empty[s], 1", "empty[s], CTAS"), (RELEASE, TO_ALL)),
    "bug_e": ("e", "exit-in-flight", (TO_ALL, TO_ALL + MEET)),
}


@pytest.fixture(scope="module")
def cells() -> dict[str, str]:
    return {cell.id: cell.source for cell in parse(LESSON.read_text("utf-8"))}


def tried(cells: dict[str, str], name: str, *edits: tuple[str, str], seed: int = 0):
    """The run of one kernel after these edits, and whether it wrote what it should."""
    text = cells["hunt-kernels"]
    start = text.index(f"@kernel\ndef {name}(")
    end = text.find("@kernel\n", start + 1)
    written = text[start : end if end > 0 else len(text)].rstrip() + "\n"
    for old, new in edits:
        assert old in written
        written = written.replace(old, new)
    scope: dict = {}
    for file, source in ((f"<{name} setup>", cells["setup"]), (f"<{name}>", written)):
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), scope)
    steps = 3 if name in ("bug_d", "bug_e") else 1
    out = np.full((2, 32, 32 * steps), -1, np.float32)
    run = scope[name].run(grid=2, cluster=2, block=64, args=(scope["half_map"], steps, out), seed=seed)
    return run, (out == scope["tensor"][:32, : 32 * steps]).all()


@pytest.mark.parametrize("name", MENDED)
def test_each_is_reported_for_its_mistake_and_right_without_it(cells, name, capsys):
    letter, hazard, *edits = MENDED[name]
    assert HUNT.culprits[name] == letter
    assert hazard in [found.name for found in tried(cells, name)[0].hazards]
    for seed in range(2):
        run, same = tried(cells, name, *edits, seed=seed)
        assert run.ok, run
        assert same
