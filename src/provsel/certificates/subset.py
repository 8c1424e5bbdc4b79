"""Column subset selection: the error of the selected columns compared with the best approximation of rank k."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from provsel.certificates.certifying import measured_trial
from provsel.certificates.theorem import (
    HELD,
    NO_BOUND,
    SLACK,
    UNDECIDED,
    VIOLATED,
    Theorem,
)
from provsel.certificates.trial import MeasuredTrial

if TYPE_CHECKING:
    from provsel.certificates._subset_parts import SubsetParts
    from provsel.kernels.subset_bounds import SubsetPromise
    from provsel.training_view import TrainingView

TWICE = 2.0
"""Ratio up to which columns count as good for an approximation: the limit of `DualSetSelector` with more columns."""

IN_EXPECTATION = "in expectation"
"""State of a guarantee for the mean of all draws, which a single selection can neither meet nor violate."""


class SubsetApproximation(Theorem):
    r"""The selected columns C approximate X almost as well as the best approximation of rank k.

    X_k is the best approximation of rank k, E = X - X_k, V_S the selected rows of the k
    leading right singular vectors. For every selection with V_S of rank k, ||X - C C^+
    X||^2 / ||X - X_k||^2 <= 1 / sigma_min(V_S)^2 in both norms. The Frobenius ratio is
    at most `oblique_bound`, which is smaller for unweighted columns. These bounds also
    hold for methods without a theorem. The guarantee of a method comes from its
    `subset_promise`. The state covers both norms; "no bound" if the method promises
    nothing, "in expectation" if it promises only a mean, "rank undecided" if the tail's
    singular values may be rounding errors: then no measured value is shown.

    Attributes
    ----------
    k : float
        Rank of the approximation with which the selection is compared.
    frobenius_ratio, spectral_ratio : float
        ||X - C C^+ X||^2 / ||X - X_k||^2 in both norms; inf if only the best error is zero.
    sigma_min : float
        Least singular value of V_S.
    oblique_bound : float
        1 + ||E_S D ((D V_S)^+)^T||_F^2 / ||E||_F^2, where D are the selector's
        `dual_weights_` (`DualSetSelector` has them) or otherwise its `weights_`.
    basis_bound : float
        1 / sigma_min^2.
    frobenius_bound, spectral_bound : float
        Bounds that the method guarantees for the ratios; NaN without a guarantee.
    promised_by : str
        Method and rank of the guarantee.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import SubsetApproximation, certify
    >>> from provsel.selectors import SingleSVDSelector
    >>> X = np.random.default_rng(0).standard_normal((50, 80))
    >>> certificate = certify(SingleSVDSelector(9).fit(X), X, also=[SubsetApproximation])
    >>> certificate.approximation.state, certificate.approximation.frobenius_ratio < 2
    ('held', True)
    >>> certificate.good_for
    ('rank-k approximation',)
    """

    name = "approximation"
    question = "rank-k approximation"
    source = "Column subset selection: the method's own bound"
    prefix = "subset_"
    algorithm_version = 2  # part of keys, if a protocol measures it

    k: float = np.nan
    frobenius_ratio: float = np.nan
    spectral_ratio: float = np.nan
    sigma_min: float = np.nan
    oblique_bound: float = np.nan
    basis_bound: float = np.nan
    frobenius_bound: float = np.nan
    spectral_bound: float = np.nan
    promised_by: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the squared error is at most twice that of the best approximation."""
        return self.frobenius_ratio <= TWICE and self.state != UNDECIDED

    @classmethod
    def measure(cls, trial: MeasuredTrial, k: int | None = None) -> Self:
        """Return the ratios of any selection, without an n x d residual; `k` as in `certify_subset`."""
        from provsel.certificates._subset_parts import (
            RELIABLE,
            relative_parts,
            usual_parts,
        )
        from provsel.kernels.spectral import is_graded
        from provsel.reducers import kept_features

        selector, view = trial.reducer, trial.rows
        columns = kept_features(selector)
        if columns is None or not columns.size:
            raise ValueError(
                f"SubsetApproximation: expected a selector that keeps columns, with indices_ or get_support, got "
                f"{selector!r:.80}, which {'has neither' if columns is None else 'keeps none'}; if it is a pipeline, "
                f"pass its selecting step."
            )
        usual = usual_parts(view, columns, k)
        record, unsure = cls._of(usual, selector, columns, view, k)
        is_doubtful = record.state == UNDECIDED or unsure > RELIABLE
        if is_doubtful and not usual.is_truncated and is_graded(view.X):
            accurate = relative_parts(view, columns)
            if accurate is not None:
                record, _ = cls._of(accurate, selector, columns, view, k)
        return record._without_numbers() if record.state == UNDECIDED else record

    @classmethod
    def _of(
        cls,
        parts: SubsetParts,
        selector: Any,
        columns: NDArray[np.int64],
        view: TrainingView,
        k: int | None,
    ) -> tuple[Self, float]:
        """Return the record for these parts, and a bound on the relative error of its ratios."""
        from provsel.certificates._subset_parts import promise_of, spectrum_value
        from provsel.kernels.subset_bounds import oblique_bound
        from provsel.kernels.subset_errors import error_ratio, is_rounding

        spectrum, rank = parts.spectrum, parts.rank
        promise = promise_of(selector, spectrum, min(columns.size, rank, k or rank))
        target = min(promise.rank if k is None else k, rank)
        promise = promise.against(target, spectrum)
        facts = parts.best(target)
        V_S = facts.basis.V[columns]
        least = (
            float(np.linalg.svd(V_S, compute_uv=False)[target - 1])
            if columns.size >= target
            else 0.0
        )
        basis_bound = (
            1.0 / least**2
            if least > max(V_S.shape) * np.finfo(np.float64).eps
            else np.inf
        )
        tail, top = spectrum.tail(target), spectrum_value(spectrum, target) ** 2
        if (
            tail <= facts.zero
            and parts.is_truncated
            and not is_rounding(view.X, columns)
        ):
            # squares have no digits left, for another reason than the rank k
            return cls(
                k=float(target), sigma_min=least, basis_bound=basis_bound
            ), np.inf
        weights = getattr(selector, "weights_", np.ones(columns.size))
        scales = np.asarray(
            getattr(selector, "dual_weights_", weights), dtype=np.float64
        )
        used = scales > 0  # excludes columns that only complete a dual set
        record = cls(
            k=float(target),
            frobenius_ratio=error_ratio(parts.error.frobenius, tail, facts.zero),
            spectral_ratio=error_ratio(parts.error.spectral, top, facts.zero),
            sigma_min=least,
            oblique_bound=oblique_bound(
                V_S[used], facts.tail, columns[used], scales[used]
            ),
            basis_bound=basis_bound,
            frobenius_bound=promise.frobenius,
            spectral_bound=promise.spectral,
            promised_by=promise.source,
        )
        unsure = facts.relative_error(tail)
        # dependent columns leave a residual, however small, if they are too few for the
        # rank
        lost = tail > 0 or (basis_bound == np.inf and record.frobenius_ratio == 1)
        if lost and tail <= facts.zero and not parts.is_truncated:
            unsure = np.inf
        slack = SLACK + facts.zero / max(tail, facts.zero)
        state = record._state(promise, facts.angle, slack, unsure)
        return replace(record, state=state), facts.relative_error(
            min(tail, parts.error.frobenius)
        )

    def _state(
        self, promise: SubsetPromise, angle: float, slack: float, unsure: float
    ) -> str:
        """Return the state of the bound, given numbers with relative error `unsure`."""
        forced = [  # by mathematics
            (self.frobenius_ratio, self.oblique_bound),
            (self.frobenius_ratio, self.basis_bound),
            (self.spectral_ratio, self.basis_bound),
        ]
        promised = [
            (self.frobenius_ratio, promise.frobenius),
            (self.spectral_ratio, promise.spectral),
        ]
        if (
            angle <= SLACK * self.sigma_min
        ):  # otherwise the selection may have used other vectors of nearly equal values
            promised += [
                (self.oblique_bound, promise.oblique),
                (self.basis_bound, promise.basis),
            ]
        if unsure == np.inf or any(
            ratio > bound * (1 + slack) * (1 + unsure) for ratio, bound in forced
        ):
            return UNDECIDED
        if all(np.isnan(bound) for _, bound in promised):
            return NO_BOUND
        if promise.expectation:
            return IN_EXPECTATION
        if any(ratio > bound * (1 + slack) * (1 + unsure) for ratio, bound in promised):
            return VIOLATED
        if any(ratio * (1 + unsure) > bound * (1 + slack) for ratio, bound in promised):
            return UNDECIDED
        return HELD

    def _without_numbers(self) -> Self:
        """Return the record with its bounds but without measured numbers, none of which is certain."""
        return type(self)(
            k=self.k,
            frobenius_bound=self.frobenius_bound,
            spectral_bound=self.spectral_bound,
            promised_by=self.promised_by,
            state=self.state,
        )


