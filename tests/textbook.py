"""Plain textbook versions of the algorithms: slow, short, and independent of the package."""

import numpy as np
from sklearn.svm import SVC


def one_vs_rest(y):
    """Return y itself where it is of numbers or of two classes, else an indicator of each class."""
    labels = np.unique(y)
    if labels.size in (2, y.size):
        return [y]
    return [(y == label).astype(float) for label in labels]


def textbook_bss(V, r, tied=1e-10, gain="inverse_mean", preferred=None):
    """Algorithm 1 as printed (with D = sqrt(t)): every column scored, an eigenproblem in each step."""
    d, rank = V.shape
    A = np.zeros((rank, rank))
    root = np.sqrt(r * rank)
    ratio = np.sqrt(rank / r)
    delta_lower = 1.0
    delta_upper = (1 + ratio) / (1 - ratio)
    norms = np.linalg.norm(V, axis=1) if preferred is None else preferred
    selected = np.zeros(d, dtype=bool)
    picks = []
    gains = []
    for tau in range(r):
        L = tau - root
        U = delta_upper * (tau + root)
        lam, Q = np.linalg.eigh(A)
        Z2 = (V @ Q) ** 2
        low = 1 / (lam - L - delta_lower)
        high = 1 / (U + delta_upper - lam)
        lower = Z2 @ low**2 / (low.sum() - (1 / (lam - L)).sum()) - Z2 @ low
        upper = Z2 @ high**2 / ((1 / (U - lam)).sum() - high.sum()) + Z2 @ high
        feasible = (upper <= lower) & (norms > 0)
        candidates = np.flatnonzero(feasible & ~selected)
        if candidates.size == 0:
            candidates = np.flatnonzero(feasible)
        stuck = gain == "mean" and candidates.size == 0
        if stuck:
            candidates = np.flatnonzero(~selected & (norms > 0))
        largest = norms[candidates].max()
        i = candidates[norms[candidates] >= largest * (1 - tied)].min()
        t = (
            2 / (lower[i] + upper[i])
            if gain == "inverse_mean"
            else (lower[i] + upper[i]) / 2
        )
        t = gains[-1] if stuck else t
        A += t * np.outer(V[i], V[i])
        selected[i] = True
        picks.append(i)
        gains.append(t)
    return np.array(picks), np.array(gains)


def libsvm_without_intercept(X, y, c):
    """Return LIBSVM's w for every row and its mirror image (-x, -y): so the intercept is 0, and a loss counts twice."""
    signs = np.where(y == np.unique(y)[1], 1, -1)
    svm = SVC(kernel="linear", C=1 / (4 * c * len(y)), tol=1e-9)
    return svm.fit(np.vstack([X, -X]), np.append(signs, -signs)).coef_[0]
