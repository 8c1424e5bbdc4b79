"""Sampling rate at which a pass of online leverage sampling keeps a requested number of columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from provsel.kernels.online_leverage import OnlineLeverage, Rule, uniforms

Array = NDArray[np.float64]
Matrix = Any

BRACKET = 4.0
"""Largest factor between the first two rates."""

OVERSHOOT = 1.5
"""Factor by which steps exceed their prediction before there is a bracket: interpolation needs a rate on either side.
"""

CLOSE = 1e-4
"""The search ends when its two rates differ by less than this share: between them the count jumps over r."""

EDGE = 0.05
"""Share of the bracket that a new rate keeps from its ends."""

DIGITS = 6
"""Significant digits of a rate: logarithms may differ in the last bit from one processor to another."""

NEIGHBOURS = 6
"""Number of rates tried around such a jump, because the count is not monotone and another rate may be better."""

CHUNK = 1024
"""Rows made dense together."""

HEAD, DENSE, DENSE_GRAM = 0.25, 0.45, 0.2
"""The share of first columns that predicts whether a pass keeps a share at which compressing pays: by QR, or by the
Gram matrix if that suffices.
"""

SAFE = 1e-6
"""Least reciprocal condition of the Gram matrix of columns of length 1, at which scores are off by about 1e-10: below
it, QR gives the kept columns and weights.
"""


@dataclass(frozen=True)
class Pass:
    """Result of one pass at a given rate.

    Attributes
    ----------
    rate : float
    positions, weights, scores : ndarray
        As `OnlineLeverage.advance` returns them.
    n_seen : int
        Fewer than all columns if a pass was stopped because it kept too many.
    """

    rate: float
    positions: NDArray[np.int64]
    weights: Array
    scores: Array
    n_seen: int


def one_pass(
    X: Matrix, rule: Rule, key: NDArray[np.uint64], most: int | None = None
) -> Pass:
    """Return the result of a pass over the columns of X, shape (n, d), dense or CSC.

    With `most`, a pass that keeps more columns is stopped early. Otherwise, if more
    than `DENSE` of the first `HEAD` of the columns of a compressible matrix are kept,
    the pass restarts on the compressed rows. Compression costs n d^2 by the Gram
    matrix, for which `DENSE_GRAM` suffices, or else 2 n d^2; the pass itself costs
    about n (d k + 3 k^2).
    """
    n, d = X.shape
    state = OnlineLeverage.start(
        n, rule, key, capacity=0 if sparse.issparse(X) else min(n, d)
    )
    head = int(HEAD * d) if most is None and _is_compressible(X) else 0
    first = state.advance(X[:, :head])
    compressed = None
    if state.n_kept > DENSE * head:
        compressed = compressed_rows(X)
    elif state.n_kept > DENSE_GRAM * head:
        compressed = gram_factor(X)
    if compressed is not None:
        state = OnlineLeverage.start(d, rule, key, capacity=d)
        return Pass(rule.rate, *state.advance(compressed), n_seen=d)
    rest = state.advance(X[:, head:], most)
    positions, weights, scores = (
        np.concatenate(parts) for parts in zip(first, rest, strict=True)
    )
    return Pass(rule.rate, positions, weights, scores, state.n_seen)


def calibrated_pass(X: Matrix, r: int, rule: Rule, key: NDArray[np.uint64]) -> Pass:
    """Return the pass that keeps r columns, or otherwise the closest one that was tried.

    The random number of a column is the same at every rate. The number kept mostly
    grows with the rate, but not always, because a column that is kept early lowers the
    scores of later ones. Regula falsi, or bisection if that makes little progress,
    finds a rate at which the count steps over r, and a search around it finds the
    nearest count. This takes about 2 to 6 passes, or 20 if the count jumps over r; a
    pass stops once it has kept too many to be the nearest.

    Parameters
    ----------
    X : ndarray or CSC of shape (n, d)
    r : int
        At least `rule.n_initial`.
    rule : Rule
        Its rate is replaced.
    key : ndarray of shape (2,), uint64

    Returns
    -------
    Pass
        The first pass found with the smallest |count - r|.
    """
    d = X.shape[1]
    best: Pass | None = None
    gap = r + 1

    def kept(rate: float) -> float:
        """Return how many columns a rate keeps, estimated if too many; r if no larger rate keeps more."""
        nonlocal best, gap
        tried = one_pass(X, replace(rule, rate=rate), key, most=r + gap - 1)
        count = tried.positions.size
        if count >= r + gap:
            return count * d / tried.n_seen
        if abs(count - r) < gap:
            best, gap = tried, abs(count - r)
        return r if count < r and _is_saturated(tried) else count

    # the first rate keeps r columns if all score 1, because r random numbers are below
    # it
    draws = uniforms(key, 0, d)
    draws[: rule.n_initial] = 0.0
    search = _RateSearch(r, float(np.append(np.sort(draws), 1.0)[r - 1 : r + 1].mean()))
    count = math.inf
    while gap and count != r and search.goes_on:
        count = kept(search.rate)
        search.see(count)
    if gap and count != r:
        # nearest first, alternately below and above, within three per cent
        for step in range(NEIGHBOURS):
            if gap:
                kept(
                    search.rate
                    * (1.0 + 2e-3) ** ((-1) ** step * (step // 2 + 1) ** 2.5)
                )
    assert best is not None  # some pass kept at most r columns
    return best


class _RateSearch:
    """The next `rate` to try, between those that kept too few and too many columns."""

    def __init__(self, r: int, rate: float) -> None:
        self.rate, self._r = _rounded(rate), r
        # logarithms of the last rate that kept fewer than r columns, or more, and of
        # that number as a share of r
        self._low: tuple[float, float] | None = None
        self._high: tuple[float, float] | None = None
        self._step, self._left, self._width = 0.0, math.inf, math.inf

    @property
    def goes_on(self) -> bool:
        """Whether the two rates still differ."""
        return self._width > CLOSE

    def see(self, count: float) -> None:
        """Move `rate`, which kept this many columns."""
        x, y = math.log(self.rate), math.log((count + 0.5) / (self._r + 0.5))
        if y < 0:
            self._low = x, y
        else:
            self._high = x, y
        if self._low is None or self._high is None:
            # assumes that the count is proportional to the rate; if that gains little,
            # steps double
            step = min(OVERSHOOT * abs(y), math.log(BRACKET))
            self._step = (
                step if abs(y) < 0.5 * self._left else max(step, 2 * self._step)
            )
            self._left = abs(y)
            x += math.copysign(self._step, -y)
        else:
            before, self._width = self._width, self._high[0] - self._low[0]
            share = (
                self._low[1] / (self._low[1] - self._high[1])
                if self._width < 0.5 * before
                else 0.5
            )
            x = self._low[0] + self._width * min(max(share, EDGE), 1 - EDGE)
        self.rate = _rounded(math.exp(x))


def _rounded(rate: float) -> float:
    return float(f"{rate:.{DIGITS}g}")


def _is_saturated(tried: Pass) -> bool:
    """Return whether every probability of the pass was 0 or 1, so that a larger rate changes nothing."""
    positive = tried.scores[tried.scores > 0]
    return positive.size == 0 or tried.rate * positive.min() >= 1.0


def compressed_rows(X: Matrix) -> Matrix:
    """Return a triangular matrix, shape (d, d), with the inner products of the columns of X, if that is smaller.

    Online leverage scores depend on inner products only. X, shape (n, d), dense or
    sparse, is returned unchanged unless n > 2 d, or if it is float32. The factor of the
    Gram matrix is used if columns are far from dependent. Otherwise sparse rows are
    made dense chunk by chunk. Householder QR of a triangle stacked on the next chunk
    keeps each column to a relative error of about 1e-15, which the Gram matrix would
    not.
    """
    if not _is_compressible(X):
        return X
    if (factor := gram_factor(X)) is not None:
        return factor
    n, d = X.shape
    source = X.tocsr() if sparse.issparse(X) else X
    R = np.zeros((d, d), order="F")
    for start in range(0, n, CHUNK):
        chunk = source[start : start + CHUNK]
        chunk = chunk.toarray() if sparse.issparse(chunk) else chunk
        chunk = np.array(chunk, dtype=np.float64, order="F")
        R = lapack.dtpqrt(0, min(32, d), R, chunk, overwrite_a=1, overwrite_b=1)[0]
    return R


def gram_factor(X: Matrix) -> Array | None:
    """Return the upper Cholesky factor of X^T X, shape (d, d), or None if its condition is worse than `SAFE`.

    It takes one product of n d^2 operations, half of those of QR. Zero columns stay
    zero.
    """
    gram = (X.T @ X).toarray() if sparse.issparse(X) else X.T @ X
    lengths = np.sqrt(np.diagonal(gram))
    scales = np.where(lengths > 0, lengths, 1.0)
    gram /= scales
    gram /= scales[:, None]
    gram[np.diag_indices_from(gram)] = 1.0
    size = np.abs(gram).sum(axis=0).max(initial=0.0)
    R, failed = lapack.dpotrf(gram, lower=0, clean=1)
    if failed or lapack.dpocon(R, size)[0] < SAFE:
        return None
    return np.asfortranarray(R * lengths)


def _is_compressible(X: Matrix) -> bool:
    # columns of float32 count as outside the span by another tolerance, which their
    # rows in float64 would lose
    return bool(X.shape[0] > 2 * X.shape[1] and X.dtype != np.float32)
