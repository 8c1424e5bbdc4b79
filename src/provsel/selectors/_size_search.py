"""Bisection for the value of a parameter with which a selector keeps a given number of features."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from provsel.selectors._base import BaseSelector
from provsel.training_view import TrainingView

CLOSE = 1e-2
"""Relative width of the interval of the parameter at which the search ends."""

_RECORDING = threading.RLock()


@contextmanager
def _recorded() -> Iterator[list[warnings.WarningMessage]]:
    """Record the warnings of the block in this thread; the display of warnings is shared by all threads."""
    messages: list[warnings.WarningMessage] = []
    thread = threading.get_ident()
    with _RECORDING, warnings.catch_warnings():
        warnings.simplefilter("always")
        shown = warnings.showwarning

        def record(*parts: Any, **more: Any) -> None:
            if threading.get_ident() == thread:
                messages.append(warnings.WarningMessage(*parts, **more))
            else:
                shown(*parts, **more)

        warnings.showwarning = record
        yield messages


class SizeRange(NamedTuple):
    """The parameter that controls a selector's number of features, and the range that `AtSize` searches.

    A class declares it as `size_range`.
    """

    parameter: str
    low: float
    high: float


@dataclass(frozen=True)
class Tried:
    """A value of the parameter, and the selector fitted with it."""

    value: float
    fitted: Any
    messages: list[warnings.WarningMessage]

    @property
    def count(self) -> int:
        return int(self.fitted.indices_.size)

    @property
    def converged(self) -> bool:
        return not any(
            issubclass(message.category, ConvergenceWarning)
            for message in self.messages
        )


class SizeSearch:
    """The values that a search tried, in order."""

    def __init__(
        self, selector: BaseSelector, parameter: str, view: TrainingView, r: int
    ) -> None:
        self.selector, self.parameter, self.view, self.r = selector, parameter, view, r
        self.tries: dict[float, Tried] = {}

    def tried(self, value: float) -> Tried:
        """Return the fit for a value, reusing fits of other searches on the view."""
        if value not in self.tries:
            selector = clone(self.selector).set_params(**{self.parameter: value})

            def fit() -> Tried:
                with _recorded() as messages:
                    selector.fit_view(self.view)
                return Tried(value, selector, messages)

            # fits of a randomised method without a fixed seed differ
            seeded = not selector.is_random or isinstance(
                selector.get_params(deep=False).get("random_state"), int
            )
            self.tries[value] = (
                self.view.shared(f"at {value!r} {selector!r}", fit) if seeded else fit()
            )
        return self.tries[value]

    def best(self) -> Tried | None:
        """Return the first usable fit with the fewest features among those with at least r."""
        enough = [
            attempt
            for attempt in self.tries.values()
            if attempt.converged and attempt.count >= self.r
        ]
        return min(enough, key=lambda attempt: attempt.count, default=None)

    def bisect(self, low: float, high: float, *, max_fits: int) -> None:
        """Try both ends; while exactly one keeps fewer than r features, halve the interval."""
        # a fit that did not converge, such as LIBLINEAR for large C, is assumed to keep
        # more than all that did
        few, many = sorted(
            (self.tried(low), self.tried(high)),
            key=lambda attempt: (not attempt.converged, attempt.count),
        )
        if self._has_enough(few) or not self._has_enough(many):
            return
        while (
            len(self.tries) < max_fits and abs(math.log(many.value / few.value)) > CLOSE
        ):
            middle = self.tried(math.sqrt(few.value) * math.sqrt(many.value))
            if middle.converged and middle.count == self.r:
                return
            few, many = (few, middle) if self._has_enough(middle) else (middle, many)

    def _has_enough(self, attempt: Tried) -> bool:
        return not attempt.converged or attempt.count >= self.r
