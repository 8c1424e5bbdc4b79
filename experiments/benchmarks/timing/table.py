"""The table of a whole run."""

HEADER = (
    "benchmark", "case", "ours", "peer / ours", "peer", "ours / limit", "limit", "goal", "met", "now / last", "flag",
)  # fmt: skip
RIGHT = {"ours", "peer / ours", "ours / limit", "now / last"}
GOALS = {"ratio ": "peer / ours ", "ratio_to_limit ": "ours / limit "}


def run_table(cases, benchmarks, changes, left_out=None):
    """Return the Markdown table of a run, aligned to be read as text too.

    Parameters
    ----------
    cases : list of dict
        See `cases.case`.
    benchmarks : dict
        Outcome of each, see `scripts.run_script`; those that failed or were left out get a line.
    changes : dict
        `compare.Change` of each case by key; empty where there is no stored run.
    left_out : dict, optional
        What the form of the run has not, by benchmark.
    """
    rows = []
    for name, outcome in benchmarks.items():
        mine = [found for found in cases if found["script"] == name]
        rows += [case_row(found, changes.get((found["benchmark"], found["case"]))) for found in mine]
        notes = [] if outcome["status"] == "ok" else [outcome["status"]]
        if outcome["status"] == "ok" and not mine:
            notes.append("no common record: see its own table")
        if (left_out or {}).get(name):
            notes.append(f"left out: {left_out[name]}")
        flag = "FAILED" if outcome["status"].startswith("failed") else ""
        rows += [[name, note, *[""] * (len(HEADER) - 3), flag] for note in notes]
    return aligned(HEADER, rows)


def case_row(found, change):
    """Return the cells of one case."""
    met = {True: "met", False: "MISSED", None: "not at this size" if found["goal"] else ""}[found["met"]]
    goal = found["goal"]
    for field, words in GOALS.items():
        goal = goal.replace(field, words)
    return [
        found["benchmark"], found["case"], amount(found["ours_cpu"], found["unit"]),
        with_spread(found["ratio"], found["ratio_spread"]), found["peer"] or "",
        with_spread(found["ratio_to_limit"], found["limit_spread"]), found["limit"] or "",
        goal, met, number(change.factor) if change else "", change.flag if change else "",
    ]  # fmt: skip


def amount(value, unit):
    """Return a value with its unit, seconds from microseconds to hours."""
    if unit != "CPU s":
        return f"{number(value)} {unit}"
    for scale, name in ((1e-3, "us"), (1.0, "ms")):
        if value < scale:
            return f"{number(value / scale * 1e3)} {name}"
    return f"{number(value)} s"


def number(value):
    """Return three significant digits, or an empty text."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_spread(value, spread):
    """Return a ratio, and in brackets its lowest and highest in the turns."""
    return number(value) + (f" [{number(spread[0])}, {number(spread[1])}]" if spread else "")


def aligned(header, rows):
    """Return a Markdown table whose columns line up."""
    rows = [[" ".join(str(cell).split()).replace("|", "/") for cell in row] for row in rows]
    widths = [max(3, *(len(row[k]) for row in [header, *rows])) for k in range(len(header))]
    lines = [
        "| " + " | ".join(
            cell.rjust(width) if name in RIGHT else cell.ljust(width)
            for cell, width, name in zip(row, widths, header, strict=True)
        ) + " |"
        for row in [header, *rows]
    ]  # fmt: skip
    rule = "|".join(
        "-" * (width + 1) + (":" if name in RIGHT else "-") for width, name in zip(widths, header, strict=True)
    )
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])
