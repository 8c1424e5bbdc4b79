"""make reproduce-ofs-section3 | provsel reproduce wang2018/ofs-section3 "artefact.only=['n = 20',Gaussian]"."""

from provlab.core.frames import TIMES, selection_seconds
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables
from provsel.certificates import SpectralSparsification, StreamMemory

BYTES = {
    part: StreamMemory.column(f"{part}_bytes") for part in ("factor", "kept", "seen")
}
ERROR = SpectralSparsification.column("spectral_error")
READ = [*TIMES, *BYTES.values(), ERROR, "n_selected", "n_train", "n_features"]
OFS, LEMMA1 = "OFS as printed", "Lemma 1"


def summarise(entry, trials):
    seconds, kept = selection_seconds(trials), trials["n_selected"]
    lines = [
        {"value": seconds.median(), "sd": seconds.std(ddof=1)},
        {
            "column": f"{entry.column}, features",
            "value": kept.mean(),
            "sd": kept.std(ddof=1),
        },
        {
            "column": f"{entry.column}, largest ||E||",
            "value": trials[ERROR].astype(float).max(),
        },
    ]
    if entry.row == OFS:
        sizes = {"printed": 8 * trials["n_train"] * kept}
        for part, column in BYTES.items():
            sizes[part] = trials[column].astype(float)
        for part, numbers in sizes.items():
            lines.append(
                {"column": f"{entry.column}, {part} kB", "value": numbers.mean() / 1000}
            )
    return lines


def render(rendering: Rendering) -> str:
    trials = rendering.trials(READ)
    streams = _streams(rendering, trials[trials["row"] == OFS])
    draws = _draws(rendering, trials[trials["row"] == LEMMA1])
    return streams + "\n" + draws


def _streams(rendering, trials):
    rows = []
    for (dataset, column), part in trials.groupby(["dataset", "column"], sort=False):
        n, d, kept = (
            int(part["n_train"].iloc[0]),
            int(part["n_features"].iloc[0]),
            part["n_selected"].mean(),
        )
        texts = [
            f"{selection_seconds(part).median():.3g}",
            f"{kept:,.0f}",
            f"{8 * n * kept / 1000:,.1f}",
        ]
        texts += [
            f"{part[name].astype(float).mean() / 1000:,.1f}" for name in BYTES.values()
        ]
        rows.append(
            [f"{n}", f"{d:,}", *(Traced(text, OFS, column, dataset) for text in texts)]
        )
    artefact = rendering.artefact
    runs = max(
        (entry.cell.n_trials for entry in artefact.entries if entry.row == OFS),
        default=0,
    )
    return write_tables(
        rendering.tables,
        [
            "n",
            "d",
            "CPU seconds",
            "features kept",
            "as printed (kB)",
            "factor (kB)",
            "kept (kB)",
            "seen (kB)",
        ],
        rows,
        caption=f"{artefact.title}: d columns of n rows, {OFS}, the c of Theorem 1, epsilon = "
        f"{artefact.config.selector.epsilon}, {runs} runs: median seconds, mean sizes.",
        note=f"{rendering.note} As printed: the kept columns, 8 n bytes each. OnlineLeverageSelector holds a factor of "
        "them instead, and two numbers for each column kept. scores_ and seen_indices_ are two numbers for each column "
        "seen.".strip(),
    )


def _draws(rendering, trials):
    epsilon = rendering.artefact.config.selector.epsilon
    rows = []
    for (column, dataset), part in trials.groupby(["column", "dataset"], sort=False):
        errors = part[ERROR].astype(float)
        within = f"{(errors <= epsilon).sum()} of {len(errors)}"
        texts = [
            f"{part['n_selected'].mean():,.0f}",
            f"{errors.median():.3g}",
            f"{errors.max():.3g}",
            within,
        ]
        rows.append(
            [
                column,
                dataset,
                *(Traced(text, LEMMA1, column, dataset) for text in texts),
            ]
        )
    return write_tables(
        rendering.tables.with_name(f"{rendering.tables.name}-lemma1"),
        [
            "rate",
            "data",
            "columns kept",
            "||E||, median",
            "largest",
            f"at most {epsilon}",
        ],
        rows,
        caption=f"Lemma 1 with exact scores: probabilities min(c l, 1), n = 20, d = 20,000, epsilon = {epsilon}.",
        note=f"{rendering.note} Draws are systematic: as many columns in each run.".strip(),
    )


RECIPE = Recipe(
    "wang2018/ofs-section3",
    render,
    summarise=summarise,
    columns=READ,
    unit="CPU seconds",
)
