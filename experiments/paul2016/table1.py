"""make reproduce-table1 | python experiments/paul2016/table1.py [protocol.repeats=1] [executor=serial]."""

import sys

import pandas as pd

from provsel.cli import Rendering, artefact_main
from provsel.reports.features import most_frequent, share_relevant
from provsel.reports.tables import latex_table, markdown_table, write_text

TOP = 5


def summarise(entry, trials):
    """The five most often selected features, and the mean error, which the text gives as 0 for all methods."""
    top = most_frequent(trials["features"], TOP)
    relevant = entry.cell.dataset["n_relevant"]
    return [
        {"value": ", ".join(str(feature + 1) for feature in top)},
        {"column": f"{entry.column}, error (%)", "value": 100 * trials["error"].mean(), "sd": 100 * trials["error"].std()},
        {"column": f"{entry.column}, relevant among the five", "value": share_relevant(top, relevant)},
    ]


def render(made: Rendering) -> str:
    frame = made.frame
    entries = list(dict.fromkeys((entry.row, entry.column) for entry in made.artefact.entries))
    columns = list(dict.fromkeys(column for _, column in entries))
    cell = {(line.row, line.column): line for line in frame.itertuples()}
    rows = []
    for row in dict.fromkeys(row for row, _ in entries):
        rows.append([row, "selected here", *(cell[row, column].value or "" for column in columns)])
        rows.append(["", "printed", *(_text(cell[row, column].printed_value) for column in columns)])
        rows.append(["", "mean error (%)", *(_error(cell.get((row, f"{column}, error (%)"))) for column in columns)])
    header = ["", "", *columns]
    caption = f"Table 1. {made.artefact.title}: features by how often they were selected; feature k is the best."
    note = made.note or "Ties in frequency go to the feature that was selected earlier on average."
    markdown = markdown_table(header, rows, caption, note)
    write_text(made.tables.with_suffix(".md"), markdown)
    write_text(made.tables.with_suffix(".tex"), latex_table(header, rows, caption, note, label="tab:paul2016-table1"))
    return markdown


def _text(value):
    return "" if pd.isna(value) else value


def _error(line):
    return "" if line is None else f"{line.value:.2f}"


if __name__ == "__main__":
    sys.exit(artefact_main("paul2016/table1", render, summarise=summarise, columns=["error", "features"]))
