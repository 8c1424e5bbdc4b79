"""What is promised of the same work on another number of BLAS threads.

Experiments: the same bytes, as each task runs on one thread, whatever the environment
says. Selectors and models in somebody's own program run on as many threads as that has,
and sums in another order round otherwise: the same features, and weights, scores,
coefficients and certificates to `DIGITS`. Data whose scores tie closer than that is not
covered.
"""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from provsel.certificates import certify
from provsel.models import (
    CompressedLinearSVM,
    FeatureSelectiveSVM,
    HingeSVM,
    LiblinearSVM,
    LibsvmSVM,
)
from provsel.selectors import (
    AlphaInvestingSelector,
    ApproximateBSSSelector,
    AtSize,
    BSSSelector,
    FeatureSelectiveSelector,
    GaussianCompression,
    L1SVMSelector,
    LaplacianScoreSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    OnlineLeverageSelector,
    OnSupportVectors,
    RidgeLeverageSelector,
    RRQRSelector,
    SparseEmbedding,
    SVMRFESelector,
    WithEnclosingBallCenter,
)
from small_runs import SMALL, TABLE1, script_environment, stable_records, table_files

DIGITS = 1e-10
"""Relative to the largest value. Seen on the sizes below: 1e-12 at most, for weights of BSS and coefficients of the
compressed SVM, both of which solve systems; 1e-15 for scores."""

R = 130
SELECTORS = {
    "bss": BSSSelector(R),
    "bss of lower rank": BSSSelector(R, rank=60),
    "approximate bss": ApproximateBSSSelector(R, n_projections=90, random_state=0),
    "leverage": LeverageScoreSelector(R, random_state=1),
    "leverage top": LeverageScoreSelector(R, strategy="top"),
    "ridge leverage": RidgeLeverageSelector(R),
    "online leverage": OnlineLeverageSelector(sampling_rate=1.0, random_state=0),
    "rrqr": RRQRSelector(R),
    "rfe": SVMRFESelector(R),
    "lpsvm": LPSVMSelector(),
    "l1 svm": L1SVMSelector(C=0.01),
    "feature selective": FeatureSelectiveSelector(relative=True),
    "at size": AtSize(
        L1SVMSelector(), 5, parameter="C", low=1e-3, high=10.0, max_fits=8
    ),
    "laplacian score": LaplacianScoreSelector(R),
    "alpha investing": AlphaInvestingSelector(),
    "bss on support vectors": OnSupportVectors(BSSSelector(R)),
    "bss with center": WithEnclosingBallCenter(BSSSelector(R)),
}
MODELS = {
    "libsvm": LibsvmSVM(),
    "liblinear": LiblinearSVM(),
    "hinge": HingeSVM(c=1e-2),
    "compressed": CompressedLinearSVM(80, c=1e-2, random_state=0),
    "feature selective": FeatureSelectiveSVM(c1=1e-2, c2=1e-2, relative=True),
}
TRANSFORMERS = {
    "gaussian compression": GaussianCompression(80, random_state=0),
    "sparse embedding": SparseEmbedding(80, random_state=0),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 600)) * np.exp(rng.standard_normal(600))
    return X, np.where(X[:, :5].sum(axis=1) + rng.standard_normal(100) > 0, 1, -1)


@pytest.fixture(scope="module", autouse=True)
def two_threads():
    """Two threads must be able to differ from one, or the tests below show nothing."""
    A = np.random.default_rng(0).standard_normal((700, 700))
    with threadpool_limits(2, user_api="blas"):
        if (
            max(
                pool["num_threads"]
                for pool in threadpool_info()
                if pool["user_api"] == "blas"
            )
            < 2
        ):
            pytest.skip("this BLAS runs on one thread only")
        two = A @ A.T @ A
    with threadpool_limits(1, user_api="blas"):
        if np.array_equal(two, A @ A.T @ A):
            pytest.skip(
                "products of this BLAS are the same bits on one thread and on two"
            )


def on_threads(function):
    """Return what a function gives on one thread and on two."""
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            results.append(function())
    return results


def assert_close(on_one_thread, on_two_threads):
    np.testing.assert_allclose(
        on_two_threads,
        on_one_thread,
        rtol=0,
        atol=DIGITS * np.abs(on_one_thread).max(initial=0.0),
    )


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors(name, data):
    first, second = on_threads(lambda: clone(SELECTORS[name]).fit(*data))
    np.testing.assert_array_equal(first.indices_, second.indices_)
    assert_close(first.weights_, second.weights_)
    if getattr(first, "scores_", None) is not None:
        assert_close(first.scores_, second.scores_)


@pytest.mark.parametrize("name", MODELS)
def test_models(name, data):
    first, second = on_threads(lambda: clone(MODELS[name]).fit(*data))
    assert_close(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.predict(data[0]), second.predict(data[0]))


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name, data):
    assert_close(*on_threads(lambda: clone(TRANSFORMERS[name]).fit_transform(data[0])))


@pytest.mark.parametrize("name", ["bss", "leverage"])
def test_certificates(name, data):
    selector = clone(SELECTORS[name]).fit(*data)
    first, second = (
        certificate.as_record()
        for certificate in on_threads(lambda: certify(selector, *data))
    )
    numbers = [
        key
        for key, value in first.items()
        if isinstance(value, float) and np.isfinite(value)
    ]
    assert len(numbers) >= 5
    for key in numbers:
        assert second[key] == pytest.approx(first[key], rel=DIGITS, abs=DIGITS), key
    assert {key: first[key] for key in first if key not in numbers} == pytest.approx(
        {key: second[key] for key in second if key not in numbers}, nan_ok=True
    )


def test_experiments_are_the_same_bytes(tmp_path):
    results = []
    for n_threads in ("1", "2"):
        results.append(tmp_path / n_threads)
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        # large enough for a BLAS to use its second thread
        overrides = [
            *SMALL,
            "dataset.n_samples=150",
            "dataset.n_features=400",
            "executor=serial",
        ]
        subprocess.run(
            [sys.executable, *TABLE1, *overrides, f"results={results[-1]}"],
            env=script_environment(**dict.fromkeys(names, n_threads)),
            check=True,
            capture_output=True,
            timeout=300,
        )
    assert table_files(results[0]) == table_files(results[1])
    assert stable_records(results[0]) == stable_records(results[1])
