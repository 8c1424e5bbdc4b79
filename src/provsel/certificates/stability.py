"""Stability selection: the expected number of false features among those that most halves of the rows keep."""

from __future__ import annotations

from typing import Self

import numpy as np

from provsel.certificates.subset import IN_EXPECTATION
from provsel.certificates.theorem import NO_BOUND, VACUOUS, Theorem
from provsel.certificates.trial import MeasuredTrial


class FalseSelections(Theorem):
    r"""Few of the features that most halves of the rows keep are there by chance.

    Use it for features chosen by `StabilitySelector`.

    Each half keeps at most q of d features, B pairs of complementary halves are drawn,
    and a feature is kept if at least a share tau of the halves keeps it. Let L be the
    features that a half keeps with a probability of at most q / d, as a guess would.
    The bounds are on the expected number of kept features in L, over rows and halves; a
    single selection can neither confirm nor violate them. They need independent rows of
    one distribution. `bound` needs nothing else. The other two are smaller, and each
    requires an assumption on L that the rows cannot confirm. A further assumption is
    that L contains all false features: it holds if they are exchangeable and the base
    selector, on a half, is no worse than guessing. Under this assumption Meinshausen
    and Bühlmann (2010), Theorem 1, have the same `bound`.

    Promised by `StabilitySelector` for its own number of features; "no bound" for
    others, for a requested number, and for the single feature that it keeps if none
    reaches the threshold. Vacuous if `bound` is not below the number of kept features,
    all of which may then be false.

    Attributes
    ----------
    kept, per_half : float
        Number of kept features, and q.
    bound : float
        q^2 / ((2 tau - 1) d).
    unimodal_bound : float
        If the share of pairs that keep a feature of L on both halves has a unimodal
        distribution (Shah and Samworth, Theorem 2). Infinite if the theorem is vacuous:
        for q / d > 1 / sqrt(3), or tau close to 1/2.
    concave_bound : float
        If that share has a -1/2-concave distribution, and the share of halves a
        -1/4-concave one (their equation 8).

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import FalseSelections, certify
    >>> from provsel.selectors import StabilitySelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 300))
    >>> y = 2 * X[:, 5] - X[:, 3] + rng.standard_normal(100)
    >>> selector = StabilitySelector(random_state=0).fit(X, y)
    >>> record = certify(selector, X, also=[FalseSelections]).false_selections
    >>> record.state, record.kept, record.bound > record.unimodal_bound > record.concave_bound
    ('in expectation', 2.0, True)
    """

    name = "false_selections"
    source = "Shah, Samworth (2013), Theorem 1, Theorem 2 and equation 8; Meinshausen, Bühlmann (2010), Theorem 1"
    prefix = "stability_"
    algorithm_version = 1  # part of keys, if a protocol measures it

    kept: float = np.nan
    per_half: float = np.nan
    bound: float = np.nan
    unimodal_bound: float = np.nan
    concave_bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the bounds of a fitted selector; the rows are not read."""
        from provsel.kernels.stability_bounds import (
            concave_false_selections,
            unimodal_false_selections,
        )

        selector = trial.reducer
        if not hasattr(selector, "false_bound_"):
            return cls(state=NO_BOUND)
        kept = selector.indices_.size
        if selector.n_features_to_select is not None or selector.n_stable_ != kept:
            return cls(
                kept=float(kept), per_half=float(selector.n_per_half_), state=NO_BOUND
            )
        design = (
            selector.n_per_half_,
            selector.n_features_in_,
            float(selector.threshold),
        )
        return cls(
            kept=float(kept),
            per_half=float(selector.n_per_half_),
            bound=selector.false_bound_,
            unimodal_bound=unimodal_false_selections(*design, int(selector.n_pairs)),
            concave_bound=concave_false_selections(*design, int(selector.n_pairs)),
            state=IN_EXPECTATION if selector.false_bound_ < kept else VACUOUS,
        )
