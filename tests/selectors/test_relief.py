"""ReliefF, RReliefF, MultiSURF, SURF and SURF* against the papers' loops, and against skrebate's stored scores."""

import json
from pathlib import Path

import numpy as np
import pytest

from provsel.selectors import MultiSURFSelector, ReliefFSelector

STORED = json.loads(
    (Path(__file__).parents[1] / "data" / "packages" / "relief.json").read_text()
)
FORMS = ("multisurf", "surf", "surf_star")


# ---- the papers, one pair of rows after the other


def differences(X, codes):
    """Return diff_j(i, k), shape (n, n, d), and the distances of the rows."""
    spread = np.ptp(X, axis=0)
    diff = np.abs(X[:, None] - X[None]) / np.where(spread > 0, spread, 1)
    diff[:, :, codes] = X[:, None, codes] != X[None][:, :, codes]
    return diff, diff.sum(axis=2)


def nearest(distances, candidates, k):
    """Return candidates with their weights: the k nearest, of which those of the last distance share what is left."""
    candidates = np.array(candidates, dtype=int)
    k = min(k, candidates.size)
    if k == 0:
        return []
    last = np.sort(distances[candidates])[k - 1]
    nearer = [c for c in candidates if distances[c] < last - 1e-9]
    tied = [c for c in candidates if abs(distances[c] - last) <= 1e-9]
    return [(c, 1 / k) for c in nearer] + [
        (c, (k - len(nearer)) / len(tied) / k) for c in tied
    ]


def relieff(X, y, k, codes):
    diff, distances = differences(X, codes)
    scores = np.zeros(X.shape[1])
    n = len(y)
    for i in range(n):
        for label in set(y):
            candidates = [c for c in range(n) if c != i and y[c] == label]
            prior = np.mean(y == label) / (1 - np.mean(y == y[i]))
            for c, weight in nearest(distances[i], candidates, k):
                scores += (-1 if label == y[i] else prior) * weight * diff[i, c] / n
    return scores


def rrelieff(X, y, k, codes):
    diff, distances = differences(X, codes)
    n = len(y)
    unit = (y - y.min()) / np.ptp(y)
    target = 0.0
    alone = 0.0
    together = 0.0
    for i in range(n):
        for c, weight in nearest(distances[i], [c for c in range(n) if c != i], k):
            changed = abs(unit[i] - unit[c])
            target += changed * weight
            alone = alone + diff[i, c] * weight
            together = together + changed * diff[i, c] * weight
    first = together / target if target > 0 else 0.0
    return first - ((alone - together) / (n - target) if n - target > 1e-9 else 0.0)


def surf(X, y, form, codes, is_regression, *, with_itself=False):
    diff, distances = differences(X, codes)
    n = len(y)
    scores = np.zeros(X.shape[1])
    mean = distances.sum() / (n * n if with_itself else n * (n - 1))

    def is_same(i, c):
        return abs(y[c] - y[i]) < np.std(y, ddof=1) if is_regression else y[c] == y[i]

    def scored(i, near):
        same = [c for c in near if is_same(i, c)]
        others = [c for c in near if c not in same]
        total = -np.mean(diff[i, same], axis=0) if same else np.zeros(X.shape[1])
        if is_regression and others:
            return total + np.mean(diff[i, others], axis=0)
        for label in set(y) - {y[i]}:
            of_label = [c for c in others if y[c] == label]
            factor = len(of_label) * (len(set(y)) - 1) / max(1, len(others)) ** 2
            total = total + factor * diff[i, of_label].sum(axis=0)
        return total

    for i in range(n):
        others = np.delete(distances[i], i)
        radius = others.mean() - others.std() / 2 if form == "multisurf" else mean
        scores += (
            scored(i, [c for c in range(n) if c != i and distances[i, c] < radius]) / n
        )
        if form == "surf_star":
            scores -= (
                scored(i, [c for c in range(n) if c != i and distances[i, c] > radius])
                / n
            )
    return scores


# ---- rows of every kind


