"""Every selector and model against X as it may come: malformed, in any form, read-only, from several threads."""

import os
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from test_estimators import SELECTORS, exported

import provsel.models
from input_forms import arrays_of, frozen, malformed, same_numbers
from provlab import compare
from provsel.certificates import certify, certify_compression
from provsel.models import CompressedLinearSVM, FeatureSelectiveSVM, LiblinearSVM
from provsel.selectors import (
    AtSize,
    ChiSquaredSelector,
    FullDataSelector,
    GaussianCompression,
    L1SVMSelector,
    OnlineLeverageSelector,
    OnSupportVectors,
    SparseEmbedding,
    SVMRFESelector,
    UniformSelector,
)
from provsel.sparse_input import sparse_fault
from provsel.stability import StabilityReport
from provsel.streams import column_blocks, row_chunks
from small_runs import interrupts_arrive

N = 20
D = 120
rng = np.random.default_rng(0)
y = np.where(np.arange(N) % 2, "spam", "ham")
X = np.round(rng.poisson(0.4, (N, D)) * rng.uniform(1, 3, (N, D)), 2)

MODELS = {
    name: getattr(provsel.models, name)() for name in sorted(exported(provsel.models))
}
for seeded in MODELS.values():
    if "random_state" in seeded.get_params():
        seeded.set_params(random_state=0)
MODELS["KMeansClustering"].set_params(n_clusters=2)
MODELS["FeatureSelectiveSVM"].set_params(c1=1e-4)
EMBEDDINGS = {
    "sparse embedding": SparseEmbedding(5, random_state=0),
    "gaussian": GaussianCompression(5, random_state=0),
}
ESTIMATORS = {name: clone(selector) for name, selector in SELECTORS.items()} | MODELS | EMBEDDINGS | {
    "rfe by rows": OnSupportVectors(SVMRFESelector(4, step=0.5, solver="liblinear"), svm=LiblinearSVM(C=0.01)),
}  # fmt: skip
for searched in ESTIMATORS.values():
    if isinstance(searched, AtSize):
        searched.set_params(max_fits=2, if_fewer="keep")
ESTIMATORS["feature selective as printed at size"].set_params(low=0.5)
ESTIMATORS["rfe at best size"].set_params(most=2)
MALFORMED = [(name, rows, fault) for name, rows, fault in malformed(X)]


@pytest.fixture(params=ESTIMATORS, ids=lambda name: name.replace(" ", "_"))
def estimator(request):
    return clone(ESTIMATORS[request.param])


def fitted_numbers(estimator):
    """Return the fitted numbers, and what the estimator makes of X."""
    numbers = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_")
        and isinstance(value, np.ndarray | int | float)
        and name != "classes_"
    }
    used = estimator.transform(X) if hasattr(estimator, "transform") else None
    return numbers if used is None else {**numbers, "transformed": used}


def fit(estimator, rows, labels=y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(rows, labels)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [pytest.param(rows, fault, id=name) for name, rows, fault in MALFORMED],
)
def test_the_fault_of_a_malformed_matrix_is_named(rows, fault):
    with pytest.raises(
        ValueError,
        match=f"^UniformSelector: expected a .* whose arrays are consistent, got .*{fault}",
    ):
        UniformSelector(3).fit(rows)


def test_whatever_is_well_formed_has_no_fault():
    assert [
        name
        for name, rows in same_numbers(X)
        if sparse.issparse(rows) and sparse_fault(rows)
    ] == []
    for empty in (
        sparse.csr_array((3, 4)),
        sparse.coo_array((3, 4)),
        sparse.lil_array((3, 4)),
        sparse.dok_array((3, 4)),
    ):
        assert sparse_fault(empty) is None


SMALL = st.integers(-1, 4) | st.sampled_from([-(2**31), 2**31 - 1])
STARTS = st.lists(SMALL, max_size=5) | st.lists(st.integers(0, 3), max_size=3).map(
    lambda later: [0, *sorted(later)]
)
PLACES = st.lists(SMALL, max_size=5) | st.lists(st.integers(0, 1), max_size=5)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 3), st.integers(0, 3), STARTS, PLACES, st.booleans())
def test_a_fault_is_found_where_there_is_one(n, d, starts, places, by_columns):
    lines, width = (d, n) if by_columns else (n, d)
    bounds = list(pairwise(starts))
    whole = (
        len(starts) == lines + 1
        and starts[0] == 0
        and all(start <= stop for start, stop in bounds)
    )
    whole = (
        whole
        and starts[-1] <= len(places)
        and all(0 <= place < width for place in places[: starts[-1]])
    )
    parts = {
        "indptr": np.array(starts, dtype=np.int32),
        "indices": np.array(places, dtype=np.int64),
    }
    form = "csc" if by_columns else "csr"
    matrix = SimpleNamespace(
        format=form, shape=(n, d), data=np.ones(len(places)), **parts
    )
    assert (sparse_fault(matrix) is None) == whole


