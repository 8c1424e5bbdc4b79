"""make reproduce-table2 | provsel reproduce paul2016/table2 [protocol.repeats=1] [dataset.set=[A,B]]."""

import csv
from pathlib import Path

from provlab.core.frames import data_shape, error_summary
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables

# From the table on the collection's page, see `homepage` in the source registry.
with Path(__file__).with_name("techtc_categories.csv").open(encoding="utf-8", newline="") as file:
    CATEGORIES = {row["dataset"]: (row["id1"], row["id2"]) for row in csv.DictReader(file)}

COLUMNS = ["id1", "id2", "documents", "words", "error (%)"]


def summarise(entry, trials):
    names = CATEGORIES.get(entry.dataset, ("", ""))
    [error] = error_summary(entry, trials)
    values = dict(zip(COLUMNS, [*names, *data_shape(trials)], strict=False))
    return [*({"column": column, "value": value} for column, value in values.items()), {"column": "error (%)", **error}]


def render(made: Rendering) -> str:
    table = made.frame.pivot(index="dataset", columns="column", values="value").reindex(columns=COLUMNS)
    [row], [column] = made.artefact.config.artefact.rows, made.artefact.config.artefact.columns
    rows = [
        [name, *(Traced(f"{v:.2f}" if isinstance(v, float) else v, row, column, name) for v in line)]
        for name, *line in table.itertuples()
    ]
    return write_tables(
        made.tables,
        ["data set", *COLUMNS],
        rows,
        caption=f"Table 2. {made.artefact.title}, and the test error of full data.",
        note=f"{made.note} Of the paper's five pairs, named by category, Exp_14630_814096 (Colorado: "
        "Boulder, Ireland: Dublin) is here. Categories: the collection's own table, where it is present.".strip(),
    )


RECIPE = Recipe("paul2016/table2", render, summarise=summarise, columns=["error", "n_features"])
