"""Cost of compression for a linear SVM: its objective compared with the optimum, and theorems of Giesen et al."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from provsel.certificates.theorem import HELD, SLACK, VACUOUS, VIOLATED, Theorem
from provsel.certificates.trial import MeasuredTrial

if TYPE_CHECKING:
    from provsel.kernels.spectral import Matrix

Lower = Callable[[float, float], float]


class CompressedRecovery(Theorem):
    """f(recovered) is at least the optimum of f, and (1 + delta)^-2 f(recovered) - delta is at most the optimum.

    Use it through `certify_compression`.

    For `CompressedLinearSVM`; f is the objective without compression. "violated": the
    first inequality fails, or no delta that the theorem allows, below 1/2, satisfies
    the second. Vacuous if `delta` is not below `zero_delta`.

    Attributes
    ----------
    optimum, objective : float
        f of the SVM without compression, and of the vector recovered from the
        compressed one.
    delta, zero_delta : float
        The smallest delta that satisfies the second inequality, and the smallest that
        satisfies it for w = 0, a trivial solution.
    loss_change, norm_ratio, expansion_ratio : float
        Quantities that the proof bounds, with w the optimum and w_bar the optimum of the compressed problem: the change
        of the loss of w, up to delta (Lemma 1); ||Lambda w||^2 / ||w||^2, up to 1 + delta (Lemma 2); ||Lambda^T
        w_bar||^2 / ||w_bar||^2, up to 1 + delta (Lemma 4).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from provsel.certificates import CompressedRecovery, certify_compression
    >>> from provsel.models import CompressedLinearSVM
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> model = CompressedLinearSVM(20, c=1e-3, variance="1/l", refinements=4, random_state=0).fit(X / 16, y)
    >>> isinstance(certify_compression(model, X / 16, y).recovery, CompressedRecovery)
    True
    """

    name = "recovery"
    source = "Giesen, Laue, Mueller (2013), Theorem 5, Lemmas 1, 2 and 4"
    prefix = "certificate_"

    optimum: float = np.nan
    objective: float = np.nan
    delta: float = np.nan
    zero_delta: float = np.nan
    loss_change: float = np.nan
    norm_ratio: float = np.nan
    expansion_ratio: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the loss by the recovery of `trial.model`, after solving the problem without compression."""
        from provsel.models import HingeSVM

        model, view = trial.model, trial.rows
        optimal = view.svm(HingeSVM(c=model.c))
        w, w_bar, blocks = optimal.coef_[0], model.compressed_coef_, model.blocks_
        objective = compression_objective(view.X, view.y, model.coef_[0], model.c)
        image = blocks.project(w[None, :])[0]
        losses = [
            compression_objective(view.X, view.y, v, 0.0)
            for v in (w, blocks.expand(image))
        ]
        return cls(
            **_sides(objective, optimal.objective_, optimal.gap_, _lower),
            loss_change=abs(losses[1] - losses[0]),
            norm_ratio=_ratio(image, w),
            expansion_ratio=_ratio(blocks.expand(w_bar), w_bar),
        )


