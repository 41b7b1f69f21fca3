"""cuda.atomic: read, change and write back as one access. Atomics do not race with each other, and order nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tmalab.simulator.arrays import Array
from tmalab.simulator.context import current_thread
from tmalab.simulator.errors import KernelError
from tmalab.texts import text

CHANGES: dict[str, Callable[[Any, Any], Any]] = {  # what each one makes of the old value and the operand
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "and_": lambda old, value: old & value,
    "or_": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exch": lambda old, value: value,
    "min": lambda old, value: old if value != value or old <= value else value,
    "max": lambda old, value: old if value != value or old >= value else value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
    "dec": lambda old, value: value if old == 0 or old > value else old - 1,
}


class Atomics:
    """The operations, by numba's names; each returns the value before."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in CHANGES:
            raise KernelError(text("simulator.not-in-language", name=f"atomic.{name}"))
        change = CHANGES[name]
        return lambda array, index, value: _update(name, array, index, lambda old: change(old, value))

    def cas(self, array: Array, index: Any, old: Any, value: Any) -> Any:
        """Put `value` where `old` is; returns what was there."""
        return _update("cas", array, index, lambda found: value if found == old else found)


def _update(name: str, array: Any, index: Any, change: Callable[[Any], Any]) -> Any:
    if not isinstance(array, Array):
        raise KernelError(text("simulator.atomic-array", given=type(array).__name__))
    thread, before = current_thread(), array.update(index, change)
    thread.run.updated(name, array, index, before)
    thread.give_way()
    return before
