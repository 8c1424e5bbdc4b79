"""The stream of `OnlineLeverageSelector`, and its state as plain arrays and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.online_leverage import OnlineLeverage, Rule, uniforms
from provsel.kernels.online_span import KeptSpan

VERSION = 1
NUMBERS = (
    "version",
    "n_samples",
    "epsilon",
    "sampling_rate",
    "outside_span_is_one",
    "ridge",
    "n_initial",
    "n_seen",
)
ARRAYS = {
    "key": (np.uint64, ("2",)),
    "Q": (np.float64, ("n_samples", "m")),
    "R": (np.float64, ("m", "m")),
    "positions": (np.int64, ("k",)),
    "weights": (np.float64, ("k",)),
    "scores": (np.float64, ("n_seen",)),
    "seen_indices": (np.int64, ("n_seen",)),
}
NAME = "OnlineLeverageSelector.set_state"


class GrowingArray:
    """A vector that is appended to in amortised constant time."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._buffer = values.copy()
        self._size = values.size

    def append(self, values: NDArray[Any]) -> None:
        """Add `values` at the end, in place."""
        end = self._size + values.size
        if end > self._buffer.size:
            buffer = np.empty(max(64, 2 * end), dtype=self._buffer.dtype)
            buffer[: self._size] = self.values
            self._buffer = buffer
        self._buffer[self._size : end] = values
        self._size = end

    @property
    def values(self) -> NDArray[Any]:
        """A view of the appended values."""
        return self._buffer[: self._size]


class Stream:
    """The state of a pass over columns in blocks; `largest` is the largest feature number, or -1."""

    def __init__(
        self, sampler: OnlineLeverage, arrays: Mapping[str, NDArray[Any]] | None = None
    ) -> None:
        self.sampler = sampler
        self._log = {
            name: GrowingArray(
                np.zeros(0, ARRAYS[name][0]) if arrays is None else arrays[name]
            )
            for name in ("positions", "weights", "scores", "seen_indices")
        }
        # features 0, 1, ... up to `_first`, and `_others`, arrived; a set of all would
        # dominate a long stream's memory
        self._first, self._others, self.largest = 0, set[int](), -1
        self._remember(self._log["seen_indices"].values)

    @property
    def n_samples(self) -> int:
        """Length of a column."""
        return int(self.sampler.span.basis.shape[0])

    def repeated(self, indices: NDArray[np.int64]) -> list[int]:
        """Return the `indices` that arrived before or are repeated."""
        distinct, times = np.unique(indices, return_counts=True)
        again = (times > 1) | (distinct < self._first)
        if self._others:
            again |= np.fromiter(
                (i in self._others for i in distinct.tolist()), bool, distinct.size
            )
        return [int(i) for i in distinct[again]]

    def advance(self, block: Any, indices: NDArray[np.int64]) -> None:
        """Process the columns of `block`, named `indices`, in place."""
        for name, values in zip(
            ("positions", "weights", "scores"), self.sampler.advance(block), strict=True
        ):
            self._log[name].append(values)
        self._log["seen_indices"].append(indices)
        self._remember(indices)

    def _remember(self, indices: NDArray[np.int64]) -> None:
        self.largest = max(self.largest, int(indices.max(initial=-1)))
        if not self._others:
            elsewhere = np.flatnonzero(indices != self._first + np.arange(indices.size))
            consecutive = int(elsewhere[0]) if elsewhere.size else indices.size
            self._first += consecutive
            indices = indices[consecutive:]
        self._others.update(indices.tolist())

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._log[name].values

    def to_state(self) -> dict[str, Any]:
        """Return everything as arrays and numbers."""
        rule, span = self.sampler.rule, self.sampler.span
        state: dict[str, Any] = {
            "version": VERSION,
            "n_samples": self.n_samples,
            "epsilon": rule.epsilon,
            "sampling_rate": rule.rate,
            "outside_span_is_one": int(rule.outside_scores_one),
            "ridge": rule.ridge,
            "n_initial": rule.n_initial,
            "n_seen": self.sampler.n_seen,
            "key": self.sampler.key.copy(),
            "Q": span.reversed_basis.copy(),
            "R": span.factor,
        }
        return state | {name: log.values.copy() for name, log in self._log.items()}


