"""@kernel, @device, run(...): what a launch takes, and the one sentence for what it does not take."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numba import cuda

from tmalab import DataType, TensorMap, device, kernel, ptx


@kernel
def where(out):
    """Note the thread's place."""
    i = cuda.grid(1)
    out[i, 0], out[i, 1] = cuda.threadIdx.x, cuda.blockIdx.x


@kernel
def adds(out, n, x):
    out[0] = n + x


OUT = np.zeros((8, 2), np.int64)


def sentence(error):
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_kernel_keeps_its_name_its_docstring_and_its_function():
    assert (where.__name__, where.__doc__) == ("where", "Note the thread's place.")
    assert repr(where) == "<kernel where(out)>"
    assert where.function.__code__.co_name == "where"


def test_a_kernel_is_not_called_but_run():
    with pytest.raises(TypeError) as error:
        where(OUT)
    assert "where.run(" in sentence(error)
    with pytest.raises(TypeError) as error:
        where[1, 32](OUT)
    assert "where.run(" in sentence(error)


@pytest.mark.parametrize("decorate", [kernel, device])
@pytest.mark.parametrize("given", [None, 3, "name", len, int, where])
def test_the_decorators_go_on_functions(decorate, given):
    with pytest.raises(TypeError, match="goes on a function"):
        decorate(given)


def test_a_device_function_is_plain_python_outside_a_kernel():
    @device
    def chunk(row, column):
        """Where a chunk lies."""
        return row ^ column

    assert [chunk(3, c) for c in range(4)] == [3, 2, 1, 0]
    assert (chunk.__name__, chunk.__doc__) == ("chunk", "Where a chunk lies.")
    assert repr(chunk) == "<device chunk(row, column)>"


def test_an_instruction_needs_a_running_kernel():
    with pytest.raises(RuntimeError, match=r"kernel\.run"):
        ptx.mbarrier_init(1024, 1)


@pytest.mark.parametrize(
    ("grid", "block"), [(2, 4), ((2,), (4,)), ((2, 1), [4, 1]), ((2, 1, 1), (4, 1, 1)), (np.int32(2), np.int64(4))]
)
def test_sizes_are_ints_or_up_to_three_of_them(grid, block):
    out = np.zeros((8, 2), np.int64)
    run = where.run(grid=grid, block=block, args=[out])
    assert run.ok
    assert out.tolist() == [[i % 4, i // 4] for i in range(8)]


def test_sizes_have_three_dimensions():
    @kernel
    def places(out):
        x, y, z = cuda.grid(3)
        assert cuda.gridsize(3) == (4, 6, 2)
        out[z, y, x] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z + 1000 * cuda.blockIdx.y

    out = np.zeros((2, 6, 4), np.int64)
    run = places.run(grid=(2, 3, 1), block=(2, 2, 2), args=(out,))
    assert run.fault is None
    z, y, x = np.indices(out.shape)
    assert np.array_equal(out, x % 2 + 10 * (y % 2) + 100 * z + 1000 * (y // 2))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"block": 0}, ValueError),
        ({"block": 1025}, ValueError),
        ({"block": (32, 64)}, ValueError),
        ({"block": (1, 1, 65)}, ValueError),
        ({"block": -1}, ValueError),
        ({"block": 1.5}, TypeError),
        ({"block": "32"}, TypeError),
        ({"block": True}, TypeError),
        ({"block": (1, 1, 1, 1)}, TypeError),
        ({"block": ()}, TypeError),
        ({"block": (1, None)}, TypeError),
        ({"grid": 0}, ValueError),
        ({"grid": (1, 65536)}, ValueError),
        ({"grid": None}, TypeError),
        ({"cluster": 3, "grid": 4}, ValueError),
        ({"cluster": 9, "grid": 9}, ValueError),
        ({"cluster": "2"}, TypeError),
        ({"on": "cpu"}, ValueError),
        ({"on": None}, ValueError),
        ({"seed": -1}, ValueError),
        ({"seed": 1.0}, TypeError),
        ({"seed": None}, TypeError),
        ({"seed": True}, TypeError),
        ({"strict": "yes"}, TypeError),
        ({"strict": 1}, TypeError),
        ({"args": OUT}, TypeError),
        ({"args": {"out": OUT}}, TypeError),
        ({"args": None}, TypeError),
        ({"args": ()}, TypeError),
        ({"args": (OUT, OUT)}, TypeError),
        ({"args": (None,)}, TypeError),
        ({"args": ("text",)}, TypeError),
        ({"args": ([1, 2],)}, TypeError),
        ({"args": (np.array(["a"]),)}, TypeError),
        ({"args": (np.zeros(2, object),)}, TypeError),
        ({"args": (np.zeros(2, ">i4"),)}, TypeError),
        ({"args": (np.zeros(4, "i2,i4")["f1"],)}, TypeError),
    ],
)
def test_what_is_no_launch_raises_with_one_sentence_that_names_it(options, error):
    with pytest.raises(error) as raised:
        where.run(**{"block": 4, "args": (np.zeros((4, 2), np.int64),), **options})
    message = sentence(raised)
    (name,) = options.keys() - ({"grid"} if "cluster" in options else set())
    assert name in message or "argument out" in message or "where(out)" in message


def test_a_map_without_an_array_is_asked_for_one():
    tm = TensorMap(DataType.FLOAT16, 0, (64, 8), (128,), (64, 8))
    with pytest.raises(TypeError) as error:
        where.run(args=(tm,))
    assert "TensorMap.from_array" in sentence(error)
    assert "bind(" in str(error.value)


@pytest.mark.parametrize(
    ("n", "x", "total"), [(1, 2, 3), (np.int8(1), np.float32(0.5), 1.5), (True, 1.25, 2.25), (np.int64(-3), 0, -3)]
)
def test_numbers_are_passed_by_value(n, x, total):
    out = np.zeros(1, np.float64)
    assert not adds.run(block=1, args=(out, n, x)).hazards
    assert out[0] == total


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint16, np.int64, np.uint64, np.float16, np.float64, np.complex64]
)
def test_arrays_of_every_plain_type_change_in_place(dtype):
    @kernel
    def copies(a, b):
        b[cuda.threadIdx.x] = a[cuda.threadIdx.x]

    a, b = np.arange(4).astype(dtype), np.zeros(4, dtype)
    run = copies.run(block=4, args=(a, b))
    assert run.fault is None, str(run)
    assert np.array_equal(a, b)


