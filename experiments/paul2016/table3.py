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
    words = [str(names[feature]) for feature in in_every_selection(selections_of(trials, draws=draws))]
    return [{"value": ", ".join(words) or NO_WORD}, {"column": f"{entry.column}, number", "value": len(words)}]


def render(made: Rendering) -> str:
    [column] = made.artefact.config.artefact.columns
    lines = made.frame.set_index(["dataset", "row", "column"])
    methods = list(made.artefact.config.artefact.rows)
    own, others = [], []
    for name in made.frame["dataset"].unique():
        words = [_words(lines.loc[(name, method, column), "value"]) for method in methods]
        line = [name, *(Traced(text, row, column, name) for text, row in zip(words, methods, strict=True))]
        printed = [lines.loc[(name, method, column), "printed_value"] for method in methods]
        if any(isinstance(text, str) for text in printed):
            own += [line, [AS_PRINTED, *printed]]
        else:
            others.append(line)
    not_here = [[f"{pair}, as printed", *words] for pair, words in _not_here(made, methods)]
    return write_tables(
        made.tables,
        ["data set", *methods],
        [*own, *not_here, *others],
        caption=f"Table 3. {made.artefact.title} ({column}).",
        note=f"{made.note} Words are stems; the first {SHOWN} by average place in the selection, all in the CSV file. "
        "The paper's pairs stand first; four of the five are not among the data here. For leverage-score sampling a "
        f"word has to be in {COUNTED[made.artefact.summary['draws']]} of every fold.".strip(),
    )


def _not_here(made, methods):
    """Yield the pairs of the paper that are not among the data, with the words that it prints for them."""
    printed = pd.read_csv(Path(__file__).with_name("published.csv"))
    printed = printed[(printed["artefact"] == "table3") & ~printed["dataset"].isin(made.frame["dataset"])]
    for pair, lines in printed.groupby("dataset", sort=False):
        yield pair, lines.set_index("row")["printed_value"].reindex(methods).tolist()


def _words(text):
    words = str(text or "").split(", ")
    more = f", and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more


RECIPE = Recipe("paul2016/table3", render, summarise=summarise, columns=["features"])
