"""Subsets of columns, without labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from provlab.benchmark.selectors.ranked import Ranked, Ranking, followed


class CUR(Ranked):
    """Largest entry of the leading right singular vector, of what the features chosen before leave of X.

    Source: Imbalzano, Anelli, Giofré, Klees, Behler, Ceriotti (2018); Mahoney, Drineas (2009).
    """

    needs_labels = classes_only = False

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        X, chosen = _of_few_rows(X), list[int]()
        gram, basis = X @ X.T, np.empty((len(X), 0))
        floor = 1e-10 * np.trace(gram)
        while len(chosen) < min(most, len(X)):
            value, leading = linalg.eigh(gram, subset_by_index=[len(X) - 1, len(X) - 1])
            if value[0] <= floor:
                break
            size = np.abs(leading[:, 0] @ X)
            size[chosen] = -1
            chosen.append(int(np.argmax(size)))
            column = X[:, chosen[-1]] - basis @ (basis.T @ X[:, chosen[-1]])
            column = (column - basis @ (basis.T @ column)) / np.linalg.norm(column)
            basis = np.column_stack([basis, column])
            gram = gram - np.outer(column, column @ gram)
            gram = gram - np.outer(gram @ column, column)
        return followed(chosen, (X**2).sum(axis=0))


class FarthestPoints(Ranked):
    """The column farthest from those chosen before; the first is the farthest from the mean column.

    Source: Eldar, Lindenbaum, Porat, Zeevi (1997); Imbalzano, Anelli, Giofré, Klees, Behler, Ceriotti (2018).
    """

    needs_labels = classes_only = False

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        X = _of_few_rows(X)
        squares = (X**2).sum(axis=0)
        chosen, mean = list[int](), X.mean(axis=1)
        distances = squares - 2 * (mean @ X)
        while len(chosen) < most:
            chosen.append(int(np.argmax(distances)))
            last = squares + squares[chosen[-1]] - 2 * (X[:, chosen[-1]] @ X)
            distances = last if len(chosen) == 1 else np.minimum(distances, last)
            distances[chosen] = -np.inf
        return followed(chosen, (X**2).sum(axis=0))


def _of_few_rows(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return at most d rows with the same products of columns."""
    return np.linalg.qr(X)[1] if len(X) > X.shape[1] else X
