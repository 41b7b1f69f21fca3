"""Answers to lesson 10 that are not the notebook's own: wrong ones, each refused for a named reason, and right ones.

The kernels are those of the notebook, edited. Not for students: neither the release nor the package holds this file.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.lessons import cells_of, edited


class Wrong(NamedTuple):
    """An answer, the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


Edits = tuple[tuple[str, str], ...]
GROUPS = ("loads", "rings", "stores")
KERNELS = cells_of("10-bug-hunt", "hunt", "setup", *(f"{group}-kernels" for group in GROUPS))

FOUND = {
    "loads": {
        "loads_1": (10, "too-few-bytes"),
        "loads_2": (16, "swizzle-misread"),
        "loads_3": (10, "coordinates-swapped"),
        "loads_4": (14, "wait-ignored"),
        "loads_5": (12, "read-before-wait"),
    },
    "rings": {
        "rings_1": (15, "wrong-parity"),
        "rings_2": (19, "overwrite-in-use"),
        "rings_3": (9, "over-arrival"),
        "rings_4": (26, "missing-arrival"),
        "rings_5": (2, "misaligned"),
    },
    "stores": {
        "stores_1": (7, "missing-proxy-fence"),
        "stores_2": (10, "store-not-committed"),
        "stores_3": (6, "store-source-reuse"),
        "stores_4": (9, "multiple-issue"),
        "stores_5": (13, "multicast-mask"),
    },
}

STORE = "            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, tile)\n"
COMMIT = "            ptx.cp_async_bulk_commit_group()\n"
HANDED_OVER = "        cuda.syncthreads()\n        if tid == 0:"
RELEASE = "            if tid == 0:\n                ptx.mbarrier_arrive"
DONE = "            ptx.mbarrier_arrive(empty[s])  # this lane is done with the stage\n"
ONE_IS_DONE = "            cuda.syncwarp()\n            if tid == 32:\n                ptx.mbarrier_arrive(empty[s])\n"
WAIT = "    ptx.mbarrier_try_wait(full, state)\n"
WAITED = "    while not ptx.mbarrier_try_wait(full, state):\n        pass\n"

MENDED: dict[str, Edits] = {  # the smallest change that makes each right, in one of the lines that may be named
    "loads_1": (("full, ROWS * COLS)", "full, TILE_BYTES)"),),
    "loads_2": (("column ^ (row % 8)]", "column ^ (row % 8) * 4]"),),
    "loads_3": (("tensor_map, y, x, full", "tensor_map, x, y, full"),),
    "loads_4": ((WAIT, WAITED),),
    "loads_5": (("enough to wait\n", "enough to wait\n    cuda.syncthreads()\n"),),
    "rings_1": (("full[s], k % 2)", "full[s], (k // STAGES) % 2)"),),
    "rings_2": (("        if tid == 0 and k", "        cuda.syncthreads()\n        if tid == 0 and k"),),
    "rings_3": (("empty[s], 1)", "empty[s], 32)"),),
    "rings_4": ((RELEASE, RELEASE.replace("tid == 0", "tid == 32")),),
    "rings_5": (("(STAGES, 3, 8)", "(STAGES, 4, 8)"),),
    "stores_1": ((HANDED_OVER, f"        ptx.fence_proxy_async()\n{HANDED_OVER}"),),
    "stores_2": ((COMMIT + STORE, STORE + COMMIT),),
    "stores_3": (("wait_group_read(2)", "wait_group_read(1)"),),
    "stores_4": (("if tid < 32:", "if tid == 0:"),),
    "stores_5": (("full, ptx.cluster_nctarank())", "full, (1 << ptx.cluster_nctarank()) - 1)"),),
}
OTHERWISE: dict[str, Edits] = {  # other changes that do
    "loads_1": (("full, ROWS * COLS)", "full, ROWS * 128)"),),
    "loads_2": (("column ^ (row % 8)]", "(column // 4 ^ row % 8) * 4 + column % 4]"),),
    "loads_5": (("        ptx.mbarrier_wait_parity(full, 0)  #", "    ptx.mbarrier_wait_parity(full, 0)  #"),),
    "rings_1": (("full[s], k % 2)", "full[s], k // 2 % 2)"),),
    "rings_3": ((DONE, ONE_IS_DONE),),
    "stores_1": ((HANDED_OVER, f"        ptx.fence_proxy_async_shared_cta()\n{HANDED_OVER}"),),
    "stores_3": (("wait_group_read(2)", "wait_group_read(0)"),),
    "stores_5": (("full, ptx.cluster_nctarank())", "full, 0b11)"),),
}
NOT_MENDED: dict[str, Edits] = {  # changes that look as if they did
    "loads_1": (("full, ROWS * COLS)", "full, TILE_BYTES + 1)"),),
    "loads_2": (("column ^ (row % 8)]", "column]"),),
    "loads_4": ((WAIT, WAIT + WAIT),),
    "loads_5": (("    for i in", "    cuda.syncwarp()\n    for i in"),),
    "rings_1": (("full[s], k % 2)", "full[s], s % 2)"),),
    "rings_2": (("        if tid == 0 and k", "        cuda.syncwarp()\n        if tid == 0 and k"),),
    "rings_3": (("empty[s], 1)", "empty[s], 64)"),),
    "rings_4": ((RELEASE, RELEASE.replace("tid == 0", "tid >= 32")),),
    "stores_1": ((STORE, f"{STORE}            ptx.fence_proxy_async()\n"),),
    "stores_2": ((COMMIT + STORE, STORE),),
    "stores_3": (("wait_group_read(2)", "wait_group(2)"),),
    "stores_5": (("full, ptx.cluster_nctarank())", "full, 1)"),),
}


def kernels(group: str, table: dict[str, Edits]) -> dict[str, object]:
    """The kernels of a group, edited as a table says; where it says nothing, mended."""
    names = FOUND[group]
    return {name: edited(KERNELS[name], *table.get(name, MENDED[name]), name=f"{name}_edited") for name in names}


def only(group: str, name: str) -> Wrong:
    """All left open but one, which is not mended."""
    broken = edited(KERNELS[name], *NOT_MENDED[name], name=f"{name}_not_mended")
    return Wrong(dict.fromkeys(FOUND[group]) | {name: broken}, "kernels", f"{name}: ")


def find(group: str) -> list[Wrong]:
    """Wrong names, wrong lines, and what is no pair."""
    right = FOUND[group]
    first = next(iter(right))
    line, name = right[first]
    return [
        Wrong(right | {first: (line, "tiles-overlap")}, "names", "4 of 5 right"),
        Wrong(right | {first: (1, name)}, "lines", "4 of 5 right"),
        Wrong({name: (99, cause) for name, (_, cause) in right.items()}, "lines", "0 of 5"),
        Wrong(right | {first: name}, "names", "pair"),
        Wrong(right | {first: (line, "a deadlock")}, "names", "a deadlock"),
        Wrong(right | {first: (None, None)}, "names", "4 of 5 right"),
    ]


WRONG = {f"hunt.find-{group}": find(group) for group in GROUPS} | {
    f"hunt.mend-{group}": [only(group, name) for name in FOUND[group] if name in NOT_MENDED]
    + [Wrong(5, "kernels", "5")]
    for group in GROUPS
}
RIGHT: dict[str, list] = {
    f"hunt.find-{group}": [list(right.values()), {name: list(pair) for name, pair in right.items()}]
    for group, right in FOUND.items()
}
RIGHT |= {f"hunt.mend-{group}": [kernels(group, OTHERWISE), list(kernels(group, MENDED).values())] for group in GROUPS}