def certify_subset(selector: Any, X: Any, k: int | None = None) -> SubsetApproximation:
    """Measure how well the selected columns approximate X, and compare it with the guarantee of the method.

    The complete basis is computed, and tails down to 1e-15 of X count. If scales of
    rows or columns make tails smaller, they require an LU factorisation with complete
    pivoting. Large sparse X requires its leading singular vectors by Lanczos and O(r
    nnz + n r^2) operations. Tails below 1e-6 of X are then "not measured", and the
    spectral ratio is a lower bound if Lanczos has not converged.

    Parameters
    ----------
    selector : selector
        Fitted on X; scikit-learn's selectors with `get_support` work as well. The
        selection is treated as unweighted, because a span does not depend on weights.
    X : ndarray or sparse of shape (n_samples, n_features)
        Rows that the selected columns approximate: those of the fit.
    k : int, optional
        Rank of the approximation to compare with, at most the rank of X. None takes the
        rank for which the method makes a promise: min(r, rank of X), or its own
        parameter `rank`.

    Returns
    -------
    SubsetApproximation

    Raises
    ------
    ValueError
        If k is not a positive integer, X differs from the rows of the fit, or no
        columns are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify_subset
    >>> from provsel.selectors import SingleSVDSelector
    >>> X = np.random.default_rng(0).standard_normal((50, 80))
    >>> found = certify_subset(SingleSVDSelector(9).fit(X), X)
    >>> found.state, found.frobenius_ratio < found.oblique_bound < found.frobenius_bound
    ('held', True)
    >>> int(found.frobenius_bound)
    10
    """
    if k is not None and (
        isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1
    ):
        raise ValueError(
            f"certify_subset: expected k to be None or a positive integer, got {k!r}."
        )
    return SubsetApproximation.measure(
        measured_trial("certify_subset", selector, X), None if k is None else int(k)
    )
