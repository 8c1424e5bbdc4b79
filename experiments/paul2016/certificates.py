"""make reproduce-certificates | provsel reproduce paul2016/certificates [protocol.repeats=1]."""

from provlab.core.frames import mean_lines
from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.summaries import RADIUS_MARGIN_RATIO, count_states, with_radius_margin
from provlab.core.tables import Traced, value_text, write_tables

from .certificate_figure import CERTIFICATES, MEASURES, TRIAL_COLUMNS, draw_certificates

STATES = {**CERTIFICATES, "radius_margin": "Theorems 3-4"}
"""Certificates of a record, and the ratio of radius to margin, which follows from two of them."""

COMBINED = ["radius over margin, median", "largest"]
COMBINED_NOTE = (
    "Radius over margin: how much B^2 / gamma^2 grew, in the median and the worst run. Theorems 3 and 4 print at most "
    "(1 + eps) / (1 - eps), here with the eps that ||E|| allows, ||E|| / (1 - ||E||)."
)
STATE_HEADINGS = [
    f"{name.replace('_', ' over ')} ({where})" for name, where in STATES.items()
]
READ = [*TRIAL_COLUMNS, "error"]


def summarise(entry, trials):
    trials = with_radius_margin(trials)
    lines = []
    for name, text in count_states(trials, STATES).items():
        lines.append({"column": f"{entry.column}, {name}", "value": text})
    lines += mean_lines(
        {f"{entry.column}, {name}": trials[f"certificate_{name}"] for name in MEASURES}
    )
    combined = trials[RADIUS_MARGIN_RATIO]
    lines.append(
        {
            "column": f"{entry.column}, radius_margin_ratio, median",
            "value": combined.median(),
        }
    )
    lines.append(
        {
            "column": f"{entry.column}, radius_margin_ratio, largest",
            "value": combined.max(),
        }
    )
    return lines


def combined_and_states(trials):
    """Return the texts of `COMBINED` and `STATE_HEADINGS`."""
    combined = trials[RADIUS_MARGIN_RATIO]
    return [
        value_text(combined.median()),
        value_text(combined.max()),
        *count_states(trials, STATES).values(),
    ]


def render(rendering: Rendering) -> str:
    trials = with_radius_margin(rendering.trials(TRIAL_COLUMNS))
    trials["r"] = trials["column"].str.extract(r"r=(\d+)", expand=False).astype(float)
    layout = rendering.artefact.config.artefact
    settings = {}
    for column in layout.columns:
        settings.setdefault(column.split(",")[0], []).append(column)
    rows = []
    for method in layout.rows:
        for column in layout.columns:
            part = trials[(trials["row"] == method) & (trials["column"] == column)]
            texts = [
                value_text(part[f"certificate_{name}"].mean()) for name in MEASURES
            ]
            texts += combined_and_states(part)
            rows.append(
                [method, column, *(Traced(text, method, column) for text in texts)]
            )
    how = f"{rendering.folds}, {rendering.frame['dataset'].nunique()} data sets"
    text = write_tables(
        rendering.tables,
        [
            "method",
            "",
            "||E||",
            "margin ratio",
            "radius ratio",
            *COMBINED,
            *STATE_HEADINGS,
        ],
        rows,
        caption=f"{rendering.artefact.title} ({how}): means over all trials, and trials by state of their certificate.",
        note=f"{rendering.note} vacuous: ||E|| is at least 1/2, and the bound says nothing. Margin and radius are "
        "squared. Empty: the paper states no bound (the spectral one of sampling has an open constant), or not for "
        f"this setting. {COMBINED_NOTE}".strip(),
    )
    title = f"{rendering.artefact.title} ({how}). {rendering.note}"
    return printed(
        text, draw_certificates(trials, settings, rendering.figures, title=title)
    )


RECIPE = Recipe("paul2016/certificates", render, summarise=summarise, columns=READ)
