"""make reproduce-compression-gap | provsel reproduce giesen2013/compression-gap [artefact.only=[DEXTER]]."""

from provlab.core.frames import mean_lines
from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import Traced, like, write_tables

from .components import Panel, draw_against_components

REFINED = (
    "Refined: four refinements, ten passes over the rows; dual: three; transpose: one."
)
NUMBERS = [
    "error",
    "objective",
    "scaled_objective",
    "certificate_optimum",
    "n_features",
]
UNCOMPRESSED = "uncompressed"
HEADER = [
    "data",
    "recovery",
    "l",
    "m / l",
    "error (%)",
    "objective / optimum",
    "at the best length",
]


def summarise(entry, trials):
    numbers = {
        entry.column: 100 * trials["error"],
        f"{entry.column}, objective": trials["objective"],
    }
    if entry.cell.model["_target_"].endswith("CompressedLinearSVM"):
        numbers[f"{entry.column}, scaled objective"] = trials["scaled_objective"]
        numbers[f"{entry.column}, optimum"] = trials["certificate_optimum"]
    return mean_lines(numbers)


def render(rendering: Rendering) -> str:
    trials = with_ratios(rendering.trials(NUMBERS))
    artefact = rendering.artefact
    draws = artefact.config.protocol.draws
    text = write_tables(
        rendering.tables,
        HEADER,
        rows_of(trials, artefact.config.artefact.datasets),
        caption=f"{artefact.title}: test error (mean and sd) and objective (median), {draws} draws of Lambda.",
        note=f"{rendering.note} {REFINED} At the best length: t w for the best t > 0, which predicts the same.".strip(),
    )
    panels = [
        Panel("error", "test error (%)"),
        Panel("objective_ratio", "objective / optimum", log=True),
        Panel("scaled_objective_ratio", "at the best length", log=True),
    ]
    title = f"{artefact.title} ({draws} draws of Lambda: median, range). {REFINED} {rendering.note}".strip()
    return printed(
        text, draw_against_components(trials, panels, rendering.figures, title)
    )


def with_ratios(trials):
    """Return the trials with `l`, the error in % and both objectives over the optimum."""
    is_whole = trials["row"] == UNCOMPRESSED  # one number, stored once for all columns
    optimum = trials["certificate_optimum"].where(~is_whole, trials["objective"])
    trials["l"] = trials["column"].astype(float).mask(is_whole)
    trials["error"] *= 100
    trials["objective_ratio"] = trials["objective"] / optimum
    trials["scaled_objective_ratio"] = trials["scaled_objective"] / optimum
    return trials


def rows_of(trials, datasets):
    rows = []
    for (dataset, row, column), part in trials.groupby(
        ["dataset", "row", "column"], sort=False
    ):
        mean = f"{part['error'].mean():.2f}"
        error = Traced(
            f"{mean} ± {part['error'].std(ddof=1):.2f}", row, column, dataset
        )
        if row != UNCOMPRESSED:
            reduction = f"{part['n_features'].iloc[0] / float(column):.1f}"
            objective = f"{part['objective_ratio'].median():.3g}"
            scaled = f"{part['scaled_objective_ratio'].median():.3g}"
            rows.append(
                [
                    dataset,
                    row,
                    column,
                    reduction,
                    error,
                    like(error, objective),
                    like(error, scaled),
                ]
            )
        elif column == datasets[dataset]["columns"][0]:
            rows.append([dataset, row, "", "1", like(error, mean), "1", "1"])
    return rows


RECIPE = Recipe(
    "giesen2013/compression-gap",
    render,
    summarise=summarise,
    columns=NUMBERS,
    unit="test error (%)",
)
