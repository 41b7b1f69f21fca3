"""Which aim of its lesson an exercise is for: so an instructor sees what a class can, not only what it got wrong.

A lesson names its aims itself, in its first cell; here stands which of them, counted from 1, each exercise asks for.

>>> aims_of("01-copy-2d")[2]
'tell where the 128-byte swizzle puts each piece of a row'
>>> aims_for("copy-2d.rim")
['give the coordinates of a tile, and say what arrives when the tile hangs over the edge']
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache

from grader.lesson import lessons, source_of
from tmalab.lab import released

AIM = re.compile(r"(?m)^- (.+(?:\n  .+)*)")
SERVES: Mapping[str, tuple[int, ...]] = {
    "start.numbers": (1,),
    "start.report": (2,),
    "start.sources": (3,),
    "start.know": (4,),
    "copy-2d.count": (1,),
    "copy-2d.map": (1, 2),
    "copy-2d.predict": (3,),
    "copy-2d.swizzle": (3,),
    "copy-2d.kernel": (4, 5),
    "copy-2d.rim": (2,),
    "swizzle.ways": (1,),
    "swizzle.place": (2,),
    "swizzle.widest": (3,),
    "swizzle.read": (5,),
    "swizzle.shifted": (2, 5),
    "swizzle.transpose": (1, 5),
    "swizzle.hunt": (4,),
    "grouping.view": (1,),
    "grouping.coordinates": (2,),
    "grouping.address": (3,),
    "grouping.places": (3,),
    "grouping.rows": (5,),
    "grouping.columns": (4, 5),
    "grouping.hunt": (3, 4),
    "mbarrier.phases": (1,),
    "mbarrier.machine": (1,),
    "mbarrier.pair": (2,),
    "mbarrier.parity": (3,),
    "mbarrier.loop": (4,),
    "mbarrier.ring": (3, 4),
    "mbarrier.hangs": (5,),
    "mbarrier.hunt": (5,),
    "stores.store": (1,),
    "stores.safe": (2,),
    "stores.ring": (3,),
    "stores.clip": (4,),
    "stores.results": (5,),
    "stores.sums": (5,),
    "stores.hunt": (6,),
    "maps.view": (1,),
    "maps.counts": (1,),
    "maps.patch": (2,),
    "maps.column": (3,),
    "maps.doctor": (4,),
    "maps.mend": (4,),
    "maps.life": (5,),
    "maps.rows": (5,),
    "maps.each": (5, 6),
    "maps.hunt": (5, 6),
    "pipelines.finish": (1,),
    "pipelines.depth": (2,),
    "pipelines.ahead": (3,),
    "pipelines.ring": (3,),
    "pipelines.fit": (5,),
    "pipelines.curves": (5,),
    "pipelines.hunt": (4,),
    "clusters.masks": (2,),
    "clusters.expect": (2,),
    "clusters.share": (1, 3),
    "clusters.counts": (4,),
    "clusters.ring": (4,),
    "clusters.leave": (5,),
    "clusters.hunt": (6,),
    "gemm.descriptor": (1,),
    "gemm.steps": (1,),
    "gemm.multiply": (1, 2),
    "gemm.one-stage": (2,),
    "gemm.tiles": (6,),
    "gemm.ahead": (3,),
    "gemm.roles": (4,),
    "gemm.persistent": (5,),
    "gemm.ladder": (6,),
    "gemm.hunt": (2, 4),
    "hunt.find-loads": (1, 2),
    "hunt.mend-loads": (3,),
    "hunt.find-rings": (1, 2),
    "hunt.mend-rings": (3,),
    "hunt.find-stores": (1, 2),
    "hunt.mend-stores": (3,),
}
WITHOUT_EXERCISE = {"10-bug-hunt": (4,)}  # aims that no check asks for


@lru_cache(maxsize=64)
def aims_of(assignment: str) -> list[str]:
    """The aims of a lesson, in its own words."""
    path = next((released() / assignment).glob("*.ipynb"))
    cells = json.loads(path.read_text("utf-8"))["cells"]
    words = next(source_of(cell) for cell in cells if cell.get("id") == "aims")
    return [" ".join(aim.split()).rstrip(",.") for aim in AIM.findall(words)]


def aims_for(exercise: str) -> list[str]:
    """The aims that an exercise is for; none of an instructor's own exercise."""
    lesson = next((name for name, each in lessons().items() if exercise in {c.exercise for c in each.checks}), None)
    return [aims_of(lesson)[number - 1] for number in SERVES.get(exercise, ())] if lesson else []
