"""Lesson 6's broken maps: ten from practice, each with the rule that it breaks, and four that are to be mended."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from grader.exercise import Finding, right, wrong
from grader.judges.numbers import as_list, shown
from grader.sentence import Sentence
from grader.texts import text
from tmalab import DataType, TensorMap, TensorMapError, TmaFault, reference
from tmalab.data_types import NOMINAL_ADDRESS

LETTERS = "abcdefghi"
RULES = {  # letter: the rules of tmalab.tensor_map_rules that it stands for; of "i" none, the driver accepts it
    "a": {"stride-multiple", "address-multiple"},
    "b": {"box-row-multiple"},
    "c": {"swizzle-span"},
    "d": {"box-range"},
    "e": {"box-bytes"},
    "f": {"nan-fill"},
    "g": {"stride-count"},
    "h": {"element-stride-range"},
    "i": set(),
}
ADDRESS = 0x1000


def tiled(data_type: str, dims: tuple, strides: tuple, box: tuple, address: int = ADDRESS, **more: object) -> dict:
    """The arguments of a map, as `tmalab map` reads them."""
    arguments = {"data_type": data_type, "global_address": address, "global_dim": dims, "global_strides": strides}
    return {**arguments, "box_dim": box, **more}


def broken_maps(seed: int) -> list[tuple[str, dict[str, Any], str]]:
    """What somebody wanted, the arguments, the letter of what is wrong; numbers and order drawn by the class seed."""
    draw = random.Random(f"{seed} doctor")
    odd, tall = draw.choice((100, 108, 116)), draw.choice((64, 96, 128))
    narrow, long, every = draw.choice((2, 4)), draw.choice((384, 512)), draw.choice((12, 16))
    maps: list[tuple[str, dict[str, Any], str]] = [
        (Sentence("maps.doctor-wanted-odd", columns=odd), tiled("FLOAT16", (odd, tall), (2 * odd,), (64, 8)), "a"),
        (Sentence("maps.doctor-wanted-shifted"), tiled("FLOAT16", (127, tall), (256,), (64, 8), ADDRESS + 2), "a"),
        (
            Sentence("maps.doctor-wanted-narrow", columns=narrow),
            tiled("FLOAT16", (128, tall), (256,), (narrow, 64)),
            "b",
        ),
        (
            Sentence("maps.doctor-wanted-swizzled"),
            tiled("FLOAT32", (256, tall), (1024,), (64, 64), swizzle="B128"),
            "c",
        ),
        (Sentence("maps.doctor-wanted-long", bytes=long), tiled("UINT8", (4096, tall), (4096,), (long, 8)), "d"),
        (Sentence("maps.doctor-wanted-large"), tiled("FLOAT32", (4096, 4096), (16384,), (256, 256)), "e"),
        (Sentence("maps.doctor-wanted-nan"), tiled("INT32", (128, tall), (512,), (32, 8), oob_fill="NAN"), "f"),
        (Sentence("maps.doctor-wanted-image"), tiled("FLOAT32", (16, 12, 10), (64,), (16, 4, 4)), "g"),
        (
            Sentence("maps.doctor-wanted-steps", every=every),
            tiled("FLOAT32", (64, 256), (256,), (64, 8 * every), element_strides=(1, every)),
            "h",
        ),
        (Sentence("maps.doctor-wanted-turned", rows=tall), tiled("FLOAT16", (tall, 1024), (2048,), (8, 64)), "i"),
    ]
    draw.shuffle(maps)
    return maps


@dataclass(frozen=True)
class Wanted:
    """What a mended map must bring: the tensor's elements in all, its memory, and the tile at the origin (uint8)."""

    tensor_bytes: int
    memory: np.ndarray
    tile: np.ndarray


def wanted(memory: np.ndarray, tensor: np.ndarray, tile: np.ndarray) -> Wanted:
    """From views of one memory."""
    flat = np.ascontiguousarray(tile).view(np.uint8).ravel()
    return Wanted(tensor.size * tensor.itemsize, memory.view(np.uint8).ravel(), flat)


