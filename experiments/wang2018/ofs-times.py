"""make reproduce-ofs-times | provsel reproduce wang2018/ofs-times "artefact.only=[USPS,ORL]"."""

from provlab.core.frames import TIMES, selection_seconds
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables

OFS = "OFS"


def summarise(entry, trials):
    seconds = selection_seconds(trials)
    return [{"value": seconds.median(), "sd": seconds.std(ddof=1)}]


def render(rendering: Rendering) -> str:
    methods = list(rendering.artefact.config.artefact.rows)
    rows = []
    for (dataset, column), lines in rendering.frame.dropna(subset=["value"]).groupby(
        ["dataset", "column"], sort=False
    ):
        seconds = lines.set_index("row")["value"]
        cells = []
        for row in methods:
            text = f"{seconds[row]:.3g}" if row in seconds else ""
            if text and row != OFS and OFS in seconds:
                text += f" ({seconds[OFS] / seconds[row]:.3g})"
            cells.append(Traced(text, row, column, dataset))
        rows.append([dataset, column, *cells])
    artefact = rendering.artefact
    return write_tables(
        rendering.tables,
        ["data set", "features", *methods],
        rows,
        caption=f"{artefact.title}: median CPU seconds of {artefact.config.protocol.repeats} runs, one BLAS "
        "thread; in parentheses the time of OFS over that of the method.",
        note=f"{rendering.note} OFS is one pass at the sampling rate that keeps the wanted number of features.".strip(),
    )


RECIPE = Recipe(
    "wang2018/ofs-times",
    render,
    summarise=summarise,
    columns=[*TIMES],
    unit="CPU seconds",
)
