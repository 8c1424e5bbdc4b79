"""make reproduce-ofs-options | provsel reproduce wang2018/ofs-options [protocol.repeats=1]."""

from provlab.core.frames import seed_summary
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, like, whole, write_tables


def render(made: Rendering) -> str:
    config = made.artefact.config
    accuracy = made.frame[made.frame["column"].str.isdecimal()]
    header = list(dict.fromkeys(zip(accuracy["dataset"], accuracy["column"], strict=True)))
    lines = made.frame.assign(column=made.frame["dataset"] + " " + made.frame["column"]).set_index(["row", "column"])
    rows = []
    for row in config.artefact.rows:
        names = [f"{dataset} {column}" for dataset, column in header]
        kept = [whole(cell_text(lines, row, f"{name}, features")) for name in names]
        values = [cell_text(lines, row, name) for name in names]
        texts = [like(value, f"{value} ({n})") if value else "" for value, n in zip(values, kept, strict=True)]
        rows.append([row, *texts])
    return write_tables(
        made.tables,
        ["method", *(f"{dataset}, {column}" for dataset, column in header)],
        rows,
        caption=f"{made.artefact.title}: k-means accuracy in %, mean over {config.protocol.repeats} seeds.",
        note=f"{made.note} Data set, number of features asked for; in parentheses the mean number kept.".strip(),
    )


READ = ["error", "nmi", "ari", "n_selected"]
RECIPE = Recipe("wang2018/ofs-options", render, summarise=seed_summary, columns=READ, unit="clustering accuracy (%)")
