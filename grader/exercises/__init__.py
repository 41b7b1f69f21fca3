"""The exercises of the course: one module for each notebook, each with a list named `EXERCISES`."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from grader.exercise import Exercise

NOTEBOOKS = (
    "start",
    "copy_2d",
    "swizzle",
    "grouping",
    "mbarrier",
    "stores",
    "maps",
    "pipelines",
    "clusters",
    "gemm",
    "hunt",
)


@lru_cache(maxsize=1)
def all_exercises() -> tuple[Exercise, ...]:
    """Every exercise, in the order of the course."""
    modules = (import_module(f"grader.exercises.{name}") for name in NOTEBOOKS)
    return tuple(exercise for module in modules for exercise in module.EXERCISES)


def ids() -> list[str]:
    """The ids of all exercises."""
    return [exercise.id for exercise in all_exercises()]


def find(exercise_id: object) -> Exercise | None:
    """The exercise of that id, None where there is none."""
    return next((exercise for exercise in all_exercises() if exercise.id == exercise_id), None)
