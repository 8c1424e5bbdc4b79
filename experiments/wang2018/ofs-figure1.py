"""make reproduce-ofs-figure1 | provsel reproduce wang2018/ofs-figure1 [protocol.repeats=1] [artefact.only=[AR]]."""

from provlab.core.frames import seed_summary
from provlab.core.recipe import Recipe, Rendering, printed
from provlab.core.tables import Traced, value_text, write_tables
from provlab.report.figures.curves import KEPT, draw_curves, with_kept

READ = ["error", "nmi", "ari", "n_selected"]


def render(rendering: Rendering) -> str:
    frame = rendering.frame
    drawn = frame[frame["column"].str.fullmatch(rf"\d+({KEPT})?")].astype(
        {"value": float}
    )
    accuracy = with_kept(drawn)
    title = rendering.artefact.title
    how = (
        f"k-means, mean and sd over seeds: {rendering.artefact.config.protocol.repeats}"
    )
    heading = f"{title} ({how}). {rendering.note}".strip()
    axes = {"ylabel": "clustering accuracy (%)", "from_zero": True}  # as the paper's
    paths = draw_curves(drawn, rendering.figures, heading, flat="k-means", **axes)
    means = (
        accuracy.groupby(["row", "dataset"], sort=False)["value"]
        .mean()
        .unstack(sort=False)
    )
    means = means.loc[list(rendering.artefact.config.artefact.rows)]
    text = write_tables(
        rendering.tables,
        ["method", *means.columns],
        [[row, *map(value_text, numbers)] for row, *numbers in means.itertuples()],
        caption=f"Figure 1 in numbers. {title}: accuracy in %, mean over the numbers of features.",
        note=f"{rendering.note} Random: as many features at random, which the paper does not have. NMI, ARI and the "
        "number of features that were kept are in the CSV file.".strip(),
    )
    return printed(text + "\n" + _kept(rendering, accuracy), paths)


def _kept(rendering, accuracy):
    """Write the table of the numbers of features kept by methods that do not keep as many as asked."""
    config = rendering.artefact.config
    sizes = list(config.artefact.columns)
    methods = accuracy[accuracy["row"] != "k-means"]
    is_other = (methods["x"] != methods["column"].astype(float)) | (
        methods["left"] < methods["right"]
    )
    places = methods.loc[is_other, ["dataset", "row"]].drop_duplicates()
    rows = []
    for (dataset, row), lines in methods.merge(places).groupby(["dataset", "row"]):
        cells = dict.fromkeys(sizes, "")
        for line in lines.itertuples():
            cells[line.column] = Traced(
                f"{line.x:.1f} ± {line.right - line.x:.1f}", row, line.column, dataset
            )
        rows.append([dataset, row, *cells.values()])
    return write_tables(
        rendering.tables.with_name(f"{rendering.tables.name}-kept"),
        ["data set", "method", *sizes],
        rows,
        caption="Features kept by methods that do not keep as many as asked: mean and sd over "
        f"{config.protocol.repeats} seeds.",
        note=f"{rendering.note} The curves of the figure are drawn at these numbers.".strip(),
    )


RECIPE = Recipe(
    "wang2018/ofs-figure1",
    render,
    summarise=seed_summary,
    columns=READ,
    unit="clustering accuracy (%)",
)
