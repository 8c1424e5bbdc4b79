"""make reproduce-feature-selective | provsel reproduce giesen2013/feature-selective [artefact.only=[colon]]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables
from provlab.report.figures.curves import draw_curves

FEATURES, OBJECTIVE = "features", "objective"
PRICE = "c1 / c1 that drops everything"


def summarise(entry, trials):
    folds = trials.groupby(["repeat", "fold"])[["error", "n_selected", "objective"]].mean().astype(float)
    numbers = {
        entry.column: 100 * folds["error"],
        f"{entry.column}, {FEATURES}": folds["n_selected"],
        f"{entry.column}, {OBJECTIVE}": folds["objective"],
    }
    return [{"column": name, "value": found.mean(), "sd": found.std(ddof=1)} for name, found in numbers.items()]


def render(made: Rendering) -> str:
    config, prices = made.artefact.config, list(made.artefact.config.artefact.columns)
    how = f"{config.protocol.repeats} x {config.protocol.n_splits}-fold"
    kinds = {"": made.frame[made.frame["column"].isin(prices)]}
    for kind in (FEATURES, OBJECTIVE):
        part = made.frame[made.frame["column"].str.endswith(f", {kind}")]
        kinds[kind] = part.assign(column=part["column"].str.removesuffix(f", {kind}"))
    kept = kinds[FEATURES][kinds[FEATURES]["row"] != "SVM"]
    look = {"xlabel": PRICE, "flat": "SVM"}
    title = f"{made.artefact.title} ({how}). {made.note}".strip()
    paths = draw_curves(kinds[""], made.figures, title, ylabel="test error (%)", log="x", **look)
    stem = made.figures.with_name(f"{made.figures.name}-features")
    paths += draw_curves(kept, stem, title, ylabel="features kept", log="xy", **look)
    cells = {kind: part.set_index(["dataset", "row", "column"])["value"].astype(float) for kind, part in kinds.items()}
    places = list(dict.fromkeys(zip(made.frame["dataset"], made.frame["row"], strict=True)))
    errors, objectives = (
        [[*place, *(Traced(text(*place, price), place[1], price, place[0]) for price in prices)] for place in places]
        for text in (
            lambda *place: _text(cells[""], place, ".1f") + _text(cells[FEATURES], place, ".0f", " ({})"),
            lambda *place: _text(cells[OBJECTIVE], place, ".4f"),
        )
    )
    header = ["data set", "method", *prices]
    text = write_tables(
        made.tables,
        header,
        errors,
        caption=f"{made.artefact.title}: test error in % ({how}), in parentheses features with mu > 0; {PRICE}.",
        note=f"{made.note} c2 is 1e-4 of the mean squared length of a row, and so is c of the SVM, of the same loss. X "
        "is as the loaders give it; in these units a common factor of its columns does not matter.".strip(),
    )
    text += "\n" + write_tables(
        made.tables.with_name(f"{made.tables.name}-objectives"),
        header,
        objectives,
        caption=f"Objectives on the training rows ({how}); each row has its own penalty, compressed that of w_bar.",
        note=made.note,
    )
    return text + "\n" + "\n".join(str(path) for path in paths)


def _text(values, place, form, around="{}"):
    return around.format(f"{values[place]:{form}}") if place in values.index and values[place] == values[place] else ""


READ = ["error", "n_selected", "objective"]
RECIPE = Recipe("giesen2013/feature-selective", render, summarise=summarise, columns=READ, unit="test error (%)")
