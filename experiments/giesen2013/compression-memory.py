"""make reproduce-compression-memory | provsel reproduce giesen2013/compression-memory [protocol.draws=3]."""

from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import write_tables

from .memory import COLUMNS, draw_memory, memory_points, memory_rows, memory_summary

NOTE = (
    "In parentheses: how many times the line, which is 8 (n + m) l bytes where Lambda is kept, 8 n l + 8 m where it is "
    "regenerated; and the test error in %. LIBLINEAR has no l. Measured is the growth of the resident memory from "
    "after the imports to its peak, in a process that only trains. It has a fixed part beside the line: two chunks of "
    "at most 1,024 rows and 2^18 non-zeros, some 3 MB each, and, of Lambda and of what is added up, 8 MB each or twice "
    "the compressed chunk. Rows have 100 non-zeros, in the dense data set all m."
)


def render(rendering: Rendering) -> str:
    artefact = rendering.artefact
    draws = max((cell.n_draws for cell in artefact.cells), default=0)
    recoveries = ", ".join(sorted({cell.model["recovery"] for cell in artefact.cells if "recovery" in cell.model}))
    how = f"Draws of Lambda: {draws}, of the data: 1; recovery: {recoveries}."
    points = memory_points(artefact.entries, rendering.trials(COLUMNS))
    sizes = list(artefact.config.artefact.columns)
    text = write_tables(
        rendering.tables,
        ["training rows", "file (MB)", "model", *(f"l = {size}" for size in sizes)],
        memory_rows(points, sizes),
        caption=f"{artefact.title}, in MB.",
        note=f"{rendering.note} {how} {NOTE}".strip(),
    )
    title = f"{artefact.title}: growth from after the imports to the peak; sparse rows. {how} {rendering.note}"
    return printed(text, draw_memory(points, rendering.figures, title.strip().rstrip(".")))


RECIPE = Recipe("giesen2013/compression-memory", render, summarise=memory_summary, columns=COLUMNS, unit="memory (MB)")
