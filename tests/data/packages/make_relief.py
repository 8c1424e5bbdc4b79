"""Scores of skrebate on made rows: python make_relief.py > relief.json, where skrebate 0.8.4 is installed."""

import json
from importlib.metadata import version

import numpy as np
import skrebate

METHODS = {
    "relieff": lambda **options: skrebate.ReliefF(n_neighbors=7, **options),
    "multisurf": skrebate.MultiSURF,
    "surf": skrebate.SURF,
    "surf_star": skrebate.SURFstar,
}
LABEL_TYPES = {
    "numbers": "continuous",
    "two": "binary",
    "three": "multiclass",
    "uneven": "multiclass",
}


def rows(kind, rng):
    """Return 60 rows of numbers without ties of distances, or of codes."""
    if kind == "codes":
        return rng.integers(0, 4, (60, 20)).astype(float)
    return np.round(rng.standard_normal((60, 12)) * np.geomspace(0.01, 100, 12), 6)


def targets(X, rng):
    """Return numbers, and classes of one size and of others."""
    signal = (
        X[:, 1] / X[:, 1].std()
        + X[:, 4] / X[:, 4].std()
        + 0.3 * rng.standard_normal(60)
    )
    places = np.argsort(np.argsort(signal))
    return {
        "numbers": np.round(signal, 6),
        "two": places * 2 // 60,
        "three": places * 3 // 60,
        "uneven": (places > 10).astype(int) + (places > 40),
    }


def scores(name, kind, X, target, y):
    """Return skrebate's scores, shape (d,)."""
    codes = list(range(X.shape[1])) if kind == "codes" else []
    method = METHODS[name](
        categorical_features=codes,
        label_type=LABEL_TYPES[target],
        n_features_to_select=3,
    )
    return method.fit(X.copy(), y).feature_importances_.tolist()


def main():
    rng = np.random.default_rng(0)
    stored = {
        "versions": {
            package: version(package) for package in ("skrebate", "numpy", "scipy")
        }
    }
    for kind in ("numbers", "codes"):
        X = rows(kind, rng)
        by_target = targets(X, rng)
        stored[kind] = {
            "X": X.tolist(),
            "y": {target: y.tolist() for target, y in by_target.items()},
            "scores": {
                f"{name} {target}": scores(name, kind, X, target, y)
                for name in METHODS
                for target, y in by_target.items()
            },
        }
    print(json.dumps(stored))


if __name__ == "__main__":
    main()
