"""The launched text: every wait gives up past the limit. What the notes say is written here by hand."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest

from tmalab import kernel, ptx
from tmalab.gpu.bounded_waits import GivenUp, fresh_notes, read_notes
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.deadlock import deadlock_of


@kernel
def four_waits(out):
    bars = ptx.mbarrier_array(2)
    state = ptx.mbarrier_arrive(bars[0])
    while not ptx.mbarrier_try_wait(bars[0], state):
        pass
    while not ptx.mbarrier_test_wait_parity(bars[1], 1):
        pass
    ptx.mbarrier_wait_parity(bars[1], 0)
    out[0] = ptx.mbarrier_try_wait_parity_cluster_scope(bars[1], 0)


@pytest.fixture(scope="module")
def compiled():
    return compile_kernel(four_waits.function, (np.zeros(4, np.int64),))


def test_the_learners_text_has_no_bound(compiled):
    assert "exit;" not in compiled.ptx
    assert "globaltimer" not in compiled.ptx


def test_every_wait_of_the_launched_text_gives_up(compiled):
    waits = len(re.findall(r"mbarrier\.\w+_wait", compiled.ptx))
    assert waits >= 4
    assert len(re.findall(r"mbarrier\.\w+_wait", compiled.bounded_ptx)) == waits
    assert compiled.bounded_ptx.count("mov.u64 now, %globaltimer;") == waits
    assert len(re.findall(r"\texit;", compiled.bounded_ptx)) == waits


def test_the_two_texts_differ_in_nothing_else(compiled):
    without = re.sub(r"\n\t\{ // past the limit.*?\n\t\}\n", "", compiled.bounded_ptx, flags=re.DOTALL)
    without = re.sub(r"\.visible \.global .*tmalab_waits.*\n", "", without)
    assert without == compiled.ptx


def test_the_launched_text_assembles(compiled):
    assert compiled.bounded_cubin[:4] == b"\x7fELF"
    assert compiled.bounded_cubin != compiled.cubin


def test_a_note_fills_its_own_24_bytes_and_no_others(compiled):
    one = compiled.bounded_ptx.split("// past the limit")[1].split("GO_ON:")[0]
    written = [
        (int(at or 0), int(bits) // 8) for bits, at in re.findall(r"st\.global\.u(\d+) \[at\+24(?:\+(\d+))?\]", one)
    ]
    assert [byte for at, size in written for byte in range(at, at + size)] == list(range(24))
    assert "mad.lo.u64 at, at, 24, now;" in one


def test_what_a_wait_was_for_is_noted_by_its_kind(compiled):
    blocks = re.findall(r"(mbarrier\.\w+_wait\S*).*?mov\.u32 index, (\d);", compiled.bounded_ptx, re.DOTALL)
    assert {(".parity" in wait, is_state) for wait, is_state in blocks} == {(True, "0"), (False, "1")}


def test_before_a_launch_the_limit_is_set_and_nobody_has_given_up():
    assert struct.unpack("<QQQ", fresh_notes(5)) == (5, 0, 0)
    assert read_notes(fresh_notes(5)).given_up == ()


def test_notes_are_read_as_they_are_written():
    memory = struct.pack("<QQQ", 7, 99, 2)
    memory += struct.pack("<IIIIQ", 0x408, 0, 31, 2, 1) + struct.pack("<IIIIQ", 0x400, 1, 5, 0, 0xABC)
    notes = read_notes(memory)
    assert notes.count == 2
    assert notes.given_up == (GivenUp(0x408, False, 31, 2, 1), GivenUp(0x400, True, 5, 0, 0xABC))


def test_more_threads_may_give_up_than_notes_are_kept():
    notes = read_notes(struct.pack("<QQQ", 7, 99, 1000) + struct.pack("<IIIIQ", 0x400, 0, 1, 0, 0) * 256)
    assert (notes.count, len(notes.given_up)) == (1000, 256)
    assert "1000 threads" in deadlock_of(notes, threads=1).message


def test_a_report_groups_threads_by_what_they_waited_for():
    memory = struct.pack("<QQQ", 7, 99, 4)
    for barrier, thread, parity in ((0x400, 1, 0), (0x408, 9, 1), (0x400, 0, 0), (0x400, 2, 0)):
        memory += struct.pack("<IIIIQ", barrier, 0, thread, 0, parity)
    assert deadlock_of(read_notes(memory), threads=32).message.splitlines() == [
        "deadlock: 4 threads gave up",
        "  CTA 0: threads 0-2 waited on the mbarrier at 0x400 for parity 0",
        "  CTA 0: threads 9 waited on the mbarrier at 0x408 for parity 1",
    ]


def test_a_waiter_has_its_number_in_the_grid_and_its_parity():
    memory = struct.pack("<QQQ", 7, 99, 2)
    memory += struct.pack("<IIIIQ", 0x400, 0, 5, 2, 1) + struct.pack("<IIIIQ", 0x400, 1, 6, 2, 0xABC)
    by_parity, by_state = deadlock_of(read_notes(memory), threads=32).waiters
    assert (by_parity.threads, by_parity.barrier, by_parity.parity) == ((69,), "0x400", 1)
    assert (by_state.threads, by_state.parity) == ((70,), None)
