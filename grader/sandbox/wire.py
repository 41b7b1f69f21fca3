"""Plain data between the grader and a sandbox: JSON with a few tags, and the bytes of arrays beside it.

Nothing that comes out of a sandbox is unpickled, evaluated or imported. What is read is one frame: the lengths of a
JSON text and of a blob, then both. `unpack` makes numbers, strings, lists, tuples, dicts and NumPy arrays of it, and
refuses whatever else it says; it is told how long a frame may be. Each byte of the blob belongs to one array, so that a
short frame can not become much memory.

>>> unpack(*pack({"a": (1, 2.5), "b": np.arange(3, dtype=np.int16)}))
{'a': (1, 2.5), 'b': array([0, 1, 2], dtype=int16)}
"""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

HEAD = struct.Struct(">II")  # bytes of the JSON text, bytes of the blob
DEEPEST = 24  # values inside each other
LONGEST = 4 << 20  # bytes of a JSON text, each of which may become a hundred bytes of values
MOST_PAIRS = 4096  # of a dict: keys can be chosen so that each is compared with all before it
KINDS = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
DTYPES = {np.dtype(kind).str: np.dtype(kind) for kind in KINDS}


class Malformed(ValueError):
    """A frame that is none."""


def pack(value: object) -> tuple[bytes, bytes]:
    """A plain value as JSON text and blob. Raises TypeError for what is not plain."""
    blobs: list[bytes] = []
    return json.dumps(_tagged(value, blobs)).encode("utf-8", "surrogatepass"), b"".join(blobs)


def unpack(text: bytes, blob: bytes) -> Any:
    """The value of a frame. Raises Malformed, whatever the bytes are."""
    try:
        return _plain(json.loads(text.decode("utf-8")), io.BytesIO(blob), DEEPEST)
    except Malformed:
        raise
    except Exception as error:  # RecursionError, a NumPy that refuses a shape, digits without end ...
        raise Malformed(type(error).__name__) from None


def send(write: Callable[[bytes], object], value: object) -> None:
    """Write one frame."""
    text, blob = pack(value)
    write(HEAD.pack(len(text), len(blob)) + text + blob)


def receive(read: Callable[[int], bytes], limit: int) -> Any:
    """Read one frame of at most `limit` bytes; `read(n)` gives up to n bytes, and none at the end."""
    lengths = HEAD.unpack(_exactly(read, HEAD.size))
    if sum(lengths) > limit or lengths[0] > LONGEST:
        raise Malformed(f"a frame of {sum(lengths)} bytes")
    text, blob = (_exactly(read, length) for length in lengths)
    return unpack(text, blob)


def _exactly(read: Callable[[int], bytes], length: int) -> bytes:
    pieces, missing = [], length
    while missing:
        piece = read(min(missing, 1 << 16))
        if not piece:
            raise EOFError
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def _tagged(value: object, blobs: list[bytes]) -> Any:
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if abs(value) < 2**53 else {"int": hex(value)}  # type: ignore[arg-type, operator]
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}  # type: ignore[arg-type]
    if kind is list:
        return [_tagged(each, blobs) for each in value]  # type: ignore[attr-defined]
    if kind is tuple:
        return {"tuple": [_tagged(each, blobs) for each in value]}  # type: ignore[attr-defined]
    if kind is dict:
        return {"dict": [[_tagged(key, blobs), _tagged(each, blobs)] for key, each in value.items()]}  # type: ignore[attr-defined]
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.str in DTYPES:
        array = np.ascontiguousarray(value)
        blobs.append(array.tobytes())
        tag = "array" if isinstance(value, np.ndarray) else "scalar"
        return {tag: [array.dtype.str, list(np.shape(value))]}
    raise TypeError(f"{kind.__name__} is not plain")


def _plain(tagged: Any, blob: io.BytesIO, depth: int) -> Any:
    if depth < 0:
        raise Malformed("nested too deeply")
    if tagged is None or type(tagged) in (bool, str, int, float):
        return tagged
    if type(tagged) is list:
        return [_plain(each, blob, depth - 1) for each in tagged]
    if type(tagged) is not dict or len(tagged) != 1:
        raise Malformed("not a tag")
    ((tag, inside),) = tagged.items()
    if tag not in READERS:
        raise Malformed(f"the tag {tag[:20]!r}")
    return READERS[tag](inside, blob, depth - 1)


def _read_dict(pairs: Any, blob: io.BytesIO, depth: int) -> dict:
    if len(pairs) > MOST_PAIRS:
        raise Malformed("a dict's size")
    return {_plain(key, blob, 2): _plain(value, blob, depth) for key, value in pairs}


def _read_array(inside: Any, blob: io.BytesIO, depth: int) -> np.ndarray:
    kind, shape = inside
    if len(shape) > 8 or not all(type(number) is int and number >= 0 for number in shape):
        raise Malformed("an array's shape")
    content = blob.read(DTYPES[kind].itemsize * math.prod(shape))
    array = np.frombuffer(content, DTYPES[kind]) if content else np.zeros(0, DTYPES[kind])
    return array.reshape(shape).copy()


READERS: dict[str, Callable[[Any, io.BytesIO, int], Any]] = {
    "int": lambda inside, blob, depth: int(inside, 16),
    "float": lambda inside, blob, depth: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[inside],
    "tuple": lambda inside, blob, depth: tuple(_plain(each, blob, depth) for each in inside),
    "dict": _read_dict,
    "array": _read_array,
    "scalar": lambda inside, blob, depth: _read_array(inside, blob, depth)[()],
}
