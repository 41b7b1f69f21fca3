"""Calling what may never return."""

from __future__ import annotations

import threading
import time

import pytest

from grader.limits import Raised, TookTooLong, call_within
from tests.pace import within


def test_the_result_comes_back():
    assert call_within(1, lambda a, b: a + b, 2, 3) == 5


def test_an_endless_loop_is_stopped_and_its_thread_ends():
    def endless():
        while True:
            try:
                for _ in iter(int, 1):
                    pass
            except Exception:
                pass

    before = threading.active_count()
    started = time.process_time()
    with pytest.raises(TookTooLong):
        call_within(0.2, endless)
    assert within(time.process_time() - started, 2)
    assert threading.active_count() == before


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1), KeyboardInterrupt()])
def test_what_the_function_raises_comes_back(error):
    def fail():
        raise error

    with pytest.raises(Raised) as raised:
        call_within(1, fail)
    assert raised.value.error is error
