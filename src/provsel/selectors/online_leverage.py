"""Selection of features from a stream by online leverage scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from provsel.kernels.online_calibration import (
    Pass,
    calibrated_pass,
    compressed_rows,
    one_pass,
)
from provsel.kernels.online_leverage import OnlineLeverage, Rule, theory_rate
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.selectors._online_input import check_finite, checked_indices
from provsel.selectors._online_state import Stream, stream_from
from provsel.training_view import TrainingView
from provsel.validation import as_generator, checked_array

OUTSIDE_SPAN = ("one", "project", "ridge")
NAME = "OnlineLeverageSelector"


class OnlineLeverageSelector(BaseSelector):
    r"""Keep or drop each column of a stream by its leverage relative to the columns kept so far (OFS).

    Use it if columns come as a stream or from a file that does not fit in memory,
    before a clustering or a linear model. `transform` keeps the names of the kept
    columns, but multiplies them by `weights_`; with `rescale=False` they are unchanged.

    Let W be the kept and rescaled columns. Column a_i scores l_i = min((1 + epsilon) a_i^T (W W^T)^+ a_i, 1). It is
    kept with probability p_i = min(c l_i, 1), and joins W as a_i / sqrt(p_i). Let c = 8 ln(n) / epsilon^2 and
    `outside_span="one"`. With probability at least 1 - 1/n, (1 - epsilon) X X^T <= X S S^T X^T <= (1 + epsilon) X X^T
    (Theorem 1). Then any k-means clustering costs the same on X S up to a factor 1 +- epsilon (Lemma 3). O(n k)
    operations per column and O(n k) memory; nothing of size n x n.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        None takes the theorem's c, which does not limit the number. With a number r, c
        is searched so that r features are kept, or the nearest possible number, because
        the number kept is not a monotone function of c and may skip r.
    epsilon : float, default=0.5
        Between 0 and 1.
    outside_span : {"one", "project", "ridge"}, default="one"
        A column outside span(W) scores 1, as the proof of Theorem 1 needs, or only its
        projection, as Algorithm 1 is printed; Theorem 1 then does not hold. "ridge"
        scores a_i^T (W W^T + ridge I)^-1 a_i, which values columns outside only by
        their length: Algorithm 1 in the form of Cohen, Musco and Pachocki.
    ridge : float, default=None
        In units of X squared; with outside_span="ridge", and only then. Let ridge = delta / epsilon, with the theorem's
        c. With probability at least 1 - 1/n, W W^T + ridge I is X X^T + ridge I up to a factor 1 +- epsilon. Then the
        kept columns C leave ||X - C C^+ X||_2^2 <= delta / (1 - epsilon). In the Frobenius norm they leave at most ||X
        - X_k||_F^2 + k delta / (1 - epsilon) for every k.
    n_initial : int, default=1
        Non-zero columns kept with probability 1 at the start: A_0 of Algorithm 1, which
        the paper leaves open. Without any, "project" never keeps anything.
    sampling_rate : float, default=None
        Use this c, for instance the `sampling_rate_` of an earlier fit;
        n_features_to_select then starts no search.
    rescale : bool, default=True
        Multiply the kept columns by `weights_` in `transform`, as the theorems need.
    random_state : int, Generator, RandomState or None, default=None
        One random number per column, which depends only on the seed and its position in
        the stream.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Kept features, in order of arrival.
    weights_ : ndarray of shape (n_selected,)
        1 / sqrt(p) of each.
    scores_ : ndarray of shape (n_seen_,)
        l of each processed column, in order of arrival.
    seen_indices_ : ndarray of shape (n_seen_,), int64
        The features to which these scores belong.
    n_seen_ : int
    sampling_rate_ : float
        The c used.
    spectral_bound_ : float
        epsilon, and `eigenvalue_range_` is (1 - epsilon, 1 + epsilon): the guarantee of
        Theorem 1, only at its own c and without a ridge. The paper claims it for
        "project" too, so it is set there, although it does not hold in general.
    ridge_range_ : tuple of float
        (1 - epsilon, 1 + epsilon): the guaranteed range, only with a ridge and at the
        theorem's c, of the eigenvalues of W W^T + ridge I relative to X X^T + ridge I.
        `certificates.RidgeSparsification` measures them.
    n_features_in_ : int
        On a stream: one more than the largest feature number seen.

    Raises
    ------
    ValueError
        From `fit`, if no column is kept: X is all zeros, or n_initial is 0 and no draw
        succeeded.

    Notes
    -----
    There is no `budget`: Lemma 2 bounds the sum of scores by O(n log ||X||_2) with high
    probability. Its proof introduces a ridge that Algorithm 1 does not have;
    `score_sum_bound` is its last line.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import OnlineLeverageSelector
    >>> from provsel.streams import column_blocks
    >>> X = np.random.default_rng(0).standard_normal((5, 2000))
    >>> selector = OnlineLeverageSelector(sampling_rate=10.0, rescale=False, random_state=0)
    >>> for block, features in column_blocks(X, block_size=500):
    ...     selector = selector.partial_fit_columns(block, features)
    >>> selector.n_seen_, bool(selector.indices_.size < 2000)
    (2000, True)

    With a ridge, directions below it hardly count:

    >>> X = np.random.default_rng(0).standard_normal((2, 5000))
    >>> selector = OnlineLeverageSelector(outside_span="ridge", ridge=100.0, random_state=0).fit(X)
    >>> selector.ridge_range_, selector.indices_.size < 1000
    ((0.5, 1.5), True)

    References
    ----------
    Wang, Shen, Li (2018), Algorithm 1, Theorems 1 and 2; Cohen, Musco, Pachocki (2020),
    Theory of Computing 16, for scores outside the span and the ridge. The bound on the
    part of X outside the columns by a ridge is provsel's own corollary.
    """

    algorithm_version = 3

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        epsilon: float = 0.5,
        outside_span: Literal["one", "project", "ridge"] = "one",
        ridge: float | None = None,
        n_initial: int = 1,
        sampling_rate: float | None = None,
        rescale: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.outside_span = outside_span
        self.ridge = ridge
        self.n_initial = n_initial
        self.sampling_rate = sampling_rate
        self.rescale = rescale
        self.random_state = random_state

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        rule, key = self._rule(view.n_samples), _draw_key(rng)
        if self.n_features_to_select is not None:
            r = checked_count(self, view.n_features)
            if rule.n_initial > r:
                raise ValueError(
                    f"{NAME}: expected n_initial to be at most n_features_to_select = {r}, got {rule.n_initial}; "
                    f"lower n_initial."
                )
        if self.n_features_to_select is None or self.sampling_rate is not None:
            done: Pass = one_pass(_by_columns(view.X), rule, key)
        else:
            # the same for every r and seed, and with many rows a third of the time of a
            # search
            X = view.shared(
                "compressed rows", lambda: compressed_rows(_by_columns(view.X))
            )
            done = calibrated_pass(X, r, rule, key)
        if done.positions.size == 0:
            raise ValueError(
                f"{NAME}: expected to keep at least one column, got none of {view.n_features} columns in "
                f"{view.n_samples} rows kept; X is all zeros, or n_initial = {rule.n_initial} should be 1 or more."
            )
        self._forget("_stream", "spectral_bound_", "eigenvalue_range_", "ridge_range_")
        return Selection(
            done.positions,
            done.weights,
            {
                "scores": done.scores,
                "seen_indices": np.arange(view.n_features),
                "n_seen": view.n_features,
                "sampling_rate": done.rate,
                **self._promise(),
            },
        )

    def calibrated(self) -> OnlineLeverageSelector:
        """Return an unfitted selector with the c of this fit: one pass over the columns instead of a search."""
        check_is_fitted(self)
        return clone(self).set_params(sampling_rate=self.sampling_rate_)

    @staticmethod
    def score_sum_bound(n: int, spectral_norm: float) -> float:
        """Return 8 n + 8 n ln(||X||_2^2), the last line of the proof of Lemma 2; it depends on the units of X."""
        return 8.0 * n * (1.0 + 2.0 * math.log(spectral_norm))

    def _promise(self) -> dict[str, Any]:
        """Return the bound of Theorem 1 for these parameters; none unless c is that of the theorem."""
        if self.n_features_to_select is not None or self.sampling_rate is not None:
            return {}
        epsilon = float(self.epsilon)
        if self.ridge:
            return {"ridge_range": (1 - epsilon, 1 + epsilon)}
        return {
            "spectral_bound": epsilon,
            "eigenvalue_range": (1 - epsilon, 1 + epsilon),
        }

    def subset_promise(self, spectrum: Spectrum, rank: int) -> SubsetPromise:
        """Return the guarantee with a ridge for ||X - C C^+ X|| relative to the best of `rank`, after `fit`."""
        if not hasattr(self, "ridge_range_") or self.ridge is None:
            return SubsetPromise(rank)
        left = self.ridge * float(self.epsilon) / (1 - float(self.epsilon))
        tail = spectrum.tail(rank)
        top = float(spectrum.values[rank]) ** 2 if rank < spectrum.values.size else 0.0
        return SubsetPromise(
            rank,
            frobenius=1 + rank * left / tail if tail > 0 else math.inf,
            spectral=left / top if top > 0 else math.inf,
            source="Cohen, Musco, Pachocki (2020), and a corollary (provsel)",
        )

    def partial_fit_columns(self, block: Any, feature_indices: Any = None) -> Self:
        """Process the next columns of a stream; the selection does not depend on how the stream is cut into blocks.

        The first call, or the first one after `fit`, starts a stream. It holds a
        factor, O(n k) numbers, two numbers per kept column, and two per column seen
        (`scores_` and `seen_indices_`), or three if features do not come in order.
        `provsel.certificates.StreamMemory` measures this.

        Parameters
        ----------
        block : array-like or sparse of shape (n_samples, b)
            Columns, in order of arrival.
        feature_indices : array-like of int, shape (b,), default=None
            Feature numbers of the columns; None continues from `n_seen_`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If c is not fixed, values are NaN or infinite, columns have another length,
            or features are negative or repeated.
        """
        if self.n_features_to_select is not None and self.sampling_rate is None:
            raise ValueError(
                f"{NAME}.partial_fit_columns: expected a fixed sampling rate, got n_features_to_select = "
                f"{self.n_features_to_select!r}, which searches in several passes; set n_features_to_select=None, or "
                f"sampling_rate to the sampling_rate_ of a fit on earlier data."
            )
        name = f"{NAME}.partial_fit_columns"
        block = checked_array(
            name,
            block,
            accept_sparse="csc",
            ensure_all_finite=False,
            input_name="block",
        )
        stream: Stream | None = getattr(self, "_stream", None)
        if stream is None:
            rule = self._rule(block.shape[0])
            stream = Stream(
                OnlineLeverage.start(block.shape[0], rule, np.zeros(2, dtype=np.uint64))
            )
        elif block.shape[0] != stream.n_samples:
            raise ValueError(
                f"{NAME}.partial_fit_columns: expected columns of the stream's length, n = {stream.n_samples}, "
                f"got {block.shape[0]}; pass blocks of the same rows."
            )
        indices = checked_indices(feature_indices, block.shape[1], stream)
        check_finite(block, indices)
        # drawn last, so that a refused block does not advance a shared generator
        if not hasattr(self, "_stream"):
            stream.sampler.key = _draw_key(as_generator(self.random_state))
        stream.advance(block, indices)
        return self._publish(stream)

    def get_state(self) -> dict[str, Any]:
        """Return the stream as plain arrays and numbers, for `numpy.savez` and a later `set_state`.

        Returns
        -------
        dict
            `version`, `n_samples`, `epsilon`, `sampling_rate`, `outside_span_is_one` (0 or 1), `ridge` (0: none),
            `n_initial`, `n_seen`: numbers. `key` (2,) uint64, of the random numbers; `Q` (n, m) and `R` (m, m),
            the factor W W^T + ridge I = Q R^T R Q^T; `positions` (k,) int64 in the stream and `weights` (k,) of
            the kept columns; `scores` (n_seen,) and `seen_indices` (n_seen,) int64.

        Raises
        ------
        ValueError
            If no stream was started.
        """
        if not hasattr(self, "_stream"):
            raise ValueError(
                f"{NAME}.get_state: no stream has been started; call partial_fit_columns first."
            )
        state: dict[str, Any] = self._stream.to_state()
        return state

    def set_state(self, state: Mapping[str, Any]) -> Self:
        """Continue the stream of `state`, as `get_state` returned it; the parameters must be the same.

        `random_state` is not used: the state holds the key of the random numbers.

        Raises
        ------
        ValueError
            If entries are missing or unknown or have wrong types or shapes, the
            parameters differ, or the values cannot come from one stream, which is
            checked by repeating the draws from key and scores. Nothing is changed in
            that case.
        """
        return self._publish(stream_from(state, self._rule))

    def _publish(self, stream: Stream) -> Self:
        self._stream = stream
        seen = stream["seen_indices"]
        self.seen_indices_, self.scores_ = seen, stream["scores"]
        self.indices_, self.weights_ = seen[stream["positions"]], stream["weights"]
        self.n_seen_ = seen.size
        self.n_features_in_ = stream.largest + 1
        self.sampling_rate_ = stream.sampler.rule.rate
        self._forget("spectral_bound_", "eigenvalue_range_", "ridge_range_")
        for name, value in self._promise().items():
            setattr(self, f"{name}_", value)
        return self

    def _forget(self, *names: str) -> None:
        """Remove attributes of an earlier fit."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)

    def _rule(self, n: int) -> Rule:
        """Return the rule for columns of length n, from validated parameters."""
        if not _is_number(self.epsilon) or not 0 < self.epsilon < 1:
            raise ValueError(
                f"{NAME}: expected epsilon to be between 0 and 1, got {self.epsilon!r}."
            )
        if self.outside_span not in OUTSIDE_SPAN:
            raise ValueError(
                f"{NAME}: expected outside_span to be one of {OUTSIDE_SPAN}, got {self.outside_span!r}."
            )
        for name in ("ridge", "sampling_rate"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and 0 < value < np.inf):
                raise ValueError(
                    f"{NAME}: expected {name} to be None or a positive number, got {value!r}."
                )
        if (self.ridge is not None) != (self.outside_span == "ridge"):
            raise ValueError(
                f"{NAME}: ridge must be set if, and only if, outside_span='ridge', got ridge={self.ridge!r} and "
                f"outside_span={self.outside_span!r}; set both, or neither."
            )
        initial = self.n_initial
        if (
            isinstance(initial, bool)
            or not isinstance(initial, int | np.integer)
            or initial < 0
        ):
            raise ValueError(
                f"{NAME}: expected n_initial to be a non-negative integer, got {initial!r}."
            )
        rate = (
            theory_rate(n, self.epsilon)
            if self.sampling_rate is None
            else float(self.sampling_rate)
        )
        return Rule(
            float(self.epsilon),
            rate,
            self.outside_span != "project",
            float(self.ridge or 0.0),
            int(initial),
        )


def _by_columns(X: Any) -> Any:
    return X.tocsc() if sparse.issparse(X) else X


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )


def _draw_key(rng: np.random.Generator) -> NDArray[np.uint64]:
    return rng.integers(0, 2**64, size=2, dtype=np.uint64)
