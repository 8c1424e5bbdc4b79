"""Synthetic two-class data of Table 1, generated from a seed."""

import numpy as np

from provlab.data.dataset import Dataset, make_dataset

VERSION = 1
AT_LEAST = {"n_samples": 1, "n_features": 1, "n_relevant": 1, "seed": 0}
AT_MOST = {"n_relevant": "n_features"}

_SOURCE = (
    "generated: Bhattacharyya (2004), Second order cone programming formulations for feature selection, "
    "Journal of Machine Learning Research 5, as used by Paul, Magdon-Ismail, Drineas (2016), Table 1"
)


def load(
    *, n_samples: int = 200, n_features: int = 1000, n_relevant: int = 40, seed: int = 0
) -> Dataset:
    """Draw samples whose first `n_relevant` features separate the classes, later ones better.

    The label y is -1 or +1 with probability one half each. Feature j, counted from 1,
    is N(-j y, 1) for j <= n_relevant and N(0, 1) otherwise. The features are named "1",
    "2", ... .

    Parameters
    ----------
    n_samples : int, default=200
        Number n of rows. Labels are drawn independently, so all may be of one class if
        n is tiny.
    n_features : int, default=1000
        Number d of columns.
    n_relevant : int, default=40
        Number k of features that depend on the label, at most d.
    seed : int, default=0
        Seed of the generator; the same seed gives the same data.

    Returns
    -------
    Dataset
        Dense X of shape (n_samples, n_features).
    """
    rng = np.random.default_rng(seed)
    y = 2 * rng.integers(0, 2, size=n_samples) - 1
    X = rng.standard_normal((n_samples, n_features))
    X[:, :n_relevant] -= np.outer(y, np.arange(1, n_relevant + 1))
    return make_dataset(X, y, name="synthetic", source=_SOURCE)
