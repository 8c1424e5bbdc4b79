"""python experiments/simulations/panel_model_rules.py PART [--csv FILE]: how far the model of a new data set holds.

calibration (2 CPU minutes): parameters are drawn from the priors, and data from the
parameters. Then the rank of each parameter among its draws after the data is uniform if
model and sampler are right (Talts et al., 2018): p is that of a chi-squared test in ten
bins. simulated: panels with the domains, sources, sets and folds of the stored one, and
with the spreads that it has for some methods. Folds have their noise in points, not on
the bent scale of the model. Shares of differences of new data sets in intervals of 50,
80 and 95 %; the mean probabilities of better and worse by more than one point, and how
often that was so.

left-out (1 minute): each source of the stored panel is predicted from the others, for
each method, 20 and 200 features, and the linear model: shares of measured differences
in the intervals, and probabilities as above. All sets of a source together count as
one. Some 45 sources tell this, and methods err alike: a standard error of a share of 80
% is at least 6 points.

power (2 minutes): the difference of which a panel excludes 0 nine times in ten;
quartiles over methods, by the spreads that the stored panel has for each. planned: 140
sets of 12 domains. shown: how often that was so in simulated panels.
"""

import itertools

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import ndtr
from tables import arguments, write_table

from provlab.bench.panel import panel_datasets
from provlab.bench.stored_panel import read_panel
from provlab.verdicts import panel_model
from provlab.verdicts.panel_answers import NEW_DOMAIN, SAME_DOMAINS, answers, detectable
from provlab.verdicts.panel_model import (
    NOISE_TAILS,
    TAILS,
    bent,
    fit,
    fits,
    folds_of_panel,
    in_points,
    sets_of_folds,
)
from provlab.verdicts.panel_scores import ALL

SEED = 20261128
LEVELS = (50, 80, 95)
SIZES = (20, 200)
LIKE = (
    (20, "RFE"),
    (20, "F-test"),
    (20, "RRQR"),
    (200, "forest RFE"),
    (200, "LPSVM"),
    (200, "random"),
)
"""Comparisons that simulated panels are like: spreads of domains and of sets from small to large."""


def fewer_draws(chains, warm_up, sweeps):
    """Take fewer draws where many fits are averaged."""
    panel_model.CHAINS, panel_model.WARM_UP, panel_model.SWEEPS = (
        chains,
        warm_up,
        sweeps,
    )


def inverse_gamma(rng, df, size=None):
    return df / 2 / rng.standard_gamma(df / 2, size)


def in_intervals(ranks):
    """Return the shares of ranks between 0 and 1 in the central intervals, as a row has them."""
    distance = np.abs(np.asarray(ranks) - 0.5)
    return {
        f"in {level} %": f"{np.mean(distance <= level / 200):.3f}" for level in LEVELS
    }


# ---- the stored panel


def stored_folds():
    """Yield size, method and the folds of each comparison with all features, on data sets with classes."""
    panel = read_panel(None)
    panel = panel[(panel["task"] == "classification") & (panel["model"] == "linear")]
    sources = {name: entry.source for name, entry in panel_datasets().items()}
    for size in SIZES:
        for method in sorted({*panel.loc[panel["size"] == size, "method"]} - {ALL}):
            yield (
                size,
                method,
                folds_of_panel(panel, method, sources, size=size, model="linear"),
            )


# ---- simulated panels


def effects(rng, places, spreads):
    """Return the sum of the effects of each set, on the bent scale, and the effects and scales of domains."""
    tree = panel_model.source_tree(places)
    n_sources, n_domains = tree.to_domains.shape
    of_domains = (
        spreads[0]
        * np.sqrt(inverse_gamma(rng, TAILS, n_domains))
        * rng.standard_normal(n_domains)
    )
    domain_scales = inverse_gamma(rng, TAILS, n_domains)
    of_source = domain_scales[tree.domain_of_source] * inverse_gamma(
        rng, TAILS, n_sources
    )
    of_sources = spreads[1] * np.sqrt(of_source) * rng.standard_normal(n_sources)
    of_sets = (
        spreads[2]
        * np.sqrt(of_source[tree.source_of_set])
        * rng.standard_normal(len(places))
    )
    above = of_domains[tree.domain_of_source] + of_sources
    return above[tree.source_of_set] + of_sets, of_domains, domain_scales


