"""make reproduce-table2 | provsel reproduce paul2016/table2 [protocol.repeats=1] [dataset.set=[A,B]]."""

from pathlib import Path

import pandas as pd

from provlab.core.frames import data_shape, error_summary
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, value_text, write_tables

# From the table on the collection's page, see `homepage` in the source registry.
CATEGORIES = pd.read_csv(
    Path(__file__).with_name("techtc_categories.csv"), dtype=str
).set_index("dataset")
ERROR = "error (%)"
COLUMNS = ["id1", "id2", "documents", "words", ERROR]


def summarise(entry, trials):
    names = ["", ""]
    if entry.dataset in CATEGORIES.index:
        names = CATEGORIES.loc[entry.dataset, ["id1", "id2"]]
    [error] = error_summary(entry, trials)
    values = dict(zip(COLUMNS, [*names, *data_shape(trials)], strict=False))
    lines = [{"column": column, "value": value} for column, value in values.items()]
    return [*lines, {"column": ERROR, **error}]


def render(rendering: Rendering) -> str:
    table = rendering.frame.pivot(
        index="dataset", columns="column", values="value"
    ).reindex(columns=COLUMNS)
    [row] = rendering.artefact.config.artefact.rows
    [column] = rendering.artefact.config.artefact.columns
    rows = []
    for name, *values in table.itertuples():
        rows.append(
            [name, *(Traced(value_text(value), row, column, name) for value in values)]
        )
    return write_tables(
        rendering.tables,
        ["data set", *COLUMNS],
        rows,
        caption=f"Table 2. {rendering.artefact.title}, and the test error of full data.",
        note=f"{rendering.note} Of the paper's five pairs, named by category, Exp_14630_814096 (Colorado: "
        "Boulder, Ireland: Dublin) is here. Categories: the collection's own table, where it is present.".strip(),
    )


RECIPE = Recipe(
    "paul2016/table2", render, summarise=summarise, columns=["error", "n_features"]
)
