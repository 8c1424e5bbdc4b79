"""make reproduce-ofs-table3 | provsel reproduce wang2018/ofs-table3 [protocol.repeats=1]."""

from provlab.frames import TIMES, selection_seconds
from provlab.recipe import Recipe, Rendering
from provlab.tables import Traced, write_tables

SEARCH, KEPT = "search", "features kept"


def summarise(entry, trials):
    seconds = selection_seconds(trials)
    lines = [{"value": seconds.median(), "sd": seconds.std(ddof=1)}]
    if trials["pass_cpu"].notna().any():  # the fit searched for its sampling rate before that pass
        search = trials["select_cpu"] + trials["shared_cpu"]
        lines.append({"column": SEARCH, "value": search.median(), "sd": search.std(ddof=1)})
        lines.append({"column": KEPT, "value": trials["n_selected"].mean(), "sd": trials["n_selected"].std(ddof=1)})
    return lines


def render(made: Rendering) -> str:
    found = made.frame.dropna(subset=["value"])
    numbers = {}
    for line in found.itertuples():
        numbers[line.dataset, line.row, line.column if line.column in (SEARCH, KEPT) else "time"] = line
    methods = [row for row in made.artefact.config.artefact.rows if row != "OFS"]
    rows = []
    for name in made.frame["dataset"].unique():
        ofs, *beside = (numbers.get((name, "OFS", part)) for part in ("time", SEARCH, KEPT))
        cells = [_ratio(ofs, numbers.get((name, row, "time"))) for row in methods]
        rows.append([name, *cells, *(_traced(line, f"{line.value:.3g}") if line else "" for line in (ofs, *beside))])
    protocol = made.artefact.config.protocol
    return write_tables(
        made.tables,
        ["data set", *methods, "OFS", "its search", "features kept"],
        rows,
        caption=f"Table 3. {made.artefact.title}: median CPU seconds of {protocol.repeats} runs, one BLAS thread; in "
        "parentheses the time of OFS over that of the method, and in brackets the printed ratio.",
        note=f"{made.note} OFS is one pass at the sampling rate that keeps the wanted number of features: 150 of USPS, "
        "260 of the others (the paper does not say how many). The search for that rate is beside.".strip(),
    )


def _ratio(ofs, other):
    if ofs is None or other is None:
        return "" if other is None else _traced(other, f"{other.value:.3g}")
    printed = float(ofs.printed_value) / float(other.printed_value)
    return _traced(other, f"{other.value:.3g} ({_text(ofs.value / other.value)}) [{_text(printed)}]")


def _traced(line, text):
    return Traced(text, line.of_row, line.of_column, line.dataset)


def _text(ratio):
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


RECIPE = Recipe("wang2018/ofs-table3", render, summarise=summarise, columns=[*TIMES, "n_selected"], unit="CPU seconds")
