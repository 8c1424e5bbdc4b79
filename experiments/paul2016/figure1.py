"""make reproduce-figure1 | provsel reproduce paul2016/figure1 [protocol.repeats=1] [dataset.set=[A,B]]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import write_tables

from .many_datasets import TRIAL_COLUMNS, draw_error_bars, draw_forest, mean_over_datasets, paired_differences

OWN_SIZE = "LPSVM", "LPSVM, optimum"


def render(made: Rendering) -> str:
    number, n_sets = made.artefact.name[-1], made.frame["dataset"].nunique()
    protocol = made.artefact.config.protocol
    how = f"{protocol.repeats} x {protocol.n_splits}-fold, {n_sets} data sets"
    note = f"{made.note} In parentheses: the mean of the data sets' standard deviations over folds."
    kept = made.trials(["n_selected"]).groupby("row")["n_selected"].mean()
    own = [f"{kept[row]:.0f} ({row})" for row in OWN_SIZE if row in kept]
    if own:
        note += f" Features on average where the method chooses their number: {', '.join(own)}."
    text = write_tables(
        made.tables,
        ["method", *made.artefact.config.artefact.columns],
        mean_over_datasets(made.frame, baseline="Full"),
        caption=f"Figure {number} in numbers. {made.artefact.title}: test error in %, mean over data sets ({how}).",
        note=note.strip(),
    )
    title = f"{made.artefact.title} ({how}). {made.note}".strip()
    paths = draw_error_bars(made.frame, made.figures, title, baseline="Full")
    differences = paired_differences(made.trials(TRIAL_COLUMNS), baseline="Full")
    title = f"{made.artefact.title}: paired differences to full data with 95 % intervals ({how}). {made.note}".strip()
    paths += draw_forest(differences, made.figures, title, xlabel="test error minus that of full data (points)")
    return text + "\n" + "\n".join(str(path) for path in paths)


RECIPE = Recipe("paul2016/figure1", render, unit="test error (%)")
