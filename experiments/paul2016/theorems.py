"""make reproduce-theorems | provsel reproduce paul2016/theorems [protocol.repeats=1]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.summaries import RADIUS_MARGIN_RATIO, count_states, with_radius_margin
from provlab.core.tables import Traced, write_tables

from .certificate_figure import CERTIFICATES
from .certificates import COMBINED, COMBINED_NOTE, MEASURES, STATES, state_headings, summarise, two_decimals

READ = [f"certificate_{name}" for name in (*CERTIFICATES, *MEASURES)]


def render(made: Rendering) -> str:
    trials = with_radius_margin(made.trials(READ))
    rows = []
    for (row, column), found in trials.groupby(["row", "column"], sort=False):
        errors, combined = found["certificate_spectral_error"], found[RADIUS_MARGIN_RATIO]
        numbers = [errors.mean(), errors.max()]
        numbers += [found[f"certificate_{name}"].mean() for name in MEASURES[1:]]
        numbers += [combined.median(), combined.max()]
        texts = [*map(two_decimals, numbers), *count_states(found, STATES).values()]
        rows.append([row, column, *(Traced(text, row, column) for text in texts)])
    return write_tables(
        made.tables,
        ["method", "", "||E||, mean", "||E||, largest", "margin ratio", "radius ratio", *COMBINED, *state_headings()],
        rows,
        caption=f"{made.artefact.title}: synthetic data of 1,000 features, means over trials, and trials by state.",
        note=f"{made.note} r = 864 is 36 l / eps^2 at l = 6, eps = 1/2, and 331 what Lemma 3 asks for ||E|| of at most "
        "1/2 with probability 0.99, by matrix Bernstein; 132 is the printed l / eps^2 log(l / (eps^2 sqrt(delta))) "
        f"with the constant 1, which the paper leaves open. Margin and radius are squared. {COMBINED_NOTE}".strip(),
    )


RECIPE = Recipe("paul2016/theorems", render, summarise=summarise, columns=READ)
