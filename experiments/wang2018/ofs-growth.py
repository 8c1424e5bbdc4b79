"""make reproduce-ofs-growth | provsel reproduce wang2018/ofs-growth [protocol.repeats=2]."""

from provlab.core.frames import TIMES, selection_seconds
from provlab.core.recipe import Recipe, Rendering
from provlab.core.summaries import state_counts
from provlab.core.tables import Traced, write_tables
from provsel.certificates import OnlineFeatureCount

BOUND, STATE = OnlineFeatureCount.column("bound"), OnlineFeatureCount.state_column()
READ = [*TIMES, "n_selected", BOUND, STATE]


def summarise(entry, trials):
    seconds, kept = selection_seconds(trials), trials["n_selected"]
    return [
        {"value": seconds.median(), "sd": seconds.std(ddof=1)},
        {
            "column": f"{entry.column}, features",
            "value": kept.mean(),
            "sd": kept.std(ddof=1),
        },
        {"column": f"{entry.column}, bound", "value": trials[BOUND].max()},
    ]


def render(rendering: Rendering) -> str:
    rows = []
    for (row, column), part in rendering.trials(READ).groupby(
        ["row", "column"], sort=False
    ):
        seconds, kept, bound = (
            selection_seconds(part).median(),
            part["n_selected"].mean(),
            part[BOUND].max(),
        )
        states = state_counts(part[STATE])
        texts = [f"{seconds:.3g}", f"{kept:,.0f}", f"{bound:,.0f}", states]
        rows.append([row, column, *(Traced(text, row, column) for text in texts)])
    config = rendering.artefact.config
    return write_tables(
        rendering.tables,
        [
            "method",
            "",
            "CPU seconds",
            "features kept",
            "their bound",
            "Lemma 2, number of features",
        ],
        rows,
        caption=f"{rendering.artefact.title}: n = 10, epsilon = {config.selector.epsilon}, "
        f"{config.protocol.repeats} runs: median seconds, mean number, largest bound.",
        note=f"{rendering.note} The bound is c (8 n + 8 n ln(||A||^2)), c = 8 ln(n) / epsilon^2. vacuous: there are no "
        "more columns than that.".strip(),
    )


RECIPE = Recipe(
    "wang2018/ofs-growth", render, summarise=summarise, columns=READ, unit="CPU seconds"
)