def test_no_estimator_reads_a_malformed_matrix(estimator):
    fitted = fit(estimator, X)
    calls = [lambda rows: clone(estimator).fit(rows, y)]
    calls += [
        getattr(fitted, name)
        for name in ("transform", "inverse_transform")
        if hasattr(fitted, name)
    ]
    calls += [
        getattr(fitted, name)
        for name in ("predict", "decision_function")
        if name in dir(type(fitted))
    ]
    for _, rows, _ in MALFORMED:
        for call in calls:
            with pytest.raises(ValueError, match="whose arrays are consistent, got"):
                call(rows)


@pytest.mark.parametrize(
    "read",
    [
        lambda rows: certify(UniformSelector(3, random_state=0).fit(X), rows),
        lambda rows: certify_compression(
            CompressedLinearSVM(3, random_state=0).fit(X, y), rows, y
        ),
        lambda rows: FeatureSelectiveSVM.c1_max(rows, y, 1e-3),
        lambda rows: CompressedLinearSVM(3).fit_stream([(rows, y)]),
        lambda rows: GaussianCompression(3).partial_compress(rows),
        lambda rows: OnlineLeverageSelector().partial_fit_columns(rows),
        lambda rows: StabilityReport.of(UniformSelector(3, random_state=0), rows, y),
        lambda rows: compare(rows, y, {"full": FullDataSelector()}),
        lambda rows: list(row_chunks(rows)),
        lambda rows: list(column_blocks(rows.T)),
    ],
)
def test_nothing_else_reads_a_malformed_matrix(read):
    for form in (sparse.csr_array, sparse.csr_matrix):
        rows = form(X)
        rows.indices[3] = -7
        with pytest.raises(
            ValueError, match="whose arrays are consistent, got indices from -7 to"
        ):
            read(rows)


def test_no_fit_writes_to_its_input_and_every_form_gives_the_same(estimator):
    expected = {
        True: fitted_numbers(fit(estimator, sparse.csr_array(X))),
        False: fitted_numbers(fit(estimator, X)),
    }
    for key in {"indices_", "weights_", "transformed"} & set(expected[True]):
        rtol = 0 if key == "indices_" else 1e-7
        assert_allclose(
            expected[True][key], expected[False][key], rtol=rtol, atol=rtol, err_msg=key
        )
    for name, rows in same_numbers(X):
        before = [np.array(array, copy=True) for array in arrays_of(rows)]
        numbers = fitted_numbers(fit(estimator, frozen(rows)))
        for array, copy in zip(arrays_of(rows), before, strict=True):
            assert_array_equal(array, copy, err_msg=name)
        for key, value in expected[sparse.issparse(rows)].items():
            # sums over other layouts of dense rows are rounded in another order
            rtol = (
                0 if sparse.issparse(rows) or key in ("indices_", "support_") else 1e-7
            )
            assert_allclose(
                numbers[key], value, rtol=rtol, atol=rtol, err_msg=f"{name}: {key}"
            )


ROWS = np.random.default_rng(1).standard_normal((30, 120))
LABELS = np.arange(30) % 2


# for all threads: a filter of this one is put back by another
@pytest.mark.filterwarnings("ignore")
def test_a_fit_beside_others_is_a_fit_alone(estimator):
    """LIBLINEAR's rand() and how warnings are shown are one for all threads of the process."""
    alone = fitted_numbers_of_rows(clone(estimator))
    others = [
        LiblinearSVM(C=5.0),
        L1SVMSelector(C=3.0, tol=1e-12),
        AtSize(
            L1SVMSelector(),
            5,
            parameter="C",
            low=1e-2,
            high=10.0,
            max_fits=3,
            if_fewer="keep",
        ),
    ]
    with warnings.catch_warnings(), ThreadPoolExecutor(4) as pool:
        warnings.simplefilter("ignore")
        beside = [
            pool.submit(clone(competitor).fit, ROWS, LABELS)
            for competitor in others * 3
        ]
        together = [
            pool.submit(fitted_numbers_of_rows, clone(estimator)) for _ in range(6)
        ]
        for future in beside:
            future.result()
        for future in together:
            for key, value in alone.items():
                assert_array_equal(future.result()[key], value, err_msg=key)


def fitted_numbers_of_rows(estimator):
    # counts are not negative
    rows = np.abs(ROWS) if isinstance(estimator, ChiSquaredSelector) else ROWS
    numbers = vars(estimator.fit(rows, LABELS))
    return {
        name: value
        for name, value in numbers.items()
        if name.endswith("_") and isinstance(value, np.ndarray)
    }


def test_an_interrupt_inside_liblinear_is_not_lost():
    """Nearly all the time of these fits is spent inside."""
    hard = LiblinearSVM(C=1000.0, tol=1e-9)
    many = np.random.default_rng(0).standard_normal((1000, 200))
    labels = np.arange(1000) % 2
    LiblinearSVM().fit(ROWS, LABELS)  # loads the library
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))

    def fit_for_a_minute():
        end = time.perf_counter() + 60
        timer.start()
        while time.perf_counter() < end:
            hard.fit(many, labels)

    with (
        interrupts_arrive(),
        warnings.catch_warnings(action="ignore"),
        pytest.raises(KeyboardInterrupt),
    ):
        fit_for_a_minute()
    timer.join()
    assert LiblinearSVM().fit(ROWS, LABELS).coef_.any()  # nothing is left locked
