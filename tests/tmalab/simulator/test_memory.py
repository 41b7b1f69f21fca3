"""Where shared arrays lie, and what they hold before anybody writes."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.simulator.access_log import Track
from tmalab.simulator.errors import KernelError
from tmalab.simulator.memory import SHARED_LIMIT, SHARED_START, SharedLayout, SharedMemory


def place(memory, site, shape, dtype=np.float16, alignment=None):
    return memory.array_of_site(site, shape, dtype, alignment, lambda: "a")


@pytest.fixture
def memory():
    return SharedMemory(Track(), SharedLayout())


@pytest.mark.parametrize("alignment", [2, 16, 128, 256, 1024, 4096])
def test_an_array_is_aligned_as_asked_for_and_no_better(memory, alignment):
    for site in range(5):
        address = place(memory, site, 24, alignment=alignment).address
        assert address % alignment == 0
        assert address % (2 * alignment) == alignment


def test_without_an_alignment_an_array_is_aligned_to_its_elements(memory):
    assert place(memory, 0, 64, np.float16).address % 4 == 2
    assert place(memory, 1, 64, np.float32).address % 8 == 4


def test_one_place_in_the_source_is_one_array(memory):
    first = place(memory, "here", (2, 3))
    assert place(memory, "here", (2, 3)) is first
    assert place(memory, "there", (2, 3)).address >= first.address + first.nbytes


def test_a_cta_has_227_kib(memory):
    everything = place(memory, 0, SHARED_LIMIT, np.uint8, 1024)
    assert everything.address == SHARED_START
    with pytest.raises(KernelError, match="232,448"):
        place(memory, 1, 1, np.uint8)


def test_arrays_of_227_kib_in_all_fit_whatever_poor_alignment_leaves_unused(memory):
    for site, kib in enumerate((75, 76, 76)):
        place(memory, site, kib * 1024, np.uint8, 1024)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32, np.int16])
def test_shared_memory_starts_as_finite_garbage(memory, dtype):
    value = place(memory, 0, 4, dtype)[0]
    assert abs(float(value)) > 1000
    assert np.isfinite(value)


@pytest.mark.parametrize("shape", [0, (), (4, 0), -1, 2.5, "4", (2, None)])
def test_what_is_no_shape_is_refused(memory, shape):
    with pytest.raises(KernelError):
        place(memory, 0, shape)


@pytest.mark.parametrize("alignment", [3, 0, -4, 1.5])
def test_what_is_no_alignment_is_refused(memory, alignment):
    with pytest.raises(KernelError):
        place(memory, 0, 4, alignment=alignment)


def test_numba_types_are_element_types(memory):
    numba = pytest.importorskip("numba")
    assert place(memory, 0, 4, numba.float32).dtype == np.float32


@pytest.mark.parametrize("dtype", ["no type", object, np.dtype("datetime64[s]"), np.dtype([("a", "i4")])])
def test_what_is_no_element_type_is_refused(memory, dtype):
    with pytest.raises(KernelError):
        place(memory, 0, 4, dtype)
