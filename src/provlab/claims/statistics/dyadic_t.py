"""The t-test for differences over data sets that are pairs of categories, and share some of these."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from provlab.claims.statistics.student import AbstractStudentT


class DyadicT(AbstractStudentT):
    """Dyadic-robust t-test: differences of two pairs may be correlated where the pairs share a member.

    With residuals u of the mean and A_ij = 1 where pairs i and j share a member (or are the same), the variance of the
    mean is u' A u / n^2. Residuals are smaller than errors, and few members are in many pairs, so that in small samples
    this is too small and varies much. Both are corrected as Bell and McCaffrey do for clusters: with B = M A M, M the
    projection that takes the mean away, it is scaled by n / tr(B), which makes it unbiased for independent errors, and
    t has tr(B)^2 / tr(B^2) degrees of freedom. A is no covariance matrix, so that the sum can be below that of
    independent pairs, s^2 / n, or even negative: the larger of the two counts.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One a pair.
    pairs : sequence of (str, str)
        Members of each pair.

    References
    ----------
    Fafchamps, Gubert (2007), Journal of Development Economics 83; Cameron, Miller (2014), Robust inference
    for dyadic data; Aronow, Samii, Assenova (2015), Political Analysis 23. Degrees of freedom: Bell, McCaffrey (2002),
    Survey Methodology 28; Imbens, Kolesar (2016), Review of Economics and Statistics 98.
    """

    name = "dyadic-robust t"

    def __init__(self, differences: NDArray[np.float64], *, pairs: Sequence[tuple[str, str]]) -> None:
        super().__init__(differences)
        shared = share_a_member(pairs)
        centred = shared - shared.mean(axis=0)
        centred -= centred.mean(axis=1, keepdims=True)
        trace = float(np.trace(centred))
        self.df = min(self.n - 1.0, trace**2 / float((centred**2).sum())) if trace > 0 else 1.0
        residuals = np.asarray(differences) - self.estimate
        sandwich = float(residuals @ shared @ residuals) / (self.n * trace) if trace > 0 else math.inf
        self.inflation = max(1.0, sandwich / (self.variance / self.n)) if self.variance else 1.0

    def spread(self, n: int) -> tuple[float, float]:
        """See the base class; more data sets are thought to share members as these do."""
        return math.sqrt(self.inflation * self.variance / n), max(1.0, self.df * n / self.n)


def share_a_member(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Return the matrix, shape (n, n), with 1 where two pairs have a member in common, and 0 elsewhere."""
    members = {name: k for k, name in enumerate(sorted({name for pair in pairs for name in pair}))}
    incidence = np.zeros((len(pairs), len(members)))
    for k, pair in enumerate(pairs):
        incidence[k, [members[name] for name in pair]] = 1
    return np.asarray((incidence @ incidence.T > 0).astype(float))