def new_effects(rng, n, spreads, of_domain=None, domain_scale=None):
    """Return the effects of n new sets: of a domain with its effect and scale, or each of a new domain."""
    if of_domain is None:
        of_domain = (
            spreads[0] * np.sqrt(inverse_gamma(rng, TAILS, n)) * rng.standard_normal(n)
        )
        domain_scale = inverse_gamma(rng, TAILS, n)
    below = np.hypot(spreads[1], spreads[2])
    return of_domain + below * np.sqrt(
        domain_scale * inverse_gamma(rng, TAILS, n)
    ) * rng.standard_normal(n)


def effects_of_new_sets(rng, n, spreads, of_genes, scale_of_genes):
    """Return the effects of n new sets of a new domain, and of n of a domain of the panel."""
    return {
        NEW_DOMAIN: new_effects(rng, n, spreads),
        "genes": new_effects(rng, n, spreads, of_genes, scale_of_genes),
    }


def with_noise(rng, values, variances, sets):
    """Return the means and variances of correlated folds around values, as of `sets_of_folds`."""
    n_folds = sets["n_folds"].to_numpy()
    mean = values + np.sqrt(variances * sets["noise"].to_numpy()) * rng.standard_normal(
        len(values)
    )
    variance = variances * rng.chisquare(n_folds - 1) / (n_folds - 1)
    return mean, variance


# ---- parts


def calibration(samples):
    yield from rank_statistics(samples * 4)
    yield from simulated(samples)


def rank_statistics(samples):
    """Yield a row a parameter, from small panels whose parameters are drawn from the priors."""
    fewer_draws(chains=8, warm_up=120, sweeps=240)
    index = []
    for domain in range(6):
        for source in range(domain % 3 + 2):
            for table in range(1 + 2 * (source == 0)):
                index.append(
                    (
                        f"d{domain}",
                        f"d{domain} s{source}",
                        f"d{domain} s{source} t{table}",
                    )
                )
    places = pd.MultiIndex.from_tuples(index, names=panel_model.PLACE)
    sets = pd.DataFrame({"n_folds": 10.0, "noise": 0.35}, index=places)
    ranks = []
    for sample in range(samples):
        rng = np.random.default_rng([SEED, sample])
        center = panel_model.PRIOR_MEAN * rng.standard_normal()
        spreads = panel_model.PRIOR_SPREAD * np.abs(rng.standard_t(4, 3))
        fold_variance = panel_model.PRIOR_NOISE**2 * rng.standard_exponential()
        values, of_domains, _ = effects(rng, places, spreads)
        variances = fold_variance * inverse_gamma(rng, NOISE_TAILS, len(places))
        means, squares = with_noise(rng, center + values, variances, sets)
        points = in_points(means, 1.0)
        slope = 1 + (points / panel_model.BEND) ** 2
        model = fit(sets.assign(mean=points, variance=squares * slope), seed=sample)
        rank = {
            "overall value": (model.coefficients[:, 0] < center).mean(),
            "spread of domains": (model.spreads[:, 0] < spreads[0]).mean(),
            "spread of sources": (model.spreads[:, 1] < spreads[1]).mean(),
            "spread of sets": (model.spreads[:, 2] < spreads[2]).mean(),
            "variance of folds": (model.fold_variance < fold_variance).mean(),
            "a domain": (
                model.coefficients[:, 0] + model.domain_effects[:, 0]
                < center + of_domains[0]
            ).mean(),
            "a data set": (model.differences[:, 0] < center + values[0]).mean(),
        }
        ranks.append(rank)
    for name, column in pd.DataFrame(ranks).items():
        p = stats.chisquare(np.histogram(column, bins=10, range=(0, 1))[0]).pvalue
        yield {
            "panels": "from the priors",
            "what": name,
            "n": samples,
            "p": f"{p:.3f}",
            **in_intervals(column),
        }


