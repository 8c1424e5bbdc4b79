"""Predictions of the hierarchical model for a new data set, as numbers and as a sentence, and the power of a panel.

Each answer has three probabilities: the method is better by more than the margin,
within it, or worse by more. They refer to the expected difference on that data set,
without the noise of its folds. A new data set belongs either to a new domain, drawn
like those of the panel, or to one of these domains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtrit

from provlab.verdicts.panel_model import (
    TAILS,
    Fit,
    Floats,
    bent,
    fit,
    in_points,
    source_tree,
)

NEW_DOMAIN, SAME_DOMAINS, SAME_SETS = (
    "a new domain",
    "these domains, each the same",
    "these data sets, each the same",
)

PLACES = {
    SAME_DOMAINS: "a new data set of any of these domains",
    SAME_SETS: "a new data set of these domains, each as often as here",
}
"""Names of these in sentences."""

MIN_DOMAINS = 3
"""Least number of domains; with fewer, the prior would determine the answer for a new one."""


def answers(model: Fit, *, seed: int = 0) -> pd.DataFrame:
    """Predict the difference on a new data set, for a new domain and for the domains of the panel.

    Parameters
    ----------
    model : Fit
    seed : int

    Returns
    -------
    DataFrame
        Index: `NEW_DOMAIN`, if there are at least `MIN_DOMAINS`; `SAME_DOMAINS` and
        `SAME_SETS`, a new data set from one of the domains, drawn with equal
        probabilities or in proportion to their data sets; and each domain. better,
        within and worse: probabilities. middle: the median difference in points, for
        mixtures the mean of the medians of the domains. low and high: its 95 %
        interval. sources and sets: their numbers in the panel.
    """
    rng = np.random.default_rng(seed)
    index = model.sets.index.to_frame(index=False)
    groups = index.groupby("domain")
    table = pd.DataFrame({"sources": groups["source"].nunique(), "sets": groups.size()})
    average = model.covariates.groupby(level="domain").mean().to_numpy()
    centers = (
        model.coefficients[:, 1:] @ average.T
        + model.coefficients[:, :1]
        + model.domain_effects
    )
    below = _variance_below(model, model.domain_scales, rng)
    middles = in_points(centers, model.margin)
    probabilities = _probabilities(centers, below, model.margin)
    lines = {}
    if len(table) >= MIN_DOMAINS:
        lines[NEW_DOMAIN] = _new_domain(model, np.zeros(model.covariates.shape[1]), rng)
    for name, weights in (
        (SAME_DOMAINS, np.ones(len(table))),
        (SAME_SETS, table["sets"].to_numpy()),
    ):
        shares = weights / weights.sum()
        lines[name] = _line(shares @ probabilities, middles @ shares)
    for place, domain in enumerate(table.index):
        lines[domain] = _line(probabilities[place], middles[:, place])
    result = pd.DataFrame(lines).T.join(table)
    return result.fillna(table.sum()).astype({"sources": int, "sets": int})


def without_each_domain(
    sets: pd.DataFrame, *, margin: float = 1.0, seed: int = 0
) -> pd.DataFrame:
    """Predict each domain as a `NEW_DOMAIN` from the other domains; index: the domain that was left out.

    Raises
    ------
    ValueError
        If fewer than `MIN_DOMAINS` would remain.
    """
    domain = sets.index.get_level_values("domain")
    names = domain.unique()
    if len(names) <= MIN_DOMAINS:
        raise ValueError(
            f"panel model: expected more than {MIN_DOMAINS} domains, since each is left out in turn, got "
            f"{len(names)}; add data sets of other domains."
        )
    lines = {}
    for name in names:
        model = fit(sets[domain != name], margin=margin, seed=seed)
        lines[name] = _new_domain(model, np.zeros(0), np.random.default_rng(seed))
    return pd.DataFrame(lines).T


def by_covariate(
    sets: pd.DataFrame, covariates: Sequence[str], *, margin: float = 1.0, seed: int = 0
) -> pd.DataFrame:
    """Return the answer for `NEW_DOMAIN` at both quartiles of each covariate, with the others at their mean.

    All covariates are fitted together. Index: covariate and its value.
    """
    model = fit(sets, covariates, margin=margin, seed=seed)
    lines = {}
    for place, name in enumerate(covariates):
        for share in (0.25, 0.75):
            at = np.zeros(len(covariates))
            at[place] = model.covariates[name].quantile(share)
            value = model.sets[name].quantile(share)
            lines[name, value] = _new_domain(model, at, np.random.default_rng(seed))
    return pd.DataFrame(lines).T.rename_axis(["covariate", "value"])


def sentence(
    line: pd.Series, method: str, reference: str, *, margin: float = 1.0
) -> str:
    """Return a row of `answers` as a sentence.

    An outcome with a probability of 95 % or more is stated as a fact, and one with 80 %
    or more as probable. Otherwise the sentence excludes an outcome that has less than 5
    %, or only lists the probabilities.
    """
    place = PLACES.get(str(line.name), f"a new data set of {line.name}")
    unit = "1 point" if margin == 1 else f"{margin:g} points"
    words = {
        "better": f"better than {reference} by more than {unit}",
        "within": f"within {unit} of {reference}",
        "worse": f"worse than {reference} by more than {unit}",
    }
    shares = line[list(words)].astype(float)
    likeliest = shares.idxmax()
    if shares[likeliest] >= 0.95:
        return f"On {place}, {method} is {words[likeliest]} ({_percent(shares[likeliest])})."
    if shares[likeliest] >= 0.8:
        return f"On {place}, {method} is probably {words[likeliest]} ({_percent(shares[likeliest])})."
    listed = ", ".join(f"{name} {_percent(shares[name])}" for name in words)
    if min(shares["better"], shares["worse"]) < 0.05:
        excluded = shares[["better", "worse"]].idxmin()
        return f"On {place}, {method} is unlikely to be {words[excluded]}; the rest is open ({listed})."
    question = (
        f"whether {method} is better or worse than {reference} by more than {unit}"
    )
    return f"On {place}, it is open {question} ({listed})."


def detectable(
    places: pd.MultiIndex,
    spreads: Sequence[float],
    noise: float,
    *,
    domain: str | None = None,
    margin: float = 1.0,
) -> float:
    """Return the difference in points for which the 95 % interval of a panel excludes 0 with probability 0.9.

    It concerns a single comparison, without an adjustment for others, by Student's t
    for the best linear estimate. NaN if there is only one domain, or one source per
    domain, so that no spread can be estimated.

    Parameters
    ----------
    places : MultiIndex
        Domain, source and name of each data set in an existing or planned panel.
    spreads : sequence of float
        Standard deviations of effects of domains, sources and data sets, as in
        `Fit.spreads`.
    noise : float
        Variance of the mean over the folds of a data set, in points: the bent scale is
        linear near 0.
    domain : str, optional
        A domain, or `SAME_DOMAINS`; the effects of these domains are then fixed. By
        default the difference is that in new domains.
    margin : float
        The margin of the fit.
    """
    if domain not in (None, SAME_DOMAINS):
        places = places[places.get_level_values("domain") == domain]
    tree = source_tree(places)
    n_sources, n_domains = tree.to_domains.shape
    domain_variance, source_variance, set_variance = (
        np.square(spreads) * TAILS / (TAILS - 2)
    )
    source_precision = tree.to_sources.sum(axis=0) / (set_variance + noise)
    precision = (1 / (source_variance + 1 / source_precision)) @ tree.to_domains
    if domain is None:
        variance = 1 / (1 / (domain_variance + 1 / precision)).sum()
        df = n_domains - 1
    else:
        variance = (1 / precision).sum() / n_domains**2
        df = n_sources - n_domains
    if df < 1:
        return float("nan")
    return float(in_points(stdtrit(df, [0.975, 0.9]).sum() * np.sqrt(variance), margin))


def _new_domain(model: Fit, at: Floats, rng: np.random.Generator) -> pd.Series:
    center = model.coefficients[:, :1] + model.coefficients[:, 1:] @ at[:, None]
    of_domain = model.spreads[:, :1] ** 2 * _scale(center.shape, rng)
    variance = of_domain + _variance_below(model, _scale(center.shape, rng), rng)
    probabilities = _probabilities(center, variance, model.margin)
    return _line(probabilities[0], in_points(center[:, 0], model.margin))


def _variance_below(
    model: Fit, domain_scales: Floats, rng: np.random.Generator
) -> Floats:
    """Return the variance of a new source and data set in domains with the given scales, (n_draws, n_domains)."""
    variance = (model.spreads[:, 1:] ** 2).sum(axis=1, keepdims=True)
    return variance * domain_scales * _scale(domain_scales.shape, rng)


def _scale(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw new scales, for which the mixture of normals is a t distribution."""
    return TAILS / 2 / rng.standard_gamma(TAILS / 2, shape)


def _probabilities(centers: Floats, variances: Floats, margin: float) -> Floats:
    """Return the probabilities better, within and worse of each column, (n_columns, 3), as means over draws."""
    deviation = np.sqrt(variances)
    better = ndtr((bent(-margin, margin) - centers) / deviation).mean(axis=0)
    worse = ndtr((centers - bent(margin, margin)) / deviation).mean(axis=0)
    return np.stack([better, 1 - better - worse, worse], axis=1)


def _line(probabilities: Floats, middles: Floats) -> pd.Series:
    low, middle, high = np.quantile(middles, [0.025, 0.5, 0.975])
    better, within, worse = probabilities
    return pd.Series(
        {
            "better": better,
            "within": within,
            "worse": worse,
            "middle": middle,
            "low": low,
            "high": high,
        }
    )


def _percent(share: float) -> str:
    """Return a probability in whole percent, which is the precision of the model."""
    if share < 0.01:
        return "< 1 %"
    if share > 0.99:
        return "> 99 %"
    return f"{100 * share:.0f} %"
