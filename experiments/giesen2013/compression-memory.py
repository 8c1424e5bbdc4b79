"""make reproduce-compression-memory | python experiments/giesen2013/compression-memory.py [protocol.draws=3]."""

import sys

from provsel.cli import Rendering, artefact_main
from provsel.reports.memory import COLUMNS, draw_memory, memory_points, memory_rows, memory_summary
from provsel.reports.tables import write_tables

NOTE = (
    "In parentheses: how many times the line, which is 8 (n + m) l bytes where Lambda is kept, 8 n l + 8 m where it is "
    "made again; and the test error in %. LIBLINEAR has no l. Growth of the resident memory from after the imports to "
    "its peak. It has a fixed part beside the line: a chunk of 4,096 rows as text and as numbers, some 50 MB where "
    "rows have 100 non-zeros, and, of Lambda and of what is added up, 8 MB each or twice the compressed chunk."
)


def render(made: Rendering) -> str:
    artefact = made.artefact
    points = memory_points(artefact.entries, made.trials(COLUMNS))
    sizes = list(artefact.config.artefact.columns)
    text = write_tables(
        made.tables,
        ["training rows", "file (MB)", "model", *(f"l = {size}" for size in sizes)],
        memory_rows(points, sizes),
        caption=f"{artefact.title}, in MB.",
        note=f"{made.note} {NOTE}".strip(),
    )
    paths = draw_memory(points, made.figures, f"{artefact.title}: growth to its peak. {made.note}".strip().rstrip("."))
    return text + "\n" + "\n".join(str(path) for path in paths)


if __name__ == "__main__":
    sys.exit(artefact_main("giesen2013/compression-memory", render, summarise=memory_summary, columns=COLUMNS))
