"""make reproduce-table2 | provsel reproduce paul2016/table2 [protocol.repeats=1] [dataset.set=[A,B]]."""

from provlab.datasets.loaders.techtc import categories
from provlab.frames import data_shape, error_summary
from provlab.recipe import Recipe, Rendering
from provlab.tables import Traced, write_tables

COLUMNS = ["id1", "id2", "documents", "words", "error (%)"]


def summarise(entry, trials):
    names = categories(entry.dataset) or ("", "")
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
