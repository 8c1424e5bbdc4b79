"""make reproduce-theorem5-growth | provsel reproduce giesen2013/theorem5-growth [protocol.draws=3]."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import write_frame, write_tables
from provlab.report.figures.looks import looks
from provlab.report.figures.style import ONE_COLUMN, legend_of, save_figure, style

DELTAS = (0.3, 0.2, 0.1)
RESAMPLES = 2000
SEED = 0
LEVEL = 0.95
ENDS = (1 - LEVEL) / 2, (1 + LEVEL) / 2
FROM = (100, 1000, 10_000)
"""Smallest m of the fitted exponents. At small m some l are a few units, and all entries of the rows are non-zero."""


def summarise(entry, trials):
    delta = trials["certificate_delta"]
    return [
        {
            "column": f"{entry.column}, delta",
            "value": delta.median(),
            "sd": delta.std(ddof=1),
        }
    ]


def render(rendering: Rendering) -> str:
    trials = rendering.trials(READ)
    trials["l"] = trials["column"].astype(float)
    sizes, needed, resampled = combinations_needed(trials)
    exponents = fitted_exponents(sizes, needed, resampled)
    write_frame(
        exponents,
        rendering.tables.with_name(f"{rendering.tables.name}-exponents").with_suffix(
            ".csv"
        ),
    )
    rows = []
    for place, size in enumerate(sizes):
        rows.append([f"{size:,}", *_interval_texts(needed[place], resampled[:, place])])
    for (first, last), lines in exponents.groupby(["from_m", "to_m"]):
        texts = [
            _with_interval(line.exponent, line.low, line.high, ".2f")
            for line in lines.itertuples()
        ]
        rows.append([f"exponent from m = {first:,} to {last:,}", *texts])
        rows.append(
            ["the same of log m", *(f"{value:.2f}" for value in lines["of_log_m"])]
        )
    text = write_tables(
        rendering.tables,
        ["m", *(f"l for delta = {delta:g}" for delta in DELTAS)],
        rows,
        caption=f"{rendering.artefact.title}: the l from which on half of the draws of Lambda satisfy the left "
        "inequality.",
        note=f"{rendering.note} In parentheses: {100 * LEVEL:g} % intervals, by {RESAMPLES:,} resamples of the draws "
        "of each m and l. l is interpolated, by its logarithm, between the medians of delta, made to fall (isotonic "
        "regression). Exponent: slope of log l on log m, least squares. The rows of each m are drawn once, so that the "
        "intervals are about Lambda only.".strip(),
    )
    title = f"{rendering.artefact.title}. {rendering.note}".strip()
    return printed(
        text, draw_growth(sizes, needed, resampled, rendering.figures, title)
    )


def combinations_needed(
    trials: pd.DataFrame,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the l that each delta needs at each m.

    Parameters
    ----------
    trials : DataFrame
        `n_features`, `l` and `certificate_delta`, a line a trial.

    Returns
    -------
    sizes : ndarray of shape (n_sizes,), int
        The m, rising.
    needed : ndarray of shape (n_sizes, len(DELTAS))
        NaN where no l of that m is enough. Where the smallest l is, that one.
    resampled : ndarray of shape (RESAMPLES, n_sizes, len(DELTAS))
        The same for draws of Lambda that are drawn from those of each m and l, with
        replacement.
    """
    rng = np.random.default_rng(SEED)
    by_size = dict(iter(trials.groupby("n_features")))
    needed = np.empty((len(by_size), len(DELTAS)))
    resampled = np.empty((RESAMPLES, *needed.shape))
    for place, part in enumerate(by_size.values()):
        # sorted: trials come in any order, and the same numbers give the same resamples
        by_components = part.sort_values("certificate_delta").groupby("l")[
            "certificate_delta"
        ]
        logs = np.log(list(by_components.groups))
        needed[place] = _crossings(logs, by_components.median().to_numpy())
        medians = []
        for _, draws in by_components:
            drawn = rng.choice(draws.to_numpy(), (RESAMPLES, draws.size))
            medians.append(np.median(drawn, axis=1))
        for number, line in enumerate(np.transpose(medians)):
            resampled[number, place] = _crossings(logs, line)
    return np.array([*by_size], dtype=int), needed, resampled


