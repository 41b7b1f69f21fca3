"""The 128 bytes from live objects, files and dumps."""

import ctypes
import struct
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_tensor_map_fields import STRANGE, anything

from tmalab import TensorMap
from tmalab.descriptor_sources import address_in, bytes_of

TM = TensorMap(9, 0x7F00_1234_5670 & ~15, (640, 64, 8), (1280, 81920), (64, 8, 2), swizzle=3)
DATA = TM.encode()


class DeviceBytes:
    """An object in a GPU's memory, as CuPy shows it."""

    def __init__(self, size=128):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (0x7F00_0000_0000, False)}


class CUtensorMap:
    """The object of cuda.bindings: an address is all that it gives."""

    def __init__(self):
        self.memory = ctypes.create_string_buffer(DATA, 128)

    def getPtr(self):
        return ctypes.addressof(self.memory)


class Exporter:
    """Host memory that is known by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()


@pytest.mark.parametrize(
    "given",
    [
        DATA,
        bytearray(DATA),
        memoryview(DATA),
        np.frombuffer(DATA, np.uint8),
        np.frombuffer(DATA, np.uint64),
        np.frombuffer(DATA, np.uint8).reshape(2, 64),
        (ctypes.c_uint8 * 128).from_buffer_copy(DATA),
        CUtensorMap(),
        Exporter(np.frombuffer(bytearray(DATA), np.uint8)),
        DATA.hex(),
        "0x" + DATA.hex(),
        DATA.hex(" "),
        DATA.hex("\n", 16),
    ],
    ids=lambda given: type(given).__name__,
)
def test_any_object_that_holds_the_bytes_is_decoded(given):
    assert TensorMap.decode(given) == TM


def gdb(letter: str, size: int, prefix: str = "0x7fffffffe{:03x} <map+{}>:") -> str:
    """What `x/{128/size}x{letter} &map` prints."""
    numbers = [f"{word:#0{2 + 2 * size}x}" for (word,) in struct.iter_unpack(f"<{letter}", DATA)]
    each = 16 // size if size > 1 else 8
    lines = [numbers[i : i + each] for i in range(0, len(numbers), each)]
    return "\n".join(prefix.format(i * 16, i * 16) + "\t" + "\t".join(line) for i, line in enumerate(lines))


@pytest.mark.parametrize(("letter", "size"), [("B", 1), ("H", 2), ("I", 4), ("Q", 8)])
def test_what_gdb_prints_is_words_of_any_size(letter, size):
    assert bytes_of(gdb(letter, size)) == DATA


def test_a_struct_as_a_debugger_prints_it():
    assert bytes_of("{" + ", ".join(hex(word) for (word,) in struct.iter_unpack("<Q", DATA)) + "}") == DATA


WORDS = [word for (word,) in struct.iter_unpack("<Q", DATA)]
SPELLINGS = {
    "C": f"const unsigned char map[128] = {{{', '.join(f'0x{byte:02X}' for byte in DATA)}}};\n",
    "C words": f"CUtensorMap map = {{ .opaque = {{ {', '.join(f'{word:#x}ull' for word in WORDS)} }} }};",
    "gdb p": f"$1 = {{opaque = {{{', '.join(map(str, WORDS[:12]))}, 0 <repeats 4 times>}}}}",
    "gdb p/x": f"$1 = {{opaque = {{{', '.join(map(hex, WORDS[:12]))}, 0x0 <repeats 4 times>}}}}",
    "Python list": str(list(DATA)),
    "Python bytes": repr(DATA),
    "Python bytearray": repr(bytearray(DATA)),
    "NumPy": str(np.frombuffer(DATA, np.uint8)),
    "repr of NumPy": repr(np.frombuffer(DATA, np.uint8).reshape(8, 16)),
    "decimal": ", ".join(map(str, DATA)),
    "colons": DATA.hex(":"),
    "dashes": DATA.hex("-").upper(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_numbers_are_read_as_programs_print_them(spelling):
    assert DATA[96:] == bytes(32)
    assert bytes_of(SPELLINGS[spelling]) == DATA


def test_an_initialiser_of_another_length_is_counted():
    with pytest.raises(ValueError, match="data has 127 numbers, but the 128 bytes"):
        bytes_of(f"{{{', '.join(map(hex, DATA[1:]))}}}")
    with pytest.raises(ValueError, match="128 numbers, of which 0x12c is larger than their 1 byte"):
        bytes_of(str([300, *DATA[1:]]))
    with pytest.raises(ValueError, match="data has 127 bytes"):
        bytes_of(repr(DATA[1:]))


def test_gdb_says_where_the_map_lies_and_others_do_not():
    assert address_in(gdb("Q", 8)) == 0x7FFFFFFFE000
    assert address_in("\n".join(HEXDUMP)) is None
    assert address_in(DATA.hex()) is None


HEXDUMP = [
    f"{i:08x}  {DATA[i : i + 8].hex(' ')}  {DATA[i + 8 : i + 16].hex(' ')}  |................|"
    for i in range(0, 128, 16)
]


def test_hexdump_is_read_with_and_without_its_stars():
    assert bytes_of("\n".join([*HEXDUMP, "00000080", ""])) == DATA
    assert DATA[96:] == bytes(32)
    short = [*HEXDUMP[:6], HEXDUMP[6], "*", "00000080"]
    assert bytes_of("\n".join(short)) == DATA


@pytest.mark.parametrize("command", [["od", "-Ax", "-tx1"], ["od", "-Ax", "-v", "-tx1"]])
def test_what_od_prints_is_read(command, tmp_path):
    (tmp_path / "map").write_bytes(DATA)
    assert bytes_of(subprocess.run([*command, tmp_path / "map"], capture_output=True, text=True).stdout) == DATA


def test_what_xxd_prints_is_read():
    lines = [f"{i:08x}: {DATA[i : i + 16].hex(' ', 2)}  .0  x|{'.' * 11}" for i in range(0, 128, 16)]
    assert bytes_of("\n".join(lines)) == DATA


def test_bytes_of_another_number_are_counted():
    for data, count in ((b"", 0), ("", 0), (" \n", 0), (DATA + b"\0", 129), (np.zeros(32), 256), (DeviceBytes(64), 64)):
        with pytest.raises(ValueError, match=rf"^data has {count} bytes, but a tensor map has 128"):
            TensorMap.decode(data)
    with pytest.raises(ValueError, match=r"data has 254 hexadecimal digits, .* have 256"):
        TensorMap.decode("00" * 127)
    with pytest.raises(ValueError, match="data has 3 numbers"):
        TensorMap.decode("0x1 0x2 0x3")


def test_words_that_are_too_large_for_their_number_are_refused():
    with pytest.raises(ValueError, match="128 numbers, of which 0x100 is larger than their 1 byte"):
        TensorMap.decode(" ".join(["0x100"] * 128))


def test_text_without_digits_is_refused():
    for words in ("map.hex", "0x", "{'a': 1}", "g" * 256):
        with pytest.raises(ValueError, match=r"^data"):
            TensorMap.decode(words)


def test_scattered_bytes_are_refused_on_a_device():
    scattered = DeviceBytes()
    scattered.__cuda_array_interface__["strides"] = (2,)
    with pytest.raises(ValueError, match="do not follow each other"):
        TensorMap.decode(scattered)


def test_a_gpus_memory_is_copied(monkeypatch):
    """The driver is asked for 128 bytes of the address."""
    from tmalab.gpu import device

    def copy(function, destination, source, size):
        assert (function, source, size) == ("cuMemcpyDtoH", 0x7F00_0000_0000, 128)
        ctypes.memmove(destination, DATA, size)

    monkeypatch.setattr(device, "call", copy)
    assert TensorMap.decode(DeviceBytes()) == TM


def test_a_gpus_memory_that_cannot_be_read_is_said_to_be_one(monkeypatch):
    from tmalab.gpu import device

    def refuse(*arguments):
        raise device.DriverError("cuMemcpyDtoH", 100, "CUDA_ERROR_NO_DEVICE")

    monkeypatch.setattr(device, "call", refuse)
    with pytest.raises(ValueError, match=r"data lies in a GPU's memory, which cannot be read here: .*NO_DEVICE"):
        TensorMap.decode(DeviceBytes())


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_a_strange_value_is_refused_by_its_name(value):
    with pytest.raises((ValueError, TypeError), match=r"^data"):
        TensorMap.decode(value)


@given(anything)
def test_random_values_raise_nothing_else(value):
    with pytest.raises((ValueError, TypeError), match=r"^data"):
        TensorMap.decode(value)


@given(st.text(max_size=400))
def test_random_text_raises_nothing_else(value):
    with pytest.raises(ValueError, match=r"^data"):
        TensorMap.decode(value)
