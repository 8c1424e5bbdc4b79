"""make reproduce-ofs-times | provsel reproduce wang2018/ofs-times "artefact.only=[USPS,ORL]"."""

from provlab.core.frames import TIMES, selection_seconds
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import Traced, write_tables


def summarise(entry, trials):
    seconds = selection_seconds(trials)
    return [{"value": seconds.median(), "sd": seconds.std(ddof=1)}]


def render(made: Rendering) -> str:
    found = made.frame.dropna(subset=["value"])
    seconds = {(line.dataset, line.column, line.row): line.value for line in found.itertuples()}
    methods = list(made.artefact.config.artefact.rows)
    rows = []
    for name, column in dict.fromkeys((line.dataset, line.column) for line in found.itertuples()):
        ofs = seconds.get((name, column, "OFS"))
        texts = [_text(seconds.get((name, column, row)), ofs if row != "OFS" else None) for row in methods]
        traced = (Traced(text, row, column, name) for row, text in zip(methods, texts, strict=True))
        rows.append([name, column, *traced])
    return write_tables(
        made.tables,
        ["data set", "features", *methods],
        rows,
        caption=f"{made.artefact.title}: median CPU seconds of {made.artefact.config.protocol.repeats} runs, one BLAS "
        "thread; in parentheses the time of OFS over that of the method.",
        note=f"{made.note} OFS is one pass at the sampling rate that keeps the wanted number of features.".strip(),
    )


def _text(own, ofs):
    if own is None:
        return ""
    return f"{own:.3g}" if ofs is None else f"{own:.3g} ({ofs / own:.3g})"


RECIPE = Recipe("wang2018/ofs-times", render, summarise=summarise, columns=[*TIMES], unit="CPU seconds")
