"""make reproduce-table4 | provsel reproduce paul2016/table4 [protocol.draws=1] [executor.n_jobs=1]."""

from provlab.core.frames import error_summary
from provlab.core.recipe import Recipe, Rendering, number_text
from provlab.core.tables import mean_and_sd, write_tables

PARTS = r"(?P<protocol>[^,]+), (?P<size>r=[0-9]+)(?P<features>, features)?"
"""What the name of a column says."""


def summarise(entry, trials):
    [error] = error_summary(entry, trials)
    return [error, {"column": f"{entry.column}, features", "value": trials["n_selected"].mean()}]


def render(made: Rendering) -> str:
    frame = made.frame.join(made.frame["column"].str.extract(PARTS))
    is_count = frame["features"].notna()
    frame["text"] = [number_text(line, is_count=isinstance(line.features, str)) for line in frame.itertuples()]
    frame["print"] = [mean_and_sd(line.printed_value, line.printed_sd) for line in frame.itertuples()]
    protocols = list(frame["protocol"].unique())
    errors = frame[~is_count].pivot(index=["row", "size"], columns="protocol")
    is_printed = frame["protocol"] == protocols[0]  # beside which the one printed number stands
    kept = frame[is_count & is_printed].set_index(["row", "size"])["text"]
    printed = frame[~is_count & is_printed].set_index(["row", "size"])
    distances = errors["value"][protocols].astype(float).round(2)
    distances = distances.sub(printed["printed_value"].astype(float), axis=0).abs()
    closest = distances.dropna(how="all").idxmin(axis=1)
    rows = []
    for row in frame["row"].unique():
        for size in sorted(frame["size"].unique()):
            place = row, size
            ours = errors["text"].loc[place, protocols]
            rows.append([row, size, kept.get(place, ""), *ours, printed["print"][place], closest.get(place, "")])
    config = made.artefact.config
    return write_tables(
        made.tables,
        ["method", "", "features", *protocols, "printed", "closest"],
        rows,
        caption=f"Table 4. {made.artefact.title}: mean (standard deviation over folds) in %, {_data(made)}.",
        note=f"{made.note} ten-fold: train on nine folds; inverse: train on one, test on nine; held-out: one split, "
        f"into the first {config.dataset.n_train:,} documents and the others. {config.protocol.repeats} x 10 folds, "
        f"{config.protocol.draws} Gaussian matrices a fold. The printed split is 23,149 / 781,265.".strip(),
    )


def _data(made):
    sizes = made.trials(["n_train", "n_test", "source"])
    if sizes.empty:
        return "no trials yet"
    whole = sizes[sizes["column"].str.startswith("ten-fold")].iloc[:1]
    n = f"{int(whole[['n_train', 'n_test']].sum(axis=1).iloc[0]):,} documents" if len(whole) else "documents"
    _, form, *_ = sizes["source"].iloc[0].split("; ")
    return f"on {n}: {form}"


RECIPE = Recipe("paul2016/table4", render, summarise=summarise, columns=["error", "n_selected"], unit="test error (%)")
