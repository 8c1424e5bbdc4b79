"""Run the packages that users know on fixed inputs, and store their choices in `filters.json`.

In an environment of its own: pip install mrmr-selection==0.2.8
skfeature-chappers==1.2.1 && python make_filters.py
"""

import importlib.metadata
import json
from pathlib import Path

import numpy as np

PACKAGES = ("mrmr-selection", "skfeature-chappers", "scikit-learn", "numpy", "pandas")
PICKS = 20


def inputs():
    """Return X, labels and numbers of each case; columns come in groups that repeat each other."""
    cases = {}
    for name, n_samples, n_features, n_classes in (
        ("wide", 60, 300, 2),
        ("tall", 300, 40, 3),
        ("few", 12, 30, 2),
    ):
        rng = np.random.default_rng([n_samples, n_features])
        hidden = rng.standard_normal((n_samples, 8))
        X = hidden[:, np.arange(n_features) % 8] + rng.standard_normal(
            (n_samples, n_features)
        )
        numbers = hidden[:, :3].sum(axis=1) + 0.5 * rng.standard_normal(n_samples)
        labels = np.searchsorted(
            np.quantile(numbers, np.arange(1, n_classes) / n_classes), numbers
        )
        cases[name] = X, labels, numbers
    X, labels, numbers = cases["tall"]
    X = X.copy()
    X[:, 5] = X[:, 0]  # a copy, a constant, and a column of the other sign
    X[:, 6] = 3.0
    X[:, 7] = -X[:, 1]
    cases["copies"] = X, labels, numbers
    return cases


def codes(X):
    """Return X in three bins by its deviation, as whole numbers."""
    return np.digitize(
        (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), [-0.5, 0.5]
    )


def mrmr(X, labels, numbers):
    """Return the picks of mrmr-selection by both denominators, for classes and numbers."""
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    frame = pd.DataFrame(X)
    picks = {}
    for denominator in ("mean", "max"):
        options = {
            "K": PICKS,
            "denominator": denominator,
            "show_progress": False,
            "n_jobs": 1,
        }
        picks[f"classes {denominator}"] = mrmr_classif(
            frame, pd.Series(labels), **options
        )
        picks[f"numbers {denominator}"] = mrmr_regression(
            frame, pd.Series(numbers), **options
        )
    return picks


def greedy_information(X, labels):
    """Return the picks of scikit-feature, of the codes of X: where it follows Brown et al. (2012).

    Its `jmi`, `cife` and `mifs` return places among the picks, no features; `icap` has
    the maximum of CMIM, and `disr` one more divisor.
    """
    from skfeature.function.information_theoretical_based import CMIM, LCSI

    options = {"mode": "index", "n_selected_features": 10}
    picks = {"cmim": CMIM.cmim(codes(X), labels, **options)}
    for name, beta, gamma in (
        ("mim", 0.0, 0.0),
        ("mifs", 1.0, 0.0),
        ("cife", 1.0, 1.0),
        ("condred", 0.0, 1.0),
    ):
        picks[name] = LCSI.lcsi(codes(X), labels, beta=beta, gamma=gamma, **options)
    return picks


if __name__ == "__main__":
    stored = {
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "mrmr": {},
        "skfeature": {},
    }
    for name, (X, labels, numbers) in inputs().items():
        stored["mrmr"][name] = mrmr(X, labels, numbers)
        stored["skfeature"][name] = greedy_information(X[:, :25], labels)
    whole = json.dumps(
        stored,
        indent=1,
        default=lambda value: np.asarray(value).tolist(),
        sort_keys=True,
    )
    Path(__file__).with_name("filters.json").write_text(whole + "\n", encoding="utf-8")
