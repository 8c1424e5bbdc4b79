"""make reproduce-ofs-section3 | provsel reproduce wang2018/ofs-section3 "artefact.only=['n = 20',Gaussian]"."""

from provlab.core.frames import TIMES, selection_seconds
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables
from provsel.certificates import SpectralSparsification, StreamMemory

PARTS = {"factor": "factor_bytes", "kept": "kept_bytes", "seen": "seen_bytes"}
BYTES = {part: StreamMemory.column(field) for part, field in PARTS.items()}
ERROR = SpectralSparsification.column("spectral_error")
READ = [*TIMES, *BYTES.values(), ERROR, "n_selected", "n_train", "n_features"]
OFS, LEMMA1 = "OFS as printed", "Lemma 1"


def summarise(entry, trials):
    seconds, kept = selection_seconds(trials), trials["n_selected"]
    lines = [
        {"value": seconds.median(), "sd": seconds.std(ddof=1)},
        {"column": f"{entry.column}, features", "value": kept.mean(), "sd": kept.std(ddof=1)},
        {"column": f"{entry.column}, largest ||E||", "value": trials[ERROR].astype(float).max()},
    ]
    if entry.row == OFS:
        printed = 8 * trials["n_train"] * kept
        lines.append({"column": f"{entry.column}, printed kB", "value": printed.mean() / 1000})
        for part, column in BYTES.items():
            size = trials[column].astype(float).mean() / 1000
            lines.append({"column": f"{entry.column}, {part} kB", "value": size})
    return lines


def render(made: Rendering) -> str:
    trials = made.trials(READ)
    streams = _streams(made, trials[trials["row"] == OFS])
    draws = _draws(made, trials[trials["row"] == LEMMA1])
    return streams + "\n" + draws


def _streams(made, trials):
    rows = []
    for (dataset, column), part in trials.groupby(["dataset", "column"], sort=False):
        n, d, kept = int(part["n_train"].iloc[0]), int(part["n_features"].iloc[0]), part["n_selected"].mean()
        sizes = [8 * n * kept, *(part[name].astype(float).mean() for name in BYTES.values())]
        texts = [f"{selection_seconds(part).median():.3g}", f"{kept:,.0f}", *(f"{size / 1000:,.1f}" for size in sizes)]
        rows.append([f"{n}", f"{d:,}", *(Traced(text, OFS, column, dataset) for text in texts)])
    runs = max((entry.cell.n_trials for entry in made.artefact.entries if entry.row == OFS), default=0)
    epsilon = made.artefact.config.selector.epsilon
    return write_tables(
        made.tables,
        ["n", "d", "CPU seconds", "features kept", "as printed (kB)", "factor (kB)", "kept (kB)", "seen (kB)"],
        rows,
        caption=f"{made.artefact.title}: d columns of n rows, {OFS}, the c of Theorem 1, epsilon = "
        f"{epsilon}, {runs} runs: median seconds, mean sizes.",
        note=f"{made.note} As printed: the kept columns, 8 n bytes each. OnlineLeverageSelector holds a factor of them "
        "instead, and two numbers for each column kept. scores_ and seen_indices_ are two numbers for each column "
        "seen.".strip(),
    )


def _draws(made, trials):
    epsilon = made.artefact.config.selector.epsilon
    rows = []
    for (column, dataset), part in trials.groupby(["column", "dataset"], sort=False):
        errors = part[ERROR].astype(float)
        within = f"{(errors <= epsilon).sum()} of {len(errors)}"
        texts = [f"{part['n_selected'].mean():,.0f}", f"{errors.median():.3g}", f"{errors.max():.3g}", within]
        rows.append([column, dataset, *(Traced(text, LEMMA1, column, dataset) for text in texts)])
    return write_tables(
        made.tables.with_name(f"{made.tables.name}-lemma1"),
        ["rate", "data", "columns kept", "||E||, median", "largest", f"at most {epsilon}"],
        rows,
        caption=f"Lemma 1 with exact scores: probabilities min(c l, 1), n = 20, d = 20,000, epsilon = {epsilon}.",
        note=f"{made.note} Draws are systematic: as many columns in each run.".strip(),
    )


RECIPE = Recipe("wang2018/ofs-section3", render, summarise=summarise, columns=READ, unit="CPU seconds")
