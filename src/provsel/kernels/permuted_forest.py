"""Predictions of a forest with one feature permuted, recomputed only for the trees and rows that change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PAIRS = 1 << 16
"""Pairs of a tree and a row that descend together."""

PREDICTIONS = 1 << 24
"""Largest size of the predictions for a block of permuted features (128 MB)."""

LEAF = -1


@dataclass(frozen=True)
class Forest:
    """Binary trees, whose nodes are numbered one tree after the other.

    Attributes
    ----------
    feature : ndarray of shape (n_nodes,), int64
        -1 of leaves. Row x goes to `left` if x[feature] <= threshold.
    threshold : ndarray of shape (n_nodes,)
    left, right : ndarray of shape (n_nodes,), int64
    value : ndarray of shape (n_nodes, n_outputs)
        Prediction of a tree: class shares, or a number.
    roots : ndarray of shape (n_trees,), int64
    repeats : ndarray of shape (n_nodes,), bool
        Whether a node's feature also occurs in one of its ancestors.
    """

    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    value: Floats
    roots: Integers
    repeats: NDArray[np.bool_]

    @classmethod
    def of_trees(cls, trees: Sequence[Any], *, shares: bool) -> Forest:
        """Return the forest of scikit-learn's trees (`tree_`); values are class shares, or else means."""
        sizes = np.array([tree.node_count for tree in trees])
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        offsets = np.repeat(roots, sizes)
        is_leaf = np.concatenate([tree.children_left for tree in trees]) == LEAF
        left = np.concatenate([tree.children_left for tree in trees]) + offsets
        right = np.concatenate([tree.children_right for tree in trees]) + offsets
        feature = np.where(
            is_leaf, LEAF, np.concatenate([tree.feature for tree in trees])
        )
        value = np.concatenate([tree.value[:, 0, :] for tree in trees])
        if shares:
            value = value / value.sum(axis=1, keepdims=True)
        threshold = np.concatenate([tree.threshold for tree in trees])
        repeats = _repeats(feature, left, right, is_leaf)
        return cls(feature, threshold, left, right, value, roots, repeats)


def _repeats(
    feature: Integers, left: Integers, right: Integers, is_leaf: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return whether each node splits on the feature of an ancestor."""
    inner = np.flatnonzero(~is_leaf)
    parent = np.full(feature.size, -1)
    parent[left[inner]] = inner
    parent[right[inner]] = inner
    repeats = np.zeros(feature.size, dtype=bool)
    nodes, ancestors = inner, parent[inner]
    while nodes.size:
        has_ancestor = ancestors >= 0
        nodes, ancestors = nodes[has_ancestor], ancestors[has_ancestor]
        repeats[nodes[feature[nodes] == feature[ancestors]]] = True
        ancestors = parent[ancestors]
    return repeats


def permutation_importances(
    forest: Forest,
    X: NDArray[np.float32],
    permutations: Integers,
    score: Callable[[Floats], Floats],
) -> Floats:
    """Return the loss of score when a feature is permuted, shape (d, n_repeats).

    A tree is re-evaluated for a row only if the row's path tests the feature. Features
    that no tree uses therefore cost nothing, and others only the parts of the paths
    below them.

    Parameters
    ----------
    X : ndarray of shape (n, d), float32
        Values as scikit-learn's trees compare them.
    permutations : ndarray of shape (n_repeats, n)
        Rows from which a permuted feature is taken, the same for all features.
    score : callable
        Scores sums over the trees, shape (m, n, n_outputs); returns shape (m,), higher
        is better.
    """
    d = X.shape[1]
    used = np.unique(forest.feature[forest.feature != LEAF])
    importances = np.zeros((d, len(permutations)))
    total = _predicted(forest, X)
    unchanged = score(total[None])[0]
    size = max(1, PREDICTIONS // total.size)
    for start in range(0, used.size, size):
        features = used[start : start + size]
        for repeat, permutation in enumerate(permutations):
            changes = _changes(forest, X, permutation, features)
            importances[features, repeat] = unchanged - score(total + changes)
    return importances


def _predicted(forest: Forest, X: NDArray[np.float32]) -> Floats:
    """Return the sums of the trees' predictions, shape (n, n_outputs)."""
    total = np.zeros((X.shape[0], forest.value.shape[1]))
    for rows, roots in _pairs(forest, X.shape[0]):
        leaves = _leaves(forest, X, rows, roots, rows, np.full(rows.size, LEAF))
        for output, values in enumerate(forest.value.T):
            np.add.at(total[:, output], rows, values[leaves])
    return total


def _pairs(forest: Forest, n: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield rows and roots of all pairs of a row and a tree."""
    size = max(1, PAIRS // n)
    for start in range(0, forest.roots.size, size):
        roots = forest.roots[start : start + size]
        yield np.tile(np.arange(n), roots.size), np.repeat(roots, n)


def _leaves(
    forest: Forest,
    X: NDArray[np.float32],
    rows: Integers,
    nodes: Integers,
    sources: Integers,
    permuted: Integers,
) -> Integers:
    """Return the leaves of rows from given nodes on, with the feature `permuted` taken from the rows `sources`."""
    leaves = nodes.copy()
    walking = np.flatnonzero(forest.feature[leaves] != LEAF)
    while walking.size:
        at = leaves[walking]
        feature = forest.feature[at]
        row = np.where(feature == permuted[walking], sources[walking], rows[walking])
        goes_left = X[row, feature] <= forest.threshold[at]
        at = np.where(goes_left, forest.left[at], forest.right[at])
        leaves[walking] = at
        walking = walking[forest.feature[at] != LEAF]
    return leaves


def _changes(
    forest: Forest, X: NDArray[np.float32], permutation: Integers, features: Integers
) -> Floats:
    """Return the change of the sums when each feature is permuted, shape (n_features, n, n_outputs)."""
    n, n_outputs = X.shape[0], forest.value.shape[1]
    place = np.full(X.shape[1], -1)
    place[features] = np.arange(features.size)
    changes = np.zeros((n_outputs, features.size * n))
    for rows, roots in _pairs(forest, n):
        pairs, nodes, leaves = _tests(forest, X, rows, roots)
        permuted = forest.feature[nodes]
        wanted = (place[permuted] >= 0) & ~forest.repeats[nodes]
        pairs, nodes, permuted = pairs[wanted], nodes[wanted], permuted[wanted]
        tested = rows[pairs]
        other_leaves = _leaves(forest, X, tested, nodes, permutation[tested], permuted)
        cells = place[permuted] * n + tested
        for output, values in enumerate(forest.value.T):
            np.add.at(
                changes[output], cells, values[other_leaves] - values[leaves[pairs]]
            )
    return np.moveaxis(changes.reshape(n_outputs, features.size, n), 0, 2)


def _tests(
    forest: Forest, X: NDArray[np.float32], rows: Integers, roots: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return the inner nodes on the paths of rows, the pair number of each, and the leaves."""
    nodes = roots.copy()
    walking = np.flatnonzero(forest.feature[nodes] != LEAF)
    passing: list[Integers] = [walking]
    passed: list[Integers] = [nodes[walking]]
    while walking.size:
        at = nodes[walking]
        goes_left = X[rows[walking], forest.feature[at]] <= forest.threshold[at]
        at = np.where(goes_left, forest.left[at], forest.right[at])
        nodes[walking] = at
        walking = walking[forest.feature[at] != LEAF]
        passing.append(walking)
        passed.append(nodes[walking])
    return np.concatenate(passing), np.concatenate(passed), nodes
