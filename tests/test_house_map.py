"""`tmalab map`: fields, broken rules with value, limit and nearest legal value, and exit statuses."""

from __future__ import annotations

import json
import struct
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tmalab import TensorMap
from tmalab.bootstrap import ROOT
from tmalab.cli import main
from tmalab.tensormap_replace import replaced

LEGAL = {
    "data_type": "FLOAT16",
    "global_address": "0x1000",
    "global_dim": [128, 16],
    "global_strides": [256],
    "box_dim": [64, 8],
    "swizzle": "B128",
}


def tmalab_map(source: object, *options: str):
    """Exit status, stdout and stderr of `tmalab map`."""
    source = source if isinstance(source, str) else json.dumps(source)
    result = CliRunner().invoke(main, ["map", *options, "--", source], prog_name="tmalab")
    return result.exit_code, result.stdout, result.stderr


def as_json(source: object) -> tuple[int, dict]:
    """Exit status and the one JSON object; nothing else may be on stdout."""
    status, stdout, stderr = tmalab_map(source, "--json")
    assert stderr == ""
    assert stdout.count("\n") == 1
    return status, json.loads(stdout)


def test_a_legal_map_exits_with_0_and_shows_what_follows_from_its_fields():
    status, found = as_json(LEGAL)
    assert (status, found["legal"], found["violations"]) == (0, True, [])
    assert found["derived"]["transaction_bytes"] == 64 * 8 * 2
    assert found["fields"]["swizzle"] == "B128"


def test_every_broken_rule_is_listed_with_value_limit_and_nearest_legal_value():
    status, found = as_json({**LEGAL, "global_dim": [100, 64], "global_strides": [200], "box_dim": [80, 8]})
    assert (status, found["legal"]) == (1, False)
    stride, span = (violation["message"] for violation in found["violations"])
    assert all(part in stride for part in ("global_strides[0]", "200", "16", "208"))
    assert all(part in span for part in ("box_dim[0]", "160", "128", "64"))


def test_enumerations_go_by_name_by_cudas_name_or_by_number():
    for name in ("B128", "128b", 3):
        assert as_json({**LEGAL, "swizzle": name})[1]["fields"]["swizzle"] == "B128"


@pytest.mark.parametrize(
    ("name", "cudas", "ours"),
    [
        ("data_type", "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", "BFLOAT16"),
        ("swizzle", "CU_TENSOR_MAP_SWIZZLE_128B", "B128"),
        ("l2_promotion", "CU_TENSOR_MAP_L2_PROMOTION_L2_256B", "B256"),
        ("oob_fill", "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA", "NAN"),
        ("interleave", "CU_TENSOR_MAP_INTERLEAVE_NONE", "NONE"),
        ("swizzle", "3", "B128"),
    ],
)
def test_the_enumerators_of_cuda_h_are_read(name, cudas, ours):
    assert as_json({**LEGAL, name: cudas})[1]["fields"][name] == ours


def test_what_blackwell_added_is_judged_and_not_unreadable():
    status, found = as_json({**LEGAL, "swizzle": "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B"})
    assert (status, [violation["rule"] for violation in found["violations"]]) == (1, ["swizzle"])


def test_numbers_may_be_written_as_text_in_lists_too():
    assert as_json({**LEGAL, "global_strides": ["0x100"], "box_dim": ["64", 8]}) == as_json(LEGAL)


def test_a_number_that_is_no_member_is_a_broken_rule():
    status, found = as_json({**LEGAL, "data_type": 13})
    assert status == 1
    assert "UINT8" in found["violations"][0]["message"]


def test_a_file_is_read(tmp_path):
    (tmp_path / "map.json").write_text(json.dumps(LEGAL))
    assert tmalab_map(str(tmp_path / "map.json"))[0] == 0


def test_128_bytes_are_decoded_from_hexadecimal_digits_or_from_a_file_of_them(tmp_path):
    digits = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3).encode().hex()
    (tmp_path / "map.hex").write_text(f"{digits[:128]}\n{digits[128:]}\n")
    for source in (digits, f"0x{digits}", str(tmp_path / "map.hex")):
        status, found = as_json(source)
        assert (status, found["legal"]) == (0, True)
        assert found["fields"] == as_json(LEGAL)[1]["fields"]


