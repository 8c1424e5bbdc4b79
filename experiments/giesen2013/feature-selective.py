"""make reproduce-feature-selective | provsel reproduce giesen2013/feature-selective [artefact.only=[colon]]."""

import math

from provlab.core.frames import fold_means, mean_lines
from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import Traced, write_tables
from provlab.report.figures.curves import draw_curves

FEATURES, OBJECTIVE = ", features", ", objective"
PRICE = "c1 / c1 that drops everything"
READ = ["error", "n_selected", "objective"]


def summarise(entry, trials):
    folds = fold_means(trials, READ)
    return mean_lines({
        entry.column: 100 * folds["error"],
        f"{entry.column}{FEATURES}": folds["n_selected"],
        f"{entry.column}{OBJECTIVE}": folds["objective"],
    })  # fmt: skip


def render(rendering: Rendering) -> str:
    prices = list(rendering.artefact.config.artefact.columns)
    numbers = rendering.frame.set_index(["dataset", "row", "column"])["value"].astype(
        float
    )
    errors, objectives = [], []
    for dataset, row in dict.fromkeys(
        zip(rendering.frame["dataset"], rendering.frame["row"], strict=True)
    ):
        error_cells, objective_cells = [], []
        for price in prices:
            error = number_text(numbers, dataset, row, price, ".1f")
            features = number_text(numbers, dataset, row, price + FEATURES, ".0f")
            text = f"{error} ({features})" if features else error
            error_cells.append(Traced(text, row, price, dataset))
            objective = number_text(numbers, dataset, row, price + OBJECTIVE, ".4f")
            objective_cells.append(Traced(objective, row, price, dataset))
        errors.append([dataset, row, *error_cells])
        objectives.append([dataset, row, *objective_cells])
    header = ["data set", "method", *prices]
    text = write_tables(
        rendering.tables,
        header,
        errors,
        caption=f"{rendering.artefact.title}: test error in % ({rendering.folds}), in parentheses features with "
        f"mu > 0; {PRICE}.",
        note=f"{rendering.note} c2 is 1e-4 of the mean squared length of a row, and so is c of the SVM, of the same "
        "loss. X is as the loaders give it; in these units a common factor of its columns does not matter.".strip(),
    )
    text += "\n" + write_tables(
        rendering.tables.with_name(f"{rendering.tables.name}-objectives"),
        header,
        objectives,
        caption=f"Objectives on the training rows ({rendering.folds}); each row has its own penalty, compressed that "
        "of w_bar.",
        note=rendering.note,
    )
    return printed(text, draw(rendering, prices))


def number_text(numbers, dataset, row, column, form):
    number = numbers.get((dataset, row, column), math.nan)
    return "" if math.isnan(number) else f"{number:{form}}"


def draw(rendering, prices):
    """Draw the errors, and the features that are kept."""
    frame = rendering.frame
    kept = frame[frame["column"].str.endswith(FEATURES) & (frame["row"] != "SVM")]
    kept = kept.assign(column=kept["column"].str.removesuffix(FEATURES))
    title = f"{rendering.artefact.title} ({rendering.folds}). {rendering.note}".strip()
    look = {"xlabel": PRICE, "flat": "SVM"}
    errors = frame[frame["column"].isin(prices)]
    paths = draw_curves(
        errors, rendering.figures, title, ylabel="test error (%)", log="x", **look
    )
    stem = rendering.figures.with_name(f"{rendering.figures.name}-features")
    return paths + draw_curves(
        kept, stem, title, ylabel="features kept", log="xy", **look
    )


RECIPE = Recipe(
    "giesen2013/feature-selective",
    render,
    summarise=summarise,
    columns=READ,
    unit="test error (%)",
)
