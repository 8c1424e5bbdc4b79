"""Stability of feature selection: how much the selected features change when rows are resampled."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from provsel.checks import check_integer
from provsel.resampling import selected_on_samples
from provsel.values import ValuesWithNaN

__all__ = ["StabilityReport", "StabilityTest", "stability"]

TOP = 10
"""Number of features that a printed report lists."""

FOLD_CORRELATION = 0.4
"""Correlation of selections of folds, for the interval of their stability, from
experiments/simulations/stability_intervals.py.
"""


class StabilityTest(NamedTuple):
    """A test of whether two stabilities are equal.

    Attributes
    ----------
    difference : float
        The index of the first minus the index of the second.
    statistic : float
        The difference divided by its standard error; if the stabilities are equal,
        Student's t with Welch's degrees of freedom.
    p_value : float
        Two-sided.

    Examples
    --------
    >>> from provsel.stability import stability
    >>> steady = stability([[0, 1]] * 9 + [[0, 2]], 9)
    >>> erratic = stability([[k, k + 1] for k in range(8)], 9)
    >>> steady.compare(erratic).p_value < 0.05
    True
    """

    difference: float
    statistic: float
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class StabilityReport(ValuesWithNaN):
    r"""Stability of feature selection, with an interval, a test and the frequency of each feature.

    Report it together with an error: a selection that changes with every sample of rows
    cannot be interpreted, however well a model performs with it. With Z, shape (M, d),
    binary, row i for the i-th selection of k_i features, p_f the frequency of feature
    f, and k the mean of the k_i,

        index = 1 - (1/d) sum_f M/(M-1) p_f (1 - p_f) / ((k/d) (1 - k/d)),

    which is 1 if all selections are the same, at least -1/(M-1), and 0 in expectation
    if each is drawn at random, whatever the size; if sizes differ, below 0 by their
    variance over d^2 (M-1) (k/d) (1 - k/d). It is asymptotically normal as M grows,
    with the variance (4/M^2) sum_i (phi_i - phi)^2, phi the mean of

        phi_i = ((1/d) sum_f z_if p_f - k_i k/d^2 + (index/2) (2 k_i k/d^2 - k_i/d - k/d + 1)) / ((k/d) (1 - k/d)).

    With few selections that variance is too small. Interval and test use the jackknife
    variance, with S the variance of the M phi_i / (M-1) over the samples of rows:

        4 S (((M-1)/(M-2))^2 / M + c / (1 - c)),

    c = 0 for independent samples, such as bootstrap samples given the rows. Selections
    of folds, which share training rows, resemble each other more than selections on new
    data would: for them c = 0.4, from simulation. Student's t has G - 1 degrees of
    freedom, for G = M samples, or the G = 1 + n_train/n_test folds of a repeat. S also
    includes the variance that one changed feature in one of G selections would give, so
    that no interval is a single point.

    Attributes
    ----------
    index : float
    variance : float
        Standard error of the index, by the formula above; NaN for two selections, which
        do not determine it.
    frequencies : tuple of float
        Share of the selections that have each feature, one number per feature.
    sizes : tuple of int
        Number of features of each selection.
    feature_names : tuple of str
        Empty if X has no names.
    standard_error, degrees_of_freedom : float
        Degrees of freedom of the index, for interval and test; NaN for two selections.

    References
    ----------
    Nogueira, Sechidis and Brown, "On the stability of feature selection algorithms",
    JMLR 18 (174), 2018: Definition 4 for the index, and its variance. Its mean is below
    0 by chance if sizes differ, since the sample variance of z_f also counts the spread
    of the sizes. Arvesen, "Jackknifing U-statistics", Annals of Mathematical Statistics
    40, 1969: S of the jackknife.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from provsel.selectors import RRQRSelector
    >>> from provsel.stability import StabilityReport
    >>> X, y = load_digits(return_X_y=True)
    >>> report = StabilityReport.of(RRQRSelector(10), X, y, n_resamples=20, random_state=0)
    >>> print(str(report).partition("\n    ")[0])
    stability 0.428, 95 % interval [0.333, 0.523]
    20 selections of 10 of 64 features: 0 always, 41 never
    >>> report.most_frequent(2)
    [(37, 0.95), (21, 0.85)]
    """

    index: float
    variance: float
    frequencies: tuple[float, ...]
    sizes: tuple[int, ...]
    feature_names: tuple[str, ...] = ()
    standard_error: float = np.nan
    degrees_of_freedom: float = np.nan

    @classmethod
    def of(
        cls,
        selector: Any,
        X: Any,
        y: Any = None,
        *,
        cv: Any = None,
        n_resamples: int = 50,
        random_state: Any = None,
    ) -> StabilityReport:
        """Fit copies of a selector on samples of the rows, and compare what they select.

        A randomised selector is fitted with its own seed: with `random_state=None` its
        randomness counts as instability, with a number it does not.

        Parameters
        ----------
        selector : estimator
            Any selector with `get_support`, including scikit-learn's; it is not
            changed.
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
        cv : int, splitter or iterable, optional
            Folds, on whose training rows the selector is fitted; None takes bootstrap
            samples, within each class if y has classes. Numbers of more than 20 values,
            with fewer than 5 rows each, are not classes here.
        n_resamples : int, default=50
            Number of bootstrap samples, if cv is None.
        random_state : int, RandomState or None, default=None
            Seed of the bootstrap samples.

        Returns
        -------
        StabilityReport

        Raises
        ------
        ValueError
            If there is no `get_support`, the number of labels differs from that of
            rows, or there are fewer than two samples.
        """
        selections, overlap = selected_on_samples(
            selector, X, y, cv=cv, n_resamples=n_resamples, random_state=random_state
        )
        names = tuple(map(str, X.columns)) if hasattr(X, "columns") else ()
        return stability(
            selections, np.shape(X)[1], feature_names=names, overlap=overlap
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the stability, from the least possible index of M selections to 1.

        Its lower end is also at most the stability at which G selections show no change
        with a probability of (1 - level) / 2, if changes are rare and affect one
        feature. Rare changes of the whole selection are not covered: five identical
        selections provide little evidence against them.

        Parameters
        ----------
        level : float, default=0.95
            Between 0 and 1.

        Returns
        -------
        tuple of float
            NaN for two selections.
        """
        if not 0 < level < 1:
            raise ValueError(
                f"StabilityReport.interval: expected a level between 0 and 1, got {level!r}."
            )
        if np.isnan(self.standard_error):
            return np.nan, np.nan
        half = (
            float(stdtrit(self.degrees_of_freedom, (1 + level) / 2))
            * self.standard_error
        )
        swap = _lost_by_a_swap(float(np.mean(self.frequencies)), len(self.frequencies))
        unseen = -math.log((1 - level) / 2) / (self.degrees_of_freedom + 1)
        low = min(self.index - half, 1 - 2 * unseen * swap)
        # may be below it by rounding
        least = min(self.index, -1 / (len(self.sizes) - 1))
        return max(low, least), min(self.index + half, 1.0)

    def compare(self, other: StabilityReport) -> StabilityTest:
        """Test whether two stabilities are the same, by Welch's t; the two must come from different samples.

        Parameters
        ----------
        other : StabilityReport

        Returns
        -------
        StabilityTest
        """
        difference = self.index - other.index
        first, second = self.standard_error**2, other.standard_error**2
        if np.isnan(first + second):
            return StabilityTest(difference, np.nan, np.nan)
        statistic = difference / math.sqrt(first + second)
        df = (first + second) ** 2 / (
            first**2 / self.degrees_of_freedom + second**2 / other.degrees_of_freedom
        )
        return StabilityTest(
            difference, statistic, float(2 * stdtr(df, -abs(statistic)))
        )

    def most_frequent(self, top: int = TOP) -> list[tuple[int | str, float]]:
        """Return the features that were selected most often, with their frequencies.

        Parameters
        ----------
        top : int, default=10
            Largest number of features; features that were never selected are left out.

        Returns
        -------
        list of (int or str, float)
            Names, or indices if there are no names, with frequencies; ties are sorted
            by index.
        """
        check_integer("StabilityReport.most_frequent", "top", top, minimum=1)
        share = np.array(self.frequencies)
        order = [
            int(k) for k in np.argsort(-share, kind="stable")[:top] if share[k] > 0
        ]
        return [
            (self.feature_names[k] if self.feature_names else k, float(share[k]))
            for k in order
        ]

    def __repr__(self) -> str:
        low, high = self.interval()
        small, large = min(self.sizes), max(self.sizes)
        sizes = str(small) if small == large else f"{small} to {large}"
        share = np.array(self.frequencies)
        lines = [
            f"stability {self.index:.3f}, 95 % interval [{low:.3f}, {high:.3f}]",
            f"{len(self.sizes)} selections of {sizes} of {share.size} features: {np.sum(share == 1)} always, "
            f"{np.sum(share == 0)} never",
        ]
        return "\n".join(
            [
                *lines,
                *(
                    f"    {name!s:20} {share:6.1%}"
                    for name, share in self.most_frequent()
                ),
            ]
        )