def test_an_encoded_map_that_breaks_a_rule_is_decoded_and_judged():
    digits = bytearray(TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3).encode())
    digits[0] |= 8  # the address is now 0x1008
    status, found = as_json(digits.hex())
    assert (status, [violation["rule"] for violation in found["violations"]]) == (1, ["address-multiple"])


IM2COL = {
    "data_type": "FLOAT16",
    "global_address": "0x1000",
    "global_dim": [64, 5, 8],
    "global_strides": [128, 640],
    "pixel_box_lower_corner": [0],
    "pixel_box_upper_corner": [-2],
    "channels_per_pixel": 64,
    "pixels_per_column": 32,
    "swizzle": "B128",
}


def test_the_corners_make_it_an_im2col_map_whose_positions_are_shown():
    """cases.md M12: 5 positions without an upper corner, 3 with one of -2."""
    status, found = as_json(IM2COL)
    assert (status, found["kind"], found["derived"]["bounding_box"]) == (0, "im2col", [3])
    assert found["derived"]["transaction_bytes"] == 64 * 32 * 2
    assert as_json({**IM2COL, "pixel_box_upper_corner": [0]})[1]["derived"]["bounding_box"] == [5]
    assert as_json(LEGAL)[1]["kind"] == "tiled"


def test_an_im2col_map_is_judged_by_its_own_rules():
    status, found = as_json({**IM2COL, "pixel_box_upper_corner": [-5], "pixels_per_column": 1025})
    assert (status, [violation["rule"] for violation in found["violations"]]) == (1, ["pixel-box", "pixels-range"])


def test_an_encoded_im2col_map_is_decoded():
    tm = TensorMap.im2col(6, 0x1000, (64, 5, 8), (128, 640), (0,), (-2,), 64, 32, swizzle=3)
    assert as_json(tm.encode().hex())[1]["fields"] == as_json(IM2COL)[1]["fields"]


def test_a_file_of_128_bytes_is_decoded(tmp_path):
    (tmp_path / "map.bin").write_bytes(TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3).encode())
    assert as_json(str(tmp_path / "map.bin")) == as_json(LEGAL)
    (tmp_path / "map.bin").write_bytes(bytes(256))
    status, found = as_json(str(tmp_path / "map.bin"))
    assert (status, found["error"]) == (2, "data has 256 bytes, but a tensor map has 128")


def test_what_a_debugger_prints_is_decoded(tmp_path):
    data = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3).encode()
    words = [f"{int.from_bytes(data[i : i + 8], 'little'):#018x}" for i in range(0, 128, 8)]
    dump = "\n".join(f"0x7fff{i:02x}:\t{words[i]}\t{words[i + 1]}" for i in range(0, 16, 2))
    (tmp_path / "gdb.txt").write_text(dump)
    assert as_json(str(tmp_path / "gdb.txt")) == as_json(dump) == as_json(LEGAL)


def test_a_map_that_a_kernel_edited_is_decoded_and_what_gives_it_away_is_said():
    """cases.md M20: the API's number of bfloat16 where PTX's belongs."""
    tm = TensorMap(9, 0x1000, (128, 16), (256,), (64, 8))
    status, found = as_json(replaced(tm.encode(), "box_dim", 1, 4).hex())
    assert (status, found["fields"]["box_dim"]) == (0, [64, 4])
    assert '"box bytes" holds 1024' in found["warnings"][0]
    status, found = as_json(replaced(tm.encode(), "elemtype", None, 9).hex())
    assert (found["fields"]["data_type"], status) == ("FLOAT64", 0)
    assert "in the API BFLOAT16" in found["warnings"][0]


def test_bytes_that_are_no_map_are_shown_field_by_field_all_the_same():
    status, found = as_json("ff" * 128)
    assert status == 2
    said = {row["field"]: row for row in found["bits"]}
    assert said["rank - 1"] == {"bits": "68 to 70", "field": "rank - 1", "value": 7}
    assert "global_dim[4] - 1" in tmalab_map("ff" * 128)[1]


