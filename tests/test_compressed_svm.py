"""The compressed SVM: its definition, both recoveries, streams, bad input, and Theorem 5 measured."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression

from provsel.certificates.compression import compression_objective
from provsel.kernels.hinge_dual import hinge_dual
from provsel.models import CompressedLinearSVM, HingeSVM, compressed_svm
from provsel.selectors.gaussian_compression import GaussianCompression
from textbook import libsvm_without_intercept

C = 1e-3


def rows(n=300, m=60, relevant=10, shift=0.4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, "spam", "ham")
    X = rng.standard_normal((n, m))
    X[:, :relevant] += np.where(y == "spam", shift, -shift)[:, None]
    return X, y


def low_rank(rank, n=300, m=1000, seed=0):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((n, rank))
    y = np.where(factor[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1, 0)
    return factor @ rng.standard_normal((rank, m)) / np.sqrt(m), y


def in_chunks(X, y, size):
    return [
        (X[start : start + size], y[start : start + size])
        for start in range(0, len(y), size)
    ]


def attributes(model):
    return {name for name in vars(model) if name.endswith("_")}


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)
@pytest.mark.parametrize("variance", ["1/m", "1/l"])
@pytest.mark.parametrize("recovery", ["dual", "transpose"])
def test_is_what_it_says(recovery, variance, form):
    """Against the whole matrix Lambda, which is the transformer's, and LIBSVM on the compressed rows."""
    X, y = rows()
    n, m = X.shape
    size = 20
    model = CompressedLinearSVM(
        size, c=C, recovery=recovery, variance=variance, random_state=3
    ).fit(form(X), y)
    Lambda = (
        GaussianCompression(size, variance=variance, random_state=3)
        .fit(X)
        .blocks_.dense()
    )
    signs = np.where(y == "spam", 1.0, -1.0)
    Z = X @ Lambda.T
    theirs = compression_objective(Z, y, libsvm_without_intercept(Z, y, C), C)
    assert model.compressed_objective_ == pytest.approx(theirs, rel=1e-5)
    assert compression_objective(Z, y, model.compressed_coef_, C) == pytest.approx(
        model.compressed_objective_, rel=1e-9
    )
    assert (
        0
        <= (signs * model.dual_coef_).min()
        <= (signs * model.dual_coef_).max()
        <= 1 / (2 * C * n) * (1 + 1e-12)
    )
    expected = (
        X.T @ model.dual_coef_
        if recovery == "dual"
        else Lambda.T @ model.compressed_coef_
    )
    assert_allclose(
        model.coef_[0], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()
    )
    assert model.objective_ == pytest.approx(
        compression_objective(X, y, expected, C), rel=1e-9
    )
    assert model.coef_.shape == (1, m)
    assert model.dual_coef_.shape == (n,)
    assert model.compressed_coef_.shape == (size,)
    assert model.compression_ratio_ == m / size
    assert model.n_features_in_ == m
    assert model.intercept_.tolist() == [0.0]
    assert model.gap_ <= 1e-6
    assert_array_equal(
        model.predict(form(X)), np.where(X @ expected > 0, "spam", "ham")
    )


@pytest.mark.parametrize("recovery", ["dual", "transpose"])
@pytest.mark.parametrize("variance", ["1/m", "1/l"])
def test_the_original_problem_is_bounded_without_solving_it(recovery, variance):
    X, y = rows()
    optimum = HingeSVM(C, tol=1e-9).fit(X, y)
    model = CompressedLinearSVM(
        20, c=C, recovery=recovery, variance=variance, random_state=0
    ).fit(X, y)
    assert (
        optimum.objective_ * (1 - 1e-9) <= model.scaled_objective_ <= model.objective_
    )
    assert model.scaled_objective_ == pytest.approx(
        compression_objective(X, y, model.best_scale_ * model.coef_[0], C), rel=1e-9
    )
    if recovery == "transpose":
        assert np.isnan([model.lower_bound_, model.original_gap_]).all()
        assert model.n_passes_ == 1
        return
    alpha = np.abs(model.dual_coef_)
    t = min(
        alpha.sum() / (model.coef_[0] @ model.coef_[0]),
        1 / (2 * C * y.size * alpha.max()),
    )
    bound = 2 * C * (t * alpha.sum() - t * t * model.coef_[0] @ model.coef_[0] / 2)
    assert model.lower_bound_ == pytest.approx(bound, rel=1e-9)
    assert 0 < model.lower_bound_ <= optimum.objective_
    assert model.original_gap_ == pytest.approx(
        1 - bound / model.scaled_objective_, rel=1e-9
    )
    assert model.n_passes_ == 3


def logistic_objective(X, signs, w, c):
    return np.logaddexp(0.0, -signs * (X @ w)).mean() + c * w @ w


