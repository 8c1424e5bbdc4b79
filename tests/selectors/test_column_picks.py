"""CUR and farthest points against their definitions in a few lines, and scikit-matter's stored columns."""

import json
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from provsel.selectors import CURSelector, FarthestPointSelector
from provsel.training_view import TrainingView

STORED = json.loads(
    (Path(__file__).parents[1] / "data" / "packages" / "columns.json").read_text()
)


def cur(X, count, rank):
    left = X.copy()
    picks = []
    while len(picks) < count:
        _, sizes, V = np.linalg.svd(left, full_matrices=False)
        V = V[:rank][sizes[:rank] > 1e-5 * np.linalg.norm(X)]
        if len(V) == 0:
            order = np.argsort(-(X**2).sum(axis=0), kind="stable")
            return [*picks, *(j for j in order if j not in picks)][:count]
        scores = (V**2).sum(axis=0)
        scores[picks] = -1
        picks.append(int(np.argmax(scores >= scores.max() - 1e-9)))
        left = X - X[:, picks] @ np.linalg.pinv(X[:, picks]) @ X
    return picks


def farthest(X, count):
    picks = []
    distances = ((X - X.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)
    while len(picks) < count:
        picks.append(int(np.argmax(distances >= distances.max() - 1e-9 * (X**2).sum())))
        distances = np.min([((X - X[:, [j]]) ** 2).sum(axis=0) for j in picks], axis=0)
        distances[picks] = -np.inf
    return picks


def rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * rng.uniform(1, 5, d)


KINDS = {
    "wide": rows(6, 15),
    "tall": rows(15, 6),
    "of rank 2": rows(8, 2) @ rows(2, 10, 1),
    "copies": rows(9, 5)[:, [0, 1, 1, 2, 3, 0, 4]],
    "a constant": np.column_stack([rows(9, 4), np.full(9, 2.0)]),
    "zeros and counts": np.maximum(np.round(rows(12, 9)), 0),
    "one row": rows(1, 5),
    "one column": rows(5, 1),
}
SELECTORS = {
    "cur": CURSelector(1),
    "cur of rank 2": CURSelector(1, rank=2),
    "farthest": FarthestPointSelector(1),
}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_those_of_the_definition(kind, name, form):
    X = KINDS[kind]
    d = X.shape[1]
    definitions = {
        "cur": partial(cur, rank=1),
        "cur of rank 2": partial(cur, rank=2),
        "farthest": farthest,
    }
    expected = definitions[name](X, d)
    view = TrainingView(form(X))
    # a smaller number is the beginning of a larger one
    for count in (1, d, max(1, d // 2)):
        fitted = (
            clone(SELECTORS[name]).set_params(n_features_to_select=count).fit_view(view)
        )
        assert fitted.indices_.tolist() == expected[:count]
        assert fitted.ranking_[fitted.indices_].tolist() == list(range(1, count + 1))


@pytest.mark.parametrize("name", ["wide", "tall"])
def test_columns_are_those_of_skmatter(name):
    X = np.array(STORED[name]["X"])
    assert FarthestPointSelector(8).fit(X).indices_.tolist() == STORED[name]["fps"]
    for rank in (1, 3):
        assert (
            CURSelector(8, rank=rank).fit(X).indices_.tolist()
            == STORED[name]["cur"][str(rank)]
        )


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(list(SELECTORS)),
    st.sampled_from(["wide", "tall", "a constant"]),
    st.integers(0, 999),
)
def test_turned_rows_do_not_matter(name, kind, seed):
    X = KINDS[kind]
    rng = np.random.default_rng(seed)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=3)
    expected = selector.fit(X).indices_
    turned = 3 * np.linalg.qr(rng.standard_normal((len(X), len(X))))[0] @ X
    np.testing.assert_array_equal(selector.fit(turned).indices_, expected)
    if name == "farthest":
        np.testing.assert_array_equal(
            selector.fit(X + 100 * rng.standard_normal((len(X), 1))).indices_, expected
        )


@pytest.mark.parametrize("seed", range(5))
def test_farthest_columns_cover_all_to_a_factor_of_two(seed):
    X = rows(3, 10, seed)
    distances = np.linalg.norm(X[:, :, None] - X[:, None], axis=0)
    for count in (1, 2, 3):
        kept = FarthestPointSelector(count).fit(X).indices_
        best = min(
            distances[list(some)].min(axis=0).max()
            for some in combinations(range(10), count)
        )
        assert distances[kept].min(axis=0).max() <= 2 * best + 1e-9
