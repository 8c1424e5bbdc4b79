"""make reproduce-compression-gap | provsel reproduce giesen2013/compression-gap [artefact.only=[DEXTER]]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, like, write_tables

from .components import Panel, draw_against_components

REFINED = "Refined: four refinements, ten passes over the rows; dual: three; transpose: one."
NUMBERS = ["error", "objective", "scaled_objective", "certificate_optimum", "n_features"]


def summarise(entry, trials):
    numbers = {entry.column: 100 * trials["error"], f"{entry.column}, objective": trials["objective"]}
    if entry.cell.model["_target_"].endswith("CompressedLinearSVM"):
        numbers[f"{entry.column}, scaled objective"] = trials["scaled_objective"]
        numbers[f"{entry.column}, optimum"] = trials["certificate_optimum"]
    return [{"column": name, "value": found.mean(), "sd": found.std(ddof=1)} for name, found in numbers.items()]


def render(made: Rendering) -> str:
    trials = made.trials(NUMBERS)
    free = trials["row"] == "uncompressed"  # one number, stored once for all columns
    trials["optimum"] = trials["certificate_optimum"].where(~free, trials["objective"])
    trials["l"] = trials["column"].astype(float).mask(free)
    trials["error"] *= 100
    for name in ("objective", "scaled_objective"):
        trials[f"{name}_ratio"] = trials[name] / trials["optimum"]
    rows = []
    for (dataset, row, column), found in trials.groupby(["dataset", "row", "column"], sort=False):
        ratio = f"{found['n_features'].iloc[0] / float(column):.1f}"
        numbers = [f"{found['error'].mean():.2f} ± {found['error'].std(ddof=1):.2f}"]
        numbers += [f"{found[f'{name}_ratio'].median():.3g}" for name in ("objective", "scaled_objective")]
        numbers = [Traced(text, row, column, dataset) for text in numbers]
        if row != "uncompressed":
            rows.append([dataset, row, column, ratio, *numbers])
        elif column == made.artefact.config.artefact.datasets[dataset]["columns"][0]:
            rows.append([dataset, row, "", "1", like(numbers[0], f"{found['error'].mean():.2f}"), "1", "1"])
    draws = made.artefact.config.protocol.draws
    text = write_tables(
        made.tables,
        ["data", "recovery", "l", "m / l", "error (%)", "objective / optimum", "at the best length"],
        rows,
        caption=f"{made.artefact.title}: test error (mean and sd) and objective (median), {draws} draws of Lambda.",
        note=f"{made.note} {REFINED} At the best length: t w for the best t > 0, which predicts the same.".strip(),
    )
    panels = [
        Panel("error", "test error (%)"),
        Panel("objective_ratio", "objective / optimum", log=True),
        Panel("scaled_objective_ratio", "at the best length", log=True),
    ]
    title = f"{made.artefact.title} ({draws} draws of Lambda: median, range). {REFINED} {made.note}".strip()
    paths = draw_against_components(trials, panels, made.figures, title)
    return text + "\n" + "\n".join(str(path) for path in paths)


RECIPE = Recipe("giesen2013/compression-gap", render, summarise=summarise, columns=NUMBERS, unit="test error (%)")
