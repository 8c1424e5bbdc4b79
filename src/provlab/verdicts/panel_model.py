"""A hierarchical model of the difference between two methods, which predicts it for a new data set.

The difference on a fold, in points, is the sum of an overall value, covariates times
their slopes, and effects of the domain, the source, the data set and the fold. The
variance of each kind of effect is estimated. Three properties follow the stored
benchmark. Large differences vary more, so effects add up on a scale that is linear near
0 and logarithmic beyond `BEND`. Domains differ in the spread of their data sets, and
the tails are heavy, so effects are scale mixtures of normals. The model extends that of
Corani et al. (2017) by domains and sources.

The sampler takes Gibbs steps in NumPy, and integrates effects out where chains would
mix slowly. Many chains run as one array, so a comparison takes less than a second.
General programs such as Stan or PyMC need a compiler or another array library, and
seconds to compile. experiments/simulations/panel_model_rules.py measures the coverage
of the intervals.

References
----------
Corani, Benavoli, Demsar, Mangili, Zaffalon (2017), Machine Learning 106. Nadeau, Bengio
(2003), Machine Learning 52. Gelman (2006), Bayesian Analysis 1, on priors of standard
deviations. Liu, Sabatti (2000), Biometrika 87, on moves that trade spreads for scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.verdicts.panel_frame import ALL_FEATURES
from provlab.verdicts.panel_scores import ALL

Floats = NDArray[np.float64]

PLACE = ["domain", "source", "dataset"]

BEND = 5.0
"""Point at which the scale of effects changes from linear to logarithmic, in margins.

