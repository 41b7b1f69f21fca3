"""The ladder in CUDA C++: each twin compiles without a remark and issues what its Python kernel issues."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tmalab import Swizzle, kernels, ptx
from tmalab.gpu.errors import CompileError
from tmalab.gpu.ptxas import assembled
from tmalab.kernels import twins
from tmalab.kernels.launches import launch_of
from tmalab.wgmma_descriptor import WgmmaDescriptor

WRITTEN = re.compile(r"\bptx(?:\.|::)(\w+)(?:<(\w+)>)?\(|\b(multiply)\(")
AS_IN_PYTHON = (  # what C++ writes in its own way
    *((r"\[([^\[\]]*)\]\[", r"[\1, "),) * 2,  # one index after the other
    *(
        (r" ?:\]", "]"),
        (r"&(?=staging)", ""),
        (r"\b(?:at|place|Swizzle)\.", ""),
        (r"//", "/"),
        (r"\|\|", "or"),
        (r"::", "."),
    ),
    *((r"\s+", " "), (r"\( ", "("), (r" \)", ")")),
)
HEADERS = ("ptx.cuh", "wgmma.cuh")
ELF = b"\x7fELF"


def functions() -> dict[str, tuple[str, str]]:
    """The functions of the headers: name, to the parameters and the body."""
    found = {}
    for header in HEADERS:
        code = re.sub(r"[ \t]*//.*", "", (twins.FOLDER / header).read_text("utf-8"))
        for name, parameters, body in re.findall(
            r"__device__ inline \w+ (\w+)\(([^{]*)\) \{(.*?)(?:\n\}|\}\n)", code, re.DOTALL
        ):
            found[name] = parameters, body
    del found["shared"]  # what names an address, no instruction
    return found


def assembly(body: str) -> str:
    """The PTX in a function, its operands named: what is returned is the result."""
    body = re.sub(r"FLOATS_(\d+)\(acc, \d+\)", lambda found: ", ".join(['"+f"(acc)'] * int(found[1])), body)
    literals = re.search(r'asm(?: volatile)?\(\s*((?:"[^"]*"\s*)+)', body)[1]
    written = "".join(re.findall(r'"([^"]*)"', literals))
    constraints = re.findall(r'"([=+]?[rlhfn])"\s*\(((?:[^()]|\([^()]*\))*)\)', body)
    names = [
        "result" if kind[0] == "=" else re.findall(r"[A-Za-z_]\w*", given)[-1].lower() for kind, given in constraints
    ]
    named = re.sub(r"(?<!%)%(\d+)", lambda found: f"${names[int(found[1])]}", written).replace("%%", "%")
    return re.sub(r"\{\$acc(, \$acc)+\}", "$acc", named)


def expected(name: str) -> str:
    """The instruction of that name in Python, with the defaults of what the twins leave to them."""
    text = ptx.INSTRUCTIONS[name].text
    for operand, value in {"scale_a": 1, "scale_b": 1, "trans_a": 0, "trans_b": 0}.items():
        text = text.replace(f"${operand}", str(value))
    if "try_wait" in name:  # a predicate, which no function of C++ can return
        return f"{{ .reg .pred done; {text.replace('$result', 'done')} selp.b32 $result, 1, 0, done; }}"
    return text


def operands(path: Path) -> list[str]:
    """What a source hands to each instruction, template arguments last, in Python's way of writing."""
    python, found = path.suffix == ".py", []
    code = re.sub(r"  #.*" if python else r"\s*//.*", "", path.read_text("utf-8"))
    for call in WRITTEN.finditer(code):
        depth, end = 1, call.end()
        while depth:
            depth += (code[end] in "([") - (code[end] in ")]")
            end += 1
        given = ", ".join(part for part in (code[call.end() : end - 1].strip().rstrip(","), call[2]) if part)
        for there, here in AS_IN_PYTHON:
            given = re.sub(there, here, given)
        name = call[1] or call[3]
        if not twins.DECLARATIONS.fullmatch(name):
            found.append(f"{twins.CHOSEN.get(name, name)}({given})")
    return found


def test_every_kernel_of_the_ladder_has_a_twin():
    assert {path.stem for path in twins.FOLDER.glob("*.cu")} == set(kernels.LADDER)


@pytest.mark.parametrize("name", kernels.LADDER)
def test_a_twin_compiles_without_a_remark(name):
    twin = twins.compiled(name)
    assert twin.log == ""
    assert twin.cubin.startswith(ELF)
    usage = assembled(twin.ptx, name).usage
    assert (usage.spilled, usage.stack, usage.losses) == (0, 0, ())


@pytest.mark.parametrize("name", kernels.LADDER)
def test_a_twin_calls_the_same_instructions_in_the_same_order(name):
    pairs = twins.beside(name)
    assert [ours.name for ours, _ in pairs] == [twin.name for _, twin in pairs]
    assert len(pairs) >= 4


