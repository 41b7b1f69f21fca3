"""Where the 128 bytes of a tensor map may come from: an object in memory, a file, or what was printed of them.

>>> from tmalab import TensorMap
>>> data = TensorMap(6, 0x1000, (64, 8), (128,), (64, 8)).encode()
>>> bytes_of(bytearray(data)) == bytes_of(data.hex()) == data
True

What cuda-gdb prints for `x/16gx &map` are words, whose bytes are in the reverse order:

>>> words = [hex(int.from_bytes(data[i : i + 8], "little")) for i in range(0, 128, 8)]
>>> bytes_of(f"0x7fffcafe0000:  {' '.join(words[:8])}\\n0x7fffcafe0040:  {' '.join(words[8:])}") == data
True
"""

from __future__ import annotations

import ast
import ctypes
import re
from typing import Any

from tmalab.array_views import ArrayView, view_of
from tmalab.descriptor import SIZE, DescriptorError
from tmalab.texts import text

_COLON = re.compile(r"\s*(?:0x)?([0-9a-fA-F]+)\s*(?:<[^>]*>)?:(.*)")  # address: words, as gdb and xxd print
_COLUMN = re.compile(r"([0-9a-fA-F]{6,16})((?:\s+[0-9a-fA-F]{2})+)\s*(?:\|.*\|)?\s*")  # hexdump -C, od -Ax -tx1
_SEPARATORS = re.compile(r"[\s,{}\[\]()]+")
_WORD = re.compile(r"0[xX][0-9a-fA-F]+")
_LISTED = (re.compile(r"\{([^{}]*)\}"), re.compile(r"\[([^\[\]]*)\]"))  # what the innermost braces, or brackets, hold
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]{1,20})[uUlL]*")  # as C spells it
_REPEATED = re.compile(r"(\w+)\s*<repeats ([0-9]{1,3}) times>")  # as gdb prints equal numbers
_DIGIT_PAIRS = re.compile(r"\s*[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2})+\s*")
_PYTHON_BYTES = re.compile(r"\s*(?:bytearray\(\s*)?(b(['\"]).*\2)[\s)]*", re.DOTALL)
COUNTS = (16, 32, 64, SIZE)  # of numbers that 128 bytes can be


def bytes_of(given: object) -> bytes:
    """The 128 bytes in an object: bytes, a buffer, an array of any library, a CUtensorMap, or text.

    An array in a GPU's memory is copied. TypeError for what holds no bytes, DescriptorError (a ValueError) for another
    number of them, for text that cannot be read, and for a GPU's memory that cannot.
    """
    if isinstance(given, str):
        return from_text(given)
    data = _live_bytes(given)
    if data is None:
        raise TypeError(text("map.descriptor-type", type=type(given).__name__))
    if len(data) != SIZE:
        raise DescriptorError(text("map.descriptor-size", size=len(data)))
    return data


def from_text(dump: str) -> bytes:
    """The 128 bytes in text: digits, numbers, or what gdb, xxd or hexdump -C print. DescriptorError for anything else.

    Numbers, in hexadecimal with 0x or in decimal, are words of 128 / their number bytes, least significant byte first,
    unless there is only one; digits without 0x are bytes in their order.
    """
    if found := _PYTHON_BYTES.fullmatch(dump):
        return _of_python(found[1])
    if _DIGIT_PAIRS.fullmatch(dump):
        dump = dump.replace(":", " ").replace("-", " ")
    if numbers := _listed_numbers(dump):
        return _from_words(numbers)
    lines = [_line(line) for line in dump.splitlines() if line.strip()]
    if not lines:
        raise DescriptorError(text("map.descriptor-size", size=0))
    if len(lines) > 1 and lines[0][0] is not None and lines[-1][0] is None and len(lines[-1][1]) == 1:
        (last,) = lines[-1][1]
        if re.fullmatch(r"[0-9a-fA-F]+", last):
            lines[-1] = int(last, 16), []  # an address ends the dump
    tokens = _tokens(lines)
    if len(tokens) > 1 and all(map(_WORD.fullmatch, tokens)):
        return _from_words([int(word, 16) for word in tokens])
    digits = "".join(tokens)
    if len(tokens) in COUNTS and len(digits) != 2 * SIZE and digits.isdecimal() and digits.isascii():
        return _from_words([int(word[:40]) for word in tokens])
    digits = digits[2:] if digits[:2] in ("0x", "0X") else digits
    if not re.fullmatch(r"[0-9a-fA-F]+", digits):
        raise DescriptorError(text("map.descriptor-text"))
    if len(digits) != 2 * SIZE:
        raise DescriptorError(text("map.descriptor-digits", count=len(digits), wanted=2 * SIZE))
    return bytes.fromhex(digits)