def stream_from(state: Mapping[str, Any], rule_for: Any) -> Stream:
    """Return the stream of a state, or raise a ValueError that names the wrong entry.

    Parameters
    ----------
    state : mapping
        The result of `Stream.to_state`, or of `numpy.load`.
    rule_for : callable
        The estimator's Rule for columns of a given length.
    """
    missing = [name for name in (*NUMBERS, *ARRAYS) if name not in state]
    unknown = [name for name in state if name not in (*NUMBERS, *ARRAYS)]
    if missing or unknown:
        raise ValueError(
            f"{NAME}: expected the entries of get_state, got a state without {missing} and with unknown {unknown[:9]}; "
            f"pass the result of get_state."
        )
    state = {name: _entry(state, name) for name in (*NUMBERS, *ARRAYS)}
    numbers = {name: _number(state, name) for name in NUMBERS}
    if numbers["version"] != VERSION:
        raise ValueError(
            f"{NAME}: expected version {VERSION}, got {numbers['version']:g}; use the release that wrote the state."
        )
    sizes = {
        "2": 2,
        "n_samples": int(numbers["n_samples"]),
        "n_seen": int(numbers["n_seen"]),
    }
    if min(sizes.values()) < 0:
        raise _corrupt(
            "n_samples and n_seen", "counts", [sizes["n_samples"], sizes["n_seen"]]
        )
    arrays = {name: _array(state, name, sizes) for name in ARRAYS}
    rule: Rule = rule_for(sizes["n_samples"])
    stored = Rule(
        epsilon=numbers["epsilon"],
        rate=numbers["sampling_rate"],
        outside_scores_one=bool(numbers["outside_span_is_one"]),
        ridge=numbers["ridge"],
        n_initial=int(numbers["n_initial"]),
    )
    if stored != rule:
        raise ValueError(
            f"{NAME}: expected a state of the same parameters, {rule}, got {stored}; construct the selector with the "
            f"parameters of the one that wrote the state."
        )
    _check_factor(arrays["Q"], arrays["R"])
    _check_decisions(arrays, rule)
    span = KeptSpan.from_factors(arrays["Q"], arrays["R"], rule.ridge)
    sampler = OnlineLeverage(
        rule, arrays["key"], span, sizes["n_seen"], arrays["positions"].size
    )
    return Stream(sampler, arrays)


def _check_factor(Q: NDArray[Any], R: NDArray[Any]) -> None:
    if np.abs(Q.T @ Q - np.eye(Q.shape[1])).max(initial=0.0) > 1e-8:
        raise _corrupt("Q", "orthonormal columns", "others")
    if np.tril(R, -1).any() or not np.diagonal(R).all():
        raise _corrupt(
            "R", "an upper triangular matrix with a non-zero diagonal", "another"
        )


def _check_decisions(arrays: Mapping[str, NDArray[Any]], rule: Rule) -> None:
    """Repeat the draw: the stored scores must give the stored positions and weights."""
    scores, positions = arrays["scores"], arrays["positions"]
    if ((scores < 0) | (scores > 1)).any():
        raise _corrupt(
            "scores", "values between 0 and 1", f"{scores.min()} to {scores.max()}"
        )
    if (
        np.unique(arrays["seen_indices"]).size != scores.size
        or (arrays["seen_indices"] < 0).any()
    ):
        raise _corrupt("seen_indices", "distinct non-negative columns", "others")
    if (
        (np.diff(positions) <= 0).any()
        or (positions < 0).any()
        or (positions >= scores.size).any()
    ):
        raise _corrupt(
            "positions", f"increasing positions below n_seen = {scores.size}", "others"
        )
    start = positions[: rule.n_initial]
    p = rule.probability(scores)
    kept = uniforms(arrays["key"], 0, scores.size) < p
    begun = (
        scores.size if start.size < rule.n_initial else int(start.max(initial=-1)) + 1
    )
    # before its end only zero columns are passed over
    kept[:begun] = scores[:begun] > 0
    kept[start] = True
    p[start] = 1.0
    if not np.array_equal(np.flatnonzero(kept), positions) or not np.allclose(
        arrays["weights"], 1.0 / np.sqrt(p[positions]), rtol=1e-12, atol=0.0
    ):
        raise _corrupt(
            "positions and weights", "those that key and scores give", "others"
        )


def _entry(state: Mapping[str, Any], name: str) -> NDArray[Any]:
    """Return an entry as an array, which `numpy.load` reads only now; a damaged file can raise almost any error."""
    try:
        return np.asarray(state[name])
    except Exception as error:
        raise _corrupt(name, "readable", f"{error!r:.200}") from error


def _number(state: Mapping[str, NDArray[Any]], name: str) -> float:
    value = state[name]
    if value.shape != () or value.dtype.kind not in "iufb" or not np.isfinite(value):
        raise _corrupt(name, "a finite number", f"{value.tolist()!r:.80}")
    return float(value)


def _array(
    state: Mapping[str, NDArray[Any]], name: str, sizes: dict[str, int]
) -> NDArray[Any]:
    kind, shape = ARRAYS[name]
    value = state[name]
    if value.dtype != kind or value.ndim != len(shape):
        raise _corrupt(
            name,
            f"a {np.dtype(kind)} array of shape ({', '.join(shape)})",
            f"{value.dtype} {value.shape}",
        )
    for letter, size in zip(shape, value.shape, strict=True):
        if sizes.setdefault(letter, size) != size:
            raise _corrupt(
                name,
                f"shape ({', '.join(shape)}) with {letter} = {sizes[letter]}",
                value.shape,
            )
    if not np.isfinite(value).all():
        raise _corrupt(name, "finite values", "NaN or infinity")
    return value.copy()


def _corrupt(name: str, expected: str, got: Any) -> ValueError:
    return ValueError(
        f"{NAME}: expected {name} to be {expected}, got {got}; the state is corrupt: save it again."
    )
