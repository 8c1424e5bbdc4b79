"""Certificates of a fitted selector: one record per theorem, on the rows on which it was fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from provsel.certificates.certificate import Certificate
from provsel.certificates.compression import (
    CompressedRecovery,
    FeatureSelectiveRecovery,
    is_compressed,
)
from provsel.certificates.margin import MarginPreservation, SoftMarginBound
from provsel.certificates.online_scores import OnlineScoreSum
from provsel.certificates.radius import RadiusPreservation
from provsel.certificates.ridge_regression import (
    RidgeRegressionCost,
    RidgeRegressionRisk,
)
from provsel.certificates.spectral import SpectralSparsification
from provsel.certificates.theorem import NOT_MEASURED, UNDECIDED, VIOLATED, Theorem
from provsel.certificates.trial import MeasuredTrial

if TYPE_CHECKING:
    from provsel.kernels.spectral import Matrix
    from provsel.selectors import BaseSelector


def certify(
    selector: BaseSelector,
    X: Any,
    y: Any = None,
    *,
    C: float | None = 1.0,
    radius: bool = True,
    ridge: float | None = None,
    model: Any = None,
    also: Iterable[type[Theorem]] = (),
) -> Certificate:
    """Measure which properties of its training rows a fitted selector preserved.

    Parameters
    ----------
    selector : selector
        Fitted on X (and y); for `OnSupportVectors` the certificate covers its support
        vectors.
    X : ndarray or sparse of shape (n_samples, n_features)
        Rows on which the bounds are measured: those of the fit.
    y : ndarray of shape (n_samples,), optional
        Labels of two classes, or numbers with `ridge`; without labels no margin is
        measured.
    C : float or None, default=1.0
        C of the soft-margin certificate; None leaves it out.
    radius : bool, default=True
        Whether to measure the enclosing balls as well; Theorem 5 concerns the
        unsupervised setting.
    ridge : float, optional
        Measure the loss of ridge regression of y at this penalty, `alpha` of
        scikit-learn's `Ridge`.
    model : estimator, optional
        Fitted on the reduced rows, for theorems about it, such as a clusterer for
        `ClusteringCost`.
    also : iterable of Theorem classes
        Further theorems to check, such as your own.

    Returns
    -------
    Certificate
        Records `spectral`, `margin`, `soft`, `radius` and `scores`, whose `state` says
        which of them were measured; `ridge_cost` and `ridge_risk` if a penalty is
        given; and the theorems of `also`.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> X = np.random.default_rng(0).standard_normal((10, 500))
    >>> certificate = certify(BSSSelector(400).fit(X), X)
    >>> certificate.spectral.state
    'held'
    >>> certificate.spectral.spectral_error <= certificate.spectral.spectral_bound
    True
    """
    trial = measured_trial("certify", selector, X, y, model)
    certificate = certify_trial(trial, C=C, radius=radius, also=also)
    if ridge is None:
        return certificate
    of_ridge = (
        RidgeRegressionCost.measure(trial, ridge),
        RidgeRegressionRisk.measure(trial, ridge),
    )
    return Certificate((*certificate.records, *of_ridge))


def measured_trial(
    who: str, selector: BaseSelector, X: Any, y: Any = None, model: Any = None
) -> MeasuredTrial:
    """Return the measured trial of a fitted selector on its training rows; messages name the caller `who`."""
    from provsel.selectors import OnSupportVectors
    from provsel.training_view import TrainingView
    from provsel.validation import checked_array

    X = checked_array(who, X)
    view = TrainingView(X, None if y is None else np.asarray(y))
    inner: Any = selector
    if isinstance(selector, OnSupportVectors):
        inner, rows = selector.selector_, selector.support_rows_
        view = TrainingView(view.X[rows], None if view.y is None else view.y[rows])
    if view.n_features != selector.n_features_in_:
        raise ValueError(
            f"{who}: expected X with the {selector.n_features_in_} features that the selector was fitted on, "
            f"got {view.n_features}; pass the training rows."
        )
    return MeasuredTrial(inner, view, model=model)


def certify_trial(
    trial: MeasuredTrial,
    *,
    C: float | None = None,
    margin: bool = True,
    radius: bool = True,
    also: Iterable[type[Theorem]] = (),
) -> Certificate:
    """Certify on the rows of the selection; trials on the same rows share their parts for all features."""
    scores = OnlineScoreSum.measure(trial)
    of_error: tuple[Theorem, ...] = (
        SpectralSparsification.measure(trial),
        MarginPreservation.measure(trial) if margin else MarginPreservation(),
        SoftMarginBound.measure(trial, C if margin else None),
        RadiusPreservation.measure(trial) if radius else RadiusPreservation(),
    )
    if any(record.state == VIOLATED for record in of_error[1:]):
        # The measured ||E||_2 bounds margins and radii of any selection, so a
        # contradiction is due to rounding.
        of_error = tuple(
            theorem_record
            if theorem_record.state == NOT_MEASURED
            else replace(theorem_record, state=UNDECIDED)
            for theorem_record in of_error
        )
    return Certificate(
        (
            of_error[0],
            scores,
            *of_error[1:],
            *(theorem.measure(trial) for theorem in also),
        )
    )


def certify_compression(model: Any, X: Matrix, y: Any) -> Certificate:
    r"""Measure Theorem 5, or for a feature-selective model Theorem 7, on the rows that a model was fitted on.

    Let f be the objective of the problem without compression. Both theorems say that
    f(recovered) is at least the optimum, which only tests the solvers, and not much
    larger: (1 + delta)^-2 f(recovered) - delta <= optimum, where Theorem 7 has (1 -
    delta)^2. They leave open delta and the constant of the l that they require. The
    certificate is therefore the smallest delta that satisfies this inequality.

    Parameters
    ----------
    model : CompressedLinearSVM with loss="hinge", or FeatureSelectiveSVM with n_components
        Fitted.
    X : ndarray or sparse of shape (n_samples, n_features)
        Rows on which the bounds are measured: those of the fit.
    y : ndarray of shape (n_samples,)
        Two classes.

    Returns
    -------
    Certificate
        `recovery`: a `CompressedRecovery`, or for Theorem 7 a
        `FeatureSelectiveRecovery`.

    Raises
    ------
    ValueError
        For another kind of model, or if the width of X differs from the fit.

    Notes
    -----
    Solves the problem without compression, which needs the rows in memory. Without
    that, `CompressedLinearSVM.lower_bound_` bounds its optimum.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from provsel.certificates import certify_compression
    >>> from provsel.models import CompressedLinearSVM
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> model = CompressedLinearSVM(20, c=1e-3, variance="1/l", refinements=4, random_state=0).fit(X / 16, y)
    >>> certify_compression(model, X / 16, y).recovery.state
    'held'

    References
    ----------
    Giesen, Laue, Mueller (2013), Lemmas 1, 2 and 4, Theorems 5 and 7.
    """
    from provsel.training_view import TrainingView
    from provsel.validation import checked_array

    if not is_compressed(model):
        raise ValueError(
            f"certify_compression: expected a CompressedLinearSVM of the hinge loss, or a FeatureSelectiveSVM with "
            f"n_components, got {model!r}; the theorems cover only these."
        )
    view = TrainingView(checked_array("certify_compression", X), np.asarray(y))
    if view.n_features != model.n_features_in_:
        raise ValueError(
            f"certify_compression: expected X with the {model.n_features_in_} features that the model was fitted on, "
            f"got {view.n_features}; pass the training rows."
        )
    return certify_compressed_trial(MeasuredTrial(None, view, model=model))


def certify_compressed_trial(trial: MeasuredTrial) -> Certificate:
    """Certify the model of a trial, as `certify_compression` does; trials share the uncompressed problem."""
    from provsel.models import CompressedLinearSVM

    recovery = (
        CompressedRecovery
        if isinstance(trial.model, CompressedLinearSVM)
        else FeatureSelectiveRecovery
    )
    return Certificate((recovery.measure(trial),))
