"""make reproduce-table4 | provsel reproduce paul2016/table4 [protocol.draws=1] [executor.n_jobs=1]."""

from provlab.core.frames import error_summary
from provlab.core.recipe import Recipe, Rendering
from provlab.core.tables import cell_text, like, whole, write_tables

SIZES = {"r=1024", "r=2048"}


def summarise(entry, trials):
    [error] = error_summary(entry, trials)
    return [error, {"column": f"{entry.column}, features", "value": trials["n_selected"].mean()}]


def render(made: Rendering) -> str:
    columns = list(made.artefact.config.artefact.columns)
    protocols = list(dict.fromkeys(column.split(", ")[0] for column in columns))
    lines = made.frame.set_index(["row", "column"])
    rows = []
    for row in made.artefact.config.artefact.rows:
        for size in sorted(SIZES):
            names = [f"{protocol}, {size}" for protocol in protocols]
            kept = whole(cell_text(lines, row, f"{names[0]}, features"))
            ours = [_with_sd(lines, row, name) for name in names]
            printed = _with_sd(lines, row, names[0], "printed_")
            rows.append([row, size, kept, *ours, printed, _closest(lines, row, names)])
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


def _with_sd(lines, row, column, prefix=""):
    value = cell_text(lines, row, column, f"{prefix}value")
    sd = cell_text(lines, row, column, f"{prefix}sd")
    return like(value, f"{value} ({sd})") if value and sd else value


def _closest(lines, row, names):
    printed = cell_text(lines, row, names[0], "printed_value")
    ours = {name.split(", ")[0]: cell_text(lines, row, name) for name in names}
    distances = {name: abs(float(text) - float(printed)) for name, text in ours.items() if text and printed}
    return min(distances, key=distances.__getitem__) if distances else ""


RECIPE = Recipe("paul2016/table4", render, summarise=summarise, columns=["error", "n_selected"], unit="test error (%)")
