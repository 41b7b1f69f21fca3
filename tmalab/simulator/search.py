"""The search through all orders of a small kernel: dynamic partial-order reduction, without any knowledge of kernels.

Each execution is run to its end. Where two of its steps were in a race (they do not commute, and nothing else orders
them), some later execution has to take them the other way round: it takes the same turns up to the first of the two,
then begins with one that leads to the second (a *source set* of such beginnings suffices). What has been explored from
a state goes to sleep, and is woken by the first step that does not commute with it; an execution in which all who could
go are asleep would repeat an order, and is cut.

Dynamic partial-order reduction: C. Flanagan and P. Godefroid, POPL 2005; source sets: P. Abdulla, S. Aronis,
B. Jonsson and K. Sagonas, POPL 2014; sleep sets: P. Godefroid, LNCS 1032, 1996.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tmalab.simulator.operations import Agent, Operation, Step, after, commute
from tmalab.simulator.partial_order import Order

Turn = tuple[Agent, int]  # who goes, and which of its choices


@dataclass(slots=True)
class Tried:
    """A turn that has been explored from a state: what it did there, and among how many choices."""

    operations: list[Operation]
    options: int


@dataclass(slots=True)
class Node:
    """A state on the way of the last execution.

    possible   who could go
    asleep     turns that need not be tried here, and `done`: those that have been
    todo       turns to be tried
    turn, step the one that is being tried, and what came of it
    """

    possible: list[Agent]
    asleep: dict[Turn, Tried]
    turn: Turn
    done: dict[Turn, Tried] = field(default_factory=dict)
    todo: list[Turn] = field(default_factory=list)
    step: Step | None = None

    def sleepers(self) -> dict[Turn, Tried]:
        return {**self.asleep, **self.done}

    def untried(self) -> list[Turn]:
        """What is still to be tried here."""
        known = {self.turn, *self.asleep, *self.done}
        return [turn for turn in self.todo if turn not in known]

    def begun(self) -> set[Agent]:
        """Those that begin an execution from here, or will, or sleep here because they have begun one before."""
        return {agent for agent, _ in (self.turn, *self.todo, *self.done, *self.asleep)}


class Search:
    """All orders of what `execute` runs.

    execute    runs once, and asks the search at each state who goes next (`choose`: None means that the execution is
               to be cut) and tells it what came of it (`happened`)
    """

    def __init__(self, execute: Callable[[Search], None]):
        self._execute = execute
        self.nodes: list[Node] = []
        self._depth = self._changed = 0
        self._cluster: int | None = None  # whose orders are being explored; None: all, with the first execution
        self._asleep: dict[Turn, Tried] = {}
        self.cut = False  # whether the last execution would have repeated an order

    def next(self) -> bool:
        """Run one more execution; False when there is none."""
        if self.nodes and not self._turn_back():
            return False
        self._depth, self._asleep, self.cut = 0, {}, False
        self._execute(self)
        del self.nodes[self._depth :]
        self._look_for_races()
        return True

    @property
    def steps(self) -> list[Step]:
        """The steps of the last execution."""
        return [node.step for node in self.nodes]

    @property
    def done(self) -> float:
        """About which part of the whole is done, as far as is known: from 0 to 1."""
        part, weight = 0.0, 1.0
        if not any(node.untried() for node in self.nodes):
            return 1.0
        for node in self.nodes:
            tried, open = len(node.done), 1 + len(node.untried())
            weight /= tried + open
            part += weight * tried
        return part

    # What an execution calls.

    def choose(self, possible: list[Agent]) -> Turn | None:
        """Who goes next, of those that could: agents in the order that comes naturally."""
        if self._depth < len(self.nodes):
            return self.nodes[self._depth].turn
        turn = self._first_awake(possible)
        if turn is None:
            self.cut = True
            return None
        self.nodes.append(Node(list(possible), self._asleep, turn))
        return turn

    def happened(self, step: Step) -> None:
        """The turn has been taken."""
        node = self.nodes[self._depth]
        if node.step is None and self._explores(step):
            node.todo[:0] = [(step.agent, choice) for choice in range(step.options) if choice != step.choice]
        node.step = step
        self._depth += 1
        self._asleep = {
            turn: Tried(after(tried.operations, step.operations), tried.options)
            for turn, tried in node.sleepers().items()
            if turn[0] != step.agent and commute(tried.operations, step.operations)
        }

    # How it works.

    def _first_awake(self, possible: list[Agent]) -> Turn | None:
        for agent in possible:
            asleep = {choice: tried for (who, choice), tried in self._asleep.items() if who == agent}
            options = next(iter(asleep.values())).options if asleep else 1
            awake = [choice for choice in range(options) if choice not in asleep]
            if awake:
                return agent, awake[0]
        return None

    def _turn_back(self) -> bool:
        """Leave the last execution where another turn is to be tried."""
        while self.nodes:
            node = self.nodes[-1]
            node.done[node.turn] = Tried(node.step.operations, node.step.options)
            if untried := node.untried():
                self._cluster, self._changed = node.step.cluster, len(self.nodes) - 1
                node.turn, node.todo, node.step = untried[0], untried[1:], None
                return True
            self.nodes.pop()
        return False

    def _explores(self, step: Step) -> bool:
        """Whether the other orders around a step are explored. Clusters run one after the other, so each one's orders
        are explored with one order of those before it, and with one of those after it."""
        return self._cluster in (None, step.cluster)

    def _look_for_races(self) -> None:
        """Races of the steps that are new in the last execution: others have to be tried where they began."""
        order = Order()
        for number, node in enumerate(self.nodes):
            rivals = order.add(node.step)
            if number >= self._changed and self._explores(node.step):
                for rival in rivals:
                    self._try_at(self.nodes[rival], order.firsts([*order.detour(rival, number), number]))
        for rival, agent in order.blocked_races():
            if not self.cut and self._explores(self.nodes[rival].step):
                detour = order.detour(rival, len(order.steps))
                moved = {order.steps[number].agent for number in detour}
                self._try_at(self.nodes[rival], order.firsts(detour) | ({agent} - moved))

    def _try_at(self, node: Node, firsts: set[Agent]) -> None:
        """One of some agents has to begin an execution at a state: unless one does, or sleeps because one did."""
        begun = node.begun()
        if firsts & begun:
            return
        fitting = [agent for agent in node.possible if agent in firsts]
        for agent in fitting[:1] or node.possible:
            if agent not in begun:
                node.todo.append((agent, 0))
