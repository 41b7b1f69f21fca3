"""`tmalab map`: fields, broken rules with value, limit and nearest legal value, and exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tmalab import TensorMap
from tmalab.bootstrap import ROOT
from tmalab.cli import main

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
        ({**LEGAL, "pixel_box_lower_corner": [0]}, "im2col"),
        ("00" * 127, "254"),
        ("ff" * 128, "im2col"),
    ],
)
def test_what_is_no_map_exits_with_2_and_one_sentence(source, said):
    status, stdout, stderr = tmalab_map(source)
    assert (status, stdout) == (2, "")
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

    assert [*REQUIRED, *OPTIONAL] == [field.name for field in fields(TensorMap) if field.name != "array"]


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "map.json").write_text(json.dumps(LEGAL), "utf-8-sig")
    assert tmalab_map(str(tmp_path / "map.json"))[0] == 0
