"""Exponents of cost, by least squares in the logarithms."""

from dataclasses import dataclass

import numpy as np

FEWEST = 3
"""Points of a fit."""


@dataclass(frozen=True)
class Fit:
    """cost = factor * size ** exponent over the upper part of the sizes.

    Attributes
    ----------
    exponent : float
    error : float or None
        Standard error of the exponent; None of a line through two points.
    factor : float
    sizes : list of float
        Those of the fit.
    """

    exponent: float
    error: float | None
    factor: float
    sizes: list

    def at(self, size):
        """Return the fitted cost."""
        return self.factor * size**self.exponent


def fit_exponent(sizes, costs):
    """Fit the upper half of the sizes, at least three of them, where constant costs matter least.

    Parameters
    ----------
    sizes, costs : sequence of float
        Positive; at least two different sizes.

    Raises
    ------
    ValueError
        For fewer than two sizes, or costs or sizes that are not positive.
    """
    order = np.argsort(sizes)
    x, y = np.asarray(sizes, dtype=float)[order], np.asarray(costs, dtype=float)[order]
    if len(set(x)) < 2 or x.shape != y.shape or not (x > 0).all() or not (y > 0).all():
        raise ValueError(
            f"fit_exponent: expected a positive cost for each of at least two positive sizes, got sizes {list(x)} "
            f"and costs {list(y)}; measure larger sizes."
        )
    upper = slice(-max(FEWEST, (x.size + 1) // 2), None)
    a, b = np.log(x[upper]), np.log(y[upper])
    spread = float(((a - a.mean()) ** 2).sum())
    exponent = float(((a - a.mean()) * (b - b.mean())).sum() / spread)
    left = b - b.mean() - exponent * (a - a.mean())
    error = float(np.sqrt((left**2).sum() / (a.size - 2) / spread)) if a.size > 2 else None
    return Fit(exponent, error, float(np.exp(b.mean() - exponent * a.mean())), x[upper].tolist())


def exponent_text(fit):
    """Return "0.98 ± 0.02"."""
    return f"{fit.exponent:.2f}" + ("" if fit.error is None else f" ± {fit.error:.2f}")
