"""Time: what a run costs on an H200, and where it waits. A second model, beside the order that the simulator explores.

Only names that cost nothing to import are here.
"""

from tmalab.timing.timeline import Span, Timeline

__all__ = ["Span", "Timeline"]
