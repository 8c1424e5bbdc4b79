"""Paths of pyHSICLasso: python make_hsic_lasso.py > hsic_lasso.json, where pyHSICLasso 1.4.2 is installed."""

import contextlib
import json
import sys
from importlib.metadata import version

import numpy as np
from pyHSICLasso import HSICLasso

N_FEATURES = (1, 3, 6)
CASES = {  # what y is, rows of a block, codes
    "classes, one block": ("classes", 0, False),
    "numbers, one block": ("numbers", 0, False),
    "codes, one block": ("classes", 0, True),
    "classes, blocks": ("classes", 12, False),
    "numbers, blocks": ("numbers", 20, False),
}


def blocks_of(n, size):
    """Return its blocks of rows: permutations of permutations, whose seeds are 0, 1, 2."""
    index = np.arange(n)
    blocks = []
    for seed in range(3):
        index = np.random.RandomState(seed).permutation(index)
        blocks.extend(index[: n // size * size].reshape(-1, size).tolist())
    return blocks


def path(X, y, kind, size, is_discrete, n_features):
    """Return its features, their weights, and the HSIC of all features with y."""
    method = HSICLasso()
    method.input(X, y.astype(float))
    fit = method.classification if kind == "classes" else method.regression
    with contextlib.redirect_stdout(sys.stderr):
        fit(n_features, B=size, M=3, discrete_x=is_discrete, n_jobs=1)
    weights = method.beta[method.A, 0].astype(float).tolist()
    return {
        "features": [int(j) for j in method.A],
        "weights": weights,
        "hsic": method.Xty[:, 0].astype(float).tolist(),
    }


def main():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((60, 15)), 4)
    X[:, 7] = np.round(X[:, 2] + 0.3 * X[:, 7], 4)
    signal = X[:, 2] + X[:, 4] ** 2 + 0.3 * rng.standard_normal(60)
    codes = rng.integers(0, 3, (60, 15)).astype(float)
    codes[:40, 5] = np.argsort(np.argsort(signal))[:40] * 3 // 60
    codes[20:, 9] = np.argsort(np.argsort(signal))[20:] * 3 // 60
    y = {
        "numbers": np.round(signal, 4),
        "classes": np.argsort(np.argsort(signal)) * 3 // 60,
    }
    stored = {
        "versions": {
            package: version(package) for package in ("pyHSICLasso", "numpy", "scipy")
        },
        "X": X.tolist(),
        "codes": codes.tolist(),
        "y": {kind: target.tolist() for kind, target in y.items()},
        "cases": {},
    }
    for name, (kind, size, is_discrete) in CASES.items():
        columns = codes if is_discrete else X
        paths = {
            n: path(columns, y[kind], kind, size, is_discrete, n) for n in N_FEATURES
        }
        blocks = blocks_of(60, size) if size else [list(range(60))]
        stored["cases"][name] = {
            "kind": kind,
            "codes": is_discrete,
            "blocks": blocks,
            "paths": paths,
        }
    print(json.dumps(stored))


if __name__ == "__main__":
    main()
