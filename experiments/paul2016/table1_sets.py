"""make reproduce-table1_sets: what the text says of Table 1, over ten data sets."""

from provlab.recipe import Recipe, Rendering
from provlab.tables import cell_text, write_tables

from .table1 import has_error_only, summarise


def render(made: Rendering) -> str:
    columns = list(made.artefact.config.artefact.columns)
    lines = made.frame.set_index(["row", "column"])
    rows = []
    for row in made.artefact.config.artefact.rows:
        name = row
        if not has_error_only(row):
            rows.append([row, "relevant", *(cell_text(lines, row, f"{column}, relevant") for column in columns)])
            name = ""
        rows.append([name, "error (%)", *(cell_text(lines, row, f"{column}, error (%)") for column in columns)])
    return write_tables(
        made.tables,
        ["", "", *columns],
        rows,
        caption=f"{made.artefact.title}: how many are relevant, and the mean test error. The paper: all, and 0.",
        note=f"{made.note} Why ours differ: experiments/paul2016/NOTES.md.".strip(),
    )


RECIPE = Recipe("paul2016/table1_sets", render, summarise=summarise, columns=["error", "features"])
