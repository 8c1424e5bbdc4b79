"""make reproduce-certificates | provsel reproduce paul2016/certificates [protocol.repeats=1]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.summaries import RADIUS_MARGIN_RATIO, count_states, with_radius_margin
from provlab.core.tables import Traced, write_tables

from .certificate_figure import CERTIFICATES, TRIAL_COLUMNS, draw_certificates

MEASURES = ("spectral_error", "margin_ratio", "radius_ratio")
STATES = {**CERTIFICATES, "radius_margin": "Theorems 3-4"}
"""Certificates of a record, and the ratio of radius to margin, which follows from two of them."""

COMBINED = ["radius over margin, median", "largest"]
COMBINED_NOTE = (
    "Radius over margin: how much B^2 / gamma^2 grew, in the median and the worst run. Theorems 3 and 4 print at most "
    "(1 + eps) / (1 - eps), here with the eps that ||E|| allows, ||E|| / (1 - ||E||)."
)


def summarise(entry, trials):
    trials = with_radius_margin(trials)
    states = [
        {"column": f"{entry.column}, {name}", "value": text} for name, text in count_states(trials, STATES).items()
    ]
    measured = [(name, trials[f"certificate_{name}"]) for name in MEASURES]
    means = [
        {"column": f"{entry.column}, {name}", "value": values.mean(), "sd": values.std(ddof=1)}
        for name, values in measured
    ]
    combined = trials[RADIUS_MARGIN_RATIO]
    return [
        *states,
        *means,
        {"column": f"{entry.column}, radius_margin_ratio, median", "value": combined.median()},
        {"column": f"{entry.column}, radius_margin_ratio, largest", "value": combined.max()},
    ]


def state_headings():
    return [f"{name.replace('_', ' over ')} ({where})" for name, where in STATES.items()]


def two_decimals(number):
    return "" if number != number else f"{number:.2f}"


def render(made: Rendering) -> str:
    trials = with_radius_margin(made.trials(TRIAL_COLUMNS))
    trials["r"] = trials["column"].str.extract(r"r=(\d+)", expand=False).astype(float)
    columns = list(made.artefact.config.artefact.columns)
    settings = {}
    for column in columns:
        settings.setdefault(column.split(",")[0], []).append(column)
    rows = []
    for method in made.artefact.config.artefact.rows:
        for column in columns:
            found = trials[(trials["row"] == method) & (trials["column"] == column)]
            numbers = [two_decimals(found[f"certificate_{name}"].mean()) for name in MEASURES]
            combined = found[RADIUS_MARGIN_RATIO]
            numbers += [two_decimals(combined.median()), two_decimals(combined.max())]
            numbers += count_states(found, STATES).values()
            rows.append([method, column, *(Traced(text, method, column) for text in numbers)])
    protocol = made.artefact.config.protocol
    how = f"{protocol.repeats} x {protocol.n_splits}-fold, {made.frame['dataset'].nunique()} data sets"
    text = write_tables(
        made.tables,
        ["method", "", "||E||", "margin ratio", "radius ratio", *COMBINED, *state_headings()],
        rows,
        caption=f"{made.artefact.title} ({how}): means over all trials, and trials by state of their certificate.",
        note=f"{made.note} vacuous: ||E|| is at least 1/2, and the bound says nothing. Margin and radius are squared. "
        "Empty: the paper states no bound (the spectral one of sampling has an open constant), or not for this "
        f"setting. {COMBINED_NOTE}".strip(),
    )
    paths = draw_certificates(trials, settings, made.figures, title=f"{made.artefact.title} ({how}). {made.note}")
    return text + "\n" + "\n".join(str(path) for path in paths)


READ = [*TRIAL_COLUMNS, "error"]
RECIPE = Recipe("paul2016/certificates", render, summarise=summarise, columns=READ)
