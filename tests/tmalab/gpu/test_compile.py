"""Compiling without a GPU: what is kept, what is shown, how maps and helpers arrive."""

from __future__ import annotations

import re

import gpu_helper_module
import numpy as np
import pytest
from numba import cuda

from tmalab import TensorMap, device, kernel, ptx
from tmalab.gpu import compile as compiling
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.errors import CompileError
from tmalab.gpu.parameters import maps_by_value

TENSOR = np.zeros((16, 128), np.float16)
MAP = TensorMap.from_array(TENSOR, (8, 64))
OUT = np.zeros((8, 64), np.float16)
COUNT = 3


@device
def load(tile, tensor_map, bar):
    ptx.mbarrier_arrive_expect_tx(bar, 1024)
    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 64, 8, bar)


@kernel
def one_map(tensor_map, out):
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load(tile, tensor_map, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    out[0, 0] = tile[cuda.threadIdx.x, 0]


@kernel
def maps_among_others(n, a, out, b, flag, c):
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load(tile, a, full[0])
    load(tile, b if n > 2 else a, full[0])
    if flag:
        load(tile, c, full[0])
    out[n, 0] = tile[cuda.threadIdx.x, 0]


def parameters(text: str) -> list[str]:
    return re.findall(r"\.param (.*?)(?:,|\n\))", text)


def test_a_map_is_128_bytes_by_value_and_64_byte_aligned():
    text = one_map.ptx((MAP, OUT))
    assert parameters(text)[0] == ".align 64 .b8 one_map_param_0[128]"
    assert re.search(r"mov\.b64 (%rd\d+), one_map_param_0;\n\s*cvta\.param\.u64 \1, \1;", text)


@kernel
def 复制(out):
    out[0, 0] = 第一(out)


@device
def 第一(out):
    return out[1, 1]


def test_a_kernel_is_named_in_any_script():
    assert ".visible .entry kernel__(" in 复制.ptx((OUT,))


def test_the_copy_takes_the_address_of_the_parameter():
    text = one_map.ptx((MAP, OUT))
    address = re.search(r"cvta\.param\.u64 (%rd\d+)", text)[1]
    assert re.search(rf"cp\.async\.bulk\.tensor\.2d\S+ \[%r\d+\], \[{address}, {{", text)


def test_maps_keep_their_places_among_arrays_and_numbers():
    text = maps_among_others.ptx((3, MAP, OUT, MAP, True, MAP))
    maps = [index for index, kind in enumerate(parameters(text)) if ".b8" in kind]
    assert maps == [1, 2 + 9, 2 + 9 + 2]  # an array of two dimensions is nine values
    assert len(re.findall(r"cvta\.param\.u64", text)) == 3


def test_a_map_that_the_kernel_never_uses_still_has_its_128_bytes():
    @kernel
    def unused(tensor_map, out):
        out[0, 0] = 1

    assert "[128]" in unused.ptx((MAP, OUT))


def test_a_parameter_used_in_an_unknown_form_is_not_taken_for_a_map():
    text = ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\tld.param.v2.u32 {%r1, %r2}, [k_param_0];\n}"
    with pytest.raises(NotImplementedError, match="k_param_0"):
        maps_by_value(text, [0])


def test_parameter_1_is_not_taken_for_parameter_10():
    text = ".entry k(.param .u64 k_param_1, .param .u64 k_param_10)\n{\n\tld.param.u64 %rd1, [k_param_10];\n}"
    assert "ld.param.u64 %rd1, [k_param_10];" in maps_by_value(text, [1])


def test_a_map_may_be_a_row_of_bytes_in_global_memory():
    @kernel
    def from_memory(maps, out):
        tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
        full = ptx.mbarrier_array(1)
        ptx.fence_proxy_tensormap_acquire(maps[2])
        load(tile, maps[2], full[0])
        out[0, 0] = tile[0, 0]

    text = from_memory.ptx((np.zeros((4, 128), np.uint8), OUT))
    fenced = re.search(r"acquire\.gpu \[(%rd\d+)\], 128;", text)[1]
    base, offset = re.search(rf"add\.s64\s+{fenced}, (%rd\d+), (%rd\d+);", text).groups()
    assert f"[{fenced}, {{" in text  # the copy uses the row that was fenced
    assert re.search(rf"ld\.param\.u64\s+{base}, \[from_memory_param_4\];", text)
    assert re.search(rf"shl\.b64\s+{offset}, %rd\d+, 1;", text)  # two rows of what the stride is


def test_the_same_kernel_gives_the_same_text():
    first = one_map.ptx((MAP, OUT))
    compiling._cache.clear()
    assert one_map.ptx((MAP, OUT)) == first


def test_a_compiled_kernel_is_kept():
    assert compile_kernel(one_map.function, (MAP, OUT)) is compile_kernel(one_map.function, (MAP, OUT))


