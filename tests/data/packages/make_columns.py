"""Columns of skmatter's CUR and FPS: python make_columns.py > columns.json, where skmatter 0.4.1 is installed."""

import json
from importlib.metadata import version

import numpy as np
from skmatter.feature_selection import CUR, FPS

SHAPES = {"wide": (12, 40), "tall": (40, 12)}


def main():
    rng = np.random.default_rng(0)
    stored = {
        "versions": {
            package: version(package) for package in ("skmatter", "numpy", "scipy")
        }
    }
    for name, shape in SHAPES.items():
        X = np.round(rng.standard_normal(shape) * rng.uniform(1, 5, shape[1]), 6)
        # the farthest from the mean
        first = int(np.argmax(((X - X.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)))
        cur = {k: CUR(n_to_select=8, k=k).fit(X).selected_idx_.tolist() for k in (1, 3)}
        fps = FPS(n_to_select=8, initialize=first).fit(X).selected_idx_.tolist()
        stored[name] = {"X": X.tolist(), "cur": cur, "fps": fps}
    print(json.dumps(stored))


if __name__ == "__main__":
    main()