class FeatureSelectiveRecovery(Theorem):
    """Like `CompressedRecovery`, for `FeatureSelectiveSVM` with n_components; (1 - delta)^2 replaces (1 + delta)^-2.

    Use it through `certify_compression`.

    The problem as printed is not convex: `optimum` is then the best value found without
    compression, so that `delta` errs in favour of the theorem.

    Attributes
    ----------
    optimum, objective, delta, zero_delta, expansion_ratio : float
        As in `CompressedRecovery`; `objective` uses the feature weights of the
        compressed solution.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify_compression
    >>> from provsel.models import FeatureSelectiveSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 30))
    >>> model = FeatureSelectiveSVM(c1=1e-3, c2=1e-3, n_components=10, random_state=0).fit(X, X[:, 3] > 0)
    >>> "Theorem 7" in certify_compression(model, X, X[:, 3] > 0).recovery.source
    True
    """

    name = "recovery"
    source = "Giesen, Laue, Mueller (2013), Theorem 7, Lemma 4"
    prefix = "certificate_"

    optimum: float = np.nan
    objective: float = np.nan
    delta: float = np.nan
    zero_delta: float = np.nan
    expansion_ratio: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the loss by the recovery of `trial.model`, after solving the problem without compression."""
        from sklearn.base import clone

        model, view = trial.model, trial.rows
        whole = view.svm(clone(model).set_params(n_components=None))
        loss = compression_objective(view.X, view.y, model.coef_[0], 0.0)
        objective = float(
            loss + model.c2_ * model.w_ @ model.w_ + model.c1_ * model.mu_.sum()
        )
        gap = 0.0 if np.isnan(whole.gap_) else whole.gap_
        # some start with compression may have reached a lower value than all starts
        # without it
        optimum = (
            whole.objective_
            if whole.gap_ == whole.gap_
            else min(whole.objective_, objective)
        )
        ratio = _ratio(model.w_, model.compressed_coef_)
        return cls(**_sides(objective, optimum, gap, _lower7), expansion_ratio=ratio)


def is_compressed(model: Any) -> bool:
    """Return whether Theorem 5 or 7 applies to a model."""
    from provsel.models import CompressedLinearSVM, FeatureSelectiveSVM

    if isinstance(model, CompressedLinearSVM):
        return model.loss == "hinge"
    return isinstance(model, FeatureSelectiveSVM) and model.n_components is not None


def _sides(
    objective: float, optimum: float, gap: float, lower: Lower
) -> dict[str, Any]:
    delta, zero = (_smallest_delta(value, optimum, lower) for value in (objective, 1.0))
    if objective < optimum - (SLACK + gap) * optimum or delta >= 0.5:
        state = VIOLATED
    else:
        state = VACUOUS if delta >= zero else HELD
    return {
        "optimum": optimum,
        "objective": objective,
        "delta": delta,
        "zero_delta": zero,
        "state": state,
    }


def _ratio(after: NDArray[np.float64], before: NDArray[np.float64]) -> float:
    length = float(before @ before)
    return float(after @ after) / length if length else np.nan


def compression_objective(
    X: Matrix, y: Any, coef: NDArray[np.float64], c: float
) -> float:
    """Return (1/n) sum_i max(0, 1 - y_i <x_i, coef>) + c ||coef||^2.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        -1 and 1, or two other labels, the larger being the positive one.
    coef : ndarray of shape (n_features,)
    c : float

    Raises
    ------
    ValueError
        Labels of more or fewer than two classes, unless they are -1 or 1.
    """
    loss = np.maximum(0.0, 1.0 - _signs("compression_objective", y) * (X @ coef)).mean()
    return float(loss + c * coef @ coef)


def _lower(objective: float, delta: float) -> float:
    return objective / (1.0 + delta) ** 2 - delta


def _lower7(objective: float, delta: float) -> float:
    return objective * (1.0 - delta) ** 2 - delta


def _smallest_delta(objective: float, optimum: float, lower: Lower) -> float:
    """Return delta with `lower` = optimum; it falls with delta, from the objective to below 0 at 1 or the objective."""
    from scipy.optimize import brentq

    if objective <= optimum:
        return 0.0
    end = 1.0 if lower is _lower7 else objective
    return float(
        brentq(lambda delta: lower(objective, delta) - optimum, 0.0, end, xtol=1e-14)
    )


def _signs(name: str, y: Any) -> NDArray[np.float64]:
    y = np.asarray(y)
    classes = np.unique(y)
    if np.isin(classes, (-1, 1)).all():
        return y.astype(np.float64)
    if classes.size != 2:
        raise ValueError(
            f"{name}: expected labels of two classes, got {classes.size}; pass the rows of two classes."
        )
    return np.where(y == classes[1], 1.0, -1.0)