def plain_logistic(X, y, c):
    return LogisticRegression(
        C=1 / (2 * c * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-12
    ).fit(X, y)


def uneven(X, y):
    """Rows of lengths between 1e-3 and 1e3, a column of zeros, and each other column twice."""
    lengths = np.exp(2.3 * np.random.default_rng(7).standard_normal((len(y), 1)))
    return np.hstack([lengths * X, lengths * X, np.zeros((len(y), 1))]), y


@pytest.mark.parametrize(
    "data",
    [rows(), rows(n=60, m=400), uneven(*rows()), low_rank(3)],
    ids=["tall", "wide", "uneven", "rank 3"],
)
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)
@pytest.mark.parametrize(
    ("recovery", "variance"), [("dual", "1/l"), ("dual", "1/m"), ("transpose", "1/m")]
)
def test_the_logistic_loss_is_what_it_says(recovery, variance, form, data):
    """Against scikit-learn's logistic regression, on the rows compressed by the whole matrix Lambda."""
    (X, y) = data
    size = 20
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    options = {"recovery": recovery, "variance": variance, "loss": "logistic"}
    model = CompressedLinearSVM(size, c=C, **options, tol=1e-13, random_state=3).fit(
        form(X), y
    )
    Lambda = (
        GaussianCompression(size, variance=variance, random_state=3)
        .fit(X)
        .blocks_.dense()
    )
    Z = X @ Lambda.T
    theirs = plain_logistic(Z, y, C).coef_[0]
    assert_allclose(model.compressed_coef_, theirs, atol=1e-6 * np.abs(theirs).max())
    assert model.compressed_objective_ == pytest.approx(
        logistic_objective(Z, signs, theirs, C), rel=1e-9
    )
    # minus the derivatives of the losses
    alpha = 1 / (2 * C * y.size) / (1 + np.exp(signs * (Z @ theirs)))
    assert_allclose(model.dual_coef_, signs * alpha, rtol=1e-4, atol=1e-6 * alpha.max())
    expected = X.T @ (signs * alpha) if recovery == "dual" else Lambda.T @ theirs
    assert_allclose(model.coef_[0], expected, atol=1e-5 * np.abs(expected).max())
    assert model.objective_ == pytest.approx(
        logistic_objective(X, signs, model.coef_[0], C), rel=1e-9
    )
    optimum = logistic_objective(X, signs, plain_logistic(X, y, C).coef_[0], C)
    assert (
        optimum * (1 - 1e-9)
        <= model.scaled_objective_
        <= model.objective_ * (1 + 1e-12)
    )
    assert model.scaled_objective_ == pytest.approx(
        logistic_objective(X, signs, model.best_scale_ * model.coef_[0], C), rel=1e-9
    )
    if recovery == "transpose":
        assert np.isnan(model.lower_bound_)
        return
    assert 0 < model.lower_bound_ <= optimum * (1 + 1e-9)


def test_theorem_5_for_the_logistic_loss_holds_by_dual_recovery_only():
    """Of what the optimum is better than w = 0; negative control: the printed recovery loses a third."""
    X, y = low_rank(rank=8)
    signs = np.where(y == 1, 1.0, -1.0)
    optimum = logistic_objective(X, signs, plain_logistic(X, y, 1e-2).coef_[0], 1e-2)
    lost = {}
    for recovery, variance in (("dual", "1/l"), ("transpose", "1/m")):
        options = {"recovery": recovery, "variance": variance, "loss": "logistic"}
        model = CompressedLinearSVM(100, c=1e-2, **options, random_state=0).fit(X, y)
        lost[recovery] = (model.objective_ - optimum) / (np.log(2) - optimum)
    assert lost["dual"] < 0.1
    assert lost["transpose"] > 1 / 3


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)
@pytest.mark.parametrize("variance", ["1/m", "1/l"])
def test_refinements_close_the_gap(variance, form):
    X, y = rows()
    c = 0.01
    optimum = HingeSVM(c, tol=1e-9).fit(X, y)
    models = [
        CompressedLinearSVM(
            10, c=c, variance=variance, refinements=k, random_state=1
        ).fit(form(X), y)
        for k in (0, 1, 2, 4, 8, 16)
    ]
    objectives = np.array([model.scaled_objective_ for model in models])
    bounds = np.array([model.lower_bound_ for model in models])
    # each restricted problem is solved up to tol
    assert np.all(np.diff(objectives) <= 1e-6)
    assert np.all(np.diff(bounds) >= -1e-12)
    assert bounds.max() <= optimum.objective_
    assert objectives.min() >= optimum.dual_objective_
    assert models[0].original_gap_ > 0.5  # negative control
    assert models[-1].original_gap_ < 0.1
    assert models[-1].objective_ / optimum.objective_ < 1.02
    assert [model.n_passes_ for model in models] == [3, 4, 6, 10, 18, 34]
    last = models[-1]
    signs = np.where(y == "spam", 1, -1)
    assert last.objective_ == pytest.approx(
        compression_objective(X, y, last.coef_[0], c), rel=1e-9
    )
    assert last.best_scale_ == pytest.approx(1.0, abs=0.02)
    alpha = signs * last.dual_coef_
    image = X.T @ last.dual_coef_
    assert 0 <= alpha.min() <= alpha.max() <= 1 / (2 * c * y.size)
    assert last.lower_bound_ == pytest.approx(
        2 * c * (alpha.sum() - image @ image / 2), rel=1e-9
    )
    # of the compressed problem, as without refinements
    assert last.compressed_objective_ == models[0].compressed_objective_
    assert last.gap_ == models[0].gap_
    assert_array_equal(last.compressed_coef_, models[0].compressed_coef_)
    assert_array_equal(
        last.predict(form(X)), np.where(X @ last.coef_[0] > 0, "spam", "ham")
    )


