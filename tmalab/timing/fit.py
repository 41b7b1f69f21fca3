"""From measurements to constants: each formula says what a micro-benchmark's turn is made of, and solves it for one.

What a turn takes is told per turn: in cycles, or in ns where whole launches are timed. The formulas are those of the
model's rules (`steps`), so that the model, run on a micro-benchmark, gives the measurement back.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from tmalab.timing.constants import Constant, Constants
from tmalab.timing.machine import FLOP_OF_COLUMN, SCHEDULERS
from tmalab.timing.micro.copies import AT_ONCE, COLUMNS, LATENCY_ROWS, RING_ROWS
from tmalab.timing.micro.rings import WIDE
from tmalab.timing.micro.tensor import NARROW
from tmalab.timing.micro.tensor import WIDE as WIDEST
from tmalab.timing.micro.words import CTAS as WORD_CTAS
from tmalab.timing.residence import LINE, SECTOR

ROW = 2 * COLUMNS  # bytes
TILE = RING_ROWS * ROW
WARPS = 32  # of a CTA of 1,024 threads
ACCESS_LOOP = 77  # cycles of four accesses of the benchmark, but for the wait of one for the registers of another
WAYS = 32  # of the worst conflict
LINES = 8 * 8  # that 8 warps write fragments to in a turn
MOST = 1e6  # bytes/ns: what does not hold others up
CROWDING = 1.0  # where the trials for fitting begin: a read waits for all that is being written
MANY = 2 * 4 * WIDEST  # columns that two warpgroups multiply in a turn
SIZES = {f"{rows * ROW // 1024}k": rows * ROW for rows in LATENCY_ROWS}  # bytes


def solved(s: Mapping[str, float], sms: float) -> dict[str, float]:
    """The constants from the samples of all micro-benchmarks, by name, on a GPU with so many SMs."""
    c = {"clock": s["clock"], "launch": s["launch"], "instruction": s["instruction"] / 3}
    c["instruction_slots"] = s["instruction_many"] / 3 / (WARPS / SCHEDULERS)
    c["wait_slots"] = s["wait_many"] / (WARPS / SCHEDULERS)
    c |= {"arrive": s["arrive"], "wait": s["wait"], "fence": s["fence"]}
    c["handoff"] = s["handoff"] / 2 - c["arrive"]
    c["peer_arrive"] = s["peer_handoff"] / 2 - c["arrive"]
    c["sync"] = s["sync"] - c["instruction"]
    c["cta_start"] = s["cta_start"] - s["sync"] / s["clock"]
    c["cta_launch"] = s["cta_launch"]
    c["cluster_sync"] = s["cluster_sync"] - c["instruction"]
    c |= _of_memory(s, sms)
    c |= _of_copies(s, c, sms)
    c["wgmma_column"] = s["wgmma_many"] / MANY
    c["wgmma_latency"] = s["wgmma_one"] - 3 * c["instruction"] - NARROW * c["wgmma_column"]
    c["tensor_rate"] = sms * MANY * FLOP_OF_COLUMN / s["wgmma_fed"]
    return {name: max(0.0, value) for name, value in c.items()}


def _of_memory(s: Mapping[str, float], sms: float) -> dict[str, float]:
    """Accesses of threads; those of a fragment are to 8 lines, of 8 warps at once."""
    turn = s["shared_conflicts"] / (WARPS * WAYS)
    access = s["access"]
    load_rate = TILE / s["load_ring"]
    rest = access + SECTOR / load_rate
    latencies = {f"global_latency_{where}": s[f"global_chase_{where}"] - rest for where in ("l2", "device")}
    return {
        "shared_wavefront": turn,
        "access": access,
        "register_hold": 4 * access - ACCESS_LOOP,
        "access_slots": s["access_many"] / (WARPS / SCHEDULERS),
        "shared_latency": s["shared_chase"] - access - turn,
        "load_rate": load_rate,
        "line_write": s["fragment_writes"] / LINES,
        "line_rate": sms * LINES / s["fragment_writes_all"],
        **latencies,
    }


def _of_copies(s: Mapping[str, float], c: Mapping[str, float], sms: float) -> dict[str, float]:
    issue, store_issue, store_rate = s["load_issue"] / AT_ONCE, s["store_issue"] / AT_ONCE, TILE / s["store_ring"]
    found = {"load_issue": issue, "store_issue": store_issue, "store_rate": store_rate}
    for where in ("l2", "device"):
        rests = [s[f"load_{where}_{size}"] - bytes / c["load_rate"] for size, bytes in SIZES.items()]
        found[f"load_latency_{where}"] = median(rests) - c["arrive"] - issue
        found[f"{where}_rate"] = sms * TILE / s[f"load_ring_{where}"]
        found[f"{where}_write_rate"] = sms * TILE / s[f"store_ring_{where}"]
    found["device_crowding"] = CROWDING
    both = s["copy_ring_l2"] / (sms * TILE)  # ns for a byte that is read and one that is written
    words = s["word_copies"] / (sms * WORD_CTAS * WARPS * LINE)
    found["l2_beside_rate"] = 1 / max(both - 1 / found["l2_rate"], 1 / MOST)
    found["word_beside_rate"] = 1 / max(words - 1 / found["l2_rate"], 1 / MOST)
    first = first_of_common(sms)
    found["common_rate"] = (1 - first) / (s["load_ring_common"] / (sms * TILE) - first / found["l2_rate"])
    found["multicast_latency"] = s["multicast"] - issue - TILE / c["load_rate"] - found["load_latency_l2"]
    for constant, what in (("store_read_latency", "read"), ("store_latency", "written")):
        rests = [s[f"store_{what}_{size}"] - SIZES[size] / store_rate for size in ("1k", "16k")]
        found[constant] = median(rests) - 2 * store_issue  # the store, and the wait; the commit is over by then
    return found


def first_of_common(sms: float) -> float:
    """The share of loads that are the first to ask for a tile, where by turns a row and a column of CTAs do so."""
    return (1 / min(WIDE, sms) + 1 / max(1.0, sms / WIDE)) / 2


def fit(
    samples: Mapping[str, tuple[float, float]], sms: int, l2_size: int, source: str, provenance: Mapping[str, object]
) -> Constants:
    """The table of constants. `samples`: of each micro-benchmark the median and half the range between the quartiles.

    A constant's spread is what it changes by when every sample is that much higher.
    """
    middle = solved({name: value for name, (value, _) in samples.items()}, sms)
    high = solved({name: value + spread for name, (value, spread) in samples.items()}, sms)
    found = {name: Constant(value, abs(high[name] - value), source) for name, value in middle.items()}
    properties = {"sms": Constant(sms, 0.0, source), "l2_size": Constant(l2_size, 0.0, source)}
    return Constants(properties | found, provenance)