@pytest.mark.parametrize("view", [np.s_[::2, 1::3], np.s_[::-1], np.s_[:, ::-2], np.s_[3:1:-1, :5]])
def test_a_view_is_the_elements_it_shows(view):
    @kernel
    def counts(out, rows, columns):
        for i in range(rows):
            for j in range(columns):
                out[i, j] = 100 * i + j

    whole = np.full((6, 9), -1, np.int32)
    part = whole[view]
    run = counts.run(block=1, args=(part, *part.shape))
    assert not run.hazards
    expected = np.full((6, 9), -1, np.int32)
    expected[view] = 100 * np.arange(part.shape[0])[:, None] + np.arange(part.shape[1])
    assert np.array_equal(whole, expected)


def test_an_array_of_no_elements_is_an_argument():
    @kernel
    def measures(empty, out):
        out[0] = empty.shape[0]

    out = np.ones(1, np.int64)
    assert not measures.run(block=1, args=(np.zeros((0, 3)), out)).hazards
    assert out[0] == 0


def test_an_array_of_0_dimensions_is_read_whole():
    @kernel
    def reads(scalar, out):
        out[0] = scalar[()]

    out = np.zeros(1, np.int32)
    run = reads.run(block=1, args=(np.array(5, np.int32), out))
    assert run.fault is None, str(run)
    assert out[0] == 5


def test_a_read_only_array_cannot_be_written():
    frozen = np.zeros((4, 2), np.int64)
    frozen.flags.writeable = False
    run = where.run(block=4, args=(frozen,))
    assert "out is read-only" in str(run.fault)
    assert not frozen.any()


@pytest.mark.parametrize("name", ["cuda", "gpu"])
def test_cuda_is_found_under_any_name_and_in_closures(name):
    inner = cuda

    @kernel
    def uses(out):
        out[inner.threadIdx.x] = inner.blockDim.x

    out = np.zeros(4, np.int32)
    assert not uses.run(block=4, args=(out,)).hazards
    assert out.tolist() == [4, 4, 4, 4]


def test_numba_dot_cuda_is_cuda():
    import numba

    @kernel
    def uses(out):
        out[numba.cuda.threadIdx.x] = numba.int64(3)

    out = np.zeros(2, np.int32)
    uses.run(block=2, args=(out,))
    assert out.tolist() == [3, 3]


def test_names_mean_what_they_mean_when_the_kernel_is_run():
    scope = {"kernel": kernel, "SIZE": 1}
    exec("@kernel\ndef sizes(out):\n    out[0] = SIZE\n", scope)
    out = np.zeros(1, np.int32)
    scope["sizes"].run(block=1, args=(out,))
    scope["SIZE"] = 2
    scope["sizes"].run(block=1, args=(out,))
    assert out[0] == 2


def test_two_threads_of_the_process_can_run_kernels():
    outs = [np.zeros((32, 2), np.int64) for _ in range(4)]
    runs = []
    threads = [threading.Thread(target=lambda out=out: runs.append(where.run(block=32, args=(out,)))) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [run.hazards for run in runs] == [[]] * 4
    assert all(np.array_equal(out[:, 0], np.arange(32)) for out in outs)


def test_the_ptx_of_a_kernel_can_be_read():
    assert ".entry where" in where.ptx((OUT,))


def test_atomics_change_an_element_and_return_what_was_there():
    @kernel
    def changes(a, old):
        old[0] = cuda.atomic.add(a, 0, 5)
        old[1] = cuda.atomic.max(a, 1, 3)
        old[2] = cuda.atomic.min(a, 2, 3)
        old[3] = cuda.atomic.exch(a, 3, 9)
        old[4] = cuda.atomic.cas(a, 4, 4, 77)
        old[5] = cuda.atomic.cas(a, 5, 4, 77)
        old[6] = cuda.atomic.sub(a, 6, 1)

    a, old = np.arange(7, dtype=np.int32), np.zeros(7, np.int32)
    run = changes.run(block=1, args=(a, old))
    assert run.ok, str(run)
    assert old.tolist() == list(range(7))
    assert a.tolist() == [5, 3, 2, 9, 77, 5, 5]


def test_local_and_constant_arrays_are_a_threads_own():
    table = np.array([3, 1, 2], np.int32)

    @kernel
    def sorts(out):
        known = cuda.const.array_like(table)
        mine = cuda.local.array(3, np.int32)
        for i in range(3):
            mine[known[i] - 1] = known[i] * cuda.threadIdx.x
        for i in range(3):
            out[cuda.threadIdx.x, i] = mine[i]

    out = np.zeros((2, 3), np.int32)
    run = sorts.run(block=2, args=(out,))
    assert run.ok, str(run)
    assert out.tolist() == [[0, 0, 0], [1, 2, 3]]
