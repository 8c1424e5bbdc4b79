"""Online leverage scores: keep or drop each column of a stream by its score against the columns kept so far."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.online_span import KeptSpan, Panel

Array = NDArray[np.float64]
Matrix = Any

PANEL = 128
"""Largest number of columns projected together; a sparse block is made dense one panel at a time."""

PANEL_VALUES = 1 << 19
"""Values of a panel, unless it has a quarter of its columns: 4 MiB stay in a cache while single columns are kept."""

FORESIGHT = 1.5
"""Columns are predicted to be kept at this many times their probability at the panel's start: scores may grow."""

OUTSIDE = 1e-10
"""A column whose part outside the span is longer than this share of it counts as outside."""

OUTSIDE_SINGLE = 1e-5
"""The same for float32 columns: dependent columns that were rounded to float32 differ by about 1e-7."""


@dataclass(frozen=True)
class Rule:
    """Rule for scoring and keeping columns.

    Attributes
    ----------
    epsilon : float
    rate : float
        c: a column of score l is kept with probability min(c l, 1).
    outside_scores_one : bool
        Whether a column outside the span scores 1, or its projection alone. Without a
        ridge only.
    ridge : float
        Ridge; 0 for the pseudo-inverse.
    n_initial : int
        Number of non-zero columns at the start that are kept with probability 1.
    """

    epsilon: float
    rate: float
    outside_scores_one: bool = True
    ridge: float = 0.0
    n_initial: int = 1

    @property
    def needs_residuals(self) -> bool:
        """Whether the score of a column depends on its part outside the span."""
        return self.outside_scores_one or self.ridge > 0

    def probability(self, score: Any) -> Any:
        """Return min(c l, 1) of a clipped score l, or of an array of them."""
        return np.minimum(self.rate * score, 1.0)


def theory_rate(n: int, epsilon: float) -> float:
    """Return c = 8 ln(n) / epsilon^2 (Algorithm 1), with n at least 2: a single row would keep nothing."""
    return 8.0 * math.log(max(n, 2)) / epsilon**2


def uniforms(key: NDArray[np.uint64], start: int, count: int) -> Array:
    """Return the uniform numbers of the stream positions start, ..., start + count - 1.

    Philox is a counter-based generator: the number of a position depends on `key`,
    shape (2,), and the position only. Neither block sizes nor interruptions nor earlier
    kept columns change it.
    """
    counter, skip = divmod(start, 4)  # a counter gives four numbers
    return np.random.Generator(np.random.Philox(key=key, counter=counter)).random(
        skip + count
    )[skip:]


def panel_width(n: int) -> int:
    """Return the number of columns of length n that are projected together."""
    return min(max(PANEL_VALUES // max(n, 1), PANEL // 4), PANEL)


@dataclass
class OnlineLeverage:
    """State of one pass, the kept columns and their thin factor; `advance` updates it in place.

    Attributes
    ----------
    span : KeptSpan
    key : ndarray of shape (2,), uint64
    n_seen : int
        Stream position of the next column.
    n_kept : int
    """

    rule: Rule
    key: NDArray[np.uint64]
    span: KeptSpan
    n_seen: int = 0
    n_kept: int = 0

    @classmethod
    def start(
        cls, n: int, rule: Rule, key: NDArray[np.uint64], capacity: int = 0
    ) -> OnlineLeverage:
        """Return the state before the first column of length n; `capacity` as for `KeptSpan`."""
        return cls(rule, key, KeptSpan(n, rule.ridge, capacity))

    def advance(
        self, block: Matrix, most: int | None = None
    ) -> tuple[NDArray[np.int64], Array, Array]:
        """Process the columns of `block`, in place.

        Parameters
        ----------
        block : ndarray, or sparse in CSC form, of shape (n, b)
        most : int, optional
            Stop as soon as more columns than this are kept in total; the rest of the
            block is not read.

        Returns
        -------
        positions : ndarray of shape (j,), int64
            Stream positions of the columns kept of this block.
        weights : ndarray of shape (j,)
            1 / sqrt(p) of each.
        scores : ndarray of shape (b,)
            Clipped score min((1 + epsilon) a^T (W W^T)^+ a, 1) of each column.
        """
        tolerance = (
            OUTSIDE_SINGLE
            if block.dtype == np.float32 and not self.rule.ridge
            else OUTSIDE
        )
        draws = uniforms(self.key, self.n_seen, block.shape[1])
        positions: list[int] = []
        weights: list[float] = []
        scores = np.zeros(block.shape[1])
        step = panel_width(block.shape[0])
        for first in range(0, block.shape[1], step):
            part = slice(first, first + step)
            kept = self._advance_panel(
                Panel(self.span, block[:, part]),
                draws[part],
                scores[part],
                tolerance,
                most,
            )
            positions += [self.n_seen + column for column, _ in kept]
            weights += [weight for _, weight in kept]
            self.n_seen += scores[part].size
            if most is not None and self.n_kept > most:
                break
        return (
            np.array(positions, dtype=np.int64),
            np.array(weights, dtype=np.float64),
            scores,
        )

    def _advance_panel(
        self,
        panel: Panel,
        draws: Array,
        scores: Array,
        tolerance: float,
        most: int | None,
    ) -> list[tuple[int, float]]:
        """Score and keep the columns of a panel, filling `scores`, shape (b,), in place.

        Scores are computed ahead for a window of columns; after a kept column the
        window restarts at one column, and it doubles while none is kept. Every score is
        therefore computed with the current factor. Correcting old scores by subtraction
        would lose all digits after a column much longer than the earlier ones. At most
        half of the work is wasted.
        """
        rule, b = self.rule, draws.size
        nonzero = panel.lengths > 0
        if rule.needs_residuals:
            panel.hold(np.arange(b))
        window = slice(0, b)
        window_scores = self._scores(panel, window, tolerance)
        likely = np.flatnonzero(
            nonzero & (draws < FORESIGHT * rule.probability(window_scores))
        )
        if not rule.needs_residuals:
            panel.hold(likely)
        panel.sharpen(likely)
        kept: list[tuple[int, float]] = []
        ahead = b
        while True:
            p = np.where(
                self.n_kept < rule.n_initial, 1.0, rule.probability(window_scores)
            )
            accepted = np.flatnonzero(nonzero[window] & (draws[window] < p))
            if accepted.size:
                j = window.start + int(accepted[0])
                root = math.sqrt(p[accepted[0]])
                panel.keep(j, root, tolerance)
                kept.append((j, 1.0 / root))
                self.n_kept += 1
                window, window_scores, ahead = (
                    slice(window.start, j + 1),
                    window_scores[: accepted[0] + 1],
                    0,
                )
            scores[window] = window_scores
            if window.stop >= b or (most is not None and self.n_kept > most):
                return kept
            ahead = max(1, 2 * ahead)
            window = slice(window.stop, min(window.stop + ahead, b))
            window_scores = self._scores(panel, window, tolerance)

    def _scores(self, panel: Panel, window: slice, tolerance: float) -> Array:
        """Return the clipped scores of the columns of `window` against the current span."""
        rule = self.rule
        raw = self.span.squared_norms(panel.coordinates(window))
        if rule.needs_residuals:
            outside = panel.outside(window)
            if rule.ridge:
                raw = raw + outside**2 / rule.ridge
            else:
                raw[outside > tolerance * panel.lengths[window]] = 1.0
        return np.asarray(np.minimum((1.0 + rule.epsilon) * raw, 1.0))
