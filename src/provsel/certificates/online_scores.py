"""Online leverage scores, whose sum bounds the number of kept features, and the memory of a stream."""

from __future__ import annotations

from typing import Self

import numpy as np

from provsel.certificates.theorem import (
    HELD,
    NO_BOUND,
    SLACK,
    VACUOUS,
    VIOLATED,
    Measure,
    Theorem,
)
from provsel.certificates.trial import MeasuredTrial

BLOCK_COLUMNS = 1000
"""Number of columns that `StreamMemory` passes at once, which does not affect what a stream keeps."""


class OnlineScoreSum(Theorem):
    """The sum of the online leverage scores is within the bound of the lemma.

    Use it to see whether a stream keeps as few features as promised.

    Promised by selectors with `score_sum_bound`, at the rate of the theory
    (`spectral_bound_`). No score is above 1, so a bound of at least the number of
    columns is vacuous.

    Attributes
    ----------
    score_sum, score_sum_bound : float
        Sum and bound. The expected number of kept columns is at most the sampling rate
        times the sum.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import OnlineLeverageSelector
    >>> X = np.random.default_rng(0).standard_normal((8, 6000))
    >>> selector = OnlineLeverageSelector(epsilon=0.5, random_state=0).fit(X)
    >>> certify(selector, X).scores.state
    'held'
    """

    name = "scores"
    source = "Wang, Shen, Li (2018), proof of Lemma 2"
    prefix = "certificate_"

    score_sum: float = np.nan
    score_sum_bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the sum of the scores from the fit."""
        selector = trial.reducer
        if not hasattr(selector, "score_sum_bound"):
            return cls()
        total = float(selector.scores_.sum())
        if not hasattr(selector, "spectral_bound_"):
            return cls(score_sum=total, state=NO_BOUND)
        bound = _sum_bound(trial)
        held = HELD if total <= bound * (1 + SLACK) else VIOLATED
        return cls(
            score_sum=total,
            score_sum_bound=bound,
            state=VACUOUS if bound >= selector.n_seen_ else held,
        )


class OnlineFeatureCount(Theorem):
    """A stream keeps at most c (8 n + 8 n ln(||A||^2)) features, with c = 8 ln(n) / epsilon^2.

    Use it to see whether the number of kept features is bounded by the rows, not by the
    length of the stream. The printed method stores n numbers for each kept column.

    Promised for the expected number, by selectors with `score_sum_bound` at the rate of
    the theory (`spectral_bound_`); a sum of independent draws exceeds its bound by
    little. Vacuous if there are no more columns than that.

    Attributes
    ----------
    kept, bound : float
        Numbers of features.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import OnlineFeatureCount, certify
    >>> from provsel.selectors import OnlineLeverageSelector
    >>> X = np.random.default_rng(0).standard_normal((3, 20000))
    >>> selector = OnlineLeverageSelector(epsilon=0.5, random_state=0).fit(X)
    >>> certify(selector, X, also=[OnlineFeatureCount]).features.state
    'held'
    """

    name = "features"
    source = "Wang, Shen, Li (2018), Lemma 2 and Memory Cost"
    prefix = "online_"
    algorithm_version = 1  # part of keys, if a protocol measures it

    kept: float = np.nan
    bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the number of features that the fit kept, and its bound."""
        selector = trial.reducer
        if not hasattr(selector, "score_sum_bound"):
            return cls()
        kept = float(selector.indices_.size)
        if not hasattr(selector, "spectral_bound_"):
            return cls(kept=kept, state=NO_BOUND)
        bound = selector.sampling_rate_ * _sum_bound(trial)
        held = HELD if kept <= bound * (1 + SLACK) else VIOLATED
        return cls(
            kept=kept, bound=bound, state=VACUOUS if bound >= selector.n_seen_ else held
        )


class StreamMemory(Measure):
    """Memory of a stream over the same columns at its end: its factor, the kept columns, and all columns seen.

    Use it to see which part of the memory of `OnlineLeverageSelector` grows with the
    stream.

    NaN for a selector that does not read a stream. Buffers that grow reserve up to
    twice as much.

    Attributes
    ----------
    factor_bytes, kept_bytes, seen_bytes : float
        Bytes of the parts of `get_state()`: Q and R, which the next score needs;
        `positions` and `weights`; `scores` and `seen_indices`.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import MeasuredTrial, StreamMemory
    >>> from provsel.selectors import OnlineLeverageSelector
    >>> from provsel.training_view import TrainingView
    >>> X = np.random.default_rng(0).standard_normal((5, 2000))
    >>> selector = OnlineLeverageSelector(random_state=0).fit(X)
    >>> memory = StreamMemory.measure(MeasuredTrial(selector, TrainingView(X)))
    >>> memory.factor_bytes, memory.seen_bytes
    (400.0, 32000.0)
    """

    prefix = "stream_"
    algorithm_version = 1  # part of keys, if a protocol measures it

    factor_bytes: float = np.nan
    kept_bytes: float = np.nan
    seen_bytes: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the bytes, after one more pass over the columns in blocks."""
        from provsel.streams import column_blocks

        if not hasattr(trial.reducer, "partial_fit_columns"):
            return cls()
        stream = trial.reducer.calibrated()
        for block, features in column_blocks(trial.rows.X, block_size=BLOCK_COLUMNS):
            stream = stream.partial_fit_columns(block, features)
        state = stream.get_state()
        return cls(
            factor_bytes=float(state["Q"].nbytes + state["R"].nbytes),
            kept_bytes=float(state["positions"].nbytes + state["weights"].nbytes),
            seen_bytes=float(state["scores"].nbytes + state["seen_indices"].nbytes),
        )


def _sum_bound(trial: MeasuredTrial) -> float:
    """Return the bound on the sum of the scores for this number and norm of rows."""
    return float(
        trial.reducer.score_sum_bound(
            trial.rows.n_samples, float(trial.rows.basis().singular_values[0])
        )
    )
