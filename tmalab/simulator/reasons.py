"""Why two accesses, or an access and the memory, do not go together: what the shadow memory reports."""

UNORDERED, UNFENCED, ON_BARRIER, UNINITIALISED = "unordered", "unfenced", "barrier", "uninitialised"
TOO_NARROW = "too-narrow"  # the scope of what orders them
# What only strict runs ask, and only warn of.
SAME_WRITTEN, READ_UNFENCED, FENCED_BY_ANOTHER = "same-value", "read-unfenced", "fenced-by-another"
NARROW_USED = "narrow-scope"
