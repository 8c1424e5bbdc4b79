"""OnlineLeverageSelector: its theorems, streams in any blocks, interruptions, memory, and every error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from provsel.selectors import OnlineLeverageSelector

N = 30
D = 260
RANK = 8
OPTIONS = {
    "one": {"sampling_rate": 1.5},
    "project": {"sampling_rate": 1.5, "outside_span": "project"},
    "ridge": {
        "sampling_rate": 1.5,
        "outside_span": "ridge",
        "ridge": 0.5,
        "n_initial": 3,
    },
    "theory": {},
}


def low_rank(n, d, rank, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


X = low_rank(N, D, RANK)


@pytest.fixture(params=OPTIONS)
def selector(request):
    return OnlineLeverageSelector(random_state=5, **OPTIONS[request.param])


def streamed(selector, X, width):
    for start in range(0, X.shape[1], width):
        selector.partial_fit_columns(X[:, start : start + width])
    return selector


def assert_same(selector, expected):
    assert_array_equal(selector.indices_, expected.indices_)
    assert_allclose(selector.weights_, expected.weights_, rtol=1e-12)
    assert_allclose(selector.scores_, expected.scores_, rtol=1e-12, atol=1e-13)
    assert_array_equal(selector.seen_indices_, expected.seen_indices_)
    assert (selector.n_seen_, selector.n_features_in_) == (
        expected.n_seen_,
        expected.n_features_in_,
    )
    assert selector.sampling_rate_ == expected.sampling_rate_


@pytest.mark.parametrize("width", [1, 7, 64, D])
@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array, sparse.csr_matrix])
def test_any_blocks_select_the_same(selector, width, form):
    fitted = clone(selector).fit(X)
    assert 1 < fitted.indices_.size < D or fitted.sampling_rate_ > 10
    assert_same(streamed(selector, form(X), width), fitted)
    assert selector.transform(X).shape == (N, fitted.indices_.size)


@pytest.mark.parametrize("stop", [1, 63, 100, 259])
def test_an_interrupted_stream_goes_on(selector, stop, tmp_path):
    whole = clone(selector).fit(X)
    state = clone(selector).partial_fit_columns(X[:, :stop]).get_state()
    assert all(isinstance(value, int | float | np.ndarray) for value in state.values())
    np.savez(tmp_path / "state.npz", **state)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as stored:
        resumed = clone(selector).set_params(random_state=None).set_state(dict(stored))
    assert resumed.n_seen_ == stop
    assert_same(streamed(resumed, X[:, stop:], 40), whole)


def test_states_do_not_share_memory():
    first = OnlineLeverageSelector(random_state=1).partial_fit_columns(X[:, :70])
    state = first.get_state()
    kept = {name: np.copy(value) for name, value in state.items()}
    second = OnlineLeverageSelector().set_state(state)
    first.partial_fit_columns(X[:, 70:])
    second.partial_fit_columns(X[:, 70:])
    assert_same(second, first)
    for name, value in state.items():
        assert_array_equal(value, kept[name])


def test_feature_indices_name_the_columns(selector):
    order = np.random.default_rng(2).permutation(D)
    plain = clone(selector).fit(X[:, order])
    selector.partial_fit_columns(X[:, order[:90]], order[:90]).partial_fit_columns(
        X[:, order[90:]], list(order[90:])
    )
    assert_array_equal(selector.indices_, order[plain.indices_])
    assert_array_equal(selector.seen_indices_, order)
    assert selector.n_features_in_ == D
    assert_allclose(
        np.sort(selector.transform(X), axis=1),
        np.sort(plain.transform(X[:, order]), axis=1),
        rtol=1e-9,
    )


def test_memory_is_that_of_the_kept_columns(peak_memory):
    """k is 60 of 3,000 columns of 4,000: n x n would take 128 MB, the stream itself 96 MB, n k 2 MB."""
    n = 4000
    d = 3000
    base = np.random.default_rng(0).standard_normal((n, 20))
    selector = OnlineLeverageSelector(sampling_rate=0.2)

    def run(d):
        rng = np.random.default_rng(1)
        stream = clone(selector).set_params(random_state=0)
        for _ in range(0, d, 50):
            stream.partial_fit_columns(base @ rng.standard_normal((20, 50)))
        sizes.append(stream.indices_.size)

    sizes = []
    short = peak_memory(lambda: run(600))
    long = peak_memory(lambda: run(d))
    assert sizes[-1] < 100
    assert long < 8 * n * (2 * sizes[-1] + 6 * 64)
    assert long < 1.1 * short + 200 * d  # a longer stream costs a few numbers a column


@pytest.mark.parametrize(
    "options",
    [{}, {"outside_span": "project"}, {"outside_span": "ridge", "ridge": 1.0}],
)
@pytest.mark.parametrize("shape", [(N, D), (3 * D, D)])
def test_the_wanted_number_is_met_and_its_rate_repeats_it(shape, options):
    X = low_rank(*shape, 20)
    selector = OnlineLeverageSelector(40, random_state=3, **options).fit(X)
    # as printed, one direction more raises the scores of all that follow: the count
    # jumps
    assert abs(selector.indices_.size - 40) <= (
        3 if options.get("outside_span") == "project" else 0
    )
    again = OnlineLeverageSelector(
        sampling_rate=selector.sampling_rate_, random_state=3, **options
    )
    assert_array_equal(clone(again).fit(X).indices_, selector.indices_)
    assert_allclose(clone(again).fit(X).weights_, selector.weights_, rtol=1e-9)
    # the rate goes first
    both = clone(selector).set_params(sampling_rate=selector.sampling_rate_)
    assert_array_equal(streamed(both, X, 50).indices_, selector.indices_)


def test_columns_taken_at_the_start():
    zeros = np.hstack([np.zeros((N, 2)), X])
    selector = OnlineLeverageSelector(
        sampling_rate=1e-9, n_initial=4, random_state=0
    ).fit(zeros)
    assert_array_equal(selector.indices_, [2, 3, 4, 5])
    assert (selector.weights_ == 1).all()
    assert (selector.scores_[:2] == 0).all()
    assert selector.is_random


def test_a_stream_may_keep_nothing_yet():
    selector = OnlineLeverageSelector(random_state=0).partial_fit_columns(
        np.zeros((N, 3))
    )
    assert selector.indices_.size == 0
    resumed = OnlineLeverageSelector().set_state(selector.get_state())
    assert_same(
        resumed.partial_fit_columns(X),
        OnlineLeverageSelector(random_state=0).fit(np.hstack([X[:, :3] * 0, X])),
    )


def test_a_stream_needs_a_fixed_rate():
    with pytest.raises(
        ValueError,
        match=r"expected a fixed sampling rate, got n_features_to_select = 5, .*several passes",
    ):
        OnlineLeverageSelector(5).partial_fit_columns(X)


spoiled = np.eye(N, 4)
spoiled[[2, 5, 5], [1, 1, 3]] = np.nan, np.inf, -np.inf


@pytest.mark.parametrize(
    ("block", "indices", "message"),
    [
        (
            np.ones((N + 1, 2)),
            None,
            f"expected columns of the stream's length, n = {N}, got {N + 1}",
        ),
        (
            np.full((N, 1), np.nan),
            None,
            r"got NaN or infinity in 1 of its 1 features, \[50\]; impute",
        ),
        (
            spoiled,
            [90, 80, 70, 60],
            r"got NaN or infinity in 2 of its 4 features, \[60, 80\]; impute",
        ),
        (
            sparse.csr_array(spoiled),
            None,
            r"got NaN or infinity in 2 of its 4 features, \[51, 53\]; impute",
        ),
        (
            np.full((N, 7), -np.inf),
            None,
            r"in 7 of its 7 features, \[50, 51, 52, 53, 54\] and more; impute",
        ),
        (np.ones(N), None, "Expected 2D array"),
        (
            np.ones((N, 2)),
            [1.0, 2.0],
            "expected feature_indices to be 2 non-negative integers.*got float64",
        ),
        (
            np.ones((N, 2)),
            [100],
            r"non-negative integers, one for each column of the block, got int64 of shape \(1,\)",
        ),
        (np.ones((N, 2)), [-1, 100], "2 non-negative integers"),
        (
            np.ones((N, 2)),
            [100, 100],
            r"expected every feature to arrive once, got \[100\] again",
        ),
        (
            np.ones((N, 2)),
            [100, 3],
            r"expected every feature to arrive once, got \[3\] again",
        ),
    ],
)
def test_bad_blocks_are_refused_and_change_nothing(block, indices, message):
    selector = OnlineLeverageSelector(random_state=0).partial_fit_columns(X[:, :50])
    with pytest.raises(ValueError, match=message):
        selector.partial_fit_columns(block, indices)
    assert_same(
        selector.partial_fit_columns(X[:, 50:]),
        OnlineLeverageSelector(random_state=0).fit(X),
    )


@pytest.mark.parametrize(
    ("block", "indices"), [(spoiled, None), (np.ones((N, 2)), [4, 4])]
)
def test_a_refused_first_block_starts_nothing(block, indices):
    rng = np.random.default_rng(3)
    selector = OnlineLeverageSelector(random_state=rng, sampling_rate=1.5)
    with pytest.raises(
        ValueError,
        match=r"expected (finite numbers in the block|every feature to arrive once)",
    ):
        selector.partial_fit_columns(block, indices)
    assert not hasattr(selector, "indices_")
    assert rng.bit_generator.state == np.random.default_rng(3).bit_generator.state
    assert_same(
        selector.partial_fit_columns(X),
        OnlineLeverageSelector(random_state=3, sampling_rate=1.5).fit(X),
    )


def test_no_state_without_a_stream():
    for selector in (OnlineLeverageSelector(), OnlineLeverageSelector().fit(X)):
        with pytest.raises(
            ValueError,
            match="no stream has been started; call partial_fit_columns first",
        ):
            selector.get_state()


def without(name):
    return lambda state: state.pop(name)


def altered(name, change):
    def alter(state):
        state[name] = change(state[name])

    return alter


def swapped(values):
    values = values.copy()
    values[[3, 4]] = values[[4, 3]]
    return values


CORRUPT = {
    "missing": (without("Q"), r"got a state without \['Q'\]"),
    "unknown": (lambda state: state.update(extra=1), r"with unknown \['extra'\]"),
    "version": (altered("version", lambda v: 99), "expected version 1, got 99"),
    "number": (
        altered("n_seen", lambda v: "many"),
        "expected n_seen to be a finite number, got 'many'",
    ),
    "nan": (
        altered("epsilon", lambda v: float("nan")),
        "expected epsilon to be a finite number",
    ),
    "negative": (
        altered("n_samples", lambda v: -v),
        "expected n_samples and n_seen to be counts",
    ),
    "type": (
        altered("positions", lambda v: v.astype(float)),
        r"expected positions to be a int64 array of shape \(k\)",
    ),
    "key": (
        altered("key", lambda v: v[:1]),
        r"expected key to be shape \(2\) with 2 = 2, got \(1,\)",
    ),
    "rows": (
        altered("Q", lambda v: v[:-1]),
        rf"expected Q to be shape \(n_samples, m\) with n_samples = {N}",
    ),
    "rank": (altered("R", lambda v: v[:-1]), r"expected R to be shape \(m, m\)"),
    "length": (
        altered("scores", lambda v: v[:-1]),
        r"expected scores to be shape \(n_seen\) with n_seen = 200",
    ),
    "infinite": (
        altered("R", lambda v: np.full_like(v, np.inf)),
        "expected R to be finite values",
    ),
    "basis": (
        altered("Q", lambda v: v * 1.001),
        "expected Q to be orthonormal columns",
    ),
    "factor": (
        altered("R", lambda v: v.T),
        "expected R to be an upper triangular matrix",
    ),
    "scores": (
        altered("scores", lambda v: v + 1),
        "expected scores to be values between 0 and 1, got",
    ),
    "order": (
        altered("positions", swapped),
        "expected positions to be increasing positions below n_seen = 200",
    ),
    "features": (
        altered("seen_indices", lambda v: v // 2),
        "expected seen_indices to be distinct non-negative",
    ),
    "weights": (
        altered("weights", lambda v: v * 1.01),
        "expected positions and weights to be those that key and",
    ),
    "other key": (
        altered("key", lambda v: v + np.uint64(1)),
        "expected positions and weights to be those that key",
    ),
    "skipped start": (
        lambda state: state.update(
            positions=state["positions"][1:], weights=state["weights"][1:]
        ),
        "expected positions and weights to be those that key and scores give",
    ),
}


@pytest.mark.parametrize("case", CORRUPT)
def test_corrupt_states_are_refused_and_change_nothing(case):
    change, message = CORRUPT[case]
    options = {"sampling_rate": 1.5, "random_state": 0}
    state = (
        OnlineLeverageSelector(**options).partial_fit_columns(X[:, :200]).get_state()
    )
    change(state)
    selector = OnlineLeverageSelector(**options).partial_fit_columns(X[:, :50])
    with pytest.raises(ValueError, match=message):
        selector.set_state(state)
    assert_same(
        selector.partial_fit_columns(X[:, 50:]),
        OnlineLeverageSelector(**options).fit(X),
    )


def test_states_of_other_parameters_are_refused():
    state = OnlineLeverageSelector().partial_fit_columns(X).get_state()
    ridge = {"outside_span": "ridge", "ridge": 1.0}
    for options in (
        {"epsilon": 0.4},
        {"sampling_rate": 2.0},
        ridge,
        {"outside_span": "project"},
        {"n_initial": 2},
    ):
        with pytest.raises(
            ValueError,
            match=r"a state of the same parameters, Rule\(.*; construct the selector with "
            r"the parameters",
        ):
            OnlineLeverageSelector(**options).set_state(state)