def stability(
    selections: Iterable[Any],
    n_features: int,
    *,
    feature_names: Iterable[str] | None = None,
    samples: Iterable[Any] | None = None,
    overlap: float = 0.0,
) -> StabilityReport:
    """Return the stability of existing selections, such as those of the folds of a cross-validation.

    Parameters
    ----------
    selections : iterable of array
        Two or more: indices of the selected features, in any order, or a boolean mask
        of shape (n_features,).
    n_features : int
        Number d of features to select from.
    feature_names : iterable of str, optional
        Names of the d features, for printing.
    samples : iterable of int or str, optional
        Sample of the rows to which each selection belongs, if a selector draws several
        times on a sample; by default all samples differ.
    overlap : float, default=0
        n_test / n_train of folds, 1/4 for five; 0 for independent samples. With values
        of at least 1, samples contain at most half of the rows, and count as
        independent.

    Returns
    -------
    StabilityReport

    Raises
    ------
    ValueError
        If there are fewer than two selections, the number of samples differs, the
        overlap is negative, an index is not a feature or is repeated, or all selections
        are empty or complete, so that stability is undefined.

    Examples
    --------
    >>> from provsel.stability import stability
    >>> stability([[0, 1, 2], [0, 1, 2], [2, 1, 0]], 10).index
    1.0
    >>> report = stability([[0, 1, 2], [0, 1, 3], [0, 1, 2], [0, 1, 2], [0, 1, 5], [0, 1, 2]], 10)
    >>> round(report.index, 3), [round(end, 2) for end in report.interval()]
    (0.714, [0.15, 1.0])
    """
    check_integer("stability", "n_features", n_features, minimum=1)
    d = int(n_features)
    chosen = [
        _indices(selection, d, place) for place, selection in enumerate(selections)
    ]
    names = () if feature_names is None else tuple(map(str, feature_names))
    if names and len(names) != d:
        raise ValueError(
            f"stability: expected {d} feature names, one for each feature, got {len(names)}."
        )
    m, sizes = (
        len(chosen),
        np.array([indices.size for indices in chosen], dtype=np.int64),
    )
    if m < 2:
        raise ValueError(
            f"stability: expected two or more selections, got {m}; take more folds or samples."
        )
    if sizes.sum() in (0, m * d):
        raise ValueError(
            f"stability: expected selections that choose among {d} features, got {m} "
            f"{'of all of them' if sizes[0] else 'empty ones'}: these cannot differ, so their stability is not defined."
        )
    features, places = np.concatenate(chosen), np.repeat(np.arange(m), sizes)
    _check(chosen, features, places, d)
    if not 0 <= overlap < np.inf:
        raise ValueError(
            f"stability: expected an overlap of at least 0, n_test / n_train of folds, got {overlap!r}."
        )
    p = np.bincount(features, minlength=d) / m
    mean = sizes.mean() / d
    scale = mean * (1 - mean)
    index = float(1 - m / (m - 1) * np.mean(p * (1 - p)) / scale)
    shares = sizes / d
    # (1/d) sum_f z_if p_f
    agreement = np.bincount(places, p[features], minlength=m) / d
    phi = (
        agreement - shares * mean + index / 2 * (2 * shares * mean - shares - mean + 1)
    ) / scale
    variance = float(4 / m**2 * np.sum((phi - phi.mean()) ** 2)) if m > 2 else np.nan
    error = _standard_error(
        _of_samples(phi, samples), overlap, _lost_by_a_swap(mean, d)
    )
    return StabilityReport(
        index, variance, tuple(p.tolist()), tuple(sizes.tolist()), names, *error
    )


