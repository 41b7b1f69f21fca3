"""The time model: its constants, its errors, and what looks at the clock cost."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from docs.tables.markdown import html, table
from tmalab.bench import timing, timing_plots
from tmalab.timing.constants import UNITS, Constants, meaning
from tmalab.timing.trace_costs import trace_costs
from tmalab.timing.trials import HELD_OUT, TRIALS


def timing_constants() -> str:
    """The constants of the time model: what was measured, how far it spreads, and where."""
    constants = Constants.read()
    rows = []
    for name, unit in UNITS.items():
        found = constants.found[name]
        value, spread = f"{found.value:,.4g} {unit}", f"± {found.spread:.3g}"
        rows.append((f"`{name}`", meaning(name), value, spread, found.source))
    return table(("constant", "what it is", "value", "spread", "source"), rows)


def timing_errors() -> str:
    """How near the time model comes, family by family, and both curves."""
    kept = timing.kept()
    families = defaultdict(list)
    for row in kept["configurations"]:
        if row["use"] == HELD_OUT:
            families[TRIALS[row["configuration"]].family].append(abs(row["error"]))
    rows = [(name, str(len(found)), f"{median(found):.1%}", f"{max(found):.1%}") for name, found in families.items()]
    rows.append(("all", str(kept["judged"]), f"{kept['median_error']:.1%}", f"{kept['max_error']:.1%}"))
    drawn = html(timing_plots.trials(kept)._repr_svg_())
    far = [row for row in kept["configurations"] if row["use"] == HELD_OUT and abs(row["error"]) > timing.WORST]
    missed = [f"- {row['error']:+.0%}: `{row['configuration']}`" for row in far]
    missed += [f"- in the wrong order: `{one}` and `{other}`" for one, other in kept["order_violations"]]
    said = f"The aims that no error is above {timing.WORST:.0%}, and that trials more than {timing.FAR_APART:.0%} apart"
    said += " are in their order, are missed by\n\n" if missed else " are in their order, are held.\n\n"
    judged = table(("trials", "judged", "median error", "largest"), rows)
    return "\n\n".join([judged, said + "\n".join(missed), drawn])


def timing_traces() -> str:
    """What looks at the clock cost some kernels."""
    rows = [
        (
            f"`{row['kernel']}`",
            f"{row['looking']} of {row['ctas']}",
            str(row["looks"]),
            *(f"{row[kind]:.1f}" for kind in ("plain_us", "bounded_us", "traced_us")),
            f"{row['share']:+.0%}",
        )
        for row in trace_costs()
    ]
    head = ("kernel", "CTAs that look", "looks of a thread", "as written, µs", "bounded waits, µs", "and looks, µs", "")
    return table(head, rows)


def timing_depths() -> str:
    """Both curves by the number of stages."""
    return html(timing_plots.depths()._repr_svg_())


TABLES = (timing_constants, timing_errors, timing_traces, timing_depths)
