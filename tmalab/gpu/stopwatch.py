"""How long a prepared launch takes: a CUDA graph of several of them, replayed, so that no launch waits for the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.gpu.device import call

if TYPE_CHECKING:
    from tmalab.gpu.prepared import Prepared

AT_LEAST_NS = 2e6  # that a graph takes: some 10 us of it are its own
FEWEST, MOST = 10, 500  # launches in a graph
NON_BLOCKING, THREAD_LOCAL = 1, 1  # CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


def nanoseconds_each(prepared: Prepared, replays: int = 9) -> list[float]:
    """Nanoseconds from launch to launch, one number for each replay; the first ones warm the GPU and are left out."""
    from cuda.bindings import driver

    stream = call("cuStreamCreate", NON_BLOCKING)
    begin, end = (call("cuEventCreate", 0) for _ in range(2))

    def timed(graph, launches: int) -> float:
        call("cuEventRecord", begin, stream)
        call("cuGraphLaunch", graph, stream)
        call("cuEventRecord", end, stream)
        call("cuEventSynchronize", end)
        return call("cuEventElapsedTime", begin, end) * 1e6 / launches

    def graph_of(launches: int):
        call("cuStreamBeginCapture", stream, driver.CUstreamCaptureMode(THREAD_LOCAL))
        for _ in range(launches):
            prepared(int(stream))
        return call("cuGraphInstantiate", call("cuStreamEndCapture", stream), 0)

    prepared()  # the driver loads a kernel at its first launch, which must not be one that a graph captures
    prepared.wait()
    few = graph_of(FEWEST)
    guess = min(timed(few, FEWEST) for _ in range(2))
    launches = int(min(MOST, max(FEWEST, AT_LEAST_NS / guess)))
    graph = graph_of(launches)
    timed(graph, launches)
    return [timed(graph, launches) for _ in range(replays)]
