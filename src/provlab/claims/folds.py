"""Errors of a number of an artefact, fold by fold, and the samples that tests are over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from provlab.claims.outcome import UnavailableError
from provlab.plan.composition import MAX_COUNT


@dataclass(frozen=True)
class Sample:
    """Values with what each is of: a data set, a fold of one, or a draw.

    Attributes
    ----------
    values : ndarray of shape (n,)
    names : tuple of str
        Data sets, sorted.
    dataset : ndarray of shape (n,)
        Which of `names`.
    numbers : dict
        Name of a level, such as "fold", and its numbers, of shape (n,).
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    dataset: NDArray[np.int64]
    numbers: dict[str, NDArray[np.int64]]

    def __len__(self) -> int:
        return self.values.size

    def named(self) -> tuple[tuple[str, float], ...]:
        """Return each value with a name for people."""
        numbers = [[f"{level} {number}" for number in found.tolist()] for level, found in self.numbers.items()]
        datasets = [] if "draw" in self.numbers else [[self.names[k] for k in self.dataset.tolist()]]
        names = map(", ".join, zip(*datasets, *numbers, strict=True))
        return tuple(zip(names, self.values.tolist(), strict=True))

    def means(self) -> Sample:
        """Return the mean of each data set."""
        found, of = np.unique(self.dataset, return_inverse=True)
        means = np.bincount(of, self.values) / np.bincount(of)
        return Sample(means, tuple(self.names[k] for k in found), np.arange(found.size), {})

    def pairs(self) -> list[tuple[str, str]]:
        """Return the two categories that each data set is a pair of, from its name, ..._<one>_<other>."""
        parts = [self.names[k].split("_") for k in self.dataset.tolist()]
        if wrong := next((part for part in parts if len(part) < 3), None):
            raise ValueError(
                f"dependence: expected data sets named like Exp_<one>_<other> for dyadic, got {'_'.join(wrong)!r}."
            )
        return [(part[-2], part[-1]) for part in parts]

    def check_one_data_set(self) -> None:
        """Check that folds are those of one data set: folds of different sets have no common scale."""
        n_sets = np.unique(self.dataset).size
        if n_sets > 1:
            raise ValueError(f"over: expected datasets for an artefact with {n_sets} data sets, got folds.")

    def at_least_two(self, what: str) -> NDArray[np.float64]:
        """Return the values, or say that a test needs more of them."""
        if self.values.size < 2:
            raise UnavailableError(f"needs at least 2 {what} with both sides, found {self.values.size}")
        return self.values


@dataclass(frozen=True)
class Folds:
    """Means over the draws of each fold, sorted by data set, repeat and fold.

    Attributes
    ----------
    names : tuple of str
        Data sets, sorted.
    dataset, repeat, fold : ndarray of shape (n_folds,)
        `dataset` counts in `names`.
    means : dict
        Column of the records and its means, of shape (n_folds,).
    """

    names: tuple[str, ...]
    dataset: NDArray[np.int64]
    repeat: NDArray[np.int64]
    fold: NDArray[np.int64]
    means: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, names: tuple[str, ...], places: NDArray[np.int64], columns: dict[str, NDArray[np.float64]]) -> Folds:
        """Average draws, in their order; those with NaN in the first column are left out.

        `places` are data set, repeat and fold of each, of shape (3, n).
        """
        known = ~np.isnan(next(iter(columns.values())))
        dataset, repeat, fold = places[:, known]
        _, first, of = np.unique(_code(dataset, repeat, fold), return_index=True, return_inverse=True)
        n = np.bincount(of)
        means = {name: np.bincount(of, values[known], n.size) / n for name, values in columns.items()}
        return cls(names, dataset[first], repeat[first], fold[first], means)

    def __len__(self) -> int:
        return self.dataset.size

    @property
    def ratio(self) -> NDArray[np.float64]:
        """Rows for testing over rows for training, of each fold."""
        return self.means["n_test"] / self.means["n_train"]

    def sample(self, values: NDArray[np.float64]) -> Sample:
        """Return values of the folds with their names."""
        return Sample(values, self.names, self.dataset, {"repeat": self.repeat, "fold": self.fold})

    def only(self, rows: NDArray[np.int64]) -> Folds:
        """Return some folds."""
        means = {name: values[rows] for name, values in self.means.items()}
        return Folds(self.names, self.dataset[rows], self.repeat[rows], self.fold[rows], means)

    def codes(self, names: list[str]) -> NDArray[np.int64]:
        """Return one number a fold, the same for the same fold of a data set in `names`, which are sorted."""
        places = np.searchsorted(names, self.names) if self.names else np.zeros(0, np.int64)
        return _code(places[self.dataset], self.repeat, self.fold)


def common_folds(parts: list[Folds]) -> list[Folds]:
    """Return of each part the folds that all of them have."""
    names = sorted({name for part in parts for name in part.names})
    codes = [part.codes(names) for part in parts]
    if all(np.array_equal(code, codes[0]) for code in codes):  # as where everything is stored
        return parts
    shared = reduce(np.intersect1d, codes)
    return [part.only(np.searchsorted(code, shared)) for part, code in zip(parts, codes, strict=True)]


def _code(dataset: NDArray[np.int64], repeat: NDArray[np.int64], fold: NDArray[np.int64]) -> NDArray[np.int64]:
    return (dataset * (MAX_COUNT + 1) + repeat) * (MAX_COUNT + 1) + fold
