"""ReliefF, RReliefF, MultiSURF, SURF and SURF* against the papers' loops, and against skrebate's stored scores."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from provsel.kernels import relief
from provsel.selectors import MultiSURFSelector, ReliefFSelector

STORED = json.loads((Path(__file__).parents[1] / "data" / "packages" / "relief.json").read_text())
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
    return [(c, 1 / k) for c in nearer] + [(c, (k - len(nearer)) / len(tied) / k) for c in tied]


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
    n, unit = len(y), (y - y.min()) / np.ptp(y)
    target, alone, together = 0.0, 0.0, 0.0
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
    n, scores = len(y), np.zeros(X.shape[1])
    mean = distances.sum() / (n * n if with_itself else n * (n - 1))

    def scored(i, near):
        same = [c for c in near if (abs(y[c] - y[i]) < np.std(y, ddof=1) if is_regression else y[c] == y[i])]
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
        scores += scored(i, [c for c in range(n) if c != i and distances[i, c] < radius]) / n
        if form == "surf_star":
            scores -= scored(i, [c for c in range(n) if c != i and distances[i, c] > radius]) / n
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
    if kind == "rows nearly twice":  # whose distances differ by less than single precision
        X[n // 2 :] = X[: n // 2] + 1e-7 * np.ptp(X, axis=0) * rng.standard_normal((n // 2, d))
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


@pytest.fixture(params=["whole", "in blocks", "rough", "rough, in blocks"])
def rows_at_once(request, monkeypatch):
    monkeypatch.setattr(relief, "WHOLE_ROWS", 0 if "in blocks" in request.param else 10**6)
    monkeypatch.setattr(relief, "BLOCK", 100)
    if "rough" in request.param:
        monkeypatch.setattr(relief, "ROUGH_ROWS", 0)
        monkeypatch.setattr(relief, "ROUGH_COLUMNS", 2)
        monkeypatch.setattr(relief, "ROUGH_BLOCK", 16)


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_papers(kind, target):
    X, codes = KINDS[kind]
    y = TARGETS[target](X)
    textbook = rrelieff if target == "numbers" else relieff
    varies = np.ptp(X, axis=0) > 0
    for k in (1, 3, 50):
        found = ReliefFSelector(1, n_neighbors=k, discrete_features=codes).fit(X, y)
        np.testing.assert_allclose(found.scores_[varies], textbook(X, y, k, codes)[varies], atol=1e-10)
    for form in FORMS:
        found = MultiSURFSelector(1, form=form, discrete_features=codes).fit(X, y)
        expected = surf(X, y, form, codes, target == "numbers")
        np.testing.assert_allclose(found.scores_[varies], expected[varies], atol=1e-10)
    assert (found.scores_[~varies] == -np.inf).all()


SAME = [(method, kind, target) for kind in ("numbers", "codes") for target in ("two", "three", "uneven", "numbers")
        for method in ("relieff", *FORMS)
        # ties of distances, P of the classes and RReliefF: see ReliefFSelector
        if method != "relieff" or (kind == "numbers" and target in ("two", "three"))]  # fmt: skip


@pytest.mark.parametrize(("method", "kind", "target"), SAME)
def test_scores_are_those_of_skrebate(method, kind, target):
    stored = STORED[kind]
    X, y = np.array(stored["X"]), np.array(stored["y"][target])
    expected = np.array(stored["scores"][f"{method} {target}"])
    options = {"discrete_features": kind == "codes", "task": "regression" if target == "numbers" else "classification"}
    if method == "relieff":
        found = ReliefFSelector(5, n_neighbors=7, **options).fit(X, y)
    else:
        found = MultiSURFSelector(5, form=method, **options).fit(X, y)
    scores = found.scores_
    if method.startswith("surf"):  # whose mean distance counts those of rows to themselves
        codes = np.arange(X.shape[1] if kind == "codes" else 0)
        scores = surf(X, y, method, codes, target == "numbers", with_itself=True)
    np.testing.assert_allclose(scores, expected, atol=1e-10)
    if not method.startswith("surf"):
        assert found.indices_.tolist() == np.argsort(-expected, kind="stable")[:5].tolist()


METHODS = [
    ReliefFSelector(3, n_neighbors=3),
    ReliefFSelector(3, n_neighbors=3, discrete_features=[1, 3]),
    *(MultiSURFSelector(3, form=form) for form in FORMS),
]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(METHODS), st.sampled_from(list(KINDS)), st.sampled_from(list(TARGETS)), st.integers(0, 999))
def test_order_of_rows_units_and_order_of_columns_do_not_matter(selector, kind, target, seed):
    X, _ = KINDS[kind]
    if X.shape[1] == 1:
        selector = MultiSURFSelector(1)
    y, rng = TARGETS[target](X), np.random.default_rng(seed)
    expected = selector.fit(X, y).scores_
    rows = rng.permutation(len(X))
    np.testing.assert_allclose(selector.fit(X[rows], y[rows]).scores_, expected, atol=1e-10)
    factors = rng.choice([-8, 0.25, 1, 32], X.shape[1])  # exact ones, lest distances that are equal differ
    np.testing.assert_allclose(selector.fit(X * factors, y).scores_, expected, atol=1e-10)
    if not np.any(selector.discrete_features):
        columns = rng.permutation(X.shape[1])
        np.testing.assert_allclose(selector.fit(X[:, columns], y).scores_, expected[columns], atol=1e-10)


@pytest.mark.parametrize("selector", METHODS)
@pytest.mark.parametrize("target", TARGETS)
def test_constants_come_last_and_copies_in_order(selector, target):
    X, _ = KINDS["a constant and copies"]
    selector = selector.set_params(n_features_to_select=6, discrete_features=False)
    found = selector.fit(X, TARGETS[target](X))
    assert found.indices_[-1] == 2
    assert found.ranking_[4] == found.ranking_[1] + 1
    np.testing.assert_array_equal(found.ranking_[found.indices_], np.arange(1, 7))
    np.testing.assert_array_equal(selector.fit(sparse.csr_array(X), TARGETS[target](X)).scores_, found.scores_)


def test_a_feature_that_matters_with_another_only():
    X = np.random.default_rng(0).standard_normal((150, 8))
    for y in ((X[:, 2] * X[:, 5] > 0).astype(int), np.sign(X[:, 2] * X[:, 5]) + 0.01 * X[:, 0]):
        for selector in (ReliefFSelector(2), MultiSURFSelector(2), MultiSURFSelector(2, form="surf")):
            assert sorted(selector.fit(X, y).indices_.tolist()) == [2, 5]


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (ReliefFSelector(2, n_neighbors=0), "n_neighbors must be an integer of at least 1, got 0"),
        (ReliefFSelector(2, n_neighbors=1.5), "n_neighbors must be an integer of at least 1, got 1.5"),
        (MultiSURFSelector(2, form="relief"), "form must be one of multisurf, surf, surf_star, got 'relief'"),
        *(
            (
                cls(2, discrete_features=value),
                "expected discrete_features 'auto', a truth value, a mask of 6 columns or their",
            )
            for cls in (ReliefFSelector, MultiSURFSelector)
            for value in ([6], [-1], [0.5], [True], None, [[1]])
        ),
    ],
)
def test_parameters_out_of_range(selector, message):
    X, _ = KINDS["numbers"]
    with pytest.raises(ValueError, match=f"^{type(selector).__name__}: {message}"):
        selector.fit(X, TARGETS["two"](X))
