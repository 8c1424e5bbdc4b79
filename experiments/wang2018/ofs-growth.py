"""make reproduce-ofs-growth | provsel reproduce wang2018/ofs-growth [protocol.repeats=2]."""

from provlab.core.frames import TIMES, selection_seconds
from provlab.core.recipe import Recipe, Rendering
from provlab.core.summaries import STATES
from provlab.core.tables import Traced, write_tables
from provsel.certificates import OnlineFeatureCount

BOUND, STATE = OnlineFeatureCount.column("bound"), OnlineFeatureCount.state_column()


def summarise(entry, trials):
    seconds, kept = selection_seconds(trials), trials["n_selected"]
    return [
        {"value": seconds.median(), "sd": seconds.std(ddof=1)},
        {"column": f"{entry.column}, features", "value": kept.mean(), "sd": kept.std(ddof=1)},
        {"column": f"{entry.column}, bound", "value": trials[BOUND].max()},
    ]


def render(made: Rendering) -> str:
    trials = made.trials([*TIMES, "n_selected", BOUND, STATE])
    rows = []
    for (row, column), found in trials.groupby(["row", "column"], sort=False):
        states = found[STATE].value_counts()
        numbers = [
            f"{selection_seconds(found).median():.3g}",
            f"{found['n_selected'].mean():,.0f}",
            f"{found[BOUND].max():,.0f}",
            ", ".join(f"{state} {states[state]:,}" for state in STATES if states.get(state, 0)),
        ]
        rows.append([row, column, *(Traced(text, row, column) for text in numbers)])
    return write_tables(
        made.tables,
        ["method", "", "CPU seconds", "features kept", "their bound", "Lemma 2, number of features"],
        rows,
        caption=f"{made.artefact.title}: n = 10, epsilon = {made.artefact.config.selector.epsilon}, "
        f"{made.artefact.config.protocol.repeats} runs: median seconds, mean number, largest bound.",
        note=f"{made.note} The bound is c (8 n + 8 n ln(||A||^2)), c = 8 ln(n) / epsilon^2. vacuous: there are no more "
        "columns than that.".strip(),
    )


READ = [*TIMES, "n_selected", BOUND, STATE]
RECIPE = Recipe("wang2018/ofs-growth", render, summarise=summarise, columns=READ, unit="CPU seconds")
