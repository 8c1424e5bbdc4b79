"""Exponents of cost, by least squares in the logarithms."""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    """cost ~ size ** exponent, with the standard error of the exponent; None of a line through two points."""

    exponent: float
    error: float | None


def fit_exponent(sizes, costs):
    """Fit the upper half of the sizes, at least three of them, where constant costs matter least."""
    x, y = np.log(sizes), np.log(costs)
    upper = np.argsort(x)[-max(3, (x.size + 1) // 2) :]
    if upper.size < 3:
        return Fit(float(np.polyfit(x[upper], y[upper], 1)[0]), None)
    (exponent, _), covariance = np.polyfit(x[upper], y[upper], 1, cov=True)
    return Fit(float(exponent), float(np.sqrt(covariance[0, 0])))


def exponent_text(fit):
    """Return "0.98 ± 0.02"."""
    return f"{fit.exponent:.2f}" + ("" if fit.error is None else f" ± {fit.error:.2f}")
