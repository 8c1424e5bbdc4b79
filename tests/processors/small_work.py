"""Work whose last digits depend on the processor, in small: `python small_work.py RESULTS REPEATS` adds it to a store.

Table 1; generated data whose very content differs, as exp makes its columns; and, where
real data is at hand, a TechTC set under two weightings. Prints, as JSON, how many
trials were stored, computed, and failed.
"""

import json
import sys
from pathlib import Path

from provlab.core.artefact import compose_artefact
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, files_missing
from provlab.core.store import TrialStore
from small_runs import SMALL, run_quietly

WEIGHTINGS = ("counts", "l2", "log_l2", "tfidf_l2")
SETTINGS = ["protocol.n_splits=3", "protocol.draws=2"]
CLUSTERS = [
    "dataset=gaussian_clusters", "dataset.columns=lognormal", "dataset.n_features=2000", "protocol=clustering",
    "model=kmeans", "protocol.draws=2",
]  # fmt: skip
ONLINE = ["selector=online_leverage", "selector.n_features_to_select=40"]
TECHTC = ["dataset=techtc", "dataset.set=Exp_10341_186330", *SETTINGS]
CHOSEN = ["selector=bss", "selector.n_features_to_select=150"]
DRAWN = ["selector=leverage", "selector.n_features_to_select=300"]


def table_1(repeats):
    return [*SMALL, f"protocol.repeats={repeats}"]


def composed(overrides, repeats):
    """Return the cells of lists of overrides whose data are at hand."""
    cells_of_all = [
        cells_of(compose_config([*settings, f"protocol.repeats={repeats}"]))
        for settings in overrides
    ]
    return [
        cell
        for cells_of_one in cells_of_all
        for cell in cells_of_one
        if not files_missing(cell.dataset)
    ]


def techtc_cells(repeats):
    """Return the cells of a TechTC set without and with logarithms, none where it is not at hand."""
    weighted = [
        [*TECHTC, f"dataset.weighting={weighting}"]
        for weighting in ("counts", "tfidf_l2")
    ]
    return composed(
        [
            [*settings, *selector]
            for settings in weighted
            for selector in (CHOSEN, DRAWN)
        ],
        repeats,
    )


def cells(repeats):
    """Return all cells."""
    clusters = composed([[*CLUSTERS, *ONLINE], [*CLUSTERS, "selector=full"]], repeats)
    return [
        *compose_artefact("paul2016/table1", table_1(repeats)).cells,
        *clusters,
        *techtc_cells(repeats),
    ]


def add_to(results, repeats):
    """Compute what the store lacks; return the numbers of trials that were stored, computed, and failed."""
    report, _ = run_quietly(cells(repeats), TrialStore(Path(results) / "store"))
    return [report.n_found, report.n_run, len(report.failures)]


if __name__ == "__main__":
    print(json.dumps(add_to(sys.argv[1], int(sys.argv[2]))))
