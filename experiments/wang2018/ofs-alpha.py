"""make reproduce-ofs-alpha | provsel reproduce wang2018/ofs-alpha "artefact.only=[ORL]"."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, whole, write_tables


def summarise(entry, trials):
    return [{"value": float(trials["n_selected"].iloc[0])}]


def render(made: Rendering) -> str:
    lines = made.frame.set_index(["row", "dataset"])
    datasets = list(made.frame["dataset"].unique())
    rows = []
    for row in made.artefact.config.artefact.rows:
        counts = [whole(cell_text(lines, row, dataset)) for dataset in datasets]
        rows.append([row, *counts])
    return write_tables(
        made.tables,
        ["alpha-investing", *datasets],
        rows,
        caption=f"{made.artefact.title}, of all columns in file order.",
        note=f"{made.note} The first row is that of Figure 1. p-values: likelihood_ratio but where chi2 is said; "
        "target: class codes but in the last row.".strip(),
    )


RECIPE = Recipe("wang2018/ofs-alpha", render, summarise=summarise, columns=["n_selected"], unit="features")