def _of_samples(
    phi: NDArray[np.float64], samples: Iterable[Any] | None
) -> NDArray[np.float64]:
    """Return the mean of phi over the selections of each sample of rows."""
    if samples is None:
        return phi
    labels = list(samples)
    if len(labels) != phi.size:
        raise ValueError(
            f"stability: expected {phi.size} samples, one for each selection, got {len(labels)}."
        )
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    groups = np.array([numbers[label] for label in labels])
    return np.bincount(groups, phi) / np.bincount(groups)


def _standard_error(
    phi: NDArray[np.float64], overlap: float, lost: float
) -> tuple[float, float]:
    """Return standard error and degrees of freedom of the index; see `StabilityReport`."""
    m = phi.size
    if m < 3:
        return np.nan, np.nan
    overlap = overlap if overlap < 1 else 0.0
    n_groups = min(m, 1 + 1 / overlap) if overlap else float(m)
    spread = (m / (m - 1)) ** 2 * float(np.var(phi, ddof=1))
    one_changed = ((n_groups - 2) / (n_groups - 1) * lost) ** 2 / n_groups
    factor = ((m - 1) / (m - 2)) ** 2 / m
    if overlap:
        factor += FOLD_CORRELATION / (1 - FOLD_CORRELATION)
    return math.sqrt(4 * factor * (spread + one_changed)), n_groups - 1


