"""The stores of a thread, as frames: after each event, what may be overwritten and what lies in global memory.

A buffer is the place in shared memory that a store reads. It may be overwritten once a wait has shown that every store
from it has been read: that it was read is not enough, since the thread does not know.

>>> frames = frames_of(*ring_of_two())
>>> frames[6].says
'wait_group.read(1) returns to thread 0: all but the newest group have been read. So ring[0] may be overwritten.'
>>> frames[6].buffers
('free', 'busy')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tmalab.figures.words import capital
from tmalab.simulator.story import CopyTold, Moment, Story
from tmalab.texts import text

MOST_GROUPS = 8  # that are told of, one by one
ROLES = ("store", "reduction")
WAITS = {"wait_group_read": "wait_group.read", "wait_group": "wait_group"}
WHATS = (*ROLES, "commit_group", "store_read", "store_written", "waits_group", *WAITS)
EXAMPLE: tuple[tuple[str, Any], ...] = (  # event, and its operand or the number of the store
    ("store", 1),
    ("commit_group", 1),
    ("store", 2),
    ("commit_group", 2),
    ("waits_group", "read"),
    ("store_read", 1),
    ("wait_group_read", 1),
    ("store", 3),
    ("commit_group", 3),
    ("store_written", 1),
    ("waits_group", "write"),
    ("store_read", 2),
    ("store_written", 2),
    ("store_read", 3),
    ("store_written", 3),
    ("wait_group", 0),
)


@dataclass
class Sent:
    """A store so far. `group`: its number, None before the commit; what was done, and what a wait has shown of it."""

    buffer: int
    group: int | None = None
    read: bool = False
    written: bool = False
    known_read: bool = False
    known_written: bool = False


@dataclass(frozen=True)
class Frame:
    """Who did what, where; the sentence; of each buffer whether it may be overwritten ("never" stored from, "open",
    "busy", "read", "free") and whether its bytes are in global memory ("", "done", "known"); the groups in words."""

    who: str
    did: str
    line: int | None
    says: str
    buffers: tuple[str, ...]
    arrived: tuple[str, ...]
    groups: tuple[str, ...] = field(default=())


def storing_threads(story: Story) -> list[int]:
    """The threads that store, in the order of their first store."""
    return list(dict.fromkeys(moment.thread for moment in story.moments if moment.what in ROLES))


def buffers_of(story: Story, thread: int) -> list[tuple[int, str]]:
    """The places in shared memory from which a thread stores: address and name, in the order of their first use."""
    stored = (story.copies[m.copy] for m in story.moments if m.thread == thread and m.what in ROLES)
    return list(dict.fromkeys((copy.address, copy.name) for copy in stored))


def happened(story: Story) -> dict[int, list[Moment]]:
    """What happened to the stores of each thread."""
    found: dict[int, list[Moment]] = {}
    for moment in story.moments:
        if moment.what in WHATS and (moment.what != "waits_group" or moment.operand != "cp.async"):
            found.setdefault(moment.thread, []).append(moment)
    return found


def frames_of(story: Story, thread: int) -> list[Frame]:
    """The frames of one thread's stores."""
    return frames_in(story, thread, happened(story).get(thread, []))


def frames_in(story: Story, thread: int, moments: Sequence[Moment], most: int | None = None) -> list[Frame]:
    """The frames of what happened to one thread's stores: the first `most`."""
    told = _Told(story, thread)
    return [told.frame(moment) for moment in moments[:most]]


def ring_of_two() -> tuple[Story, int]:
    """The fixed example: three tiles through two buffers, each refilled once it may be."""
    story = Story(128, names={0: text("steps.thread", number=0)})
    for number in (1, 2, 3):
        place = (number - 1) % 2
        story.copies[number] = CopyTold("store", f"ring[{place}]", 1024 * place, 1024, 0, 0, None)
    for step, (what, operand) in enumerate(EXAMPLE):
        copy = operand if what in ("store", "store_read", "store_written") else 0
        story.moments.append(Moment(step, what, 0, 0, operand, copy))
    return story, 0


