"""Plain column subset selection: dense, short, everything formed; and matrices that are hard for it."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from provlab.data import load_dataset

MIRROR = os.environ.get("PROVSEL_DATA_MIRROR")


def kahan(n, c=0.285):
    """Return Kahan's matrix: column pivoting does not exchange anything, and misses that its last pivot is tiny."""
    s = np.sqrt(1 - c * c)
    return (s ** np.arange(n))[:, None] * (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


def hardest(k, delta):
    """Return (k + 2) x (k + 1): every k columns have the ratio (k + 1) / (1 + k delta^2) (Fact 2)."""
    Z = np.linalg.svd(np.ones((1, k + 1)))[2][1:]
    return np.vstack([Z, np.full((1, k + 1), delta / np.sqrt(k + 1))])


def low_rank_plus_noise(n, d, rank, noise, rng):
    """Return an X with `rank` large singular values, and singular vectors that few columns carry."""
    scale = np.exp(rng.standard_normal((d, 1)))
    X = rng.standard_normal((n, rank)) @ (rng.standard_normal((d, rank)) * scale).T
    return X + noise * rng.standard_normal((n, d))


def matrices():
    """Return pairs of a name and (X, k)."""
    rng = np.random.default_rng(20)
    wide = rng.standard_normal((30, 90))
    blocks = rng.standard_normal((40, 12))
    sparse_like = rng.standard_normal((60, 150)) * (rng.random((60, 150)) < 0.05)
    yield "wide", (wide, 8)
    yield "tall", (wide.T.copy(), 8)
    yield "low rank plus noise", (low_rank_plus_noise(50, 80, 6, 1e-3, rng), 6)
    yield "low rank, less noise", (low_rank_plus_noise(50, 80, 6, 1e-7, rng), 6)
    yield "Kahan", (kahan(60), 59)
    yield "duplicates", (np.hstack([blocks, blocks, 2 * blocks, np.zeros((40, 3))]), 7)
    yield "few non-zeros", (sparse_like, 10)
    yield "hardest", (hardest(6, 0.01), 6)


MATRICES = dict(matrices())


def text():
    """Return the counts of one TechTC set, CSR, and k."""
    names = sorted(
        path.name.removesuffix(".txt.xz")
        for path in Path(MIRROR or ".", "techtc100/tokens").glob("Exp_*")
    )
    if MIRROR is None or not names:
        pytest.skip("no TechTC token lists in PROVSEL_DATA_MIRROR")
    return load_dataset("techtc", set=names[0]).X, 20


def residual(X, columns):
    """Return X - C C^+ X by least squares."""
    if len(columns) == 0:
        return X
    C = X[:, columns]
    return X - C @ np.linalg.lstsq(C, X, rcond=None)[0]


def ratios(X, columns, k, sigma=None):
    """Return the squared Frobenius and spectral ratios to the best approximation of rank k; X has values sigma."""
    left, sigma = (
        residual(X, columns),
        np.linalg.svd(X, compute_uv=False) if sigma is None else sigma,
    )
    return (left**2).sum() / (sigma[k:] ** 2).sum(), np.linalg.norm(
        left, 2
    ) ** 2 / sigma[k] ** 2


def leading(X, k):
    """Return V, shape (d, k), and E = X - X_k."""
    U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    return Vt[:k].T, (U[:, k:] * sigma[k:]) @ Vt[k:]


def least(values, tied=1e-10):
    """Return the lowest index of the least value."""
    return int(np.flatnonzero(values <= values.min() * (1 + tied))[0])


def textbook_single_svd(V, E):
    """Osinsky's selection with F and Q updated as they are written."""
    F = E.copy()
    Q = V.copy()
    chosen = []
    for _ in range(V.shape[1]):
        norms = (Q**2).sum(axis=1)
        scores = np.full(len(V), np.inf)
        for j in np.flatnonzero(norms > 1e-13 * norms.max()):
            scores[j] = (F[:, j] @ F[:, j]) / norms[j]
        j = least(scores)
        u = Q[j] / np.linalg.norm(Q[j])
        p = Q @ u
        F -= np.outer(F[:, j], p) / p[j]
        Q -= np.outer(p, u)
        chosen.append(j)
        Q[chosen] = 0
    return chosen


def textbook_exchanges(X, start, f):
    """Exchange while the volume of another set, by its determinant, is more than f times this one's."""
    chosen = list(start)
    exchanges = 0

    def volume(columns):
        return np.sqrt(max(np.linalg.det(X[:, columns].T @ X[:, columns]), 0.0))

    while True:
        exchanged = []
        for j, i in itertools.product(
            sorted(set(range(X.shape[1])) - set(chosen)), range(len(chosen))
        ):
            candidate = chosen.copy()
            candidate[i] = j
            exchanged.append((volume(candidate) / volume(chosen), i, j))
        largest = max(factor for factor, _, _ in exchanged)
        if largest <= f * (1 + 1e-10):
            return chosen, exchanges, largest
        _, i, j = next(entry for entry in exchanged if entry[0] >= largest * (1 - 1e-9))
        chosen[i] = j
        exchanges += 1


def volume_law(V):
    """Return det(V_S)^2 of every set of k rows, sorted."""
    k = V.shape[1]
    return {
        S: np.linalg.det(V[list(S)]) ** 2
        for S in itertools.combinations(range(len(V)), k)
    }


def pivot_law(X, r):
    """Return the probability of every ordered r-tuple, each column drawn by its squared residual."""
    law = {(): 1.0}
    for _ in range(r):
        longer = {}
        for drawn, p in law.items():
            norms = (residual(X, list(drawn)) ** 2).sum(axis=0)
            norms[list(drawn)] = 0
            for j, share in enumerate(norms / norms.sum()):
                if share > 0:
                    longer[(*drawn, j)] = p * share
        law = longer
    return law


def least_roots(a, b, c):
    """Return the least real parts of the roots of a x^2 + b x + c, found as by np.roots, for arrays of coefficients."""
    companions = np.zeros((*np.shape(a), 2, 2))
    companions[..., 0, 0] = -b / a
    companions[..., 0, 1] = -c / a
    companions[..., 1, 0] = 1
    return np.linalg.eigvals(companions).real.min(axis=-1)


def textbook_spectral(V, r):
    """Spectral selection with inverses, bisection, and a grid for eps."""
    d, k = V.shape

    def step(level, eps, left):
        w = 1 - level - k / eps
        return least_roots(eps / k, -(1 + eps * w / left), w / left)

    grid = np.exp(np.linspace(np.log(d) - 5, np.log(d) + 5, 20_001))
    promises = r * step(-k / grid, grid, d) - (k - 1) / grid
    eps = grid[int(np.argmax(promises))]
    Y = np.zeros((k, k))
    chosen = []
    for s in range(r):
        low = np.linalg.eigvalsh(Y)[0] - 2 * k / eps
        high = np.linalg.eigvalsh(Y)[0] - 0.5 / eps
        for _ in range(200):
            middle = (low + high) / 2
            if np.trace(np.linalg.inv(Y - middle * np.eye(k))) > eps:
                high = middle
            else:
                low = middle
        Z = np.linalg.inv(Y - (low + step(low, eps, d - s)) * np.eye(k))
        gains = np.array([v @ Z @ Z @ v / (1 + v @ Z @ v) for v in V])
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains >= gains.max() * (1 - 1e-10))))
        Y += np.outer(V[chosen[-1]], V[chosen[-1]])
    return chosen, promises.max()


def textbook_dual_set(V, E, r):
    """Dual set selection with inverses: the picks, repeats included, and the summed weights s of all rows."""
    d, k = V.shape
    h = 1 - np.sqrt(k / r)
    cost = h * (E**2).sum(axis=0) / (E**2).sum()
    A = np.zeros((k, k))
    s = np.zeros(d)
    picks = []
    for tau in range(r):
        level = tau - np.sqrt(r * k)
        eye = np.eye(k)
        Z = np.linalg.inv(A - (level + 1) * eye)
        moved = np.trace(Z) - np.trace(np.linalg.inv(A - level * eye))
        gains = np.array([v @ Z @ Z @ v / moved - v @ Z @ v for v in V])
        margin = gains - cost
        j = int(np.flatnonzero(margin >= margin.max() - 1e-10 * np.abs(gains).max())[0])
        t = 2 / (gains[j] + cost[j])
        s[j] += t
        A += t * np.outer(V[j], V[j])
        picks.append(j)
    return picks, s * h / r
