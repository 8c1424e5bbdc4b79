"""make reproduce-table1 | provsel reproduce paul2016/table1 [protocol.repeats=1] [executor=serial]."""

from provlab.core.frames import error_summary
from provlab.core.recipe import AS_PRINTED, Recipe, Rendering
from provlab.core.summaries import most_frequent
from provlab.core.tables import cell_text, write_tables

TOP = 5
TIED = {"higher_index": "feature of higher index", "earlier_place": "feature selected earlier on average"}
ERROR = ", error (%)"
MEASURES = {"selected most often": "", "relevant among them": ", relevant", "mean error (%)": ERROR}
ERROR_ONLY = ("Random", "Full")
"""Section 6.3.1 states their error, and Table 1 has no row for them."""


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
    return row.split(", ")[0] in ERROR_ONLY


def render(made: Rendering) -> str:
    columns = list(made.artefact.config.artefact.columns)
    lines = made.frame.set_index(["row", "column"])
    rows = []
    for row in made.artefact.config.artefact.rows:
        measures = {"mean error (%)": ERROR} if has_error_only(row) else MEASURES
        for place, (measure, suffix) in enumerate(measures.items()):
            name = "" if place else row
            rows.append([name, measure, *(cell_text(lines, row, column + suffix) for column in columns)])
            printed = [cell_text(lines, row, column + suffix, "printed_value") for column in columns]
            if any(printed):
                rows.append(["", AS_PRINTED, *printed])
    return write_tables(
        made.tables,
        ["", "", *columns],
        rows,
        caption=f"Table 1. {made.artefact.title}. Feature k is the most relevant one, features above k are noise.",
        note=f"{made.note} Ties in frequency go to the {TIED[made.artefact.summary['ties']]}. Why ours differ from the "
        "printed features: experiments/paul2016/NOTES.md.".strip(),
    )


RECIPE = Recipe("paul2016/table1", render, summarise=summarise, columns=["error", "features"])