def _crossings(logs: np.ndarray, medians: np.ndarray) -> np.ndarray:
    """Return the l at which the medians, shape (n,) over rising log l, fall to each of `DELTAS`."""
    falling = isotonic_regression(medians, increasing=False).x
    crossings = np.exp(np.interp(DELTAS, falling[::-1], logs[::-1]))
    crossings[falling[-1] > np.array(DELTAS)] = np.nan
    return crossings


def fitted_exponents(
    sizes: np.ndarray, needed: np.ndarray, resampled: np.ndarray
) -> pd.DataFrame:
    """Return a line a delta and range of m: delta, from_m, to_m, exponent, low, high, and what log m would have."""
    lines = []
    for first in FROM:
        used = sizes >= first
        if used.sum() < 2:
            continue
        x = np.log(sizes[used])
        of_log_m = np.polyfit(x, np.log(x), 1)[0]
        slopes = np.polyfit(x, np.log(needed[used]), 1)[0]
        of_resamples = np.polyfit(
            x, np.log(resampled[:, used]).transpose(1, 0, 2).reshape(used.sum(), -1), 1
        )[0]
        low, high = np.quantile(of_resamples.reshape(RESAMPLES, -1), ENDS, axis=0)
        for place, delta in enumerate(DELTAS):
            lines.append(
                (
                    delta,
                    sizes[used][0],
                    sizes[-1],
                    slopes[place],
                    low[place],
                    high[place],
                    of_log_m,
                )
            )
    return pd.DataFrame(
        lines,
        columns=["delta", "from_m", "to_m", "exponent", "low", "high", "of_log_m"],
    )


def _interval_texts(values: np.ndarray, resampled: np.ndarray) -> list[str]:
    """Return a text for each delta, the l and its interval."""
    low, high = np.quantile(resampled, ENDS, axis=0)
    texts = []
    for value, least, most in zip(values, low, high, strict=True):
        texts.append(
            _with_interval(value, least, most, ",.0f" if value >= 100 else ".1f")
        )
    return texts


def _with_interval(value: float, low: float, high: float, form: str) -> str:
    if np.isnan([value, low, high]).any():
        return ""
    return f"{value:{form}} ({low:{form}} to {high:{form}})"


def draw_growth(
    sizes: np.ndarray, needed: np.ndarray, resampled: np.ndarray, stem: Path, title: str
) -> list[Path]:
    """Draw l against m for each delta, with intervals; from the first one on, what m and log m would give."""
    names = [f"delta = {delta:g}" for delta in DELTAS]
    look = looks(names)
    with style():
        figure = Figure(figsize=(ONE_COLUMN, 3.2), layout="constrained")
        panel = figure.subplots()
        for place, name in enumerate(names):
            middle = needed[:, place]
            low, high = np.quantile(resampled[:, :, place], ENDS, axis=0)
            bars = np.clip([middle - low, high - middle], 0, None)
            form = look[name].marker + "-"
            panel.errorbar(
                sizes,
                middle,
                bars,
                fmt=form,
                color=look[name].colour,
                markersize=3,
                label=name,
            )
        first = needed[:1, DELTAS.index(0.2)]  # empty where nothing is stored
        panel.plot(sizes, first * sizes / sizes[:1], ":", color="0.3", label="like m")
        panel.plot(
            sizes,
            first * np.log(sizes) / np.log(sizes[:1]),
            "--",
            color="0.3",
            label="like log m",
        )
        scale = "log" if sizes.size else "linear"
        panel.set(
            xscale=scale,
            yscale=scale,
            xlabel="features m",
            ylabel=r"combinations $\ell$",
        )
        panel.grid()
        legend_of(figure, [panel], ncols=3)
        return save_figure(figure, stem, title)


READ = ["certificate_delta", "n_features"]
RECIPE = Recipe(
    "giesen2013/theorem5-growth",
    render,
    summarise=summarise,
    columns=READ,
    unit="smallest delta",
)
