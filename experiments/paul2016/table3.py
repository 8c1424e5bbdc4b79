"""make reproduce-table3 | provsel reproduce paul2016/table3 [protocol.repeats=1] [dataset.set=[A,B]]."""

from pathlib import Path

import pandas as pd

from provlab.core.plan import feature_names_of
from provlab.core.recipe import AS_PRINTED, Recipe, Rendering
from provlab.core.summaries import in_every_selection, selections_of
from provlab.core.tables import Traced, write_tables

SHOWN = 10
COUNTED = {"each": "every draw", "union": "some draw"}
NO_WORD = "(no word)"
"""An empty place would look like one that waits for trials."""


def summarise(entry, trials, *, draws):
    names = feature_names_of(entry.cell.dataset)
    words = [
        str(names[feature])
        for feature in in_every_selection(selections_of(trials, draws=draws))
    ]
    return [
        {"value": ", ".join(words) or NO_WORD},
        {"column": f"{entry.column}, number", "value": len(words)},
    ]


def render(rendering: Rendering) -> str:
    [column] = rendering.artefact.config.artefact.columns
    methods = list(rendering.artefact.config.artefact.rows)
    frame = rendering.frame[rendering.frame["column"] == column]
    with_print, without_print = [], []
    for name, lines in frame.groupby("dataset", sort=False):
        lines = lines.set_index("row").loc[methods]
        row = [name]
        for method, text in lines["value"].items():
            row.append(Traced(_words(text), method, column, name))
        if lines["printed_value"].notna().any():
            with_print += [row, [AS_PRINTED, *lines["printed_value"]]]
        else:
            without_print.append(row)
    return write_tables(
        rendering.tables,
        ["data set", *methods],
        [*with_print, *_not_here(frame, methods), *without_print],
        caption=f"Table 3. {rendering.artefact.title} ({column}).",
        note=f"{rendering.note} Words are stems; the first {SHOWN} by average place in the selection, all in the CSV "
        "file. The paper's pairs stand first; four of the five are not among the data here. For leverage-score "
        f"sampling a word has to be in {COUNTED[rendering.artefact.summary['draws']]} of every fold.".strip(),
    )


def _not_here(frame, methods):
    """Return lines of the pairs of the paper that are not among the data, with the words that it prints for them."""
    printed = pd.read_csv(Path(__file__).with_name("published.csv"))
    printed = printed[
        (printed["artefact"] == "table3") & ~printed["dataset"].isin(frame["dataset"])
    ]
    rows = []
    for pair, lines in printed.groupby("dataset", sort=False):
        words = lines.set_index("row")["printed_value"].reindex(methods)
        rows.append([f"{pair}, as printed", *words])
    return rows


def _words(text):
    words = str(text or "").split(", ")
    shown = ", ".join(words[:SHOWN])
    return f"{shown}, and {len(words) - SHOWN} more" if len(words) > SHOWN else shown


RECIPE = Recipe("paul2016/table3", render, summarise=summarise, columns=["features"])
