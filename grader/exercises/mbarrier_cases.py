"""What lesson 4 asks: barriers with events, drawn so that known mistakes show; its kernels' inputs, by NumPy alone.

An event is a whole number: 0 is an arrival, a number above 0 a promise of so many bytes, one below 0 so many that land.

>>> counters(1, [4096, 0, -2048, -2048])
(1, 1, 0)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from grader.exercises.copy_2d_cases import UNWRITTEN, window
from grader.exercises.drawn import shape
from grader.exercises.swizzle_cases import numbers
from grader.judges.kernels import Case
from tmalab import TensorMap
from tmalab.recorded.lesson_cases import PAIR_COLS, PAIR_ROWS, PAIRED_AT, PAIRED_SHAPE

Events = tuple[int, ...]
JUST_BEGUN, ARRIVALS, BYTES, UNPROMISED = LETTERS = "abcd"
SIZES = (1024, 2048, 4096)  # bytes
PUBLIC = (32, 16)  # column and row of the notebook's pair
PUBLIC_STEPS = 4

# ---- barriers


def counters(count: int, events: Sequence[int], early: bool = True) -> tuple[int, int, int]:
    """Phases that are complete, arrivals that are missing, bytes that are outstanding, after all events.

    ValueError for more arrivals than are missing, and without `early` for bytes that land before their promise.
    """
    phase, pending, tx = 0, count, 0
    for event in events:
        pending, tx = (pending - 1, tx) if event == 0 else (pending, tx + event)
        if pending < 0 or (tx < 0 and not (early and pending)):
            raise ValueError(f"a barrier of {count} cannot take {event}, of {events}")
        if pending == tx == 0:
            phase, pending = phase + 1, count
    return phase, pending, tx


def letter(count: int, events: Sequence[int]) -> str:
    """What is to be said of the phase in which a barrier is; empty where more than one thing would be true."""
    phase, pending, tx = counters(count, events)
    if tx < 0:
        return UNPROMISED
    if tx > 0:
        return BYTES if pending == 0 else ""
    if pending < count:
        return ARRIVALS
    return JUST_BEGUN if phase > counters(count, events[:-1])[0] else ""


def barrier_questions(seed: int) -> list[tuple[int, Events]]:
    """Five barriers, each a count and its events: one for each letter, and one more; in an order of the class."""
    draw = random.Random(f"{seed} barriers")
    wanted = [*LETTERS, draw.choice(LETTERS)]
    draw.shuffle(wanted)
    chosen: list[tuple[int, Events]] = []
    for which in wanted:
        telling = (each for each in drawn(draw, True) if letter(*each) == which and is_telling(*each))
        chosen.append(next(each for each in telling if each not in chosen))
    return chosen


def is_telling(count: int, events: Events) -> bool:
    """Whether promises and loads both occur, and counting arrivals alone gives another number or phase one is over."""
    phase = counters(count, events)[0]
    return any(event < 0 for event in events) and phase <= 3 and (phase > 0 or phase != arrivals_alone(count, *events))


def drawn(draw: random.Random, early: bool) -> Iterator[tuple[int, Events]]:
    """Barriers of 1 to 3 arrivals with 3 to 10 events that can happen, without end."""
    while True:
        count, events = draw.randint(1, 3), [draw.choice((0, 0, *SIZES)) for _ in range(draw.randint(3, 5))]
        for promise in [event for event in events if event > 0]:  # each is kept, here and there
            events.insert(draw.randint(0, len(events)), -promise)
        if draw.random() < 0.5:  # but not all that belongs to a phase need have happened
            del events[draw.randrange(len(events))]
        try:
            counters(count, events, early)
        except ValueError:
            continue
        yield count, tuple(events)


# ---- what people count instead


def arrivals_alone(count: int, *events: int) -> int:
    """As if a barrier counted no bytes."""
    return events.count(0) // count


def bytes_alone(count: int, *events: int) -> int:
    """As if a phase were over whenever all promised bytes have landed."""
    return _phases(count, events, lambda pending, tx, event: tx == 0 and event < 0)


def looked_at_arrivals(count: int, *events: int) -> int:
    """As if only an arrival could complete a phase."""
    return _phases(count, events, lambda pending, tx, event: pending == 0 and tx == 0 and event == 0)


def never_again(count: int, *events: int) -> int:
    """As if there were no second phase."""
    return min(1, counters(count, events)[0])


def without_credit(count: int, *events: int) -> int:
    """As if bytes that land before their promise were lost."""
    phase, pending, tx = 0, count, 0
    for event in events:
        pending, tx = (pending - 1, tx) if event == 0 else (pending, max(0, tx + event))
        if pending <= 0 and tx == 0:
            phase, pending = phase + 1, count
    return phase


def loads_arrive(count: int, *events: int) -> int:
    """As if a load that lands were an arrival too."""
    return sum(event <= 0 for event in events) // count


def _phases(count: int, events: Sequence[int], over: Callable[[int, int, int], bool]) -> int:
    phase, pending, tx = 0, count, 0
    for event in events:
        pending, tx = (pending - 1, tx) if event == 0 else (pending, tx + event)
        if over(pending, tx, event):
            phase, pending = phase + 1, count
    return phase


# ---- kernels: pairs of tiles


def pair_cases(seed: int) -> Sequence[Case]:
    """load_pair: the notebook's pair, one that was asked to be recorded, two of another tensor, one over its edge."""
    rng, draw = np.random.default_rng([seed, 8]), random.Random(f"{seed} pairs")
    x, y = draw.choice([corner for corner in PAIRED_AT if corner != PUBLIC and corner[0] < 96])
    wide = numbers(rng, *shape(seed, "pairs", (80, 160)))
    inside = 4 * int(rng.integers(1, 24)), int(rng.integers(1, 64))
    return [
        pair_case(paired(), *PUBLIC),
        pair_case(numbers(rng, *PAIRED_SHAPE), x, y),
        pair_case(wide, *inside),
        pair_case(wide, wide.shape[1] - 48, -5),
    ]