def test_refinements_reach_the_svm_where_the_rank_is_low():
    """Done when the images span the rows: no more passes than that takes."""
    X, y = low_rank(rank=8)
    svm = HingeSVM(0.01, tol=1e-7).fit(X, y)
    model = CompressedLinearSVM(
        5, c=0.01, refinements=40, tol=1e-5, random_state=0
    ).fit(X, y)
    assert model.original_gap_ <= 1e-5
    assert model.n_passes_ <= 2 + 2 * 9
    assert model.objective_ == pytest.approx(svm.objective_, rel=1e-5)
    assert_allclose(model.coef_, svm.coef_, atol=0.02 * np.abs(svm.coef_).max())


@pytest.mark.parametrize("size", [1, 7, 100, 300])
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)
@pytest.mark.parametrize(
    "options",
    [
        {"recovery": "dual"},
        {"recovery": "transpose"},
        {"refinements": 3},
        {"loss": "logistic"},
    ],
    ids=str,
)
def test_stream_equals_fit(options, form, size):
    X, y = rows()
    model = CompressedLinearSVM(
        15,
        c=C,
        **options,
        tol=1e-10 if "refinements" in options else 1e-12,
        random_state=5,
    )
    whole = CompressedLinearSVM(**model.get_params()).fit(form(X), y)
    model.fit_stream(in_chunks(form(X), y, size))
    # the solver may magnify rounding up to the root of its gap
    magnified = 1e-3 if "refinements" in options else 1e-5
    assert_allclose(
        model.coef_, whole.coef_, atol=magnified * np.abs(whole.coef_).max()
    )
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    assert_array_equal(model.predict(X), whole.predict(X))
    assert attributes(model) == attributes(whole)


