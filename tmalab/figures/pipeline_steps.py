"""A timeline of a run that has no times: what came after what. The axis counts events, and is no time.

Of threads that load, each issue and each wait is a span; of the others, the waits of one for each CTA, since all of
them wait alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tmalab.simulator.story import Moment, Story
from tmalab.timing.timeline import Span, Timeline

STEPS = "steps"  # the source of such a timeline
OUT = ("store", "reduction")


def timeline_of(story: Story) -> Timeline:
    """The timeline of a story."""
    loading = {moment.thread for moment in story.moments if moment.what == "load"}
    waiting = _waiting(story, loading)
    told = [moment for moment in story.moments if moment.thread in waiting or not _is_wait(moment)]
    spans = [*_issues(told), *_copies(story, told), *_waits(told, loading), *_stages(told)]
    return Timeline.of(spans, STEPS, duration=len(told))


def _is_wait(moment: Moment) -> bool:
    return moment.what in ("waits_mbarrier", "mbarrier_wait")


def _waiting(story: Story, loading: set[int]) -> set[int]:
    """The threads whose waits are drawn."""
    others: dict[int, int] = {}  # by CTA
    for moment in story.moments:
        if _is_wait(moment) and moment.thread not in loading:
            others[moment.cta] = min(moment.thread, others.get(moment.cta, moment.thread))
    return loading | set(others.values())


def _stage_numbers(told: Iterable[Moment]) -> dict[tuple[int, int] | None, int]:
    """The stage that each barrier of loads stands for, numbered in each CTA in the order of their first load."""
    numbers: dict[tuple[int, int] | None, int] = {}
    for moment in told:
        if moment.what == "load" and moment.barrier is not None and moment.barrier not in numbers:
            numbers[moment.barrier] = sum(other is not None and other[0] == moment.barrier[0] for other in numbers)
    return numbers


def _issues(told: list[Moment]) -> list[Span]:
    stages = _stage_numbers(told)
    return [
        Span("producer", "issue", at, at + 1, m.cta, m.thread, m.copy, stages.get(m.barrier), m.line)
        for at, m in enumerate(told)
        if m.what == "load"
    ]


def _copies(story: Story, told: list[Moment]) -> list[Span]:
    """Loads in flight, wgmmas and stores: from their issue to their last event."""
    rows = {"load": ("copy engine", "copy in flight"), "wgmma": ("tensor core", "compute")}
    rows |= dict.fromkeys(OUT, ("epilogue", "store"))
    stages = _stage_numbers(told)
    first: dict[Any, Any] = {}
    last: dict[Any, Any] = {}
    for at, moment in enumerate(told):
        if moment.copy and moment.what in rows:
            first.setdefault(moment.copy, (at, moment))
        if moment.copy:
            last[moment.copy] = at
    spans = []
    for copy, (at, moment) in first.items():
        row, what = rows[moment.what]
        stage = stages.get(moment.barrier)
        cta = story.copies[copy].cta
        spans.append(Span(row, what, at, max(last[copy], at + 1), cta, moment.thread, copy, stage, moment.line))
    return _merged(spans)


def _merged(spans: list[Span]) -> list[Span]:
    """Copies into one stage at the same time, and a thread's wgmmas, are one span."""
    last: dict[tuple, Span] = {}
    for span in spans:
        key = span.row, span.cta, span.stage if span.stage is not None else ("thread", span.thread)
        before = last.get(key)
        if before is not None and span.start <= before.end and span.what != "store":
            span = replace(before, end=max(before.end, span.end))
            last[(*key, span.start)] = last[key] = span
        else:
            last[key] = last[(*key, span.start)] = span
    return [span for key, span in last.items() if len(key) == 4]


def _waits(told: list[Moment], loading: set[int]) -> list[Span]:
    spans: list[Span] = []
    begun: dict[tuple, tuple[int, Moment]] = {}
    stages = _stage_numbers(told)
    for at, moment in enumerate(told):
        if moment.what == "waits_mbarrier":
            begun.setdefault((moment.thread, moment.barrier), (at, moment))
        elif moment.what == "mbarrier_wait" and (moment.thread, moment.barrier) in begun:
            start, began = begun.pop((moment.thread, moment.barrier))
            spans.append(_wait(start, began, at, loading, stages))
    return spans + [_wait(at, moment, len(told), loading, stages) for at, moment in begun.values()]


def _wait(at: int, moment: Moment, end: int, loading: set[int], stages: dict[tuple[int, int] | None, int]) -> Span:
    row = "producer" if moment.thread in loading else "consumer"
    return Span(row, "wait", at, end, moment.cta, moment.thread, stage=stages.get(moment.barrier), line=moment.line)


def _stages(told: list[Moment]) -> list[Span]:
    """A stage is full from the completion of its barrier's phase to the next load into it."""
    stages = _stage_numbers(told)
    full: dict[Any, Any] = {}
    phases: dict[Any, int] = {}
    spans: list[Span] = []
    for at, moment in enumerate(told):
        if moment.barrier not in stages:
            continue
        key = moment.place
        if moment.what == "load" and key in full:
            spans.append(Span(f"stage {stages[key]}", "full", full.pop(key), at, key[0], stage=stages[key]))
        if moment.state.phase > phases.get(key, 0) and moment.what != "mbarrier_init":
            full[key] = at
        phases[key] = moment.state.phase
    return spans + [
        Span(f"stage {stages[key]}", "full", at, len(told), key[0], stage=stages[key]) for key, at in full.items()
    ]
