"""Wrong values explained: what stands in a result, where it came from, and whether a swizzle was overlooked."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tmalab.data_types import Swizzle
from tmalab.simulator.provenance import Provenance, Region, trace_back
from tmalab.swizzle import PATTERNS
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch

CHUNK = 16  # bytes that a swizzle moves as one
ROWS = 8  # after which every pattern has begun again
LAYOUT = "layout-mismatch"


@dataclass(frozen=True)
class Explanation:
    """Why a result is wrong, as far as where its elements came from tells.

    name      "layout-mismatch" where a swizzle explains all that is wrong, or None
    message   in words; `fix`: what to write, where that is known
    count     of wrong elements; `index` the first of them, `seen` and `expected` its values
    source    the array and the index from which that element came, or None: computed, or never written
    """

    name: str | None
    message: str
    fix: str
    count: int
    index: tuple[int, ...]
    seen: object
    expected: object
    source: tuple[str, tuple[int, ...]] | None

    def __str__(self) -> str:
        return f"{self.message}\n  write:   {self.fix}" if self.fix else self.message


def explain(launch: Launch, result: np.ndarray, expected: np.ndarray) -> Explanation | None:
    """What is wrong with a result, one of the launch's arrays; None where it is as expected. Runs the kernel again."""
    expected = np.broadcast_to(np.asarray(expected), result.shape)
    wrong = ~((result == expected) | ((result != result) & (expected != expected)))
    if not wrong.any():
        return None
    found = trace_back(launch, result)
    index = tuple(map(int, np.argwhere(wrong)[0]))
    place = found.source(index)
    name = next(n for n, a in zip(inspect.signature(launch.kernel.function).parameters, launch.args) if _is(a, result))
    swizzle = _swizzle_behind(found, wrong, result)
    words = {"result": name, "count": f"{wrong.sum():,}", "size": f"{result.size:,}", "element": _element(name, index)}
    sentences = [text("simulator.wrong-values", seen=result[index], expected=expected[index], **words)]
    sentences.append(_origin(place, result, index))
    if swizzle is not None:
        sentences.append(text("simulator.swizzle-overlooked", swizzle=swizzle.name))
    return Explanation(
        LAYOUT if swizzle is not None else None,
        "\n  ".join(sentences),
        text("simulator.swizzle-overlooked-fix", swizzle=swizzle.name) if swizzle is not None else "",
        int(wrong.sum()),
        index,
        result[index],
        expected[index],
        place and (place[0].name, place[1]),
    )


def _is(argument: object, result: np.ndarray) -> bool:
    return argument is result or getattr(argument, "array", None) is result


def _origin(place: tuple[Region, tuple[int, ...]] | None, result: np.ndarray, index: tuple[int, ...]) -> str:
    if place is None:
        return text("simulator.not-moved")
    region, source = place
    if region.array is result and source == index:
        return text("simulator.never-written")
    return text("simulator.came-from", source=_element(region.name, source))


def _element(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]"


def _swizzle_behind(found: Provenance, wrong: np.ndarray, result: np.ndarray) -> Swizzle | None:
    """The swizzle that exchanges the chunks within each row as they came out, if one does.

    What is right tells by how much the result is shifted against its source; all that is wrong must then lie in the
    same row as it should, in the chunk of 16 bytes that the pattern puts there.
    """
    places = [found.place(int(number)) for number in found.numbers.reshape(-1)]
    known = [place for place in places if place is not None]
    if len(known) != len(places) or len({id(region.array) for region, _ in known}) != 1:
        return None
    sources = np.array([source for _, source in known])
    if result.ndim < 2 or sources.shape[1] != result.ndim or not (~wrong).any():
        return None
    here = np.stack(np.unravel_index(np.arange(result.size), result.shape), axis=1)
    shifts, counts = np.unique((sources - here)[~wrong.reshape(-1)], axis=0, return_counts=True)
    should = here + shifts[counts.argmax()]
    if (sources[:, :-1] != should[:, :-1]).any():
        return None
    chunk = CHUNK // result.itemsize
    exchanged = sources[:, -1] // chunk ^ should[:, -1] // chunk
    if (sources[:, -1] % chunk != should[:, -1] % chunk).any():
        return None
    return next((mode for mode in Swizzle if mode and _is_pattern(mode, here[:, -2], exchanged)), None)


def _is_pattern(mode: Swizzle, rows: np.ndarray, exchanged: np.ndarray) -> bool:
    """Whether the exchanged chunks of the rows are those of a swizzle, whichever row its pattern begins with."""
    chunks = PATTERNS[mode].span // CHUNK
    step = ROWS // chunks
    return any((exchanged == (rows + begin) % ROWS // step).all() for begin in range(ROWS))
