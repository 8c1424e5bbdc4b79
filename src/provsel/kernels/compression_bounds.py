"""Number of Gaussian combinations that compressed support vector machines need, with the constants of the proofs.

Giesen, Laue, Mueller (2013), section 3. Its Theorem 5 rests on four lemmas. Lambda is
an l x m matrix of independent Gaussians. Lemma 1 (loss) and Lemma 2 (norm of an
s-sparse w) need many rows l, Lemma 4 (norm of Lambda^T w) few; Lemma 3 has no
condition. Lemmas 1 and 2 assume variance 1/l, Lemma 4 variance 1/m.
"""

from __future__ import annotations

import math


def loss_components(n_points: int, delta: float) -> int:
    """Return the l of Lemma 1, for which the loss of a fixed w changes by less than delta.

    Parameters
    ----------
    n_points : int
        n, the number of rows.
    delta : float
        In (0, 1/2).

    Returns
    -------
    int
        8 log(4 (n + 1)) / (delta^2 - delta^3), rounded up.

    Notes
    -----
    The constants are those of Lemma 1, from P(| ||Lambda p||^2 - 1 | > delta) <= 2
    exp(-(delta^2 - delta^3) l / 4) for one unit vector p at variance 1/l. It holds with
    probability at least 1 - 1/n, for rows and a w of length at most 1; the paper omits
    that the error of a scalar product is delta (||p||^2 + ||w||^2) / 2.
    """
    _check("loss_components", delta, n_points=n_points)
    return math.ceil(8 * math.log(4 * (n_points + 1)) / (delta**2 - delta**3))


def norm_components(sparsity: int, n_features: int, delta: float) -> int:
    """Return an l for Lemma 2: ||Lambda w||^2 <= (1 + delta) ||w||^2 for every s-sparse w.

    Parameters
    ----------
    sparsity : int
        s, the number of non-zero coefficients, the paper's l, up to m.
    n_features : int
        m.
    delta : float
        In (0, 1/2).

    Returns
    -------
    int
        ((sqrt(s) + sqrt(2 (s log(e m / s) + log m))) / (sqrt(1 + delta) - 1))^2,
        rounded up.

    Notes
    -----
    Theorem 5 requires C s log(m) / delta^2, and neither it nor Lemma 2 states C. At
    variance 1/l, the s columns of Lambda in one support have a norm above 1 + sqrt(s /
    l) + t with probability at most exp(-l t^2 / 2) (Davidson, Szarek 2001, Theorem
    II.13). There are at most (e m / s)^s supports, and Lemma 2 allows a total failure
    probability of 1/m.

    Lemma 2 is applied to the optimal w of the original problem, which does not depend
    on Lambda. For one fixed w Lemma 1 is enough, whatever its sparsity.
    """
    _check("norm_components", delta, sparsity=sparsity, n_features=n_features)
    if sparsity > n_features:
        raise ValueError(
            f"norm_components: expected sparsity to be at most n_features = {n_features}, got {sparsity}; "
            f"pass the number of non-zero coefficients."
        )
    supports = sparsity * math.log(math.e * n_features / sparsity)
    root = math.sqrt(sparsity) + math.sqrt(2 * (supports + math.log(n_features)))
    return math.ceil((root / (math.sqrt(1 + delta) - 1)) ** 2)


def expansion_failure(n_components: int, n_features: int, delta: float) -> float:
    """Return the probability that Lemma 4 fails: ||Lambda^T w||^2 <= (1 + delta) ||w||^2 for every w.

    Parameters
    ----------
    n_components, n_features : int
        l and m.
    delta : float
        In (0, 1/2).

    Returns
    -------
    float
        l^2 exp(-m delta^2 / (40 l^2)) as printed, at variance 1/m, capped at 1, where Lemma 4 is vacuous. "For
        large enough l" means from 1 on: the proof needs log(1 - x) >= -1.2 x for x = (delta / 4 l)^2 <= 1/64.
    """
    _check("expansion_failure", delta, n_components=n_components, n_features=n_features)
    return min(
        1.0, n_components**2 * math.exp(-n_features * delta**2 / (40 * n_components**2))
    )


def _check(subject: str, delta: float, **counts: int) -> None:
    if not 0 < delta < 0.5:
        raise ValueError(
            f"{subject}: expected delta to be in (0, 1/2), got {delta}; Theorem 5 holds only in this range."
        )
    for name, count in counts.items():
        if count < 1:
            raise ValueError(
                f"{subject}: expected {name} to be at least 1, got {count}; pass a count."
            )