class Drawn:
    """Chunks that are made when they are asked for; n = 3,000 rows of 4,000 features, 96 MB in all."""

    n = 3000
    m = 4000
    b = 100

    def __iter__(self):
        for number in range(self.n // self.b):
            rng = np.random.default_rng(number)
            y = np.arange(self.b) % 2
            yield rng.standard_normal((self.b, self.m)) + 0.05 * y[:, None], y


@pytest.mark.parametrize(
    ("chunks", "refinements", "fits"),
    [(Drawn(), 0, True), (Drawn(), 2, True), ("all at once", 0, False)],
)
def test_memory_is_that_of_the_compressed_rows(chunks, refinements, fits, peak_memory):
    size = 10
    model = CompressedLinearSVM(size, c=C, refinements=refinements, random_state=0)
    peak = peak_memory(
        lambda: model.fit_stream(list(Drawn()) if isinstance(chunks, str) else chunks)
    )
    chunk = 8 * Drawn.b * Drawn.m
    allowed = 8 * (Drawn.n + Drawn.m) * size * 4 + 4 * chunk + 16 * 2**20
    assert allowed < 8 * Drawn.n * Drawn.m / 2
    assert (peak < allowed) == fits


X0, Y0 = rows(n=60, m=12)
BAD_ROWS = np.where(np.arange(60)[:, None] == [[45]], np.nan, X0)


class Shuffled:
    """Another order on each pass."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __iter__(self):
        order = self.rng.permutation(60)
        return iter([(X0[order], Y0[order])])


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        (
            [(X0, Y0), (X0[:, :5], Y0)],
            r"chunk 1: expected 12 features as before, got 5; give all",
        ),
        (
            in_chunks(BAD_ROWS, Y0, 20),
            "chunk 2: expected finite numbers, got NaN or infinity in rows 45 of all, ",
        ),
        (
            [(X0, Y0), (X0, None)],
            r"chunk 1: expected \(X_chunk, y_chunk\), got no labels; pass the y",
        ),
        ([X0, X0], r"chunk 0: expected \(X_chunk, y_chunk\), got no labels"),
        (
            [(X0, np.full(60, "ham"))],
            r"expected labels of at least two classes, got 1 class \(.*'ham'",
        ),
        (
            [(X0, np.arange(60) % 3)],
            r"Only binary classification is supported. Expected .* two classes, got 3; wrap it",
        ),
        ([(X0, np.linspace(0, 1, 60))], "Unknown label type: continuous"),
        ([], r"expected chunks with at least one row, got none"),
        (
            iter([(X0, Y0)]),
            r"expected the 60 rows of the first pass on each later pass, got 0; .* not a generator",
        ),
        (
            Shuffled(),
            r"expected the same rows in the same order on each pass, got other labels in chunk 0",
        ),
        (3, r"expected an iterable of \(X_chunk, y_chunk\), got int"),
    ],
)
def test_bad_chunks_are_refused_and_nothing_is_left(chunks, message):
    """What all streams refuse is in test_compressed_stream.py."""
    model = CompressedLinearSVM(20, random_state=0).fit(X0, Y0)
    with pytest.raises(
        ValueError, match=rf"^CompressedLinearSVM: .*{message}|{message}"
    ):
        model.fit_stream(chunks)
    assert not attributes(model)
    with pytest.raises(NotFittedError):
        model.predict(X0)


class Counted:
    """Chunks that count how often they are read to the end."""

    def __init__(self, chunks):
        self.chunks = chunks
        self.passes = 0

    def __iter__(self):
        yield from self.chunks
        self.passes += 1


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"recovery": "transpose"}, 1),
        ({"recovery": "transpose", "loss": "logistic"}, 1),
        ({"recovery": "dual"}, 3),
        ({"recovery": "dual", "loss": "logistic"}, 3),
        ({"refinements": 1}, 4),
        ({"refinements": 4}, 10),
    ],
    ids=str,
)
def test_the_rows_are_read_as_often_as_it_says(options, passes):
    chunks = Counted(in_chunks(X0, Y0, 7))
    model = CompressedLinearSVM(5, **options, random_state=0).fit_stream(chunks)
    assert chunks.passes == passes
    assert model.n_passes_ == passes


def test_one_pass_is_enough_for_transpose():
    model = CompressedLinearSVM(5, recovery="transpose", random_state=0).fit_stream(
        iter(in_chunks(X0, Y0, 7))
    )
    assert model.objective_ == pytest.approx(
        compression_objective(X0, Y0, model.coef_[0], model.c), rel=1e-9
    )


def solve_with(monkeypatch, solver):
    monkeypatch.setitem(
        compressed_svm.LOSSES,
        "hinge",
        compressed_svm.LOSSES["hinge"]._replace(solve=solver),
    )


def test_an_open_gap_is_told(monkeypatch):
    solve_with(monkeypatch, partial(hinge_dual, max_iter=2))
    with pytest.warns(
        ConvergenceWarning,
        match=r"expected a relative duality gap of at most 1e-06, got .* scale",
    ):
        model = CompressedLinearSVM(20, random_state=0).fit(X0, Y0)
    assert model.gap_ > 1e-6
    assert model.n_iter_ == 2


def test_an_open_gap_of_a_refinement_is_told(monkeypatch):
    """Only there: the compressed problem has as many features as components."""

    def short(Z, *arguments, **options):
        return hinge_dual(
            Z, *arguments, **options, max_iter=2 if Z.shape[1] == 6 else 500
        )

    solve_with(monkeypatch, short)
    with pytest.warns(
        ConvergenceWarning, match="after 2 Newton steps; scale the features"
    ) as caught:
        model = CompressedLinearSVM(5, c=1e-5, refinements=1, random_state=0).fit(
            X0, Y0
        )
    assert len(caught) == 1
    assert model.gap_ <= 1e-6
    assert model.objective_ == pytest.approx(
        compression_objective(X0, Y0, model.coef_[0], model.c), rel=1e-9
    )


def test_objective_by_hand():
    X = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    y = np.array([1, 1, -1])
    # scores 1, 0.5, 0.5: losses 0, 0.5, 0.5
    assert compression_objective(X, y, np.array([0.5, 0.5]), 0.1) == pytest.approx(
        1 / 3 + 0.05
    )
    assert compression_objective(
        sparse.csr_array(X), ["b", "b", "a"], np.array([0.5, 0.5]), 0.1
    ) == pytest.approx(1 / 3 + 0.05)
    assert compression_objective(X, np.ones(3), np.zeros(2), 0.1) == 1.0
    with pytest.raises(
        ValueError, match="expected labels of two classes, got 3; pass the rows"
    ):
        compression_objective(X, np.arange(3), np.zeros(2), 0.1)
