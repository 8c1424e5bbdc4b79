"""make reproduce-table4 | provsel reproduce paul2016/table4 [protocol.draws=1] [executor.n_jobs=1]."""

from provlab.core.frames import error_summary
from provlab.core.recipe import Recipe, Rendering, number_text
from provlab.core.tables import mean_and_sd, write_tables

PARTS = r"(?P<protocol>[^,]+), (?P<size>r=[0-9]+)(?P<features>, features)?"
"""What the name of a column says."""


def summarise(entry, trials):
    [error] = error_summary(entry, trials)
    return [
        error,
        {"column": f"{entry.column}, features", "value": trials["n_selected"].mean()},
    ]


def render(rendering: Rendering) -> str:
    frame = rendering.frame.join(rendering.frame["column"].str.extract(PARTS))
    protocols = list(frame["protocol"].unique())
    # beside which the one printed number stands
    is_printed = frame["protocol"] == protocols[0]
    is_count = frame["features"].notna()
    errors = frame[~is_count].set_index(["row", "size", "protocol"]).sort_index()
    kept = frame[is_count & is_printed].set_index(["row", "size"])
    rows = []
    for row in frame["row"].unique():
        for size in sorted(frame["size"].unique()):
            lines = errors.loc[(row, size)].reindex(protocols)
            ours = [number_text(line) for line in lines.itertuples()]
            features = [
                number_text(line, is_count=True)
                for line in kept.reindex([(row, size)]).itertuples()
            ]
            printed, printed_sd = lines[["printed_value", "printed_sd"]].iloc[0]
            distances = (lines["value"].astype(float).round(2) - float(printed)).abs()
            closest = distances.idxmin() if distances.notna().any() else ""
            rows.append(
                [row, size, *features, *ours, mean_and_sd(printed, printed_sd), closest]
            )
    config = rendering.artefact.config
    return write_tables(
        rendering.tables,
        ["method", "", "features", *protocols, "printed", "closest"],
        rows,
        caption=f"Table 4. {rendering.artefact.title}: mean (standard deviation over folds) in %, {_data(rendering)}.",
        note=f"{rendering.note} ten-fold: train on nine folds; inverse: train on one, test on nine; held-out: one "
        f"split, into the first {config.dataset.n_train:,} documents and the others. {config.protocol.repeats} x 10 "
        f"folds, {config.protocol.draws} Gaussian matrices a fold. The printed split is 23,149 / 781,265.".strip(),
    )


def _data(rendering):
    """Return what the caption says of the data."""
    sizes = rendering.trials(["n_train", "n_test", "source"])
    if sizes.empty:
        return "no trials yet"
    _, form, *_ = sizes["source"].iloc[0].split("; ")
    folds = sizes[sizes["column"].str.startswith("ten-fold")]
    if folds.empty:
        return f"on documents: {form}"
    return f"on {int(folds[['n_train', 'n_test']].iloc[0].sum()):,} documents: {form}"


RECIPE = Recipe(
    "paul2016/table4",
    render,
    summarise=summarise,
    columns=["error", "n_selected"],
    unit="test error (%)",
)