def pair_case(array: np.ndarray, x: int, y: int) -> Case:
    """One input of load_pair."""
    tensor_map, name = TensorMap.from_array(array, (PAIR_ROWS, PAIR_COLS)), f"x = {x}, y = {y}, tensor {_of(array)}"
    expected = pair(array, x, y)
    out = np.full_like(expected, UNWRITTEN)
    left, right = np.hsplit(expected, 2)
    mistakes = {
        "not-written": out,
        "left-twice": np.hstack([left, left]),
        "halves-swapped": np.hstack([right, left]),
        "swapped": pair(array, y, x),
        "at-the-example": pair(array, *PUBLIC),
    }
    return Case((tensor_map, x, y, out), expected, (x, y), name, mistakes, out_of=_pairs_of, also=((x + PAIR_COLS, y),))


def column_cases(seed: int) -> Sequence[Case]:
    """copy_pairs and copy_ring: the notebook's pairs; one step, three, and five of another tensor."""
    rng = np.random.default_rng([seed, 9])
    tall = numbers(rng, *shape(seed, "columns", (80, 160)))
    x, other = (4 * int(number) for number in rng.integers(1, 24, 2))
    return [
        column_case(paired(), PUBLIC[0], PUBLIC_STEPS),
        column_case(numbers(rng, *PAIRED_SHAPE), 0, 1),
        column_case(tall, x, 5),
        column_case(tall, other, 3),
    ]


def column_case(array: np.ndarray, x: int, steps: int) -> Case:
    """One input of copy_pairs: `steps` pairs, one under the other."""
    pairs = [pair(array, x, PAIR_ROWS * k) for k in range(steps)]
    expected = np.vstack(pairs)
    out = np.full_like(expected, UNWRITTEN)
    mistakes = {
        "not-written": out,
        "left-twice": np.vstack([np.hstack([np.hsplit(each, 2)[0]] * 2) for each in pairs]),
        "first-again": np.vstack([pairs[0]] * steps),
        "one-behind": np.vstack([pairs[0], *pairs[:-1]]),
    }
    places = [(x + side, PAIR_ROWS * k) for k in range(steps) for side in (0, PAIR_COLS)]
    name = f"x = {x}, steps = {steps}, tensor {_of(array)}"
    arguments = TensorMap.from_array(array, (PAIR_ROWS, PAIR_COLS)), x, steps, out
    return Case(arguments, expected, places[0], name, mistakes, out_of=_pairs_of, also=tuple(places[1:]))


def pair(array: np.ndarray, x: int, y: int) -> np.ndarray:
    """The tile at column x, row y, and its right neighbour."""
    return np.ascontiguousarray(window(array, x, y, PAIR_ROWS, 2 * PAIR_COLS))


def paired() -> np.ndarray:
    """The notebook's tensor: element [row, column] is its number."""
    rows, cols = PAIRED_SHAPE
    return np.arange(rows * cols).reshape(rows, cols).astype(np.float32)


def _pairs_of(images: np.ndarray) -> np.ndarray:
    """What must be written where loads have left these bytes: left, right, left, right."""
    tiles = images.view(np.float32).reshape(-1, 2, PAIR_ROWS, PAIR_COLS)
    return np.ascontiguousarray(tiles.transpose(0, 2, 1, 3).reshape(-1, 2 * PAIR_COLS))


def _of(array: np.ndarray) -> str:
    return f"{array.shape[0]} x {array.shape[1]}"
