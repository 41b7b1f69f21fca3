"""Kernels of a notebook that are each wrong in one way: which letter a cause has is drawn by the class seed.

In the public course the letters are those of the catalogue, in its order.

>>> hunt = Hunt("swizzle.hunt", {"bug_a": "c", "bug_b": "a"}, 2)
>>> hunt.right(0), hunt.right(3) == hunt.right(0), sorted(hunt.questions(3))
({'bug_a': 'c', 'bug_b': 'a'}, False, ['a', 'b', 'c', 'd', 'e', 'f'])
>>> hunt([hunt.right(3)["bug_a"], None], 3)[0].points
1.0
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.exercise import Finding
from grader.judges.choices import judge_choices
from grader.texts import text


def drawn_letters(exercise: str, letters: str, seed: int) -> dict[str, str]:
    """The class's letter for each letter of the public course, another one for each; those themselves for seed 0."""
    if not seed:
        return {letter: letter for letter in letters}
    drawn = list(letters)
    random.Random(f"{seed} {exercise}").shuffle(drawn)
    turned = sum(a == b for a, b in zip(letters, drawn, strict=True)) > len(letters) // 3
    return dict(zip(letters, drawn[1:] + drawn[:1] if turned else drawn, strict=True))


def causes(exercise: str, letters: str, seed: int) -> dict[str, str]:
    """What each letter stands for, in the order of the catalogue."""
    return {
        drawn: text(f"{exercise}-cause-{letter}") for letter, drawn in drawn_letters(exercise, letters, seed).items()
    }


@dataclass(frozen=True)
class Hunt:
    """The judge of a hunt, and what it asks about: `culprits` has the public letter of each kernel's cause."""

    exercise: str
    culprits: Mapping[str, str]
    points: float
    letters: str = "abcdef"

    def questions(self, seed: int) -> dict[str, str]:
        """What each letter stands for."""
        return causes(self.exercise, self.letters, seed)

    def right(self, seed: int) -> dict[str, str]:
        """The class's letter for each kernel."""
        drawn = drawn_letters(self.exercise, self.letters, seed)
        return {kernel: drawn[letter] for kernel, letter in self.culprits.items()}

    def __call__(self, answer: object, seed: int) -> Sequence[Finding]:
        """The part culprits."""
        by_kernel = {(kernel, ""): kernel for kernel in self.culprits}
        return [judge_choices(answer, self.right(seed), self.letters, "culprits", self.points, by_kernel)]
