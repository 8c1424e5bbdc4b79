"""make reproduce-theorems | provsel reproduce paul2016/theorems [protocol.repeats=1]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.summaries import with_radius_margin
from provlab.core.tables import Traced, value_text, write_tables

from .certificate_figure import CERTIFICATES, MEASURES
from .certificates import (
    COMBINED,
    COMBINED_NOTE,
    STATE_HEADINGS,
    combined_and_states,
    summarise,
)

READ = [f"certificate_{name}" for name in (*CERTIFICATES, *MEASURES)]


def render(rendering: Rendering) -> str:
    trials = with_radius_margin(rendering.trials(READ))
    rows = []
    for (row, column), part in trials.groupby(["row", "column"], sort=False):
        errors = part["certificate_spectral_error"]
        numbers = [errors.mean(), errors.max()]
        numbers += [
            part["certificate_margin_ratio"].mean(),
            part["certificate_radius_ratio"].mean(),
        ]
        texts = [*map(value_text, numbers), *combined_and_states(part)]
        rows.append([row, column, *(Traced(text, row, column) for text in texts)])
    return write_tables(
        rendering.tables,
        [
            "method",
            "",
            "||E||, mean",
            "||E||, largest",
            "margin ratio",
            "radius ratio",
            *COMBINED,
            *STATE_HEADINGS,
        ],
        rows,
        caption=f"{rendering.artefact.title}: synthetic data of 1,000 features, means over trials, and trials by "
        "state.",
        note=f"{rendering.note} r = 864 is 36 l / eps^2 at l = 6, eps = 1/2, and 331 what Lemma 3 asks for ||E|| of at "
        "most 1/2 with probability 0.99, by matrix Bernstein; 132 is the printed l / eps^2 log(l / (eps^2 "
        "sqrt(delta))) with the constant 1, which the paper leaves open. Margin and radius are squared. "
        f"{COMBINED_NOTE}".strip(),
    )


RECIPE = Recipe("paul2016/theorems", render, summarise=summarise, columns=READ)