def simulated(samples):
    """Yield two rows for each comparison that panels are like: a new domain, and a domain with many sources."""
    fewer_draws(chains=16, warm_up=120, sweeps=150)
    for (size, method), model in like_models().items():
        sets, parameters = model.sets, medians(model)
        results = {NEW_DOMAIN: [], "genes": []}
        for sample in range(samples):
            rng = np.random.default_rng([SEED, size, sample])
            simulated_sets, domains, scales = panel_like(rng, sets, parameters)
            after = fit(simulated_sets, seed=sample)
            line = answers(after, seed=sample)
            place = list(dict.fromkeys(sets.index.get_level_values("domain"))).index(
                "genes"
            )
            news = effects_of_new_sets(
                rng, 200, parameters["spreads"], domains[place], scales[place]
            )
            of_genes = after.domain_effects[:, place], after.domain_scales[:, place]
            predicted = effects_of_new_sets(
                rng, len(after.spreads), after.spreads.T, *of_genes
            )
            for name, values in news.items():
                values = parameters["center"] + values
                drawn = np.sort(after.coefficients[:, 0] + predicted[name])
                ranks = np.searchsorted(drawn, values) / len(drawn)
                points = in_points(values, 1.0)
                results[name].append(
                    scored(
                        ranks, points, line.loc[name, "better"], line.loc[name, "worse"]
                    )
                )
        for name, parts in results.items():
            row = {
                "panels": f"like {method}, {size} features",
                "what": f"new set of {name}",
                "n": samples,
            }
            yield row | summarised(pd.concat(parts))


def scored(ranks, points, better, worse):
    return pd.DataFrame(
        {
            "rank": ranks,
            "better": better,
            "was better": points < -1,
            "worse": worse,
            "was worse": points > 1,
        }
    )


def summarised(scores, weights=None):
    """Return the fields of a row from weighted scores."""
    shares = np.ones(len(scores)) if weights is None else weights.to_numpy()
    shares = shares / shares.sum()
    row = {}
    for level in LEVELS:
        row[f"in {level} %"] = (
            f"{shares @ (np.abs(scores['rank'] - 0.5) <= level / 200):.3f}"
        )
    for name in ("better", "was better", "worse", "was worse"):
        row[name] = f"{shares @ scores[name]:.3f}"
    return row


def like_models():
    models = {}
    for size, method, folds in stored_folds():
        if (size, method) in LIKE:
            models[size, method] = fit(sets_of_folds(folds))
    return models


def medians(model):
    """Return parameters of simulated panels: medians of draws, and the typical variance of folds in points."""
    return {
        "center": np.median(model.coefficients[:, 0]),
        "spreads": np.median(model.spreads, axis=0),
        "folds": model.sets["variance"].median()
        * stats.chi2(NOISE_TAILS).median()
        / NOISE_TAILS,
    }


def panel_like(rng, sets, parameters):
    """Return a panel with the sets of another one, folds with their noise in points, and its domains."""
    values, domains, scales = effects(rng, sets.index, parameters["spreads"])
    variances = parameters["folds"] * inverse_gamma(rng, NOISE_TAILS, len(sets))
    mean, variance = with_noise(
        rng, in_points(parameters["center"] + values, 1.0), variances, sets
    )
    return sets.assign(mean=mean, variance=variance), domains, scales


def left_out(_):
    fewer_draws(chains=4, warm_up=80, sweeps=60)
    parts = []
    for size, method, folds in stored_folds():
        sets = sets_of_folds(folds)
        names = sets.index.get_level_values("source").to_numpy()
        sources = pd.unique(names)
        models = fits(sets, names != sources[:, None], seed=1)
        for source, model in zip(sources, models, strict=True):
            parts.append(prediction(model, source).assign(size=size, method=method))
    scores = pd.concat(parts)
    yield from left_out_rows(scores)


