"""Greedy orders of features: by relevance, and by the information shared with features picked before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.discrete_information import CodedColumns
from provsel.kernels.spectral import Array
from provsel.kernels.ties import first_largest

LAST = np.finfo(np.float64).max / 2
"""Minus this is the gain of uninformative features, which are picked when no others are left."""


class Terms(NamedTuple):
    """Information shared by the features, shape (d,), and the one picked last: X and K, with the class Y.

    Attributes
    ----------
    relevance : I(X; Y)
    relevance_of_last : I(K; Y), a number
    shared, shared_in_class : I(X; K) and I(X; K | Y)
    entropy : H(X, K, Y)
    beta : parameter of "mifs"
    """

    relevance: Array
    relevance_of_last: float
    shared: Array
    shared_in_class: Array
    entropy: Array
    beta: float


class Criterion(NamedTuple):
    """A gain combines one term per feature picked before: their sum, or their minimum."""

    term: Callable[[Terms], Array]
    takes_least: bool = False
    adds_relevance: bool = False


def _conditional(terms: Terms) -> Array:
    """Return I(X; Y | K)."""
    return terms.relevance - terms.shared + terms.shared_in_class


def _joint(terms: Terms) -> Array:
    """Return I(X, K; Y)."""
    return terms.relevance_of_last + _conditional(terms)


CRITERIA = {
    "jmi": Criterion(_joint),
    "jmim": Criterion(_joint, takes_least=True),
    "cmim": Criterion(_conditional, takes_least=True),
    "disr": Criterion(
        lambda terms: (
            _joint(terms) / np.maximum(terms.entropy, np.finfo(np.float64).tiny)
        )
    ),
    "icap": Criterion(
        lambda terms: -np.maximum(terms.shared - terms.shared_in_class, 0.0),
        adds_relevance=True,
    ),
    "cife": Criterion(
        lambda terms: terms.shared_in_class - terms.shared, adds_relevance=True
    ),
    "condred": Criterion(lambda terms: terms.shared_in_class, adds_relevance=True),
    "mifs": Criterion(lambda terms: -terms.beta * terms.shared, adds_relevance=True),
    "mim": Criterion(lambda terms: np.zeros_like(terms.relevance), adds_relevance=True),
}
"""From Brown et al. (2012), Table 3, and JMIM."""


class ClassInformation:
    """Information of columns of codes about classes, and about each other.

    Attributes
    ----------
    relevance : ndarray of shape (d,)
        I(X; Y) of each column.
    """

    def __init__(self, columns: CodedColumns, y: NDArray[np.int64]) -> None:
        self.columns = columns
        self.y = y
        self.n_classes = int(y.max()) + 1
        self.of_class = columns.entropy_of(y)
        self.with_class, self.alone = columns.entropies(
            y, self.n_classes, self.n_classes
        )
        self.relevance = np.maximum(self.alone + self.of_class - self.with_class, 0.0)

    def terms(self, last: int, beta: float) -> Terms:
        """Return the information that all features and the one picked last share."""
        labels = self.columns.codes[last].astype(np.int64) * self.n_classes + self.y
        n_labels = int(self.columns.widths[last]) * self.n_classes
        triple, pair = self.columns.entropies(labels, n_labels, self.n_classes)
        shared = self.alone + self.alone[last] - pair
        shared_in_class = (
            self.with_class + self.with_class[last] - triple - self.of_class
        )
        return Terms(
            self.relevance, self.relevance[last], shared, shared_in_class, triple, beta
        )

    def shared(self, last: int) -> Array:
        """Return I(X; K) of all features with the given one, shape (d,)."""
        labels = self.columns.codes[last].astype(np.int64)
        pair, _ = self.columns.entropies(labels, int(self.columns.widths[last]))
        return np.maximum(self.alone + self.alone[last] - pair, 0.0)


def information_picks(
    information: ClassInformation, criterion: Criterion, beta: float
) -> Iterator[int]:
    """Yield features by a criterion, one of `CRITERIA`: the most relevant first."""
    relevance = information.relevance
    is_constant = information.columns.widths == 1
    gain, combined = (
        relevance.copy(),
        np.full(relevance.size, np.inf if criterion.takes_least else 0.0),
    )
    is_left = np.ones(relevance.size, dtype=bool)
    while is_left.any():
        gain[is_constant] = -LAST
        last = first_largest(np.where(is_left, gain, -np.inf))
        is_left[last] = False
        yield last
        term = criterion.term(information.terms(last, beta))
        combined = (
            np.minimum(combined, term) if criterion.takes_least else combined + term
        )
        gain = relevance + combined if criterion.adds_relevance else combined.copy()


def mrmr_picks(
    relevance: Array,
    redundancy_with: Callable[[int], Array],
    *,
    gain_of: Callable[[Array, Array], Array],
    largest: bool,
) -> Iterator[int]:
    """Yield features, the most relevant first, then by relevance and redundancy.

    Parameters
    ----------
    relevance : ndarray of shape (d,)
        Features without relevance come last.
    redundancy_with : callable
        Returns the redundancy of all features with the picked one, shape (d,).
    gain_of : callable
        Combines relevance and redundancy.
    largest : bool
        Whether redundancy is the maximum over the picked features, or else the mean.
    """
    relevance = np.minimum(relevance, LAST)
    gain, redundancy = relevance.copy(), np.zeros(relevance.size)
    is_left = np.ones(relevance.size, dtype=bool)
    while is_left.any():
        gain[relevance <= 0] = -LAST
        last = first_largest(np.where(is_left, gain, -np.inf))
        is_left[last] = False
        yield last
        added = redundancy_with(last)
        redundancy = np.maximum(redundancy, added) if largest else redundancy + added
        n_picked = 1 if largest else np.count_nonzero(~is_left)
        gain = gain_of(relevance, redundancy / n_picked)


def difference(relevance: Array, redundancy: Array) -> Array:
    """Return the relevance minus the redundancy."""
    return relevance - redundancy


def quotient(relevance: Array, redundancy: Array) -> Array:
    """Return the relevance divided by the redundancy; features without redundancy come first."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.minimum(relevance / redundancy, LAST)
