"""make reproduce-table1 | provsel reproduce paul2016/table1 [protocol.repeats=1] [executor=serial]."""

from provlab.core.frames import error_summary
from provlab.core.recipe import AS_PRINTED, Recipe, Rendering
from provlab.core.summaries import most_frequent
from provlab.core.tables import cell_text, write_tables

TOP = 5
TIED = {
    "higher_index": "feature of higher index",
    "earlier_place": "feature selected earlier on average",
}
ERROR = ", error (%)"
ERROR_MEASURE = {"mean error (%)": ERROR}
MEASURES = {
    "selected most often": "",
    "relevant among them": ", relevant",
    **ERROR_MEASURE,
}


def summarise(entry, trials, *, ties):
    [error] = error_summary(entry, trials)
    error["column"] = entry.column + ERROR
    if has_error_only(entry.row):
        return [error]
    top = most_frequent(trials["features"], TOP, ties=ties)
    n_relevant = sum(feature < entry.cell.dataset["n_relevant"] for feature in top)
    return [
        {"value": ", ".join(str(feature + 1) for feature in top)},
        {"column": f"{entry.column}, relevant", "value": f"{n_relevant} of {len(top)}"},
        error,
    ]


def has_error_only(row):
    """Return whether Section 6.3.1 states the error of a method for which Table 1 has no row."""
    return row.split(", ")[0] in ("Random", "Full")


def render(rendering: Rendering) -> str:
    columns = list(rendering.artefact.config.artefact.columns)
    lines = rendering.frame.set_index(["row", "column"])
    rows = []
    for row in rendering.artefact.config.artefact.rows:
        name = row
        for measure, suffix in (
            ERROR_MEASURE if has_error_only(row) else MEASURES
        ).items():
            rows.append(
                [
                    name,
                    measure,
                    *(cell_text(lines, row, column + suffix) for column in columns),
                ]
            )
            printed = [
                cell_text(lines, row, column + suffix, "printed_value")
                for column in columns
            ]
            if any(printed):
                rows.append(["", AS_PRINTED, *printed])
            name = ""
    return write_tables(
        rendering.tables,
        ["", "", *columns],
        rows,
        caption=f"Table 1. {rendering.artefact.title}. Feature k is the most relevant one, features above k are noise.",
        note=f"{rendering.note} Ties in frequency go to the {TIED[rendering.artefact.summary['ties']]}. Why ours "
        "differ from the printed features: experiments/paul2016/NOTES.md.".strip(),
    )


RECIPE = Recipe(
    "paul2016/table1", render, summarise=summarise, columns=["error", "features"]
)
