"""python experiments/literature/author_wins.py [--csv FILE] [--figure FILE]: how easily a new method wins.

From stored trials alone. Each method of the benchmark is the new one of an author who
compares it with b of the other methods on m data sets. Its win rate is the share of
these m x b comparisons in which its balanced error is lower, a tie counting half.
Baselines are drawn at random; the data sets are drawn too ("no choice"), or are those
on which the method does best beside these baselines: of all ("any data sets"), or of
one domain ("one domain", the best of the domains that have m sets).

Middling methods are the middle third by mean rank over domains: none of them deserves
to win. `chance` is how often one of them wins more than 80 % of the comparisons, over
baselines that are drawn. The statement behind it is that of Ebiele, Bendechache,
Brennan (2026), arXiv 2606.07068, abstract: numbers of data sets and baselines explain
much of a new method's win rate.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.bench.stored_panel import read_panel
from provlab.verdicts.panel_ranking import ranks
from provlab.verdicts.panel_scores import ALL, Scores, filled, over_domains

SIZE = 20
NUMBERS_OF_SETS = (3, 5, 8, 12, 20, 30, 40, 60, 80, 100)
NUMBERS_OF_BASELINES = (1, 3, 5, 10, 20)
DRAWS = 1000
"""Of baselines and data sets, for each new method."""

MANY_WINS = 0.8
RARE = 0.05
NO_CHOICE, ANY, ONE_DOMAIN = "no choice", "any data sets", "one domain"
FIELDS = [
    "judge",
    "choice",
    "data sets",
    "baselines",
    "methods",
    "low",
    "median",
    "high",
    "chance",
]


def errors_of(scores: Scores, judge: str) -> pd.DataFrame:
    """Return balanced errors at `SIZE` features, data sets x methods that were run on all data sets."""
    errors = filled(scores.of_slice(size=SIZE, model=judge)).drop(columns=ALL)
    return errors.dropna(axis=1)


def middling(errors: pd.DataFrame) -> list[str]:
    """Return the middle third of the methods by mean rank over domains."""
    mean_ranks = over_domains(ranks(errors)).mean().sort_values()
    third = len(mean_ranks) // 3
    return [str(name) for name in mean_ranks.index[third : len(mean_ranks) - third]]


def win_rates(
    errors: pd.DataFrame, method: str, n_baselines: int, seed: int
) -> dict[str, np.ndarray]:
    """Return the win rates of a method by choice, shape (DRAWS, number of data sets): of m sets in column m - 1.

    NaN where no domain has as many data sets.
    """
    rng = np.random.default_rng([seed, n_baselines, zlib.crc32(method.encode())])
    own = errors[method].to_numpy()[:, None]
    others = errors.drop(columns=method).to_numpy()
    wins = (own < others) + 0.5 * (own == others)
    chosen = rng.permuted(np.tile(np.arange(wins.shape[1]), (DRAWS, 1)), axis=1)[
        :, :n_baselines
    ]
    by_set = wins[:, chosen].mean(axis=2).T  # (DRAWS, n_sets)
    domains = errors.index.get_level_values("domain").to_numpy()
    best_of_domains = np.full(by_set.shape, np.nan)
    for domain in np.unique(domains):
        rates = means_of_first(-np.sort(-by_set[:, domains == domain], axis=1))
        best_of_domains[:, : rates.shape[1]] = np.fmax(
            best_of_domains[:, : rates.shape[1]], rates
        )
    return {
        NO_CHOICE: means_of_first(rng.permuted(by_set, axis=1)),
        ANY: means_of_first(-np.sort(-by_set, axis=1)),
        ONE_DOMAIN: best_of_domains,
    }


def means_of_first(values: np.ndarray) -> np.ndarray:
    """Return the means of the first m values of each row, for each m."""
    return np.cumsum(values, axis=1) / np.arange(1, values.shape[1] + 1)


def table(scores: Scores, seed: int = 0) -> pd.DataFrame:
    """Return a line for each judge, choice and number of data sets and baselines.

    low, median and high are the 10 %, 50 % and 90 % quantiles of the win rates of
    middling methods.
    """
    lines = []
    for judge in ("linear", "boosting"):
        errors = errors_of(scores, judge)
        methods = middling(errors)
        for n_baselines in NUMBERS_OF_BASELINES:
            rates = [win_rates(errors, method, n_baselines, seed) for method in methods]
            for choice in (NO_CHOICE, ANY, ONE_DOMAIN):
                of_choice = np.concatenate([rate[choice] for rate in rates])
                for n_sets in NUMBERS_OF_SETS:
                    if (
                        n_sets > of_choice.shape[1]
                        or np.isnan(of_choice[:, n_sets - 1]).any()
                    ):
                        continue
                    values = of_choice[:, n_sets - 1]
                    low, median, high = np.quantile(values, [0.1, 0.5, 0.9])
                    chance = float((values > MANY_WINS).mean())
                    lines.append(
                        (
                            judge,
                            choice,
                            n_sets,
                            n_baselines,
                            len(methods),
                            low,
                            median,
                            high,
                            chance,
                        )
                    )
    return pd.DataFrame(lines, columns=FIELDS)


def enough_sets(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest number of data sets from which on the chance is below `RARE`; NaN where none is."""
    is_rare = lines["chance"] < RARE
    smallest = {}
    for place, part in lines.assign(rare=is_rare).groupby(
        ["judge", "choice", "baselines"], sort=False
    ):
        often = part.loc[~part["rare"], "data sets"]
        later = (
            part.loc[part["data sets"] > often.max(), "data sets"]
            if len(often)
            else part["data sets"]
        )
        smallest[place] = later.min()
    return pd.Series(smallest).unstack()


def draw(lines: pd.DataFrame, path: Path) -> None:
    """Draw the chance against the number of data sets, a line a number of baselines, a panel a choice."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    from provlab.report.figures.style import only_formats, save_figure, style

    titles = {
        NO_CHOICE: "data sets at random",
        ONE_DOMAIN: "the best of one domain",
        ANY: "the best of all",
    }
    with style(), only_formats("svg"):
        figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True)
        colours = plt.get_cmap("viridis")(
            np.linspace(0, 0.85, len(NUMBERS_OF_BASELINES))
        )
        of_linear = lines[lines["judge"] == "linear"]
        for axis, choice in zip(axes, (NO_CHOICE, ONE_DOMAIN, ANY), strict=True):
            for colour, n_baselines in zip(colours, NUMBERS_OF_BASELINES, strict=True):
                part = of_linear[
                    (of_linear["choice"] == choice)
                    & (of_linear["baselines"] == n_baselines)
                ]
                axis.plot(
                    part["data sets"],
                    part["chance"],
                    "o-",
                    color=colour,
                    label=str(n_baselines),
                    markersize=3,
                )
            axis.axhline(RARE, color="grey", linewidth=0.8, linestyle=":")
            axis.set_title(titles[choice])
            axis.set_xlabel("data sets")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.yaxis.set_major_formatter(PercentFormatter(1, 0))
        axes[0].set_ylabel("a middling method wins\nover 80 % of comparisons")
        axes[-1].legend(title="baselines", fontsize="small")
        figure.tight_layout()
        save_figure(figure, path.with_suffix(""))


def main() -> None:
    """Print the table, and write it and the figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    lines = table(Scores.of(read_panel()))
    rounded = lines.round(4)
    print(rounded.to_string(index=False))
    print(enough_sets(lines).to_string(na_rep="none"))
    if options.csv:
        rounded.to_csv(options.csv, index=False)
    if options.figure:
        draw(lines, options.figure)


if __name__ == "__main__":
    main()