def _lost_by_a_swap(mean: float, d: int) -> float:
    """Return the loss of similarity when two selections of a share `mean` of d features differ in one feature."""
    return 1 / (d * mean * (1 - mean))


def _indices(selection: Any, d: int, place: int) -> NDArray[np.int64]:
    """Return a selection as indices."""
    indices = np.asarray(selection)
    subject = f"stability: selection {place}"
    if indices.dtype == bool:
        if indices.shape != (d,):
            raise ValueError(
                f"{subject}: expected a mask of shape ({d},), got {indices.shape}; pass n_features = its size."
            )
        return np.flatnonzero(indices)
    if indices.size == 0:
        return np.empty(0, dtype=np.int64)
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(
            f"{subject}: expected a list of indices or a boolean mask, got an array of {indices.dtype} of shape "
            f"{indices.shape}; if it is a matrix of 0 and 1, pass its rows == 1."
        )
    return indices.astype(np.int64)


def _check(
    chosen: list[NDArray[np.int64]],
    features: NDArray[np.int64],
    places: NDArray[np.int64],
    d: int,
) -> None:
    """Raise for indices outside the features, and for repeated ones, in all selections at once."""
    outside = (features < 0) | (features >= d)
    if outside.any():
        place = places[outside][0]
        raise ValueError(
            f"stability: selection {place}: expected indices from 0 to {d - 1}, got {chosen[place].min()} to "
            f"{chosen[place].max()}; n_features is the number of features before selection."
        )
    pairs = np.sort(places * d + features)
    again = pairs[1:][pairs[1:] == pairs[:-1]] // d
    if again.size:
        n_again = np.sum(again == again[0])
        raise ValueError(
            f"stability: selection {again[0]}: expected each feature once, got {n_again} again."
        )
