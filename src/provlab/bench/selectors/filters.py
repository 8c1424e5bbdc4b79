"""Orders without a model: statistics of features and classes, and column subsets without labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, stats
from scipy.spatial.distance import cdist
from scipy.special import digamma
from sklearn import feature_selection
from sklearn.linear_model import lars_path_gram
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import minmax_scale, scale

from provlab.bench.selectors.ranked import Ranked, Ranking, by_entry, by_scores, completed, f_statistics, followed


class FTest(Ranked):
    """F statistic of an analysis of variance, `f_classif`: linear, one feature at a time.

    Source: Fisher (1925); scikit-learn.
    """

    package = "scikit-learn"
    takes_sparse = True

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        return by_scores(f_statistics(X, y))


class RankTest(Ranked):
    """F statistic of the ranks, whose order is that of Kruskal and Wallis' test: monotone effects, heavy tails.

    Source: Kruskal, Wallis (1952).
    """

    package = "scikit-learn"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        return by_scores(f_statistics(stats.rankdata(X, axis=0), y))


class ChiSquared(Ranked):
    """Chi-squared statistic, `chi2`, of the columns scaled to [0, 1].

    Source: Liu, Setiono (1995); scikit-learn.
    """

    package = "scikit-learn"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        return by_scores(feature_selection.chi2(minmax_scale(X), y)[0])


class MutualInformation(Ranked):
    """Mutual information with the class, estimated by 3 neighbours: as `mutual_info_classif`, all columns at once.

    Source: Ross (2014); scikit-learn.
    """

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        noise = np.random.RandomState(0).standard_normal(X.shape)  # scikit-learn's, which tells equal values apart
        X = scale(X, with_mean=False)
        X += 1e-10 * np.maximum(1, np.abs(X).mean(axis=0)) * noise
        counts = np.bincount(y)
        X, y = X[counts[y] > 1], y[counts[y] > 1]
        everywhere, total = np.sort(X, axis=0), np.zeros(X.shape[1])
        for each in np.unique(y):
            rows = np.sort(X[y == each], axis=0)
            k = min(3, len(rows) - 1)
            padded = np.pad(rows, ((k, k), (0, 0)), constant_values=((-np.inf, np.inf), (0, 0)))
            # of k + 1 rows in a line, the distance of one to the farther end; the least is that of its neighbour k
            windows = [(padded[i : i + len(rows)], padded[i + k : i + k + len(rows)]) for i in range(k + 1)]
            radius = np.min([np.maximum(rows - low, high - rows) for low, high in windows], axis=0)
            inside = radius - 4 * np.spacing(np.abs(rows) + radius)  # without the neighbour itself, however rounded
            near = [
                np.searchsorted(column, own + reach, "right") - np.searchsorted(column, own - reach, "left")
                for column, own, reach in zip(everywhere.T, rows.T, inside.T, strict=True)
            ]
            total += len(rows) * (digamma(k) - digamma(len(rows))) - digamma(near).sum(axis=1)
        return by_scores(np.maximum(0, digamma(len(X)) + total / len(X)))


class ShrunkenCentroids(Ranked):
    """Largest standardised difference of a class mean: where the nearest shrunken centroids drop a feature last.

    Source: Tibshirani, Hastie, Narasimhan, Chu (2002); scikit-learn's `NearestCentroid`.
    """

    package = "scikit-learn"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of constant columns
            found = NearestCentroid(shrink_threshold=1e-12).fit(X, y).deviations_
        return by_scores(np.abs(found).max(axis=0))


class ReliefF(Ranked):
    """ReliefF: difference to the 10 nearest rows of each other class, minus that to the 10 nearest of its own class.

    Differences are absolute, of columns scaled to [0, 1]. Other classes count by their share of the rows.

    Source: Kononenko (1994); Robnik-Šikonja, Kononenko (2003).
    """

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        X, distances = _scaled_distances(X)
        share, members = np.bincount(y) / y.size, [np.flatnonzero(y == each) for each in range(int(y.max()) + 1)]
        scores = np.zeros(X.shape[1])
        for i, own in enumerate(y):
            for each, rows in enumerate(members):
                others = rows[rows != i]
                near = others[np.argsort(distances[i, others], kind="stable")[:10]]
                weight = -1.0 if each == own else share[each] / (1 - share[own])
                if near.size:
                    scores += weight * np.abs(X[near] - X[i]).mean(axis=0)
        return by_scores(scores / y.size)


class MultiSURF(Ranked):
    """MultiSURF: as ReliefF, with the rows nearer than the mean distance minus half its standard deviation.

    Source: Urbanowicz, Olson, Schmitt, Meeker, Moore (2018).
    """

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        X, distances = _scaled_distances(X)
        scores = np.zeros(X.shape[1])
        for i, own in enumerate(y):
            others = np.delete(np.arange(y.size), i)
            found = distances[i, others]
            near = others[found < found.mean() - found.std() / 2]
            for rows, sign in ((near[y[near] == own], -1), (near[y[near] != own], 1)):
                if rows.size:
                    scores += sign * np.abs(X[rows] - X[i]).mean(axis=0)
        return by_scores(scores / y.size)


def _scaled_distances(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    X = np.ascontiguousarray(minmax_scale(X))
    return X, cdist(X, X, "cityblock")


class MRMR(Ranked):
    """mRMR: F statistic over the mean absolute correlation with the features chosen before.

    Source: Ding, Peng (2005); the quotient of Zhao, Anand, Wang (2019).
    """

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        relevance = np.nan_to_num(f_statistics(X, y))
        Z, chosen, redundancy = scale(X) / np.sqrt(len(X)), [int(np.argmax(relevance))], np.zeros(X.shape[1])
        while len(chosen) < most:
            redundancy += np.abs(Z[:, chosen[-1]] @ Z)
            gain = relevance / np.maximum(redundancy / len(chosen), 1e-3)
            gain[chosen] = -1
            chosen.append(int(np.argmax(gain)))
        return completed(chosen, X, y)


class JMI(Ranked):
    """Joint mutual information of the class with a feature and each one chosen before, summed; three equal bins.

    Source: Yang, Moody (1999); Brown, Pocock, Zhao, Luján (2012).
    """

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        bins = np.minimum(3 * stats.rankdata(X, axis=0) // (len(X) + 1), 2)
        one_hot = np.concatenate([bins == each for each in range(3)], axis=1).astype(np.float64)
        classes = np.eye(int(y.max()) + 1)[y]
        gain = _information(classes, one_hot)
        chosen = [int(np.argmax(gain))]
        total = np.zeros(X.shape[1])
        while len(chosen) < most:
            before = one_hot[:, chosen[-1] :: X.shape[1]]  # of the last chosen one, a column a bin
            total += _information(classes, one_hot, before)
            total[chosen] = -np.inf
            chosen.append(int(np.argmax(total)))
        return completed(chosen, X, y)


def _information(
    classes: NDArray[np.float64], one_hot: NDArray[np.float64], before: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return I((feature, before); class) of each feature, up to a constant."""
    before = np.ones((len(classes), 1)) if before is None else before
    cells = np.einsum("nc,nb->ncb", classes, before).reshape(len(classes), -1)
    counts = (cells.T @ one_hot).reshape(classes.shape[1], -1, one_hot.shape[1] // 3)  # class, bins, feature
    return (_entropy(counts.sum(axis=0)) - _entropy(counts.reshape(-1, counts.shape[2]))) / len(classes)


def _entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return -(counts * np.log(np.maximum(counts, 1))).sum(axis=0)


class HSIC(Ranked):
    """HSIC lasso: features whose kernels add up to that of the class, by non-negative least angles.

    Gaussian kernels in blocks of 20 rows. With more than 1,000 features, only those with the largest HSIC with the
    class are used.

    Source: Yamada, Jitkrittum, Sigal, Xing, Sugiyama (2014); blocks: Climente-González, Azencott, Kaski, Yamada (2019).
    """

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        order = np.random.default_rng(0).permutation(len(X))
        size = min(20, len(X))
        blocks = order[: len(X) // size * size].reshape(-1, size)
        target = (y[blocks][:, :, None] == y[blocks][:, None, :]) / np.bincount(y)[y[blocks]][:, :, None]
        target = _centred(target[..., None])[..., 0].ravel()
        Z, d = scale(X), X.shape[1]
        parts = np.array_split(np.arange(d), max(1, blocks.size * size * d // 10_000_000))
        relevance = np.concatenate([target @ _kernels(Z[:, part], blocks) for part in parts])
        kept = by_scores(relevance).order[: max(1000, most)]
        kernels = _kernels(Z[:, kept], blocks)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the path ends early where the kernels are exhausted
            products = kernels.T @ target, kernels.T @ kernels
            *_, path = lars_path_gram(*products, n_samples=target.size, method="lasso", positive=True, max_iter=most)
        entered = by_entry(path.T, X[:, kept], y)
        return followed(kept[entered.order[: np.count_nonzero(path.any(axis=1))]], relevance)


def _kernels(Z: NDArray[np.float64], blocks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the centred and normalised kernels of each column in all blocks, shape (n_values, d)."""
    rows = Z[blocks]
    return _centred(np.exp(-((rows[:, :, None] - rows[:, None, :]) ** 2) / 2)).reshape(-1, Z.shape[1])


def _centred(kernels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kernels, shape (n_blocks, size, size, d), with means of 0 and norm 1."""
    kernels = kernels - kernels.mean(axis=1, keepdims=True)
    kernels -= kernels.mean(axis=2, keepdims=True)
    return kernels / (np.sqrt((kernels**2).sum(axis=(1, 2), keepdims=True)) + 1e-9)


# ---- without labels


class CUR(Ranked):
    """Largest entry of the leading right singular vector of X after projecting out the chosen features.

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
    """Return at most d rows with the same inner products of columns."""
    return np.linalg.qr(X)[1] if len(X) > X.shape[1] else X
