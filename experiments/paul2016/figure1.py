"""make reproduce-figure1 | provsel reproduce paul2016/figure1 [protocol.repeats=1] [dataset.set=[A,B]]."""

from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import write_tables

from .many_datasets import (
    TRIAL_COLUMNS,
    draw_error_bars,
    draw_forest,
    mean_over_datasets,
    paired_differences,
)

OWN_SIZE = "LPSVM", "LPSVM, optimum"


def render(rendering: Rendering) -> str:
    artefact, frame = rendering.artefact, rendering.frame
    how = f"{rendering.folds}, {frame['dataset'].nunique()} data sets"
    note = f"{rendering.note} In parentheses: the mean of the data sets' standard deviations over folds."
    kept = rendering.trials(["n_selected"]).groupby("row")["n_selected"].mean()
    chosen = ", ".join(f"{kept[row]:.0f} ({row})" for row in OWN_SIZE if row in kept)
    if chosen:
        note += f" Features on average where the method chooses their number: {chosen}."
    text = write_tables(
        rendering.tables,
        ["method", *artefact.config.artefact.columns],
        mean_over_datasets(frame, baseline="Full"),
        caption=f"Figure {artefact.name[-1]} in numbers. {artefact.title}: test error in %, mean over data sets "
        f"({how}).",
        note=note.strip(),
    )
    title = f"{artefact.title} ({how}). {rendering.note}".strip()
    paths = draw_error_bars(frame, rendering.figures, title, baseline="Full")
    differences = paired_differences(rendering.trials(TRIAL_COLUMNS), baseline="Full")
    title = f"{artefact.title}: paired differences to full data with 95 % intervals ({how}). {rendering.note}".strip()
    paths += draw_forest(
        differences,
        rendering.figures,
        title,
        xlabel="test error minus that of full data (points)",
    )
    return printed(text, paths)


RECIPE = Recipe("paul2016/figure1", render, unit="test error (%)")