class _Told:
    """What is known of a thread's stores while its frames are made."""

    def __init__(self, story: Story, thread: int):
        self.story, self.thread, self.who = story, thread, story.names[thread]
        self.buffers = buffers_of(story, thread)
        self.sent: dict[int, Sent] = {}  # by number of the copy
        self.from_buffer: list[list[Sent]] = [[] for _ in self.buffers]  # its last store, and what may still be read
        self.open: list[Sent] = []  # in no group yet
        self.groups = 0  # committed so far
        self.under_way: dict[int, list[Sent]] = {}  # by group: what no wait_group has shown to be written
        self.after = self._buffers()

    def frame(self, moment: Moment) -> Frame:
        before = self.after
        who, did, outcome = getattr(self, f"_{moment.what}")(moment)
        self.after = after = self._buffers()
        freed = [self.buffers[at][1] for at, (old, new) in enumerate(zip(before, after)) if new == "free" != old]
        says = [f"{capital(who)} {did}.", outcome]
        if moment.what in WAITS:
            returns = text("stores.returns", wait=f"{WAITS[moment.what]}({moment.operand})", who=who)
            says = [f"{returns}: {outcome}", self._freed(freed)]
        said = " ".join(filter(None, says))
        return Frame(who, did, moment.line, said, after, self._arrived(), tuple(self._groups()))

    def _store(self, moment: Moment) -> tuple[str, str, str]:
        copy = self.story.copies[moment.copy]
        self.sent[moment.copy] = sent = Sent(self.buffers.index((copy.address, copy.name)))
        self.open.append(sent)
        self.from_buffer[sent.buffer].append(sent)
        key = "stores.reduces" if copy.role == "reduction" else "stores.stores"
        return self.who, text(key, name=copy.name, bytes=f"{copy.bytes:,}"), text("stores.from-now", name=copy.name)

    _reduction = _store

    def _commit_group(self, moment: Moment) -> tuple[str, str, str]:
        mine, self.open = self.open, []
        for sent in mine:
            sent.group = self.groups
        if mine:
            self.under_way[self.groups] = mine
        self.groups += 1
        names = ", ".join(self.buffers[sent.buffer][1] for sent in mine)
        key = "stores.commits" if mine else "stores.commits-nothing"
        return self.who, text(key, group=self.groups - 1, names=names), text("stores.committed")

    def _store_read(self, moment: Moment) -> tuple[str, str, str]:
        sent = self.sent.get(moment.copy)
        who, name = self._store_name(moment.copy)
        if sent is None:  # issued before what is kept
            return who, text("stores.reads"), ""
        sent.read = True
        return who, text("stores.reads"), text("stores.read-unknown", name=name, who=self.who)

    def _store_written(self, moment: Moment) -> tuple[str, str, str]:
        if sent := self.sent.get(moment.copy):
            sent.written = True
        return self._store_name(moment.copy)[0], text("stores.writes"), text("stores.written-unknown", who=self.who)

    def _waits_group(self, moment: Moment) -> tuple[str, str, str]:
        return self.who, text("stores.waits-read" if moment.operand == "read" else "stores.waits-written"), ""

    def _wait_group_read(self, moment: Moment) -> tuple[str, str, str]:
        self._learn(moment.operand, written=False)
        return self._returned(moment, "read")

    def _wait_group(self, moment: Moment) -> tuple[str, str, str]:
        self._learn(moment.operand, written=True)
        return self._returned(moment, "written")

    def _learn(self, newest: int, written: bool) -> None:
        for group in [group for group in self.under_way if group < self.groups - newest]:
            for sent in self.under_way[group]:
                sent.known_read = True
                sent.known_written |= written
            if written:
                del self.under_way[group]
        self.from_buffer = [[sent for sent in all[:-1] if not sent.known_read] + all[-1:] for all in self.from_buffer]

    def _returned(self, moment: Moment, done: str) -> tuple[str, str, str]:
        did = text("stores.knows", wait=f"{WAITS[moment.what]}({moment.operand})")
        if moment.operand == 0:
            return self.who, did, text(f"stores.all-{done}")
        if moment.operand == 1:
            return self.who, did, text(f"stores.all-but-one-{done}")
        return self.who, did, text(f"stores.all-but-{done}", newest=moment.operand)

    def _freed(self, names: list[str]) -> str:
        return text("stores.freed", names=", ".join(names)) if names else text("stores.nothing-new")

    def _store_name(self, number: int) -> tuple[str, str]:
        copy = self.story.copies[number]
        return text("stores.reduction" if copy.role == "reduction" else "stores.store", name=copy.name), copy.name

    def _buffers(self) -> tuple[str, ...]:
        return tuple(map(_may_overwrite, self.from_buffer))

    def _arrived(self) -> tuple[str, ...]:
        last = [sent[-1] if sent else Sent(buffer) for buffer, sent in enumerate(self.from_buffer)]
        return tuple("known" if sent.known_written else "done" if sent.written else "" for sent in last)

    def _groups(self) -> list[str]:
        """The groups that no wait_group has shown to be written: what is in them, how far they are."""
        found = []
        newest = list(self.under_way.items())[-MOST_GROUPS:]
        if len(newest) < len(self.under_way):
            found.append(text("stores.group-older", count=f"{len(self.under_way) - len(newest):,}"))
        for group, mine in newest:
            names = ", ".join(self.buffers[sent.buffer][1] for sent in mine)
            state = "written" if all(s.written for s in mine) else "read" if all(s.read for s in mine) else "pending"
            found.append(text(f"stores.group-{state}", group=group, names=names))
        return found


def _may_overwrite(stores: list[Sent]) -> str:
    """Whether a buffer may be overwritten, from all the stores that read it."""
    if not stores:
        return "never"
    unknown = [sent for sent in stores if not sent.known_read]
    if any(sent.group is None for sent in unknown):
        return "open"
    if not all(sent.read for sent in unknown):
        return "busy"
    return "read" if unknown else "free"
