"""make reproduce-ofs-options | provsel reproduce wang2018/ofs-options [protocol.repeats=1]."""

from provlab.core.frames import seed_summary
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, like, whole, write_tables

READ = ["error", "nmi", "ari", "n_selected"]


def render(rendering: Rendering) -> str:
    config, frame = rendering.artefact.config, rendering.frame
    accuracy = frame[frame["column"].str.isdecimal()]
    places = accuracy[["dataset", "column"]].drop_duplicates()
    lines = frame.assign(column=frame["dataset"] + " " + frame["column"]).set_index(
        ["row", "column"]
    )
    rows = []
    for row in config.artefact.rows:
        cells = []
        for name in places["dataset"] + " " + places["column"]:
            value, kept = (
                cell_text(lines, row, name),
                whole(cell_text(lines, row, f"{name}, features")),
            )
            cells.append(like(value, f"{value} ({kept})") if value else "")
        rows.append([row, *cells])
    return write_tables(
        rendering.tables,
        ["method", *(places["dataset"] + ", " + places["column"])],
        rows,
        caption=f"{rendering.artefact.title}: k-means accuracy in %, mean over {config.protocol.repeats} seeds.",
        note=f"{rendering.note} Data set, number of features asked for; in parentheses the mean number kept.".strip(),
    )


RECIPE = Recipe(
    "wang2018/ofs-options",
    render,
    summarise=seed_summary,
    columns=READ,
    unit="clustering accuracy (%)",
)
