"""All trials: what the time model is fitted to and judged by. See `trial`."""

from tmalab.timing.trials import held_out
from tmalab.timing.trials.columns import COLUMNS
from tmalab.timing.trials.later import LATER
from tmalab.timing.trials.moves import MOVES
from tmalab.timing.trials.products import PRODUCTS
from tmalab.timing.trials.second import SECOND
from tmalab.timing.trials.stores import STORES
from tmalab.timing.trials.third import THIRD
from tmalab.timing.trials.trial import FIT, HELD_OUT, SEEN, Launching, Trial

_KNOWN = (*PRODUCTS, *MOVES, *COLUMNS, *STORES, *LATER, *SECOND, *THIRD)
TRIALS: dict[str, Trial] = {made.name: made for made in (*_KNOWN, *held_out.HELD_OUT)}

__all__ = ["FIT", "HELD_OUT", "SEEN", "TRIALS", "Launching", "Trial"]
