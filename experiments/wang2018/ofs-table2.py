"""make reproduce-ofs-table2 | provsel reproduce wang2018/ofs-table2 [~artefact.datasets.MNIST]."""

from provlab.core.frames import data_shape
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, like, write_tables

COLUMNS = ["data points", "features", "classes"]


def summarise(entry, trials):
    values = [*data_shape(trials), int(trials["n_classes"].iloc[0])]
    return [
        {"column": column, "value": value}
        for column, value in zip(COLUMNS, values, strict=True)
    ]


def render(rendering: Rendering) -> str:
    lines = rendering.frame.set_index(["dataset", "column"])
    rows = []
    for name in rendering.frame["dataset"].unique():
        cells = [_with_printed(lines, name, column) for column in COLUMNS]
        rows.append([name, *cells])
    return write_tables(
        rendering.tables,
        ["data set", *COLUMNS],
        rows,
        caption=f"Table 2. {rendering.artefact.title}; printed numbers in brackets where they differ.",
        note=f"{rendering.note} AR: another crop of the same photographs. ORL: the printed number of data points "
        "cannot be that of the ORL faces, of which there are 400.".strip(),
    )


def _with_printed(lines, dataset, column):
    ours = cell_text(lines, dataset, column)
    printed = cell_text(lines, dataset, column, "printed_value")
    return ours if printed in ("", ours) else like(ours, f"{ours} [{printed}]")


RECIPE = Recipe(
    "wang2018/ofs-table2",
    render,
    summarise=summarise,
    columns=["n_features", "n_classes"],
)
