"""Ctrl-C ends a command whatever it was in the middle of."""

import gc
import signal
import sys
import time

import pytest

from provlab.cli import _guard
from provlab.cli._guard import INTERRUPTED, guarded

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT that a process sends to itself")


@pytest.fixture(autouse=True)
def interruptible():
    """Workers of the test runner ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class DeletedInTime:
    """An object that is interrupted while it is deleted, as the futures of Dask, whose `__del__` is long."""

    def __init__(self, times):
        self.times = times

    def __del__(self):
        if self.times > 1:
            DeletedInTime(self.times - 1)
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("after", [_guard.AGAIN_AFTER, 0], ids=["later", "at-once"])
@pytest.mark.parametrize("times", [1, 3])
def test_an_interrupt_in_a_deletion_is_not_lost(times, after, monkeypatch, capsys):
    """At once, it comes where Python would lose it once more: while the loss before is being dealt with."""
    monkeypatch.setattr(_guard, "AGAIN_AFTER", after)

    def body():
        DeletedInTime(times)
        gc.collect()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            time.sleep(0.01)
        return 0

    usual = sys.unraisablehook
    for _ in range(10):
        assert guarded(body) == INTERRUPTED
        assert sys.unraisablehook is usual
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert capsys.readouterr().err == ""


def test_other_errors_in_a_deletion_are_shown_as_ever(monkeypatch):
    class Failing:
        def __del__(self):
            raise ValueError("not an interrupt")

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda given: seen.append(given.exc_type))

    def body():
        Failing()
        gc.collect()
        return 0

    assert guarded(body) == 0
    assert seen == [ValueError]
