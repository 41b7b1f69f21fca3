"""A trial: a kernel at one configuration, whose time is measured on an H200 and predicted by the model.

A trial has one of three uses. Some are for fitting. Some were looked at while the model's rules were made: they are
seen, and prove nothing. Those that are held out judge it: they were chosen last (`held_out`), and committed before
they were recorded, with the model as it is. Which are which among those of one time follows from a hash of the
configuration, so that nobody can choose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.launch import Kernel

FIT, SEEN, HELD_OUT = "fit", "seen", "held out"
FIT_OF = 4  # one of so many of the known trials is for fitting; the others have been seen
SEEN_OF = 3  # one of so many of the fresh trials may be looked at where the model misses; the others are held out


@dataclass(frozen=True)
class Launching:
    """What a launch takes: `along` names the argument with which the kernel's loop grows."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: int
    args: tuple[Any, ...]
    cluster: tuple[int, int, int] = (1, 1, 1)
    along: str | None = None


@dataclass(frozen=True)
class Trial:
    """One configuration. `family`: what it shows; `settings`: names and ints; `make`: the launch for them;
    `fresh`: chosen last, to judge the model."""

    family: str
    settings: tuple[tuple[str, int], ...]
    make: Callable[..., Launching]
    fresh: bool = False

    @property
    def name(self) -> str:
        """`product bn=128 k=4096 stages=4`"""
        return " ".join([self.family, *(f"{name}={value}" for name, value in self.settings)])

    @property
    def use(self) -> str:
        """FIT, SEEN or HELD_OUT."""
        number = int(hashlib.sha256(self.name.encode()).hexdigest(), 16)
        if self.fresh:
            return HELD_OUT if number % SEEN_OF else SEEN
        return SEEN if number % FIT_OF else FIT

    def launching(self) -> Launching:
        """The launch, with arrays made anew."""
        return self.make(**dict(self.settings))


def trial(make: Callable[..., Launching], family: str, fresh: bool = False, **settings: int) -> Trial:
    """A trial, its settings in the order of their names."""
    return Trial(family, tuple(sorted(settings.items())), make, fresh)
