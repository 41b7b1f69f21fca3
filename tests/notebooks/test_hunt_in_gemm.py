"""The bug hunt of lesson 9: each kernel is wrong in the way that its check holds to be right."""

from __future__ import annotations

import numpy as np
import pytest

from grader.exercises.gemm import HUNT
from tests.lessons import COURSE, cells_of, edited

RELEASE = "                if thread == 0:\n                    ptx.mbarrier_arrive(empty[s])\n"
LATE = (
    "                if thread == 0 and turn > 0:\n                    ptx.mbarrier_arrive(empty[(turn - 1) % STAGES])\n"
)
MENDED = {  # letter; the hazard that is reported, if any; what makes the kernel right
    "bug_a": ("a", None, ("    for tile in range(TILES):\n", "    for tile in range(TILES):\n        acc = ptx.wgmma_zero_64()\n")),
    "bug_b": ("e", "overwrite-in-use", (RELEASE, LATE)),
    "bug_c": ("c", "misaligned", ("i * 32", "i * NEXT_K")),
    "bug_d": (
        "d",
        "wrong-parity",
        ("                s = step % STAGES\n", "                turn = tile * (k // BK) + step\n                s = turn % STAGES\n"),
        ("step // STAGES", "turn // STAGES"),
    ),
    "bug_e": (
        "f",
        "missing-proxy-fence",
        ("        write_out(acc, out, 0, 0, thread)\n", "        write_out(acc, out, 0, 0, thread)\n        ptx.fence_proxy_async()\n"),
    ),
}


@pytest.fixture(scope="module")
def scope() -> dict:
    return cells_of("09-gemm", "gemm", "setup", "first-helper", "hunt-kernels")


def tried(scope: dict, kernel, name: str, columns: slice = slice(None)):
    """The run of a kernel on four steps, and whether these columns are what they should be."""
    rng = np.random.default_rng(1)
    a, b = (scope["bf16"](rng.integers(-8, 9, (rows, 256))) for rows in (64, 128))
    c = np.full((64, 128), -1, np.float32)
    c_map = scope["TensorMap"].from_array(c, (64, 64))
    block = 160 if name in ("bug_b", "bug_d") else 128
    run = kernel.run(block=block, args=(*scope["maps_of"](a, b), c_map, c, 256))
    return run, (c == scope["product"](a, b))[:, columns].all()


@pytest.mark.parametrize("name", MENDED)
def test_each_is_reported_for_its_mistake_and_right_without_it(scope, name):
    letter, hazard, *edits = MENDED[name]
    assert HUNT.culprits[name] == letter
    run, same = tried(scope, scope[name], name)
    assert [found.name for found in run.hazards[:1]] == ([hazard] if hazard else [])
    assert same == (name in ("bug_b", "bug_e"))
    run, same = tried(scope, edited(scope[name], *edits, name=f"mended_{name}"), name)
    assert run.ok, run
    assert same


def test_the_one_of_which_nothing_is_reported_has_its_first_tile_right(scope):
    run, same = tried(scope, scope["bug_a"], "bug_a", slice(0, 64))
    assert run.ok
    assert same
