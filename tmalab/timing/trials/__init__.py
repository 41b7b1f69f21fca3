"""All trials: what the time model is fitted to and judged by. See `trial`."""

from tmalab.timing.trials.columns import COLUMNS
from tmalab.timing.trials.moves import MOVES
from tmalab.timing.trials.products import PRODUCTS
from tmalab.timing.trials.stores import STORES
from tmalab.timing.trials.trial import Launching, Trial

TRIALS: dict[str, Trial] = {made.name: made for made in (*PRODUCTS, *MOVES, *COLUMNS, *STORES)}

__all__ = ["TRIALS", "Launching", "Trial"]
