"""Designs: generated classes with known relevant features, each with its own difficulty."""

from collections.abc import Callable

import numpy as np

from provlab.data.dataset import Dataset, make_dataset

VERSION = 1
AT_LEAST = {"n_samples": 4, "n_features": 2, "n_relevant": 2, "seed": 0}
AT_MOST = {"n_relevant": "n_features"}

_DECIMALS = 6
"""Decimals kept, because logarithms in NumPy's normal variables differ in the last bit between processors."""


def load(
    *,
    kind: str = "shift",
    n_samples: int = 200,
    n_features: int = 500,
    n_relevant: int = 10,
    seed: int = 0,
) -> Dataset:
    """Draw rows whose first k = `n_relevant` features determine the class and suffice to predict it.

    They are the Markov blanket of the label: given them, the label is independent of
    all other features, and it depends on each of them given the rest. All designs
    except "multiclass" have the labels -1 and +1. N is a standard normal variable,
    drawn for each entry; s is the sum of the k relevant features, and sigma its
    standard deviation. Features not mentioned are N.

    Parameters
    ----------
    kind : str, default="shift"
        How the relevant features and the label depend on each other, see `DESIGNS`.
    n_samples : int, default=200
        Number n of rows.
    n_features : int, default=500
        Number d of columns.
    n_relevant : int, default=10
        Number k of relevant features, at least 2 and at most d.
    seed : int, default=0
        Seed of the generator; the same seed gives the same data.

    Returns
    -------
    Dataset
        Dense X of shape (n_samples, n_features), rounded to six decimals; the features
        are named "1", "2", ... .
    """
    # designs with the same seed share no numbers
    rng = np.random.default_rng([seed, *kind.encode()])
    X, y = DESIGNS[kind](rng, n_samples, n_features, n_relevant)
    return make_dataset(
        X.round(_DECIMALS),
        y,
        name=f"design_{kind}",
        source=f"generated: {DESIGNS[kind].__doc__}",
    )


# ---- each design draws X of shape (n, d), whose first k columns are relevant, and y

_Drawn = tuple[np.ndarray, np.ndarray]


def _labels(rng: np.random.Generator, n: int, n_positive: int) -> np.ndarray:
    return rng.permutation(np.where(np.arange(n) < n_positive, 1, -1))


def _shifted(
    rng: np.random.Generator, X: np.ndarray, k: int, n_positive: int
) -> _Drawn:
    """Move the classes apart by 3 standard deviations, shared equally by the relevant features; Bayes error 7 %."""
    y = _labels(rng, len(X), n_positive)
    X[:, :k] += 1.5 / np.sqrt(k) * y[:, None]
    return X, y


def _sign(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    """Return the sign of a score of variance 1 plus noise, which flips the labels of 9 % of the rows."""
    return np.where(score + 0.3 * rng.standard_normal(score.size) > 0, 1, -1)


def shift(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Move the means of the classes apart, by less per feature the more features are relevant."""
    return _shifted(rng, rng.standard_normal((n, d)), k, n // 2)


def imbalance(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Shift the means, with one positive row among ten."""
    return _shifted(rng, rng.standard_normal((n, d)), k, max(2, n // 10))


def heavy_tails(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Shift the means, with noise of Student's t of two degrees of freedom, which has no variance."""
    normal, first, second = rng.standard_normal((3, n, d))
    chi_squared = first**2 + second**2
    return _shifted(rng, normal / np.sqrt(chi_squared / 2), k, n // 2)


def label_noise(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Shift the means, but make a fifth of the labels wrong."""
    X, y = shift(rng, n, d, k)
    return X, y * _labels(rng, n, n - n // 5)


def scale(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Double the relevant features' standard deviation in one class; their means are equal."""
    X = rng.standard_normal((n, d))
    y = _labels(rng, n, n // 2)
    X[y > 0, :k] *= 2
    return X, y


def words(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Draw zeros and ones; a relevant word is four times as frequent in one class, equally often in each class."""
    y = _labels(rng, n, n // 2)
    frequency = np.tile(rng.uniform(0.05, 0.4, d), (n, 1))
    signs = np.where(np.arange(k) % 2, 1, -1)
    frequency[:, :k] *= 1 + 0.6 * np.outer(y, signs)
    return (rng.random((n, d)) < frequency).astype(float), y


def multiclass(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Draw four classes, 0 to 3; relevant feature j, from 0, has another mean in class j modulo 4."""
    X = rng.standard_normal((n, d))
    y = rng.permutation(np.arange(n) % 4)
    is_shifted = y[:, None] == np.arange(k) % 4
    X[:, :k] += 4.5 / np.sqrt(k) * is_shifted
    return X, y


def _accompanied(
    rng: np.random.Generator, shape: tuple[int, int], k: int, share: float, rest: float
) -> _Drawn:
    """Give each relevant feature four companions, as far as there are columns; the label is the sign of s."""
    X = rng.standard_normal(shape)
    for start in range(k, min(5 * k, shape[1] - k + 1), k):
        X[:, start : start + k] = share * X[:, :k] + rest * X[:, start : start + k]
    return X, _sign(rng, X[:, :k].sum(axis=1) / np.sqrt(k))


def correlated(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Take the sign of s as the label; each relevant feature has four companions with correlation 0.8 to it."""
    return _accompanied(rng, (n, d), k, 0.8, 0.6)


def copies(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Take the sign of s as the label; each relevant feature has four noisy copies, with correlation 0.96 to it."""
    return _accompanied(rng, (n, d), k, 0.96, 0.28)


def chain(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Take the sign of s as the label; features form a series with correlation 0.8 between neighbours."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
    distance = d // k
    relevant = np.arange(k) * distance
    X = X[:, [*relevant, *np.setdiff1d(np.arange(d), relevant)]]
    variance = k + 2 * sum((k - i) * 0.8 ** (i * distance) for i in range(1, k))
    return X, _sign(rng, X[:, :k].sum(axis=1) / np.sqrt(variance))


def proxies(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Take the sign of s as the label; k other features have correlation 0.8 to s, more than any relevant one."""
    X = rng.standard_normal((n, d))
    score = X[:, :k].sum(axis=1) / np.sqrt(k)
    X[:, k : 2 * k] = 0.8 * score[:, None] + 0.6 * X[:, k : 2 * k]
    return X, _sign(rng, score)


def suppressed(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Take the sign of the sum of k - 1 features as the label, then add the last, alone uninformative, to each."""
    X = rng.standard_normal((n, d))
    y = _sign(rng, X[:, : k - 1].sum(axis=1) / np.sqrt(k - 1))
    X[:, : k - 1] += X[:, k - 1 : k]
    return X, y


def interactions(rng: np.random.Generator, n: int, d: int, k: int) -> _Drawn:
    """Take the sign of a sum of products of each relevant feature and the next: none has an effect alone."""
    X = rng.standard_normal((n, d))
    products = X[:, :k] * np.roll(X[:, :k], 1, axis=1)
    return X, _sign(rng, products.sum(axis=1) / np.sqrt(k))


DESIGNS: dict[str, Callable[[np.random.Generator, int, int, int], _Drawn]] = {
    design.__name__: design
    for design in (
        shift, imbalance, heavy_tails, label_noise, scale, words, multiclass,
        correlated, copies, chain, proxies, suppressed, interactions,
    )
}  # fmt: skip
CHOICES = {"kind": tuple(DESIGNS)}