def address_in(dump: str) -> int | None:
    """Where the map object lies, if text begins with what gdb prints before the words of memory.

    >>> hex(address_in("0x7fffcafe0040 <map+64>:  0x1000 0x0"))
    '0x7fffcafe0040'
    """
    found = re.match(r"\s*(0x[0-9a-fA-F]{1,16})\s*(?:<[^>]*>)?:", dump)
    return int(found[1], 16) if found else None


def _of_python(literal: str) -> bytes:
    """The 128 bytes that Python's own spelling stands for."""
    try:
        data = ast.literal_eval(literal)
    except (SyntaxError, ValueError, MemoryError):
        raise DescriptorError(text("map.descriptor-text")) from None
    if len(data) != SIZE:
        raise DescriptorError(text("map.descriptor-size", size=len(data)))
    return data


def _listed_numbers(dump: str) -> list[int]:
    """The numbers of an initialiser, a printed struct or a list; none where it is no such thing.

    >>> _listed_numbers("unsigned char map[4] = {0x10, 0x20u, 3};"), _listed_numbers("{0x1 <repeats 2 times>}")
    ([16, 32, 3], [1, 1])
    """
    if dump.strip()[-1:] not in ("}", "]", ";", ")"):  # the characters that xxd prints may be brackets as well
        return []
    lists = _LISTED[0].findall(dump) or _LISTED[1].findall(dump)
    listed = _REPEATED.sub(lambda found: f"{found[1]}, " * int(found[2]), ", ".join(lists))
    found = [_NUMBER.fullmatch(token) for token in _SEPARATORS.split(listed) if token]
    numbers = [number[1] for number in found if number]
    if len(numbers) < max(2, len(found)) or all(len(number) == 2 for number in numbers):  # digits of bytes, without 0x
        return []
    return [int(number, 16 if number[1:2] in ("x", "X") else 10) for number in numbers]


def _line(line: str) -> tuple[int | None, list[str]]:
    """The address before a line of a dump, where there is one, and its tokens."""
    address, rest = None, line
    if match := _COLON.fullmatch(line):
        address, rest = int(match[1], 16), match[2].strip()
        if not _WORD.match(rest):
            rest = rest.split("  ")[0]  # xxd writes the characters behind two spaces
    elif match := _COLUMN.fullmatch(line):
        address, rest = int(match[1], 16), match[2]
    return address, [token for token in _SEPARATORS.split(rest) if token]


def _tokens(lines: list[tuple[int | None, list[str]]]) -> list[str]:
    """All tokens. A line that is only `*` stands for repetitions of the one before, up to the next line's address."""
    tokens: list[str] = []
    previous: list[str] = []
    starred, start = False, lines[0][0]
    for address, line in lines:
        if line == ["*"]:
            starred = True
            continue
        if starred and previous and address is not None and start is not None:
            done = len("".join(tokens)) // 2
            tokens += previous * min(SIZE, (address - start - done) // (len("".join(previous)) // 2))
        tokens, previous, starred = tokens + line, line, False
    return tokens


def _from_words(words: list[int]) -> bytes:
    if len(words) not in COUNTS:
        raise DescriptorError(text("map.descriptor-words", count=len(words)))
    width, largest = SIZE // len(words), max(words)
    if largest >> 8 * width:
        raise DescriptorError(text("map.descriptor-large-word", count=len(words), word=hex(largest)[:40], width=width))
    return b"".join(word.to_bytes(width, "little") for word in words)


def _live_bytes(given: Any) -> bytes | None:
    try:
        return memoryview(given).tobytes()
    except Exception:
        pass
    try:
        return ctypes.string_at(given.getPtr(), SIZE)  # cuda.bindings: CUtensorMap
    except Exception:
        pass
    view = view_of(given)
    if view is None:
        return None
    size = view.itemsize
    for n in view.shape:
        size *= n
    if size != SIZE or not view.contiguous:
        raise DescriptorError(text("map.descriptor-size" if size != SIZE else "map.descriptor-scattered", size=size))
    return view.host.tobytes() if view.host is not None else _from_device(view)


def _from_device(view: ArrayView) -> bytes:
    """The 128 bytes at an address of a GPU's memory."""
    from tmalab.gpu.device import DriverError, call

    memory = (ctypes.c_uint8 * SIZE)()
    try:
        call("cuMemcpyDtoH", ctypes.addressof(memory), view.address, SIZE)
    except (ImportError, DriverError, RuntimeError, OSError) as error:
        raise DescriptorError(text("map.descriptor-on-device", reason=error)) from None
    return bytes(memory)
