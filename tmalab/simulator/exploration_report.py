"""An exploration in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.exploration import Exploration, Failing
    from tmalab.simulator.outcomes import Found

SHOWN = 400  # characters of an order


def head(exploration: Exploration) -> str:
    """What was explored, and whether anything was wrong."""
    what = _explored(exploration)
    if not exploration.failures:
        return text("explore.clean", what=what)
    return text("explore.failing", what=what, failing=f"{exploration.failures:,}")


def report(exploration: Exploration) -> str:
    """All of it."""
    lines = [head(exploration), *(_found(exploration, found) for found in exploration.hazards)]
    if exploration.depends_on_order:
        results = sum(outcome.ok for outcome in exploration.outcomes)
        lines.append(text("explore.outcomes", count=f"{results:,}"))
    lines += exploration.warnings
    if (failing := exploration.failing) is not None:
        return "\n".join([*lines, _shortest(exploration, failing), str(failing.run)])
    if exploration.compile_error is not None:
        lines.append(str(exploration.compile_error))
    return "\n".join(lines)


def _explored(exploration: Exploration) -> str:
    values = {"kernel": exploration.kernel, "orders": _orders(exploration.explored), "why": _why(exploration)}
    if not exploration.exhaustive:
        key = "explore.seeds-tried" if exploration.complete else "explore.seeds-part"
        return text(key, seeds=_listed((exploration.seeds or [])[: exploration.runs]), **values)
    if not exploration.complete:
        return text("explore.part", **values)
    return text("explore.one" if exploration.explored == 1 else "explore.all", **values)


def _orders(count: int) -> str:
    return text("explore.one-order") if count == 1 else text("explore.orders", count=f"{count:,}")


def _why(exploration: Exploration) -> str:
    limits = {"runs": exploration.limit, "seconds": exploration.time_limit}
    stopped = exploration.stopped
    return text(f"explore.why-{stopped}", limit=limits.get(stopped)) if stopped is not None else ""


def _listed(seeds: list[int]) -> str:
    """`0 to 99`, or the seeds themselves."""
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return text("explore.from-to", first=seeds[0], last=seeds[-1])
    return ", ".join(map(str, seeds))


def _found(exploration: Exploration, found: Found) -> str:
    width = max(len(each.name) for each in exploration.hazards)
    values = {"name": found.name.ljust(width), "count": f"{found.count:,}", "first": found.first}
    return text("explore.found-order" if exploration.exhaustive else "explore.found-seed", **values)


def _shortest(exploration: Exploration, failing: Failing) -> str:
    if failing.order is None:
        return text("explore.shortest-seed", seed=failing.seed, turns=failing.turns, kernel=exploration.kernel)
    order = failing.order if len(failing.order) <= SHOWN else failing.order[:SHOWN] + " ..."
    return text("explore.shortest-order", order=order, turns=failing.turns)