def mend_questions(seed: int) -> dict[str, tuple[int, int, int]]:
    """Rows and columns of each tensor; then of `steps` the rows of a step, of the others the columns of a tile."""
    if not seed:
        return {"padded": (64, 100, 64), "long": (64, 4096, 512), "steps": (256, 64, 16), "flipped": (64, 1024, 64)}
    draw = random.Random(f"{seed} mend")
    return {
        "padded": (draw.choice((48, 96)), draw.choice((84, 108, 116)), draw.choice((32, 64))),
        "long": (draw.choice((32, 48)), draw.choice((2048, 4096)), draw.choice((320, 384))),
        "steps": (draw.choice((384, 768)), draw.choice((32, 128)), draw.choice((12, 24, 32))),
        "flipped": (draw.choice((32, 96)), draw.choice((512, 768)), draw.choice((32, 128))),
    }


@lru_cache(maxsize=32)
def mended(seed: int) -> dict[str, Wanted]:
    """What each of the four must bring."""
    asked = mend_questions(seed)
    rows, columns, across = asked["padded"]
    padded = np.arange(rows * (columns + 4), dtype=np.uint16).reshape(rows, -1)
    tall, wide, part = asked["long"]
    long = (np.arange(tall * wide, dtype=np.uint32) * 2654435761 >> 24).astype(np.uint8).reshape(tall, wide)
    many, narrow, step = asked["steps"]
    steps = np.arange(many * narrow, dtype=np.float32).reshape(many, narrow)
    flipped = np.arange(asked["flipped"][0] * asked["flipped"][1], dtype=np.uint16).reshape(asked["flipped"][:2])
    return {
        "padded": wanted(padded, padded[:, :columns], padded[:8, :across]),
        "long": wanted(long, long, long[:8, :part]),
        "steps": wanted(steps, steps[::step], steps[: 8 * step : step]),
        "flipped": wanted(flipped, flipped, flipped[:8, : asked["flipped"][2]]),
    }


def judge_mended(answer: object, seed: int) -> Finding:
    """A point for each map that the driver takes and whose copy at the origin brings the tile that is wanted."""
    wants = mended(seed)
    given = as_list(answer, dict.fromkeys(wants))
    if isinstance(given, str):
        return wrong("maps", len(wants), given, "form")
    reasons = {name: _why_not(arguments, wants[name]) for name, arguments in zip(wants, given, strict=True)}
    misses = {name: reason for name, reason in reasons.items() if reason}
    if not misses:
        return right("maps", len(wants), text("maps.mended", count=len(wants)))
    lines = [text("maps.mended-some", right=len(wants) - len(misses), count=len(wants))]
    lines += [f"  {name}: {reason}" for name, reason in misses.items()]
    return wrong("maps", len(wants), "\n".join(lines), next(iter(misses)), points=len(wants) - len(misses))


def _why_not(given: object, want: Wanted) -> str:
    """What is wrong with one map, in a sentence; nothing where it is right."""
    try:
        tensor_map = _map_of(given)
    except TensorMapError as error:
        return "; ".join(message for _, message in error.violations)
    except (TypeError, ValueError, KeyError) as error:
        return text("maps.mended-no-map", given=shown(given), reason=str(error).splitlines()[0])
    size = prod(tensor_map.global_dim) * tensor_map.element_size
    if size != want.tensor_bytes:
        return text("maps.mended-size", seen=size, expected=want.tensor_bytes)
    if tensor_map.transaction_bytes != want.tile.nbytes:
        return text("maps.mended-tile", seen=tensor_map.transaction_bytes, expected=want.tile.nbytes)
    try:
        image = reference.load(tensor_map, (0,) * tensor_map.rank, want.memory)
    except (TmaFault, ValueError, IndexError) as error:  # it reaches past the memory, or its copies fault
        return text("maps.mended-no-map", given=shown(given), reason=str(error).splitlines()[0])
    same = int(np.count_nonzero(np.where(image.written, image.data, 0)[: want.tile.nbytes] == want.tile))
    return "" if same == want.tile.nbytes else text("maps.mended-bytes", same=same, count=want.tile.nbytes)


def _map_of(given: object) -> TensorMap:
    """The map that was given, or of the arguments that were."""
    if isinstance(given, TensorMap):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(text("map.wrong-type", type=type(given).__name__))
    kind = given.get("data_type")
    named = {"data_type": DataType[kind]} if isinstance(kind, str) and kind in DataType.__members__ else {}
    return TensorMap(**{"global_address": NOMINAL_ADDRESS, **given, **named})
