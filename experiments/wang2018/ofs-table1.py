"""make reproduce-ofs-table1 | provsel reproduce wang2018/ofs-table1 "artefact.only=[ORL]"."""

import math

from provlab.core.recipe import Recipe, Rendering
from provlab.core.summaries import state_counts
from provlab.core.tables import Traced, write_tables
from provsel.certificates import ClusteringRatio, OnlineFeatureCount

RATIO, STATE = ClusteringRatio.column("achieved"), ClusteringRatio.state_column()
ONE_CLUSTER = ClusteringRatio.column("one_cluster")
FEATURES_BOUND = OnlineFeatureCount.column("bound")
FIT, REST = ["select_cpu", "shared_cpu"], "train_cpu"
READ = [
    RATIO,
    STATE,
    ONE_CLUSTER,
    FEATURES_BOUND,
    *FIT,
    REST,
    "n_selected",
    "n_train",
    "n_features",
]

OWN, OWN_COLUMNS = "This Work", ("c of Theorem 1", "c of Theorem 1, n << d")
CONTROLS = ["Random", "All features"]
MEASURED_BY = {
    "Boutsidis et al. (2009)": "LeverageScoreSelector of rank k",
    "Boutsidis et al. (2015)": "GaussianCompression (the paper has random signs)",
    "Liu et al. (2017)": "SparseEmbedding",
    "Pourkamali-Anaraki & Becker (2017)": "not measured: provsel has no preconditioned sparsification, and log(n) / n "
    "is below 1, a share of the entries of a row and no dimension",
    OWN: "OnlineLeverageSelector, as printed",
}
NOTE = (
    "Ratio: k-means cost on all features of the clustering found after the reduction, over that of the clustering of "
    "all features by the same seed, one start each. One cluster: the ratio of one cluster of all rows, the most that "
    "any partition costs. vacuous: that is within the printed ratio too, or all features are kept."
)


def printed_dimension(method, k, epsilon, delta):
    """Return the dimension that Table 1 prints for another method, with natural logarithms and constants of 1."""
    if method == "Boutsidis et al. (2009)":
        return math.ceil(k * math.log(k / epsilon) / epsilon**2)
    if method == "Boutsidis et al. (2015)":
        return math.ceil(k / epsilon**2)
    return math.ceil(
        max((k + math.log(1 / delta)) / epsilon**2, 6 / (epsilon**2 * delta))
    )


def own_dimension(n, features_bound, epsilon):
    """Return n ln(n) ln(||A||) / epsilon^2; the norm is taken from a record's bound c (8 n + 16 n ln(||A||))."""
    rate = 8 * math.log(n) / epsilon**2
    log_norm = (features_bound / (8 * n * rate) - 1) / 2
    return math.ceil(n * math.log(n) * log_norm / epsilon**2)


def summarise(entry, trials):
    ratios = trials[RATIO].astype(float)
    numbers = {
        "largest": ratios.max(),
        "features": trials["n_selected"].mean(),
        "one cluster": trials[ONE_CLUSTER].astype(float).mean(),
        "fit": trials[FIT].sum(axis=1).median(),
        "rest": trials[REST].median(),
    }
    lines = [{"value": ratios.mean(), "sd": ratios.std(ddof=1)}]
    for name, value in numbers.items():
        lines.append({"column": f"{entry.column}, {name}", "value": value})
    return lines


def render(rendering: Rendering) -> str:
    trials = rendering.trials(READ)
    tables = [
        _printed(rendering),
        _at_printed_dimensions(rendering, trials),
        _at_equal_dimensions(rendering, trials),
    ]
    return "\n".join(tables)


def _printed(rendering):
    printed = (
        RECIPE.printed().set_index(["row", "column"])["printed_value"].fillna("N/A")
    )
    rows = []
    for method, measured_by in MEASURED_BY.items():
        stated = printed[method]
        rows.append(
            [method, stated["dimension"], stated["time"], stated["ratio"], measured_by]
        )
    return write_tables(
        rendering.tables,
        ["method", "dimension", "time", "ratio", "measured here by"],
        rows,
        caption="Table 1 as printed: O() of dimension and time, and approximation ratio of k-means.",
    )


def _at_printed_dimensions(rendering, trials):
    settings = rendering.artefact.config.artefact
    clusters = {
        entry.dataset: entry.cell.model["n_clusters"]
        for entry in rendering.artefact.entries
    }
    of_methods = trials[~trials["row"].isin(CONTROLS)]
    rows = []
    for (method, dataset), part in of_methods.groupby(["row", "dataset"], sort=False):
        n, d = int(part["n_train"].iloc[0]), int(part["n_features"].iloc[0])
        if method == OWN:
            column = next(name for name in part["column"] if name in OWN_COLUMNS)
            dimension = own_dimension(n, part[FEATURES_BOUND].max(), settings.epsilon)
        else:
            dimension = printed_dimension(
                method, clusters[dataset], settings.epsilon, settings.delta
            )
            column = str(dimension)
        printed = f"{dimension:,} > d" if dimension > d else f"{dimension:,}"
        cells = _measured_cells(part[part["column"] == column], method, column, dataset)
        rows.append([method, dataset, f"{d:,}", printed, *cells])
    return write_tables(
        rendering.tables.with_name(f"{rendering.tables.name}-measured"),
        ["method", "data", "d", "printed dimension", "used", "CPU s, fit", "CPU s, rest", "ratio", "largest",
         "one cluster", "within the printed ratio"],
        rows,
        caption=f"{rendering.artefact.title}, each method at the dimension that Table 1 prints for it, with constants "
        f"of 1: epsilon = {settings.epsilon}, delta = {settings.delta}, {rendering.artefact.config.protocol.repeats} "
        "seeds.",
        note=f"{rendering.note} {NOTE} {OWN} keeps as many as its c says. Rest: projection of the rows, k-means and "
        "its cost on all features.".strip(),
    )  # fmt: skip


def _measured_cells(part, method, column, dataset):
    """Return the cells from the dimension used on; none where the printed one is too large to be measured."""
    if part.empty:
        return [""] * 7
    states = state_counts(part[STATE])
    texts = [
        f"{part['n_selected'].mean():,.0f}",
        f"{part[FIT].sum(axis=1).median():.2g}",
        f"{part[REST].median():.2g}",
        f"{part[RATIO].mean():.3f}",
        f"{part[RATIO].max():.3f}",
        f"{part[ONE_CLUSTER].mean():.2f}",
        states,
    ]
    return [Traced(text, method, column, dataset) for text in texts]


def _at_equal_dimensions(rendering, trials):
    methods = list(rendering.artefact.config.artefact.rows)
    rows = []
    for (dataset, column), part in trials.groupby(["dataset", "column"], sort=False):
        if column in OWN_COLUMNS:
            continue
        ratios = part.groupby("row")[RATIO].agg(["mean", "max"])
        cells = []
        for method in methods:
            text = ""
            if method in ratios.index:
                mean, largest = ratios.loc[method]
                text = f"{mean:.3f} ({largest:.3f})"
            cells.append(Traced(text, method, column, dataset))
        rows.append([dataset, column, *cells])
    return write_tables(
        rendering.tables.with_name(f"{rendering.tables.name}-equal"),
        ["data", "dimension", *methods],
        rows,
        caption=f"{rendering.artefact.title} at equal dimensions: mean ratio of k-means cost, and the largest.",
        note=f"{rendering.note} {OWN} searches the c that keeps so many features, or the nearest number.".strip(),
    )


RECIPE = Recipe(
    "wang2018/ofs-table1",
    render,
    summarise=summarise,
    columns=READ,
    unit="ratio of k-means cost",
)