def test_warnings_are_shown_for_a_legal_map():
    status, stdout, _ = tmalab_map({**LEGAL, "global_address": 0})
    assert status == 0
    assert "global_address is null" in stdout


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("no-such-file.json", "no-such-file.json"),
        ('{"data_type": ', "JSON"),
        ({"data_type": 6}, "global_address, global_dim"),
        ({**LEGAL, "boxdim": [1]}, "boxdim"),
        ({**LEGAL, "swizzle": "B256"}, "NONE, B32, B64, B128"),
        ({**LEGAL, "data_type": "FLOAT8"}, "UINT8"),
        ({**LEGAL, "global_address": "here"}, "global_address"),
        ({**LEGAL, "box_dim": [64.0, 8]}, "box_dim[0]"),
        ({**LEGAL, "box_dim": 64}, "box_dim"),
        ({**LEGAL, "pixel_box_lower_corner": [0]}, "box_dim"),
        ({"pixels_per_column": 3}, "missing argument(s): data_type"),
        ('["data_type"]', "list"),
        ("0x1 0x2\n0x3", "3 numbers"),
        ("00" * 127, "254"),
        ("ff" * 128, "rank - 1"),
    ],
)
def test_what_is_no_map_exits_with_2_and_one_sentence(source, said):
    status, stdout, stderr = tmalab_map(source)
    assert status == 2
    assert stdout == "" or source == "ff" * 128  # what 128 bytes hold all the same
    assert len(stderr.splitlines()) == 1
    assert said in stderr
    status, found = as_json(source)
    assert (status, found["legal"]) == (2, None)
    assert said in found["error"]


def test_the_command_is_python_m_tmalab():
    command = [sys.executable, "-m", "tmalab", "map", "--json", json.dumps(LEGAL)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (result.returncode, json.loads(result.stdout)["legal"]) == (0, True)


def test_the_arguments_are_the_constructors():
    from dataclasses import fields

    from tmalab.map_command import OPTIONAL, REQUIRED
    from tmalab.tensor_map_fields import Fields

    assert [*REQUIRED[Fields], *OPTIONAL] == [field.name for field in fields(TensorMap) if field.name != "array"]


def test_m16_a_map_object_at_64_modulo_128_is_legal_with_a_warning():
    words = struct.unpack("<16Q", TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3).encode())
    for start, said in ((0x7FFF_0040, "not 128-byte aligned"), (0x7FFF_0020, "not 64-byte aligned"), (0x7FFF_0080, "")):
        lines = [f"{start + 8 * i:#x}:\t{words[i]:#x}\t{words[i + 1]:#x}" for i in range(0, 16, 2)]
        status, found = as_json("\n".join(lines))
        assert (status, found["fields"]) == (0, as_json(LEGAL)[1]["fields"])
        assert [said in warning for warning in found["warnings"]] == [True] * bool(said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "0 bytes"),
        (b"// a comment\n{}", "this JSON cannot be read"),
        (b'{"data_type": 6,}', "this JSON cannot be read"),
        (b'[{"data_type": 6}]', "not a list"),
        (b'"FLOAT16"', "not a str"),
        (b"\xff\xfd" * 64, "rank - 1"),
        (b"caf\xe9", "4 bytes"),
        (bytes(128), "all are zero"),
        (b"[" * 100_000, "data is text"),
        (b'{"a":' * 100_000, "this JSON cannot be read"),
        (b'{"data_type": ' + b"9" * 5000 + b"}", "this JSON cannot be read"),
    ],
    ids=range(11),
)
def test_a_file_that_holds_no_map_is_said_to_in_one_sentence(tmp_path, content, said):
    (tmp_path / "map").write_bytes(content)
    status, found = as_json(str(tmp_path / "map"))
    assert (status, found["legal"]) == (2, None)
    assert said in found["error"]
    assert len(found["error"]) < 300


def test_long_text_is_not_said_again_in_full():
    for source in ({**LEGAL, "global_address": "9" * 5000}, "g" * 5000):
        assert len(as_json(source)[1]["error"]) < 200


def test_a_directory_is_no_map(tmp_path):
    assert as_json(str(tmp_path))[0] == 2


def test_text_that_powershell_wrote_is_read(tmp_path):
    (tmp_path / "map.json").write_text(json.dumps(LEGAL), "utf-16")
    assert tmalab_map(str(tmp_path / "map.json"))[0] == 0


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "map.json").write_text(json.dumps(LEGAL), "utf-8-sig")
    assert tmalab_map(str(tmp_path / "map.json"))[0] == 0
