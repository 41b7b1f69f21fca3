"""Options that several of grader's commands take."""

from __future__ import annotations

import click

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
seeded = click.option("--seed", type=int, default=None, help="The class's seed; by default TMALAB_CLASS_SEED, or 0.")
assigned = click.option("--assignment", metavar="NAME", help="The lesson; by default found out from the notebook.")
