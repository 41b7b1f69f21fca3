"""Which cases of a long list CI runs: a portion of each kind by a fixed rule; the others are slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest


def portion(cases: Iterable[Any], every: int, kind: Callable[..., Hashable] = lambda *case: None) -> list[Any]:
    """The cases as parameters of a test: CI runs the first of each kind and every so many after it.

    kind   of a case's values, as the test gets them; a kind that is one of its own is always run
    """
    seen: Counter[Hashable] = Counter()
    made = []
    for case in cases:
        values = case if isinstance(case, tuple) else (case,)
        which = kind(*values)
        marks = [pytest.mark.slow] if seen[which] % every else []
        seen[which] += 1
        made.append(pytest.param(*values, marks=marks))
    return made
