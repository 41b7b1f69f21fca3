"""Recordings: what ties the threads of a run together, told from the run itself."""

from __future__ import annotations

import numpy as np
import timed_kernels as kernels
from numba import cuda

from tmalab import kernel, ptx
from tmalab.timing.recording import Recording


def recorded(made, args, grid=1, block=64, **more):
    run = made.run(grid, block, args, **more)
    assert not run.hazards
    assert run.fault is None
    return run, run.replaying(Recording)


def kinds(recording, thread):
    return [done.kind for done in recording.done[thread]]


def test_a_wait_names_the_phase_that_it_saw_complete_and_an_arrive_the_one_that_it_counts_for():
    _, recording = recorded(kernels.ring, (kernels.tensor_map(), np.zeros(1, np.int64), 5))
    waits = [done.data.phase for done in recording.done[32] if done.kind == "wait"]
    arrives = [done.data.phase for done in recording.done[32] if done.kind == "arrive"]
    assert waits == arrives == [0, 0, 1, 1, 2]


def test_a_producers_first_waits_on_fresh_barriers_wait_for_nothing():
    _, recording = recorded(kernels.ring, (kernels.tensor_map(), np.zeros(1, np.int64), 5))
    assert [done.data.phase for done in recording.done[0] if done.kind == "wait"] == [-1, -1, 0, 0, 1]


def test_a_load_knows_the_phase_that_its_last_byte_completed():
    _, recording = recorded(kernels.ring, (kernels.tensor_map(), np.zeros(1, np.int64), 5))
    loads = [done.data[0].tick - 1 for done in recording.done[0] if done.kind == "load"]
    assert loads == [0, 0, 1, 1, 2]


def test_every_seed_tells_the_same_of_a_right_kernel():
    stories = []
    for seed in range(4):
        _, recording = recorded(kernels.ring, (kernels.tensor_map(), np.zeros(1, np.int64), 5), seed=seed)
        stories.append({number: [done[:3] for done in found] for number, found in recording.done.items()})
    assert all(story == stories[0] for story in stories)


def test_a_recording_changes_neither_the_arguments_nor_the_run():
    out = np.zeros(1, np.int64)
    recorded(kernels.ring, (kernels.tensor_map(), out, 5))
    assert out[0] == sum(turn * kernels.ROWS * kernels.COLUMNS % (1 << 16) for turn in range(5))


def test_accesses_have_their_address_and_size_and_an_instructions_own_are_not_told():
    _, recording = recorded(kernels.ring, (kernels.tensor_map(), np.zeros(1, np.int64), 1))
    accesses = [
        (done.kind, done.name, done.data.size) for done in recording.done[32] if done.kind in ("shared", "global")
    ]
    assert accesses == [("shared", "read", 2), ("global", "write", 8)]


def test_one_place_in_the_source_is_one_place_however_often_it_was_executed():
    @kernel
    def read(source, out):
        for i in range(20):
            out[i] = source[i]

    _, recording = recorded(read, (np.zeros(20, np.int32), np.zeros(20, np.int32)), block=32)
    assert len({done.pc for done in recording.done[0] if done.name == "read"}) == 1


def test_a_multicast_is_one_instruction_with_a_copy_for_each_cta():
    _, recording = recorded(kernels.multicast, (kernels.tensor_map(),), grid=2, block=32, cluster=2)
    (load,) = [done for done in recording.done[0] if done.kind == "load"]
    assert [copy.cta.number for copy in load.data] == [0, 1]
    assert "load" not in kinds(recording, 32)


def test_threads_that_meet_have_the_same_key_at_each_meeting():
    @kernel
    def meeting():
        for _ in range(3):
            cuda.syncthreads()
            ptx.barrier_sync(1, 64)

    _, recording = recorded(meeting, ())
    keys = [{done.data.key for done in (recording.done[number][place] for number in range(64))} for place in range(6)]
    assert [len(found) for found in keys] == [1] * 6
    assert len(set.union(*keys)) == 6


def test_instructions_are_watched_under_whatever_name_the_kernel_has_them():
    import tmalab
    from tmalab.ptx import fence_proxy_async as fence

    @kernel
    def fences():
        fence()
        tmalab.ptx.fence_proxy_async()
        ptx.fence_proxy_async()

    _, recording = recorded(fences, (), block=32)
    assert [done.name for done in recording.done[0]] == ["fence_proxy_async"] * 3


def test_a_wait_by_state_is_for_the_phase_of_its_arrive_even_where_later_ones_are_over():
    @kernel
    def waits():
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar[0], 1)
            for _ in range(3):
                state = ptx.mbarrier_arrive(bar[0])
                while not ptx.mbarrier_try_wait(bar[0], state):
                    pass

    _, recording = recorded(waits, (), block=32)
    assert [done.data.phase for done in recording.done[0] if done.kind == "wait"] == [0, 1, 2]


def test_a_barrier_that_begins_anew_in_the_same_place_is_another_one():
    @kernel
    def again():
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            for _ in range(2):
                ptx.mbarrier_init(bar[0], 1)
                ptx.mbarrier_arrive(bar[0])
                ptx.mbarrier_wait_parity(bar[0], 0)
                ptx.mbarrier_inval(bar[0])

    _, recording = recorded(again, (), block=32)
    barriers = [done.data.barrier for done in recording.done[0] if done.kind == "wait"]
    assert barriers[0][:2] == barriers[1][:2]
    assert barriers[0] != barriers[1]
