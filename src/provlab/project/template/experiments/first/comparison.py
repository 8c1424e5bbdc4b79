"""provsel reproduce comparison."""

from provlab.core.frames import error_summary
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, write_tables


def summarise(entry, trials):
    """Return the numbers of a row and column: the error, and means of the project's own measures."""
    [error] = error_summary(entry, trials)
    return [
        error,
        {"column": f"{entry.column}, balanced", "value": 100 * trials["balanced_error"].mean()},
        {"column": f"{entry.column}, variance kept", "value": 100 * trials["variance_share"].mean()},
    ]


def render(rendering: Rendering) -> str:
    """Write the table, and return it."""
    layout = rendering.artefact.config.artefact
    lines = rendering.frame.set_index(["row", "column"])
    columns = [f"{column}{suffix}" for column in layout.columns for suffix in ("", ", balanced", ", variance kept")]
    rows = [[row, *(cell_text(lines, row, column) for column in columns)] for row in layout.rows]
    return write_tables(
        rendering.tables,
        ["", *columns],
        rows,
        caption=f"{layout.title}: mean test error, balanced error, and variance kept, in percent.",
        note=rendering.note,
    )


COLUMNS = ["error", "balanced_error", "variance_share"]
RECIPE = Recipe("first/comparison", render, summarise=summarise, columns=COLUMNS, unit="test error (%)")
