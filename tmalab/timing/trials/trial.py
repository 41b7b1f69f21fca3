"""A trial: a kernel at one configuration, whose time is measured on an H200 and predicted by the model.

Some trials are for fitting, the others only for judging the model. Which is which follows from a hash of the
configuration, so that nobody can choose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.launch import Kernel

FIT_OF = 4  # one of so many trials is for fitting


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
    """One configuration. `family`: what it shows; `settings`: names and ints; `make`: the launch for them."""

    family: str
    settings: tuple[tuple[str, int], ...]
    make: Callable[..., Launching]

    @property
    def name(self) -> str:
        """`product bn=128 k=4096 stages=4`"""
        return " ".join([self.family, *(f"{name}={value}" for name, value in self.settings)])

    @property
    def fits(self) -> bool:
        """Whether it is for fitting; otherwise it only judges the model."""
        return int(hashlib.sha256(self.name.encode()).hexdigest(), 16) % FIT_OF == 0

    def launching(self) -> Launching:
        """The launch, with arrays made anew."""
        return self.make(**dict(self.settings))


def trial(make: Callable[..., Launching], family: str, **settings: int) -> Trial:
    """A trial, its settings in the order of their names."""
    return Trial(family, tuple(sorted(settings.items())), make)
