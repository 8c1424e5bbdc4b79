"""What the hierarchical model says of a new data set, in numbers and in a sentence, and what a panel could show.

Each answer has three probabilities: the method is better by more than the margin, within it, or worse by more. They are
of the difference in the long run on that data set, without the noise of its folds. A new data set is one of a new
domain, drawn like those of the panel, or a new one of a domain of the panel.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtrit

from provlab.verdicts.panel_model import TAILS, Fit, Floats, bent, fit, fits, in_points, source_tree

NEW_DOMAIN, SAME_DOMAINS, SAME_SETS = "a new domain", "these domains, each the same", "these data sets, each the same"

PLACES = {
    SAME_DOMAINS: "a new data set of any of these domains",
    SAME_SETS: "a new data set of these domains, each as often as here",
}
"""In a sentence, where a name alone would not do."""

MIN_DOMAINS = 3
"""With fewer, the prior alone would speak of a new domain."""


def answers(model: Fit, *, seed: int = 0) -> pd.DataFrame:
    """Return what is to be expected of a new data set: of a new domain, and of the domains of the panel.

    Parameters
    ----------
    model : Fit
    seed : int

    Returns
    -------
    DataFrame
        Index: `NEW_DOMAIN`, where there are `MIN_DOMAINS`; `SAME_DOMAINS` and `SAME_SETS`, a new data set of one of the
        domains, chosen with equal chances or as often as the panel has sets of it; and each domain. better, within and
        worse, probabilities; middle, the difference in points that half of these data sets are below, of mixtures the
        mean of their domains, from low to high, its 95 % interval; sources and sets of the panel.
    """
    rng = np.random.default_rng(seed)
    index = model.sets.index.to_frame(index=False)
    groups = index.groupby("domain")
    table = pd.DataFrame({"sources": groups["source"].nunique(), "sets": groups.size()})
    average = model.covariates.groupby(level="domain").mean().to_numpy()
    centers = model.coefficients[:, 1:] @ average.T + model.coefficients[:, :1] + model.domain_effects
    below = _variance_below(model, model.domain_scales, rng)
    middles = in_points(centers, model.margin)
    probabilities = _probabilities(centers, below, model.margin)
    lines = {}
    if len(table) >= MIN_DOMAINS:
        lines[NEW_DOMAIN] = _new_domain(model, np.zeros(model.covariates.shape[1]), rng)
    for name, weights in ((SAME_DOMAINS, np.ones(len(table))), (SAME_SETS, table["sets"].to_numpy())):
        shares = weights / weights.sum()
        lines[name] = _line(shares @ probabilities, middles @ shares)
    for place, domain in enumerate(table.index):
        lines[domain] = _line(probabilities[place], middles[:, place])
    result = pd.DataFrame(lines).T.join(table)
    return result.fillna(table.sum()).astype({"sources": int, "sets": int})


def without_each_domain(sets: pd.DataFrame, *, margin: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """Return the answer for `NEW_DOMAIN` from the other domains alone; index: the domain that was left out.

    Raises
    ------
    ValueError
        Fewer than `MIN_DOMAINS` would be left.
    """
    domain = sets.index.get_level_values("domain")
    names = domain.unique()
    if len(names) <= MIN_DOMAINS:
        raise ValueError(
            f"panel model: expected more than {MIN_DOMAINS} domains, since each is left out in turn, got "
            f"{len(names)}; add data sets of other domains."
        )
    kept = names.to_numpy()[:, None] != domain.to_numpy()
    lines = {}
    for name, model in zip(names, fits(sets, kept, margin=margin, seed=seed), strict=True):
        lines[name] = _new_domain(model, np.zeros(0), np.random.default_rng(seed))
    return pd.DataFrame(lines).T


def by_covariate(sets: pd.DataFrame, covariates: Sequence[str], *, margin: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """Return the answer for `NEW_DOMAIN` at both quartiles of each covariate, the others as in an average domain.

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


def sentence(line: pd.Series, method: str, reference: str, *, margin: float = 1.0) -> str:
    """Return a line of `answers` in words.

    A result is said alone if its probability is 95 %, with its probability from 80 %. Else it is excluded, if another
    one has less than 5 %, or nothing is said to be known but the probabilities.
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
        return f"On {place}, {method} is hardly {words[excluded]}; the rest is open ({listed})."
    return (
        f"On {place}, it is open whether {method} is better or worse than {reference} by more than {unit} ({listed})."
    )


def detectable(
    places: pd.MultiIndex, spreads: Sequence[float], noise: float, *, domain: str | None = None, margin: float = 1.0
) -> float:
    """Return the difference in points of which a panel excludes 0 nine times in ten, by the interval of its middle.

    One comparison alone, without any adjustment for others. By Student's t, of the best linear estimate. NaN where a
    single domain, or a single source of a domain, tells no spread.

    Parameters
    ----------
    places : MultiIndex
        Domain, source and data set of each set, of a panel that there is or that is planned.
    spreads : sequence of float
        Standard deviations of effects of domains, sources and sets, as of `Fit.spreads`.
    noise : float
        Variance of the mean over the folds of a set, in points: near 0 the bent scale is straight.
    domain : str, optional
        The difference in this domain, or of `SAME_DOMAINS`, whose own effects then count as they are. By default that
        of new domains.
    margin : float
        Of the fit.
    """
    if domain not in (None, SAME_DOMAINS):
        places = places[places.get_level_values("domain") == domain]
    tree = source_tree(places)
    n_sources, n_domains = tree.to_domains.shape
    domain_variance, source_variance, set_variance = np.square(spreads) * TAILS / (TAILS - 2)
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


def _variance_below(model: Fit, domain_scales: Floats, rng: np.random.Generator) -> Floats:
    """Return the variance of a new source and set in domains of these scales, (n_draws, n_domains)."""
    variance = (model.spreads[:, 1:] ** 2).sum(axis=1, keepdims=True)
    return variance * domain_scales * _scale(domain_scales.shape, rng)


def _scale(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return new scales, for which the mixture of normals is Student's t."""
    return TAILS / 2 / rng.standard_gamma(TAILS / 2, shape)


def _probabilities(centers: Floats, variances: Floats, margin: float) -> Floats:
    """Return better, within and worse of each column, (n_columns, 3), the means over draws."""
    deviation = np.sqrt(variances)
    better = ndtr((bent(-margin, margin) - centers) / deviation).mean(axis=0)
    worse = ndtr((centers - bent(margin, margin)) / deviation).mean(axis=0)
    return np.stack([better, 1 - better - worse, worse], axis=1)


def _line(probabilities: Floats, middles: Floats) -> pd.Series:
    low, middle, high = np.quantile(middles, [0.025, 0.5, 0.975])
    better, within, worse = probabilities
    return pd.Series({"better": better, "within": within, "worse": worse, "middle": middle, "low": low, "high": high})


def _percent(share: float) -> str:
    """Return a probability in whole percent, the precision of the model."""
    if share < 0.01:
        return "< 1 %"
    if share > 0.99:
        return "> 99 %"
    return f"{100 * share:.0f} %"