It was chosen on the stored benchmark among 2, 5, 7, 10 and no bend, by cross-validation
over sources with every eighth method. The mean predicted probability of "better by more
than a point" was 28 % without a bend and 25 % at 5; the observed share was 21 %. At 2,
probabilities below 10 % were too small. The predictive density is no better than
without a bend.
"""

TAILS = 8.0
"""Degrees of freedom of the t distributions of effects of domains, sources and data sets, and of domain scales."""

NOISE_TAILS = 2.5
"""The same for variances of folds; the data sets of the stored benchmark have estimates of 2.1 to 3.7."""

CHAINS = 32
WARM_UP, SWEEPS = 150, 250
"""Numbers of sweeps per chain that are discarded and kept."""

PRIOR_MEAN, PRIOR_SLOPE, PRIOR_SPREAD, PRIOR_NOISE = 20.0, 3.0, 3.0, 10.0
"""Scales of the priors, in margins. The overall mean and the slope of a standardised covariate are normal with these
standard deviations. The spreads have a half-t distribution with 4 degrees of freedom, on the scale of the stored
benchmark. The variance of folds is exponential."""

RESOLUTION = 0.1
"""Resolution of a standard deviation of folds, in margins: folds without any difference must not imply certainty."""


@dataclass(frozen=True)
class Fit:
    """Draws from the posterior distribution of the parameters; each array has one row per draw.

    Attributes
    ----------
    sets : DataFrame
        See `sets_of_folds`.
    covariates : DataFrame
        Standardised, one row per data set. The mean of the domain means is 0.
    margin : float
        In points, see `fit`. All further attributes are on the scale of `bent`.
    coefficients : ndarray of shape (n_draws, 1 + n_covariates)
        The overall value, and the slope for one standard deviation of each covariate.
    spreads : ndarray of shape (n_draws, 3)
        Standard deviations of the effects of domains, sources and data sets, before
        scaling.
    domain_effects : ndarray of shape (n_draws, n_domains)
        Effects of the domains in alphabetical order.
    domain_scales : ndarray of shape (n_draws, n_domains)
        Factors of the variances of sources and data sets in each domain.
    differences : ndarray of shape (n_draws, n_sets)
        The difference on each data set without the noise of its folds, or its
        prediction if the data set was left out.
    noise : ndarray of shape (n_draws, n_sets)
        Variance of the mean over the folds of each data set.
    fold_variance : ndarray of shape (n_draws,)
        Typical variance of folds.
    r_hat : float
        The largest split R-hat of the coefficients and of the logarithms of two
        spreads: that of domains, and that of sources and data sets together. It is 1 if
        the chains agree.
    """

    sets: pd.DataFrame
    covariates: pd.DataFrame
    margin: float
    coefficients: Floats
    spreads: Floats
    domain_effects: Floats
    domain_scales: Floats
    differences: Floats
    noise: Floats
    fold_variance: Floats
    r_hat: float


class Tree(NamedTuple):
    """The source of each data set and the domain of each source, as indices and as 0/1 matrices for sums."""

    source_of_set: NDArray[np.intp]
    domain_of_source: NDArray[np.intp]
    to_sources: Floats
    to_domains: Floats


class Collapsed(NamedTuple):
    """The likelihood of the spreads with effects integrated out, and the statistics needed to draw the effects.

    `variances` are the prior variances of effects of domains, sources and data sets.
    `precisions` and `sums` hold the information of data sets about sources, and of
    sources about domains. `sums` has an entry for each column of the design and for the
    differences.
    """

    log_likelihood: Floats
    variances: tuple[Floats, Floats, Floats]
    precisions: tuple[Floats, Floats]
    sums: tuple[Floats, Floats]
    coefficient_precision: Floats
    coefficient_mean: Floats


def bent(points: Floats | float, margin: float) -> Floats:
    """Transform differences in points to the scale on which effects are additive."""
    bend = BEND * margin
    return np.asarray(bend * np.arcsinh(np.asarray(points) / bend))


def in_points(values: Floats, margin: float) -> Floats:
    """Transform values on the scale of `bent` back to points."""
    bend = BEND * margin
    return np.asarray(bend * np.sinh(values / bend))


def folds_of_panel(
    panel: pd.DataFrame,
    method: str,
    sources: Mapping[str, str],
    *,
    size: int,
    model: str,
    reference: str = ALL,
) -> pd.DataFrame:
    """Return the differences between a method and a reference on each fold, in the form that `sets_of_folds` takes.

    A failed trial gets the largest error of any method on its fold. Draws are averaged.

    Parameters
    ----------
    panel : DataFrame
        See `provlab.verdicts.panel_frame`.
    method : str
    sources : mapping
        The source of each data set; tables from one source have the same name.
    size : int
    model : str
    reference : str
        `ALL`, which has no size, or a method that is compared at the same size.
    """
    fold = ["domain", "dataset", "repeat", "fold"]
    trials = panel[(panel["model"] == model) & panel["size"].isin([size, ALL_FEATURES])]
    trials = trials.assign(error=100 * (1 - trials["balanced_accuracy"].astype(float)))
    largest = trials.groupby(fold)["error"].transform("max")
    trials["error"] = trials["error"].where(trials["failure"] == "", largest)
    at_size = trials[trials["size"] == size]
    own = at_size[at_size["method"] == method].groupby(fold)["error"].mean()
    compared = trials[trials["size"] == ALL_FEATURES] if reference == ALL else at_size
    beside = compared[compared["method"] == reference].groupby(fold)["error"].mean()
    folds = (own - beside).dropna().rename("difference").reset_index()
    return folds.assign(source=folds["dataset"].map(sources))


def sets_of_folds(folds: pd.DataFrame, covariates: Sequence[str] = ()) -> pd.DataFrame:
    """Summarise the folds of each data set.

    Folds that share training rows are correlated. Nadeau and Bengio take the share of
    test rows as the correlation. The mean of J folds then has the variance (1 / J +
    n_test / n_train) S^2, where S^2 is the variance within the data set.

    Parameters
    ----------
    folds : DataFrame
        One row per fold: domain, source, dataset, repeat, fold, difference in points,
        and the covariates of its data set.
    covariates : sequence of str

    Returns
    -------
    DataFrame
        Index: domain, source, dataset. Columns: mean and variance of the folds,
        n_folds, noise, and the covariates. The variance of the mean is noise times
        variance.

    Raises
    ------
    ValueError
        If a column is missing, a number is not finite, or a data set has a single fold.
    """
    needed = [*PLACE, "repeat", "fold", "difference", *covariates]
    missing = [name for name in needed if name not in folds.columns]
    if missing:
        raise ValueError(
            f"panel model: expected the columns {', '.join(needed)}, but {missing[0]} is missing; add it."
        )
    nameless = folds[folds[PLACE].isna().any(axis=1)]
    if len(nameless):
        raise ValueError(
            f"panel model: every fold needs a domain, a source and a data set, got "
            f"{nameless[PLACE].iloc[0].to_dict()}; fill the empty cells."
        )
    for name in ("difference", *covariates):
        wrong = folds[~np.isfinite(folds[name].astype(float))]
        if len(wrong):
            raise ValueError(
                f"panel model: expected a finite {name} for each fold, got {wrong[name].iloc[0]} on "
                f"{wrong['dataset'].iloc[0]}; leave the data set out, or enter the largest error of any method."
            )
    groups = folds.groupby(PLACE, sort=True)
    sets = (
        groups["difference"]
        .agg(mean="mean", variance="var", n_folds="size")
        .astype(float)
    )
    folds_of_repeat = groups["fold"].nunique()
    if len(sets) < 2 or folds_of_repeat.min() < 2:
        raise ValueError(
            f"panel model: expected two or more data sets of two or more folds each, got {len(sets)} with at least "
            f"{folds_of_repeat.min() if len(sets) else 0}; add data sets or folds."
        )
    sets["noise"] = 1 / sets["n_folds"] + 1 / (folds_of_repeat - 1)
    return sets.join(groups[list(covariates)].first())


def fit(
    sets: pd.DataFrame,
    covariates: Sequence[str] = (),
    *,
    margin: float = 1.0,
    seed: int = 0,
) -> Fit:
    """Return posterior draws of the parameters, which depend on the seed but not on the order of the rows.

    Parameters
    ----------
    sets : DataFrame
        See `sets_of_folds`.
    covariates : sequence of str
        Columns that the difference may depend on linearly.
    margin : float
        The smallest relevant difference, in points. The scales of the priors are
        multiples of it.
    seed : int
    """
    everything = np.ones((1, len(sets)), dtype=bool)
    return fits(sets, everything, covariates, margin=margin, seed=seed)[0]


def fits(
    sets: pd.DataFrame,
    kept: NDArray[np.bool_],
    covariates: Sequence[str] = (),
    *,
    margin: float = 1.0,
    seed: int = 0,
) -> list[Fit]:
    """Return one `fit` per row of `kept`, shape (n_fits, n_sets), which marks the data sets that are used."""
    order = np.argsort(sets.reset_index()[PLACE].agg("\0".join, axis=1), kind="stable")
    sets = sets.iloc[order]
    columns = _standardised(sets[list(covariates)])
    sampler = Sampler(
        sets,
        columns.to_numpy(),
        np.repeat(kept[:, order], CHAINS, axis=0),
        margin,
        seed,
    )
    for _ in range(WARM_UP):
        sampler.sweep()
    draws: dict[str, list[Floats]] = {}
    for _ in range(SWEEPS):
        sampler.sweep()
        for name, values in sampler.state().items():
            draws.setdefault(name, []).append(values)
    shape = (SWEEPS, len(kept), CHAINS)
    arrays = {
        name: np.stack(values).reshape(*shape, -1) for name, values in draws.items()
    }
    results = []
    for place in range(len(kept)):
        own = {name: values[:, place] for name, values in arrays.items()}
        below_domains = np.hypot(own["spreads"][..., 1], own["spreads"][..., 2])
        spreads = np.stack([own["spreads"][..., 0], below_domains], axis=2)
        watched = np.concatenate([own["coefficients"], np.log(spreads)], axis=2)
        flat = {
            name: values.reshape(SWEEPS * CHAINS, -1) for name, values in own.items()
        }
        flat["fold_variance"] = flat["fold_variance"][:, 0]
        results.append(Fit(sets, columns, margin, **flat, r_hat=_split_r_hat(watched)))
    return results


def _standardised(covariates: pd.DataFrame) -> pd.DataFrame:
    """Return covariates whose domain means average to 0, with a standard deviation of 1 over data sets."""
    center = covariates.groupby(level="domain").mean().mean()
    spread = covariates.std(ddof=0)
    return (covariates - center) / spread.where(spread > 0, 1.0)


class Sampler:
    """Chains of Gibbs steps; each chain is a row of every array, B = n_fits x `CHAINS` rows in all."""

    def __init__(
        self,
        sets: pd.DataFrame,
        covariates: Floats,
        kept: NDArray[np.bool_],
        margin: float,
        seed: int,
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.tree = source_tree(sets.index)
        self.n_chains, self.n_sets = kept.shape
        n_sources, n_domains = self.tree.to_domains.shape
        self.kept = kept
        points = sets["mean"].to_numpy()
        self.means = bent(points, margin)
        # as on the scale of `bent`
        variances = sets["variance"].to_numpy() / (1 + (points / (BEND * margin)) ** 2)
        self.n_folds = sets["n_folds"].to_numpy()
        self.noise_factor = sets["noise"].to_numpy()
        resolution = self.n_folds * (RESOLUTION * margin) ** 2
        self.squares = (self.n_folds - 1) * variances + resolution
        self.columns = np.vstack([np.ones(self.n_sets), covariates.T, self.means])
        self.prior_precision = np.full(
            len(self.columns) - 1, (PRIOR_SLOPE * margin) ** -2.0
        )
        self.prior_precision[0] = (PRIOR_MEAN * margin) ** -2.0
        self.prior_spread = PRIOR_SPREAD * margin
        self.prior_variance = (PRIOR_NOISE * margin) ** 2
        self.domain_tails = np.ones((self.n_chains, n_domains))
        self.domain_scales = np.ones((self.n_chains, n_domains))
        self.source_scales = np.ones((self.n_chains, n_sources))
        self.fold_variances = np.full((self.n_chains, self.n_sets), self.prior_variance)
        self.fold_variance = np.full((self.n_chains, 1), self.prior_variance)
        self.spreads = self.prior_spread * np.exp(
            self.rng.standard_normal((self.n_chains, 3))
        )

    def state(self) -> dict[str, Floats]:
        """Return the arrays of `Fit`, one row per chain."""
        return {
            "coefficients": self.coefficients,
            "spreads": self.spreads,
            "domain_effects": self.domain_effects,
            "domain_scales": self.domain_scales,
            "differences": self.differences,
            "noise": self.noise_factor * self.fold_variances,
            "fold_variance": self.fold_variance,
        }

    def sweep(self) -> None:
        """Draw each group of parameters once, given the others."""
        self._draw_spreads()
        self._draw_effects()
        self._draw_scales()
        self._trade_scales()
        self._draw_noise()

    def collapsed(self, spreads: Floats) -> Collapsed:
        """Return the likelihood of spreads given scales and noise, summed from data sets to sources to domains."""
        tree = self.tree
        of_source = self.domain_scales[:, tree.domain_of_source] * self.source_scales
        domain_variance = spreads[:, :1] ** 2 * self.domain_tails
        source_variance = spreads[:, 1:2] ** 2 * of_source
        set_variance = spreads[:, 2:] ** 2 * of_source[:, tree.source_of_set]
        precision = self.kept / (self.noise_factor * self.fold_variances)
        own = 1 + precision * set_variance
        weights = precision / own
        weighted = weights[:, None] * self.columns
        source_precision = weights @ tree.to_sources
        source_sums = weighted @ tree.to_sources
        of_sources = 1 + source_precision * source_variance
        domain_precision = (source_precision / of_sources) @ tree.to_domains
        domain_sums = (source_sums / of_sources[:, None]) @ tree.to_domains
        of_domains = 1 + domain_precision * domain_variance
        # Z' V^-1 Z of Z = [design, differences], by Woodbury's formula twice
        products = weighted @ self.columns.T
        products -= _weighted_products(source_sums, source_variance / of_sources)
        products -= _weighted_products(domain_sums, domain_variance / of_domains)
        log_det = (
            np.log(own).sum(axis=1)
            + np.log(of_sources).sum(axis=1)
            + np.log(of_domains).sum(axis=1)
        )
        coefficient_precision = products[:, :-1, :-1] + np.diag(self.prior_precision)
        right = products[:, :-1, -1]
        coefficient_mean = np.linalg.solve(coefficient_precision, right[..., None])[
            ..., 0
        ]
        squares = products[:, -1, -1] - (right * coefficient_mean).sum(axis=1)
        log_det += np.linalg.slogdet(coefficient_precision)[1]
        return Collapsed(
            log_likelihood=-0.5 * (squares + log_det),
            variances=(domain_variance, source_variance, set_variance),
            precisions=(domain_precision, source_precision),
            sums=(domain_sums, source_sums),
            coefficient_precision=coefficient_precision,
            coefficient_mean=coefficient_mean,
        )

    def _draw_spreads(self) -> None:
        """Draw the logarithm of each spread by a Metropolis step, with effects integrated out."""
        current = self.collapsed(self.spreads)
        log_density = current.log_likelihood + self._log_prior(self.spreads)
        for level in range(3):
            width = self.rng.choice([0.3, 1.2], size=self.n_chains)
            proposed = self.spreads.copy()
            proposed[:, level] *= np.exp(
                width * self.rng.standard_normal(self.n_chains)
            )
            proposed_density = self.collapsed(
                proposed
            ).log_likelihood + self._log_prior(proposed)
            is_accepted = (
                np.log(self.rng.random(self.n_chains)) < proposed_density - log_density
            )
            self.spreads = np.where(is_accepted[:, None], proposed, self.spreads)
            log_density = np.where(is_accepted, proposed_density, log_density)

    def _log_prior(self, spreads: Floats) -> Floats:
        """Return the log density of the logarithms of spreads."""
        density = np.log(spreads) - 2.5 * np.log1p(
            (spreads / self.prior_spread) ** 2 / 4
        )
        return density.sum(axis=1)

    def _draw_effects(self) -> None:
        """Draw the coefficients, then the effects of domains, sources and data sets, in this order."""
        tree = self.tree
        now = self.collapsed(self.spreads)
        domain_variance, source_variance, set_variance = now.variances
        domain_precision, source_precision = now.precisions
        root = np.linalg.cholesky(now.coefficient_precision)
        normal = self.rng.standard_normal((*now.coefficient_mean.shape, 1))
        step = np.linalg.solve(np.swapaxes(root, 1, 2), normal)[..., 0]
        self.coefficients = now.coefficient_mean + step
        signs = np.concatenate(
            [-self.coefficients, np.ones((self.n_chains, 1))], axis=1
        )[:, None]
        domain_residual, source_residual = ((signs @ sums)[:, 0] for sums in now.sums)
        variance = domain_variance / (1 + domain_precision * domain_variance)
        self.domain_effects = self._normal(variance * domain_residual, variance)
        of_source = self.domain_effects[:, tree.domain_of_source]
        variance = source_variance / (1 + source_precision * source_variance)
        self.source_effects = self._normal(
            variance * (source_residual - source_precision * of_source), variance
        )
        center = (
            self.coefficients @ self.columns[:-1]
            + (of_source + self.source_effects)[:, tree.source_of_set]
        )
        precision = self.kept / (self.noise_factor * self.fold_variances)
        variance = set_variance / (1 + precision * set_variance)
        self.set_effects = self._normal(
            variance * precision * (self.means - center), variance
        )
        self.differences = center + self.set_effects

    def _draw_scales(self) -> None:
        """Draw the scales that make the tails heavy, and the scales of the domains."""
        tree = self.tree
        domain_spread, source_spread, set_spread = (
            self.spreads[:, level, None] for level in range(3)
        )
        self.domain_tails = self._inverse_gamma(
            TAILS + 1, TAILS + (self.domain_effects / domain_spread) ** 2
        )
        squares = (self.source_effects / source_spread) ** 2
        squares += (self.set_effects / set_spread) ** 2 @ tree.to_sources
        n_effects = 1 + tree.to_sources.sum(axis=0)
        of_source = self.domain_scales[:, tree.domain_of_source]
        self.source_scales = self._inverse_gamma(
            TAILS + n_effects, TAILS + squares / of_source
        )
        squares_of_domain = (squares / self.source_scales) @ tree.to_domains
        self.domain_scales = self._inverse_gamma(
            TAILS + n_effects @ tree.to_domains, TAILS + squares_of_domain
        )

    def _trade_scales(self) -> None:
        """Multiply spreads and divide scales, so that the variances of effects stay the same."""
        self.domain_tails = self._traded(self.domain_tails, slice(0, 1))
        self.domain_scales = self._traded(self.domain_scales, slice(1, 3))
        self.source_scales = self._traded(self.source_scales, slice(1, 3))

    def _traded(self, scales: Floats, levels: slice) -> Floats:
        """Return the scales after a joint Metropolis step for them and the spreads of the given levels."""
        factor = np.exp(0.5 * self.rng.standard_normal((self.n_chains, 1)))
        spreads = self.spreads.copy()
        spreads[:, levels] *= factor
        proposed = scales / factor**2
        gain = self._log_prior(spreads) - self._log_prior(self.spreads)
        gain -= (
            TAILS
            / 2
            * (np.log(proposed / scales) + 1 / proposed - 1 / scales).sum(axis=1)
        )
        is_accepted = np.log(self.rng.random((self.n_chains, 1))) < gain[:, None]
        self.spreads = np.where(is_accepted, spreads, self.spreads)
        return np.where(is_accepted, proposed, scales)

    def _draw_noise(self) -> None:
        """Draw the variance over the folds of each data set, and the typical variance."""
        squares = (
            self.squares + (self.means - self.differences) ** 2 / self.noise_factor
        )
        shape = NOISE_TAILS + self.kept * self.n_folds
        self.fold_variances = self._inverse_gamma(
            shape, NOISE_TAILS * self.fold_variance + self.kept * squares
        )
        rate = 1 / self.prior_variance + NOISE_TAILS / 2 * (
            1 / self.fold_variances
        ).sum(axis=1, keepdims=True)
        shape = 1 + self.n_sets * NOISE_TAILS / 2
        self.fold_variance = self.rng.standard_gamma(shape, (self.n_chains, 1)) / rate

    def _normal(self, mean: Floats, variance: Floats) -> Floats:
        return mean + np.sqrt(variance) * self.rng.standard_normal(mean.shape)

    def _inverse_gamma(self, df: Floats | float, squares: Floats) -> Floats:
        """Draw squares / chi^2, where chi^2 has `df` degrees of freedom."""
        return squares / (
            2 * self.rng.standard_gamma(np.broadcast_to(df, squares.shape) / 2)
        )


def source_tree(places: pd.MultiIndex) -> Tree:
    """Return the tree of data sets from their domain, source and dataset."""
    index = places.to_frame(index=False)
    sources = index[["domain", "source"]].drop_duplicates()
    domain_of_source, domains = pd.factorize(sources["domain"])
    source_of_set = index.groupby(["domain", "source"], sort=False).ngroup().to_numpy()
    to_sources = np.eye(len(sources))[source_of_set]
    to_domains = np.eye(len(domains))[domain_of_source]
    return Tree(source_of_set, domain_of_source, to_sources, to_domains)


def _weighted_products(columns: Floats, weights: Floats) -> Floats:
    """Return the weighted inner products of columns (B, q, m), (B, q, q), with weights (B, m)."""
    return (columns * weights[:, None]) @ np.swapaxes(columns, 1, 2)


def _split_r_hat(draws: Floats) -> float:
    """Return the largest R-hat of draws (n_sweeps, n_chains, n_parameters), each chain split into two halves."""
    half = len(draws) // 2
    halves = np.concatenate([draws[:half], draws[half : 2 * half]], axis=1)
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = halves.mean(axis=0).var(axis=0, ddof=1)
    return float(np.sqrt((half - 1) / half + between / within).max())
