"""Lesson 9, the pipelined GEMM: descriptors, and one kernel from a single tile to a persistent one; the ladder."""

from __future__ import annotations

from grader.exercise import Exercise
from grader.exercises.gemm_cases import CTAS, PUBLIC_K, STAGES, deep_cases, multiply_cases, tile_cases, wide_cases
from grader.exercises.gemm_numbers import (
    judge_descriptor,
    judge_ladder,
    judge_steps,
    judge_tiles,
    ladder_questions,
    steps_questions,
    tiles_questions,
)
from grader.exercises.kernel_hints import KERNEL_HINTS
from grader.judges.kernels import KernelJudge, KernelTask
from grader.judges.lettered import Hunt

MULTIPLY = KernelTask(
    ("a_map", "b_map", "c"), 128, multiply_cases, {"compiles": 1, "bytes": 2, "order": 3}, recorded=False
)
ONE_STAGE = KernelTask(
    ("a_map", "b_map", "k", "c"),
    128,
    wide_cases,
    {"compiles": 1, "bytes": 2, "order": 3},
    grid=CTAS,
    recorded=False,
)
STEPS = PUBLIC_K // 64
TILES_EACH = 2  # of a CTA, with the public input, of one step
AHEAD = KernelTask(
    ("a_map", "b_map", "k", "c"),
    128,
    deep_cases,
    {"compiles": 1, "bytes": 2, "ahead": 1, "overlap": 2, "order": 2},
    recorded=False,
    ahead=2 * (STAGES - 1),
    followed=STEPS - 1,
)
ROLES = KernelTask(
    ("a_map", "b_map", "k", "c"),
    160,
    deep_cases,
    {"compiles": 1, "bytes": 2, "ahead": 1, "overlap": 2, "order": 2},
    recorded=False,
    ahead=2 * STAGES,
    followed=STEPS - 1,
)
PERSISTENT = KernelTask(
    ("a_map", "b_map", "columns", "tiles", "k", "c_map"),
    160,
    tile_cases,
    {"compiles": 1, "bytes": 3, "ahead": 2, "order": 2},
    grid=CTAS,
    recorded=False,
    ahead=2 * TILES_EACH,
)
HUNT = Hunt("gemm.hunt", {"bug_a": "a", "bug_b": "e", "bug_c": "c", "bug_d": "d", "bug_e": "f"}, 5)


GEMM_HINTS = KERNEL_HINTS | {
    "bytes": "gemm.kernel-bytes",
    "exchanged": "gemm.kernel-exchanged",
    "a-twice": "gemm.kernel-operands",
    "b-twice": "gemm.kernel-operands",
    "turned": "gemm.kernel-place",
    "one-wgmma": "gemm.kernel-columns",
    "same-columns": "gemm.kernel-columns",
    "last-wgmma": "gemm.kernel-scale",
    "layout-mismatch": "gemm.kernel-descriptor",
    "misaligned": "gemm.kernel-descriptor",
    "out-of-bounds": "gemm.kernel-descriptor",
    "uninitialised-read": "gemm.kernel-descriptor",
    "wgmma-fence": "gemm.kernel-fence",
    "wgmma-registers": "gemm.kernel-wait",
    "partial-warp": "gemm.kernel-all",
    "too-few-bytes": "gemm.kernel-promise",
    "too-many-bytes": "gemm.kernel-promise",
    "first-step": "gemm.kernel-along",
    "last-step": "gemm.kernel-along",
    "last-missing": "gemm.kernel-along",
    "whole-steps": "gemm.kernel-edge",
    "one-tile": "gemm.kernel-column",
    "same-tile": "gemm.kernel-column",
    "overwrite-in-use": "gemm.kernel-late",
    "phase-alias": "gemm.kernel-late",  # of a stage that is loaded anew before all have waited for what it held
    "too-few-ahead": "gemm.kernel-ahead",
    "no-overlap": "gemm.kernel-overlap",
    "wrong-parity": "gemm.kernel-parity",
    "deadlock": "gemm.kernel-parity",
    "missing-arrival": "gemm.kernel-arrivals",
    "over-arrival": "gemm.kernel-arrivals",
    "barrier-mismatch": "gemm.kernel-meet",
    "one-each": "gemm.kernel-tiles",
    "summed-up": "gemm.kernel-zero",
    "missing-proxy-fence": "gemm.kernel-store",
    "proxy-fence-space": "gemm.kernel-store",
    "data-race": "gemm.kernel-store",
    "store-source-reuse": "gemm.kernel-reuse",
    "store-not-committed": "gemm.kernel-reuse",
    "exit-in-flight": "gemm.kernel-end",
}


