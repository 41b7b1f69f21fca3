"""The assembler that makes what is launched, what takes its place where it is missing, and machine code as text."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from numba import cuda

from tmalab import kernel, ptx
from tmalab.gpu import ptxas
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.errors import CompileError
from tmalab.kernels import gemm_naive

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
GOOD = f"{HEAD}.visible .entry k() .maxntid 384 .minnctapersm 1 {{ setmaxnreg.dec.sync.aligned.u32 40; ret; }}"
OUT = np.zeros(128, np.int32)


@kernel
def fill(out):
    out[cuda.threadIdx.x] = ptx.cluster_ctarank() + 1


def test_ptxas_hands_registers_on():
    made = ptxas.assembled(GOOD, "k")
    assert (made.by, made.cubin[:4], made.usage.losses) == ("ptxas", b"\x7fELF", ())
    assert "USETMAXREG" in ptxas.disassembled(made.cubin)


def test_a_kernel_that_hands_registers_on_says_how_many_it_begins_with():
    @kernel
    def gives(out):
        ptx.setmaxnreg_dec(40)
        out[0] = 1

    found = compile_kernel(gives.function, (OUT,), 384)
    assert (found.usage.registers, found.usage.losses) == (168, ())  # as many as 384 threads can have
    assert "USETMAXREG" in found.sass


def test_without_ptxas_nvjitlink_assembles_and_says_what_is_lost(monkeypatch):
    monkeypatch.setattr(ptxas, "tool", lambda name: None)
    made = ptxas.assembled(GOOD, "k")
    assert (made.by, made.cubin[:4]) == ("nvJitLink", b"\x7fELF")
    assert any("setmaxnreg" in loss and "C7504" in loss for loss in made.usage.losses)


def test_an_assembler_of_another_release_is_left_alone(monkeypatch):
    def answers(version):
        text = f"Cuda compilation tools, release {version}, V{version}.1\n"
        return lambda *_: subprocess.CompletedProcess((), 0, text, "")

    monkeypatch.setattr("cuda.pathfinder.find_nvidia_binary_utility", lambda name: f"/toolkit/{name}")
    found = {}
    for version in ("12.8", "13.0", "13.5", "14.0"):
        monkeypatch.setattr(ptxas, "_call", answers(version))
        ptxas.tool.cache_clear()
        found[version] = ptxas.tool("ptxas")
    ptxas.tool.cache_clear()
    assert found == {"12.8": None, "13.0": "/toolkit/ptxas", "13.5": "/toolkit/ptxas", "14.0": None}


def test_where_no_program_may_start_there_is_no_ptxas(monkeypatch):
    def refused(*_, **__):
        raise PermissionError("fork")

    monkeypatch.setattr(subprocess, "run", refused)
    ptxas.tool.cache_clear()
    try:
        assert ptxas.assembled(GOOD, "k").by == "nvJitLink"
    finally:
        ptxas.tool.cache_clear()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("bra NOWHERE; ret;", "the assembler refuses the kernel: .*NOWHERE"),
        (".shared .b8 a[300000]; ret;", None),
        ("frobnicate.b32 %r0; ret;", "the assembler refuses the kernel: "),
    ],
)
def test_what_ptxas_refuses_is_one_sentence(body, sentence):
    with pytest.raises(CompileError, match=sentence) as caught:
        ptxas.assembled(f"{HEAD}.visible .entry k() {{ {body} }}", "k")
    assert "\n" not in str(caught.value)
    assert "/tmp" not in str(caught.value)


def test_a_kernels_machine_code_is_shown():
    text = fill.sass((OUT,))
    assert re.search(r"S2UR|S2R", text)
    assert "EXIT" in text
    assert text == compile_kernel(fill.function, (OUT,), 128).sass


def test_a_kernels_machine_code_is_counted(monkeypatch):
    how = gemm_naive.launch_of(*[np.zeros((64, 64), np.uint16)] * 3)
    counts = how["kernel"].counts(how["args"], how["block"])
    text = how["kernel"].sass(how["args"], how["block"])
    assert counts["wgmmas"] == text.count("HGMMA.64x64x16")
    assert counts["tma_instructions"] == text.count("UTMALDG.2D") == counts["bulk_tensor_copies"]
    assert 32 < counts["registers"] <= 255
    assert counts["spilled_bytes"] == 0
    last = max(int(address, 16) for address in re.findall(r"/\*([0-9a-f]{4,})\*/", text))
    assert counts["machine_instructions"] == last // 16 + 1  # each takes 16 bytes
    monkeypatch.setattr("tmalab.gpu.compile.tool", lambda name: None)
    fewer = how["kernel"].counts(how["args"], how["block"])
    assert fewer == {name: counts[name] for name in fewer}
    assert set(counts) - set(fewer) == {"machine_instructions", "wgmmas", "tma_instructions"}


def test_without_nvdisasm_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(ptxas, "tool", lambda name: None)
    with pytest.raises(CompileError, match="needs nvdisasm: install"):
        ptxas.disassembled(b"")
