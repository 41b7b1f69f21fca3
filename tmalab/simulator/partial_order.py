"""The partial order of one execution: which of its steps had to come after which, and which only happened to.

Steps that do not commute (tmalab.simulator.operations says which) are ordered, and so are the ends of a chain of such
steps. Where nothing but themselves orders two of them, they are in a *race*: they could as well have come the other way
round.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator

from tmalab.simulator.operations import CHANGING, WAITING, Agent, Blocked, Operation, Role, Step


class Order:
    """The partial order of an execution, step by step. Sets of steps are the bits of an int.

    before   for each step: those that it had to come after, itself included
    """

    def __init__(self):
        self.steps: list[Step] = []
        self.before: list[int] = []
        self._known: dict[Agent, int] = {}  # steps that an agent's next one has to come after
        self._blocked: dict[Agent, Blocked] = {}
        self._ledgers: dict[Hashable, Ledger] = {}
        self._exited = self._earlier = 0
        self._cluster = 0

    def add(self, step: Step) -> list[int]:
        """Add a step. Returns the earlier steps with which it is in a race: which could as well have come after it."""
        number = len(self.steps)
        if step.cluster != self._cluster:  # a cluster begins when the one before has ended
            self._cluster, self._earlier = step.cluster, (1 << number) - 1
        known = after = self._known.get(step.agent, self._earlier)
        rivals: set[int] = set()
        for operation in step.operations:
            must, may = self._ledger(operation.place).relate(operation, self.before)
            rivals.update(rival for rival in may if not known >> rival & 1)
            after |= must
            if operation.role in WAITING:  # what follows in this step could not have come before
                known |= must
        self.steps.append(step)
        self.before.append(after | 1 << number)
        for operation in step.operations:
            self._ledgers[operation.place].enter(number, operation, self.before)
        self._pass_on(number, step)
        return list(self._nearest(rivals))

    def blocked_races(self) -> Iterator[tuple[int, Agent]]:
        """For agents that wait for ever: an earlier step, and the agent, which could have asked before it."""
        for agent, (place, by_parity) in self._blocked.items():
            if by_parity and place in self._ledgers:
                known = self._known.get(agent, self._earlier)
                rivals = [rival for rival in self._ledgers[place].last if not known >> rival & 1]
                for rival in self._nearest(rivals):
                    yield rival, agent

    def detour(self, rival: int, stop: int) -> list[int]:
        """What could run in place of a step: all after it up to `stop` that did not have to come after it."""
        return [number for number in range(rival + 1, stop) if not self.before[number] >> rival & 1]

    def firsts(self, numbers: list[int]) -> set[Agent]:
        """The agents that could begin, where some steps are run without what lay between them."""
        these = sum(1 << number for number in numbers)
        firsts, seen = set(), set()
        for number in numbers:
            agent = self.steps[number].agent
            if agent not in seen and not self.before[number] & these & ~(1 << number):
                firsts.add(agent)
            seen.add(agent)
        return firsts

    def _ledger(self, place: Hashable) -> Ledger:
        if place not in self._ledgers:
            self._ledgers[place] = Ledger()
        return self._ledgers[place]

    def _pass_on(self, number: int, step: Step) -> None:
        """What others have to come after from now on."""
        mine = self.before[number]
        self._known[step.agent] = mine
        for agent in step.issues:
            self._known[agent] = mine
        if step.exits:
            self._exited |= mine
        if step.wakes:
            together = mine | self._exited
            for operation in step.operations:
                together |= self._ledgers[operation.place].completed
            for agent in step.wakes:
                self._known[agent] = self._known.get(agent, 0) | together
        self._blocked.pop(step.agent, None)
        if step.blocked is not None:
            self._blocked[step.agent] = step.blocked

    def _nearest(self, rivals: Collection[int]) -> Iterator[int]:
        """Those of some steps that no other one of them has to come after."""
        for number in rivals:
            if not any(self.before[other] >> number & 1 for other in rivals if other != number):
                yield number


class Ledger:
    """The operations on one object: those of its current phase, and who completed the phases before.

    completed     steps that had to come before the current phase
    last, before_last   steps that counted towards the last phase and the one before
    """

    def __init__(self):
        self._phase: int | None = None
        self._now: list[tuple[int, Operation]] = []
        self.completed = 0
        self.last: list[int] = []
        self.before_last: list[int] = []
        self._last_was_alone = False

    def relate(self, operation: Operation, before: list[int]) -> tuple[int, list[int]]:
        """What an operation has to come after (steps, and theirs), and with which steps it is in a race if no other
        way orders them."""
        if operation.role is Role.ALONE:
            present = [number for number, _ in self._now]
            return self._joined(present, before), [*present, *self.last]
        self._turn_to(operation.phase, before)
        if operation.role in WAITING:
            early = self.before_last if operation.role is Role.WAITS_BY_PARITY else []
            return self.completed, [*early, *(self.last if self._last_was_alone else [])]
        clashing = self._clashing(operation, before)
        return self._joined(clashing, before), [*clashing, *self.last]

    def enter(self, number: int, operation: Operation, before: list[int]) -> None:
        """Step `number` has done it."""
        if operation.role is Role.ALONE:
            self.completed |= before[number]
            self._now, self.last, self.before_last = [], [number], []
            self._phase, self._last_was_alone = None, True
            return
        self._now.append((number, operation))
        if operation.completes:
            self._turn_to(operation.phase + 1, before)

    def _turn_to(self, phase: int, before: list[int]) -> None:
        if self._phase is not None and phase != self._phase:
            counted = [number for number, other in self._now if other.role in CHANGING]
            self.completed = self._joined(counted, before)
            self.before_last, self.last, self._last_was_alone = self.last, counted, False
            self._now = []
        self._phase = phase

    def _joined(self, numbers: Iterable[int], before: list[int]) -> int:
        joined = self.completed
        for number in numbers:
            joined |= before[number]
        return joined

    def _clashing(self, operation: Operation, before: list[int]) -> list[int]:
        """Steps of this phase that an operation does not commute with."""
        if operation.role is not Role.COUNTS:
            return []
        counted = [(number, other) for number, other in self._now if other.role is Role.COUNTS]
        clashing = [number for number, other in counted if None not in (other.seen, operation.seen)]
        if operation.pending == 0 and operation.owed < 0:  # part of any copy could have been just enough
            clashing += [number for number, other in counted if other.bytes]
        return clashing + self._spared(operation, before)

    def _spared(self, operation: Operation, before: list[int]) -> list[int]:
        """Steps of this phase without which an operation would have completed it.

        No arrival is among them, nor what had to come before one: a phase needs all its arrivals.
        """
        if operation.pending < 0:  # had it come before one of the others, that would have been too many
            return [number for number, other in self._now if other.arrivals > 0]
        arrived = self._joined((number for number, other in self._now if other.arrivals > 0), before)
        loose = {number: other for number, other in self._now if not arrived >> number & 1}
        spared = [number for number, other in loose.items() if other.arrivals < 0]
        return spared + [
            number for number in loose if operation.pending == 0 and _spares(loose, number, operation, before)
        ]


def _spares(loose: dict[int, Operation], number: int, operation: Operation, before: list[int]) -> bool:
    """Whether an operation would have completed its phase without some of the steps before it: one, those that had to
    come after that, and any others."""
    without = {other for other in loose if before[other] >> number & 1}
    sums = {sum(loose[other].bytes for other in without)}
    for other in loose.keys() - without:
        sums |= {found + loose[other].bytes for found in sums}
    return operation.owed in sums