def test_a_kernel_that_has_moved_is_not_compiled_again_and_one_that_says_else_is():
    def written(before: str, value: int):
        scope: dict = {}
        exec(compile(f"{before}def moved(out):\n    out[0, 0] = {value}\n", f"<{len(before)}>", "exec"), scope)
        return compile_kernel(scope["moved"], (OUT,))

    assert written("", 1) is written("# a line above\n", 1)
    assert written("", 1) is not written("", 2)


def test_a_changed_constant_compiles_anew(monkeypatch):
    @kernel
    def constant(out):
        out[0, 0] = COUNT

    before = constant.ptx((OUT,))
    monkeypatch.setitem(globals(), "COUNT", 7)
    assert constant.ptx((OUT,)) != before


def test_a_changed_helper_compiles_anew():
    def kernel_with(helper):
        @kernel
        def calls(out):
            out[0, 0] = helper(3)

        return calls

    assert kernel_with(device(lambda x: x + 1)).ptx((OUT,)) != kernel_with(device(lambda x: x + 2)).ptx((OUT,))


def test_a_helper_may_be_reached_through_its_module_and_call_another():
    @kernel
    def calls(out):
        out[0] = gpu_helper_module.sixfold(out[1])

    assert re.search(r"mul\.lo\.s64\s+%\w+, %\w+, 6;", calls.ptx((np.zeros(2, np.int64),)))


@pytest.mark.parametrize(
    ("argument", "kind"),
    [
        (True, ".u8"),
        (3, ".u64"),
        (np.int32(3), ".u64"),
        (np.float32(0.5), ".f32"),
        (0.5, ".f64"),
        (np.float16(1), ".f32"),
    ],
)
def test_numbers_arrive_as_plain_types(argument, kind):
    @kernel
    def number(x, out):
        out[0, 0] = np.float32(x)

    assert parameters(number.ptx((argument, OUT)))[0] == f"{kind} number_param_0"


@pytest.mark.parametrize(
    "argument", ["a word", None, [1, 2], {}, np.zeros(2, complex), np.zeros(2, ">i4"), np.zeros(2, object)]
)
def test_what_a_kernel_cannot_be_given_is_refused_by_its_name(argument):
    with pytest.raises(TypeError, match=r"argument out is an? ") as caught:
        one_map.ptx((MAP, argument))
    assert "\n" not in str(caught.value)


def test_strided_and_read_only_arrays_are_arrays():
    frozen = np.zeros((4, 4), np.int32)
    frozen.flags.writeable = False

    @kernel
    def add(a, out):
        out[0, 1] = a[1, 0]

    assert add.ptx((frozen, np.zeros((8, 8), np.int32)[::2, ::-1]))


def test_a_cta_may_have_227_kib_of_static_shared_memory_and_no_byte_more():
    def kernel_of(size):
        @kernel
        def big(out, n):
            tile = cuda.shared.array(size, np.uint8, alignment=128)
            tile[n] = 1
            out[0] = tile[n + 1]

        return big

    arguments = (np.zeros(1, np.uint8), 1)
    assert compile_kernel(kernel_of(227 * 1024).function, arguments).counts["shared_bytes"] == 232_448
    with pytest.raises(CompileError, match="232,449 bytes of shared memory, but a CTA can have 232,448"):
        kernel_of(227 * 1024 + 1).ptx(arguments)


def test_a_shared_array_without_a_size_is_refused_with_what_to_write():
    @kernel
    def sized_at_launch(out):
        tile = cuda.shared.array(0, np.float32)
        tile[cuda.threadIdx.x] = 1
        out[0] = tile[0]

    with pytest.raises(CompileError, match=r"sized_at_launch has a shared array of shape 0.*up to 227 KiB"):
        sized_at_launch.ptx((np.zeros(1, np.float32),))


def test_the_sum_of_too_much_shared_memory_is_shown():
    @kernel
    def two(out, n):
        a, b = cuda.shared.array((256, 256), np.float16), cuda.shared.array((256, 256), np.float16)
        a[n, n] = 1
        b[n, n] = 2
        out[0] = np.float32(a[0, n]) + np.float32(b[0, n])

    with pytest.raises(CompileError, match=r"131,072 \+ 131,072 = 262,144 bytes"):
        two.ptx((np.zeros(1, np.float32), 1))


def test_instructions_and_bulk_copies_are_counted():
    compiled = compile_kernel(one_map.function, (MAP, OUT))
    body = compiled.ptx[compiled.ptx.index("{") :]
    by_hand = [line for line in body.splitlines() if line.strip().endswith(";") and not line.strip().startswith(".")]
    assert compiled.counts["instructions"] == len(by_hand) + 2  # the wait is a line of two, in braces
    assert compiled.counts["bulk_tensor_copies"] == 1
    assert compiled.counts["shared_bytes"] == 1024 + 8