def prediction(model, source):
    """Return the scores of the sets of a source that was left out, the noise of their folds included."""
    is_left_out = model.sets.index.get_level_values("source") == source
    center, deviation = (
        model.differences[:, is_left_out],
        np.sqrt(model.noise[:, is_left_out]),
    )
    points = model.sets["mean"].to_numpy()[is_left_out]

    def share_below(values):
        return ndtr((bent(values, 1.0) - center) / deviation).mean(axis=0)

    scores = scored(
        share_below(points), points, share_below(-1.0), 1 - share_below(1.0)
    )
    domains = model.sets.index.get_level_values("domain")
    is_new = ~domains[is_left_out].isin(domains[~is_left_out])
    return scores.assign(
        domain=domains[is_left_out], is_new=is_new, weight=1 / is_left_out.sum()
    )


def left_out_rows(scores):
    groups = {"all": scores["weight"] > 0}
    for size in SIZES:
        groups[f"{size} features"] = scores["size"] == size
    groups["a new domain"] = scores["is_new"]
    groups["a known domain"] = ~scores["is_new"]
    for domain in LARGE:
        groups[f"domain {domain}"] = scores["domain"] == domain
    edges = [0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1]
    for name in ("better", "worse"):
        for low, high in itertools.pairwise(edges):
            groups[f"{name} with {low} to {high}"] = scores[name].between(
                low, high, inclusive="left"
            )
    for name, is_in in groups.items():
        part = scores[is_in]
        if len(part):
            yield {"what": name, "n": len(part), **summarised(part, part["weight"])}


def power(samples):
    fewer_draws(chains=16, warm_up=120, sweeps=150)
    lines = []
    for size, _, folds in stored_folds():
        sets = sets_of_folds(folds)
        model = fit(sets)
        noise = noise_in_points(sets)
        spreads = np.median(model.spreads, axis=0)
        n_sources = sets.reset_index().groupby("domain")["source"].nunique()
        large = n_sources.index[n_sources >= MANY_SOURCES]
        for domain in (None, SAME_DOMAINS, *(name for name in LARGE if name in large)):
            difference = detectable(sets.index, spreads, noise, domain=domain)
            lines.append(
                {"size": size, "of": domain or NEW_DOMAIN, "points": difference}
            )
    table = pd.DataFrame(lines)
    for (size, place), points in table.groupby(["size", "of"], sort=False)["points"]:
        quartiles = [
            f"{value:.1f}" for value in np.nanquantile(points, [0.25, 0.5, 0.75])
        ]
        row = dict(
            zip(("lower quartile", "median", "upper quartile"), quartiles, strict=True)
        )
        yield {"panel": "stored", "features": size, "difference of": place, **row}
    yield from shown(samples)


LARGE = ("text", "generated", "genes")
"""Domains with many data sets."""

MANY_SOURCES = 5
"""With fewer, the spread within a domain is not known."""


def noise_in_points(sets):
    """Return the typical variance of the mean over folds; the bent scale has a smaller one of large differences."""
    return (sets["variance"] * sets["noise"]).median()


def shown(samples):
    """Yield how often the interval of a new domain excludes 0 at the difference that should be shown."""
    for (size, method), model in like_models().items():
        parameters = medians(model)
        difference = detectable(
            model.sets.index, parameters["spreads"], noise_in_points(model.sets)
        )
        excluded = []
        for sample in range(samples):
            rng = np.random.default_rng([SEED, size, sample, 1])
            center = parameters | {"center": bent(-difference, 1.0)}
            after = fit(panel_like(rng, model.sets, center)[0], seed=sample)
            excluded.append(np.quantile(after.coefficients[:, 0], 0.975) < 0)
        row = {
            "panel": "stored, simulated",
            "features": size,
            "difference of": f"{NEW_DOMAIN}, spreads as {method}",
        }
        yield row | {"median": f"{difference:.1f}", "shown": f"{np.mean(excluded):.2f}"}


PARTS = {"calibration": calibration, "left-out": left_out, "power": power}


def main():
    parser = arguments(__doc__, 30)
    parser.add_argument("part", choices=[*PARTS])
    options = parser.parse_args()
    write_table(PARTS[options.part](options.samples), options.csv)


if __name__ == "__main__":
    main()
