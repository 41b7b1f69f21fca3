"""The fixed example of figure 6: eight tiles through a ring of stages, at invented but typical times.

A load takes long to come back, however little the copy engine has to do for it. With few stages the tensor core waits
for it each time; with enough of them only once.

>>> [round(sum(bubble.duration for bubble in example(stages).bubbles())) for stages in (1, 2, 4)]
[4200, 1050, 0]
"""

from __future__ import annotations

from tmalab.timing.timeline import Span, Timeline

TILES = 8
ISSUE, LATENCY, COPY, COMPUTE = 40, 600, 150, 250  # ns: to issue a load; until it lands; between two; for a tile
MOST_STAGES = 6


def example(stages: int) -> Timeline:
    """The tiles' way through so many stages."""
    spans: list[Span] = []
    issued: list[int] = []
    landed: list[int] = []
    ended: list[int] = []
    for tile in range(TILES):
        stage, ready = tile % stages, issued[-1] if issued else 0
        free = ended[tile - stages] if tile >= stages else 0
        if free > ready:
            spans.append(Span("producer", "wait", ready, free, stage=stage))
        start = max(ready, free)
        issued.append(start + ISSUE)
        landed.append(max([start + LATENCY, *(last + COPY for last in landed[-1:])]))
        begins = max([landed[-1], *ended[-1:]])
        ended.append(begins + COMPUTE)
        spans += [
            Span("producer", "issue", start, issued[-1], copy=tile + 1, stage=stage),
            Span("copy engine", "copy in flight", start, landed[-1], copy=tile + 1, stage=stage),
            Span(f"stage {stage}", "full", landed[-1], ended[-1], copy=tile + 1, stage=stage),
            Span("tensor core", "compute", begins, ended[-1], copy=tile + 1, stage=stage),
        ]
    return Timeline.of(spans, "model")