def _kernel_exercise(id: str, task: KernelTask, untouched: str) -> Exercise:
    return Exercise(id, task.points, KernelJudge(task), untouched=untouched, hints=GEMM_HINTS)


EXERCISES = [
    Exercise(
        "gemm.descriptor",
        {"128B": 2, "any": 2},
        judge_descriptor,
        untouched="gemm.descriptor-untouched",
        hints={
            "bytes": "gemm.descriptor-units",
            "stride-in-bytes": "gemm.descriptor-units",
            "of-the-map": "gemm.descriptor-code",
            "one-row": "gemm.descriptor-stride",
            "always-128": "gemm.descriptor-stride",
            "signed": "gemm.descriptor-signed",
            "values": "gemm.descriptor-fields",
            "type": "gemm.descriptor-signed",
            "returns-nothing": "gemm.descriptor-fields",
            "raises": "gemm.descriptor-fields",
        },
    ),
    Exercise(
        "gemm.steps",
        {"steps": 3},
        judge_steps,
        untouched="gemm.steps-untouched",
        questions=steps_questions,
        hints={
            "bytes": "gemm.steps-units",
            "elements": "gemm.steps-units",
            "one-stage": "gemm.steps-places",
            "some": "gemm.steps-places",
        },
    ),
    _kernel_exercise("gemm.multiply", MULTIPLY, "gemm.multiply-untouched"),
    _kernel_exercise("gemm.one-stage", ONE_STAGE, "gemm.one-stage-untouched"),
    Exercise(
        "gemm.tiles",
        {"MiB": 3},
        judge_tiles,
        untouched="gemm.tiles-untouched",
        questions=tiles_questions,
        hints={
            "elements": "gemm.tiles-bytes",
            "once": "gemm.tiles-again",
            "one-tile": "gemm.tiles-again",
            "not-shared": "gemm.tiles-shared",
            "both-shared": "gemm.tiles-shared",
            "some": "gemm.tiles-again",
        },
    ),
    _kernel_exercise("gemm.ahead", AHEAD, "gemm.ahead-untouched"),
    _kernel_exercise("gemm.roles", ROLES, "gemm.roles-untouched"),
    _kernel_exercise("gemm.persistent", PERSISTENT, "gemm.persistent-untouched"),
    Exercise(
        "gemm.ladder",
        {"reasons": 3},
        judge_ladder,
        untouched="gemm.ladder-untouched",
        questions=ladder_questions,
        hints={
            "letter-a": "gemm.ladder-a",
            "letter-b": "gemm.ladder-b",
            "letter-c": "gemm.ladder-c",
            "letter-d": "gemm.ladder-d",
            "letter-e": "gemm.ladder-e",
        },
    ),
    Exercise(
        "gemm.hunt",
        {"culprits": 5},
        HUNT,
        untouched="gemm.hunt-untouched",
        questions=HUNT.questions,
        hints={
            "bug_a": "gemm.hunt-a",
            "bug_b": "gemm.hunt-b",
            "bug_c": "gemm.hunt-c",
            "bug_d": "gemm.hunt-d",
            "bug_e": "gemm.hunt-e",
        },
    ),
]
