"""make reproduce-feature-selective-peers | provsel reproduce giesen2013/feature-selective-peers [--render]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables
from provlab.report.figures.curves import KEPT, draw_curves


def summarise(entry, trials):
    folds = trials.groupby(["repeat", "fold"])[["error", "n_selected"]].mean().astype(float)
    numbers = {entry.column: 100 * folds["error"], f"{entry.column}{KEPT}": folds["n_selected"]}
    return [{"column": name, "value": found.mean(), "sd": found.std(ddof=1)} for name, found in numbers.items()]


def render(made: Rendering) -> str:
    config, sizes = made.artefact.config, list(made.artefact.config.artefact.columns)
    how = f"{config.protocol.repeats} x {config.protocol.n_splits}-fold"
    values = made.frame.set_index(["dataset", "row", "column"])["value"].astype(float)
    errors = made.frame[made.frame["column"].isin(sizes)]
    places = list(dict.fromkeys(zip(errors["dataset"], errors["row"], strict=True)))

    def kept(dataset, row, size):
        return values.get((dataset, row, f"{size}{KEPT}"), float("nan"))

    def text(*place):
        number, count = values.get(place, float("nan")), kept(*place)
        beside = "" if count >= int(place[-1]) else f" [{count:.0f}]"
        return "" if number != number else f"{number:.1f}{beside}"

    title = f"{made.artefact.title} ({how}). {made.note}".strip()
    paths = draw_curves(made.frame, made.figures, title, ylabel="test error (%)", flat="Full", log="x")
    table = write_tables(
        made.tables,
        ["data set", "method", *sizes],
        [[*place, *(Traced(text(*place, size), place[1], size, place[0]) for size in sizes)] for place in places],
        caption=f"{made.artefact.title}: test error in % of the same SVM on each selection ({how}).",
        note=f"{made.note} In brackets the mean number kept where a method has no setting with as many features; the "
        "figure has each at the number kept. Full: all features, whatever the column.".strip(),
    )
    return table + "\n" + "\n".join(str(path) for path in paths)


READ = ["error", "n_selected"]
RECIPE = Recipe("giesen2013/feature-selective-peers", render, summarise=summarise, columns=READ, unit="test error (%)")
