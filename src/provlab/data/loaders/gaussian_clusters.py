"""Classes around Gaussian means with few rows and many columns, generated from a seed to test guarantees."""

from typing import Any

import numpy as np

from provlab.data.dataset import Dataset, make_dataset
from provsel.checks import check_positive

VERSION = 1

AT_LEAST = {"n_samples": 1, "n_features": 1, "n_classes": 2, "seed": 0}
AT_MOST = {"n_classes": "n_samples"}
CHOICES = {"columns": ("gaussian", "lognormal", "disjoint", "growing")}

_SOURCE = (
    "generated: for the guarantees of Wang, Shen, Li (2018), Provable variable selection for streaming features, "
    "whose bounds need far more columns than their data have"
)


def load(
    *,
    n_samples: int = 20,
    n_features: int = 20000,
    n_classes: int = 3,
    columns: str = "gaussian",
    scale: float = 1.0,
    seed: int = 0,
) -> Dataset:
    """Draw rows around the means of their classes, with columns that are easy or hard for a stream.

    Row i, counted from 0, is of class i modulo `n_classes`. Entry (i, j) is a standard
    normal mean of its class and column plus standard normal noise, times a factor of
    the column. Data with the same seed differ only in these factors. The features are
    named "1", "2", ... .

    Parameters
    ----------
    n_samples : int, default=20
        Number n of rows, at least `n_classes`.
    n_features : int, default=20000
        Number d of columns.
    n_classes : int, default=3
        Number of classes, at least two. The labels are 0, 1, ..., or -1 and +1 for two
        classes.
    columns : {"gaussian", "lognormal", "disjoint", "growing"}, default="gaussian"
        Factor of a column. "gaussian" means 1. "lognormal" means exp(2 N(0, 1)), so
        that few columns hold most of the norm. "disjoint" means 0 on one half of the
        rows, the first floor(n / 2) or the rest, and 1 on the other half, so that
        columns of different halves are orthogonal; the half is random, but column 0 is
        nonzero on the first. "growing" means equal steps from 1 for the first column to
        100 for the last.
    scale : float, default=1.0
        Factor of all entries.
    seed : int, default=0
        Seed of the generator; the same seed gives the same data.

    Returns
    -------
    Dataset
        Dense X of shape (n_samples, n_features).
    """
    rng = np.random.default_rng(seed)
    codes = np.arange(n_samples) % n_classes
    X = rng.standard_normal((n_classes, n_features))[codes] + rng.standard_normal(
        (n_samples, n_features)
    )
    X *= _factors(columns, n_samples, n_features, rng)
    X *= scale
    name = (
        "gaussian_clusters" if columns == "gaussian" else f"gaussian_clusters_{columns}"
    )
    labels = 2 * codes - 1 if n_classes == 2 else codes
    return make_dataset(X, labels, name=name, source=_SOURCE)


def checked(**parameters: Any) -> dict[str, Any]:
    """Check the parameters of `load`."""
    check_positive("gaussian_clusters", scale=parameters["scale"])
    return parameters


def _factors(columns: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return the factors of the columns, shape (1, d) or (n, d)."""
    if columns == "lognormal":
        return np.exp(2 * rng.standard_normal((1, d)))
    if columns == "growing":
        return np.linspace(1, 100, d)[None, :]
    if columns == "disjoint":
        first = rng.random(d) < 0.5
        first[0] = True
        return ((np.arange(n) < n // 2)[:, None] == first).astype(float)
    return np.ones((1, d))
