"""make reproduce-table1_sets: what the text says of Table 1, over ten data sets."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, like, write_tables

from .table1 import ERROR, summarise


def render(rendering: Rendering) -> str:
    columns = list(rendering.artefact.config.artefact.columns)
    lines = rendering.frame.set_index(["row", "column"])
    rows = []
    for row in rendering.artefact.config.artefact.rows:
        cells = [_relevant_and_error(lines, row, column) for column in columns]
        rows.append([row, *cells])
    return write_tables(
        rendering.tables,
        ["", *columns],
        rows,
        caption=f"{rendering.artefact.title}: how many are relevant (mean test error in %). The paper: all (0).",
        note=f"{rendering.note} Why ours differ: experiments/paul2016/NOTES.md.".strip(),
    )


def _relevant_and_error(lines, row, column):
    error = cell_text(lines, row, column + ERROR)
    relevant = cell_text(lines, row, f"{column}, relevant")
    return like(error, f"{relevant} ({error})".strip()) if error else ""


RECIPE = Recipe(
    "paul2016/table1_sets", render, summarise=summarise, columns=["error", "features"]
)