def test_what_the_products_share_calls_the_same_instructions_in_the_same_order():
    shared = [twins.calls(path) for path in (Path(kernels.__path__[0], "gemm.py"), twins.FOLDER / "gemm.cuh")]
    ours, theirs = ([call.name for call in calls] for calls in shared)
    assert ours == theirs
    assert "stmatrix_x4" in ours


@pytest.mark.parametrize("name", [*kernels.LADDER, "gemm"])
def test_a_twin_hands_them_the_same_operands(name):
    twin = twins.FOLDER / ("gemm.cuh" if name == "gemm" else f"{name}.cu")
    ours, theirs = operands(Path(kernels.__path__[0], f"{name}.py")), operands(twin)
    assert ours == theirs
    assert len(ours) >= 4


@pytest.mark.parametrize(
    "name",
    [  # the longest: gemm_cluster has all that it has
        *(name for name in kernels.LADDER if name != "gemm_persistent"),
        pytest.param("gemm_persistent", marks=pytest.mark.slow),
    ],
)
def test_a_twin_issues_the_same_asynchronous_instructions(name):
    how = launch_of(name)
    ours, theirs = twins.asynchronous(how["kernel"].ptx(how["args"])), twins.asynchronous(twins.compiled(name).ptx)
    assert ours.keys() == theirs.keys()
    assert {opcode for opcode in ours if ours[opcode] != theirs[opcode]} == set(twins.DIFFERENCES.get(name, {}))


def test_a_function_of_the_headers_is_the_instruction_of_tmalab():
    """The same text, with its parameters in the same places and in the same order."""
    found = functions()
    assert len(found) > 30
    for name, (parameters, body) in found.items():
        made = ptx.INSTRUCTIONS[name]
        if name != "wgmma_descriptor":
            assert assembly(body) == expected(name)
        theirs = [
            re.findall(r"[a-z_]\w*", parameter.split("=")[0])[-1] for parameter in parameters.split(",") if parameter
        ]
        assert theirs == [operand for operand in made.operands if operand in theirs], name


@pytest.mark.parametrize("n", [64, 128, 256])
def test_the_registers_of_an_accumulator_are_in_order(n):
    code = (twins.FOLDER / "wgmma.cuh").read_text("utf-8").replace("\\\n", " ")
    macros = dict(re.findall(r"#define (FLOATS_\d+)\(acc, i\) (.*)", code))
    body = functions()[f"wgmma_m64n{n}k16_f32_bf16"][1]
    numbers = re.search(r"bf16 \{(.*?)\}", re.sub(r'"\s*"', "", body))[1]
    assert numbers == ", ".join(f"%{register}" for register in range(n // 2))
    while "FLOATS" in body:
        body = re.sub(
            r"(FLOATS_\d+)\(acc, ([^()]*)\)", lambda found: re.sub(r"\bi\b", found[2], macros[found[1]]), body
        )
    registers = [eval(index) for index in re.findall(r"acc\[([^]]*)\]", body)]
    assert registers == list(range(n // 2))


@pytest.mark.parametrize("address", [0x400, 0x4000, 0x3FC00])
@pytest.mark.parametrize("swizzle", list(Swizzle))
def test_the_descriptor_has_the_bits_of_tmalabs(address, swizzle):
    """C++'s expressions, which Python reads alike but for the width of its integers."""
    lines = dict(re.findall(r"uint32_t (\w+) = (.*);", functions()["wgmma_descriptor"][1]))
    values = {"tile": address, "swizzle": int(swizzle), "stride_bytes": 1024, "leading_bytes": 16, "shared": int}
    low, high = (eval(lines[word].replace("4u", "4"), values) & 0xFFFFFFFF for word in ("low", "high"))
    assert high << 32 | low == WgmmaDescriptor(address, swizzle, stride_bytes=1024, leading_bytes=16).encode() % 2**64


def test_instructions_are_counted_by_their_opcodes():
    text = """
        @%p1 mbarrier.init.shared::cta.b64 [%r3], %r4;  // fence.proxy.async in a comment
        { .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2; @!done bra WAIT; }
        cp.async.bulk.wait_group.read 1;  cp.async.bulk.wait_group.read 0;
        ld.shared.u16 %rs1, [fence_of];
    """
    assert twins.asynchronous(text) == {
        "mbarrier.init.shared::cta.b64": 1,
        "mbarrier.try_wait.parity.shared::cta.b64": 1,
        "cp.async.bulk.wait_group.read": 2,
    }


def test_a_twin_that_does_not_compile_tells_the_compilers_words(tmp_path, monkeypatch):
    wrong = tmp_path / "wrong.cu"
    wrong.write_text('#include "ptx.cuh"\nextern "C" __global__ void wrong() { ptx::cp_async_bulk(); }\n')
    monkeypatch.setattr(twins, "source", lambda name: tmp_path / f"{name}.cu")
    with pytest.raises(CompileError, match=r'wrong\.cu\(2\): error.*"ptx" has no member "cp_async_bulk"'):
        twins.compiled("wrong")