def case(kind, n=24, d=6, seed=0):
    """Return X, and which columns are codes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(1e-3, 1e3, d) + 7
    if kind in ("codes", "mixed"):
        first = 0 if kind == "codes" else d // 2
        X[:, first:] = rng.integers(0, 3, (n, d - first))
        return X, np.arange(first, d)
    if kind == "ties":
        X = rng.integers(0, 3, (n, d)).astype(float)
    if kind == "a constant and copies":
        X[:, 2], X[:, 4] = 5, X[:, 1]
    # whose distances differ by less than single precision
    if kind == "rows nearly twice":
        X[n // 2 :] = X[: n // 2] + 1e-7 * np.ptp(X, axis=0) * rng.standard_normal(
            (n // 2, d)
        )
    return X, np.arange(0)


KINDS = {
    "numbers": case("numbers"),
    "codes": case("codes"),
    "mixed": case("mixed"),
    "ties": case("ties"),
    "a constant and copies": case("a constant and copies"),
    "rows nearly twice": case("rows nearly twice"),
    "few rows": case("numbers", n=5),
    "one column": case("numbers", d=1),
}
TARGETS = {
    "two": lambda X: (X[:, -1] > np.median(X[:, -1])).astype(int),
    "three, uneven": lambda X: np.arange(len(X)) % 5 % 3,
    "numbers": lambda X: X[:, 0] / np.std(X[:, 0]) + np.linspace(0, 1, len(X)),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_papers(kind, target):
    X, codes = KINDS[kind]
    y = TARGETS[target](X)
    textbook = rrelieff if target == "numbers" else relieff
    varies = np.ptp(X, axis=0) > 0
    for k in (1, 3, 50):
        fitted = ReliefFSelector(1, n_neighbors=k, discrete_features=codes).fit(X, y)
        np.testing.assert_allclose(
            fitted.scores_[varies], textbook(X, y, k, codes)[varies], atol=1e-10
        )
    for form in FORMS:
        fitted = MultiSURFSelector(1, form=form, discrete_features=codes).fit(X, y)
        expected = surf(X, y, form, codes, target == "numbers")
        np.testing.assert_allclose(fitted.scores_[varies], expected[varies], atol=1e-10)
    assert (fitted.scores_[~varies] == -np.inf).all()


SAME = [(method, kind, target) for kind in ("numbers", "codes") for target in ("two", "three", "uneven", "numbers")
        for method in ("relieff", *FORMS)
        # ties of distances, P of the classes and RReliefF: see ReliefFSelector
        if method != "relieff" or (kind == "numbers" and target in ("two", "three"))]  # fmt: skip


@pytest.mark.parametrize(("method", "kind", "target"), SAME)
def test_scores_are_those_of_skrebate(method, kind, target):
    stored = STORED[kind]
    X = np.array(stored["X"])
    y = np.array(stored["y"][target])
    expected = np.array(stored["scores"][f"{method} {target}"])
    options = {
        "discrete_features": kind == "codes",
        "task": "regression" if target == "numbers" else "classification",
    }
    if method == "relieff":
        fitted = ReliefFSelector(5, n_neighbors=7, **options).fit(X, y)
    else:
        fitted = MultiSURFSelector(5, form=method, **options).fit(X, y)
    scores = fitted.scores_
    # whose mean distance counts those of rows to themselves
    if method.startswith("surf"):
        codes = np.arange(X.shape[1] if kind == "codes" else 0)
        scores = surf(X, y, method, codes, target == "numbers", with_itself=True)
    np.testing.assert_allclose(scores, expected, atol=1e-10)
    if not method.startswith("surf"):
        assert (
            fitted.indices_.tolist()
            == np.argsort(-expected, kind="stable")[:5].tolist()
        )


def test_a_feature_that_matters_with_another_only():
    X = np.random.default_rng(0).standard_normal((150, 8))
    for y in (
        (X[:, 2] * X[:, 5] > 0).astype(int),
        np.sign(X[:, 2] * X[:, 5]) + 0.01 * X[:, 0],
    ):
        for selector in (
            ReliefFSelector(2),
            MultiSURFSelector(2),
            MultiSURFSelector(2, form="surf"),
        ):
            assert sorted(selector.fit(X, y).indices_.tolist()) == [2, 5]
