"""provsel reproduce comparison."""

from provlab.reports.frames import cell_text
from provlab.reports.recipe import Recipe, Rendering
from provlab.reports.tables import write_tables


def render(made: Rendering) -> str:
    """Write the table, and return it."""
    layout = made.artefact.config.artefact
    lines = made.frame.set_index(["row", "column"])
    rows = [[row, *(cell_text(lines, row, column) for column in layout.columns)] for row in layout.rows]
    return write_tables(
        made.tables,
        ["", *layout.columns],
        rows,
        caption=f"{layout.title}: mean test error in percent.",
        note=made.note,
    )


RECIPE = Recipe("first/comparison", render, unit="test error (%)")
