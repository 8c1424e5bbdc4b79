"""A store of drawn trials: those that the artefacts plan, then others, as a large sweep leaves them."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from provlab.core.artefact import compose_artefact
from provlab.core.keys import seed_from, split_seed
from provlab.core.plan import trials_of, unique_cells
from provlab.core.store import SCHEMA
from provlab.data import MissingDataError
from provlab.project.documents import canonical_json
from provlab.project.papers import artefact_names
from provlab.run.environment import environment

PER_FILE = 50_000
N_SELECTED = 300


def write_store(folder, n_trials):
    """Write numbers that are drawn under keys and cells that are the real ones."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    trials = itertools.islice(itertools.chain(planned(), unplanned()), n_trials)
    for number in range(0, n_trials, PER_FILE):
        lines = [record(cell, trial, rng) for cell, trial in itertools.islice(trials, PER_FILE)]
        table = pa.Table.from_pylist(lines, schema=SCHEMA).sort_by([("cell", "ascending"), ("key", "ascending")])
        path = folder / f"merged-{number:08d}.parquet"
        pq.write_table(table, path, compression="zstd", write_page_checksum=True, row_group_size=8192)


def planned():
    """Yield the cells and trials of all artefacts whose data are here."""
    cells = []
    for name in artefact_names():
        try:
            cells += compose_artefact(name).cells
        except MissingDataError as error:
            print(f"{name}: left out, {error.dataset} is missing")
    for cell in unique_cells(cells):
        about = {
            "cell": cell.id,
            "config": canonical_json(cell.identity),
            "dataset": str(cell.dataset["name"]),
            "data": cell.data,
            "selector": str(cell.selector["_target_"]).rsplit(".", 1)[-1],
        }
        n_splits, seed = cell.protocol["n_splits"], cell.protocol["seed"]
        for trial in trials_of(cell):
            yield about | {"split_seed": split_seed(cell.data, n_splits, seed, trial[0])}, trial


def unplanned():
    for k in itertools.count():
        about = {"cell": f"sweep{k // 500:059d}", "config": "{}", "dataset": "sweep", "data": "", "selector": ""}
        yield about | {"split_seed": 0}, (k % 500 // 50, k % 50 // 5, k % 5, f"{k:064x}")


FIXED = {
    "source": "synthetic; of no data; for this benchmark",
    "n_classes": 2,
    "setting": "supervised",
    "n_train": 180,
    "n_test": 20,
    "n_features": 10_000,
    "n_rows": 120,
    "rank": 110,
    "n_selected": N_SELECTED,
    "git_revision": "0" * 40,
}
NUMBERS = [field.name for field in SCHEMA if pa.types.is_floating(field.type)]
STATES = [field.name for field in SCHEMA if field.name.startswith("certificate_") and pa.types.is_string(field.type)]


def record(about, trial, rng):
    repeat, fold, draw, key = trial
    line = FIXED | about | {"repeat": repeat, "fold": fold, "draw": draw, "key": key, "seed": seed_from(key[:16])}
    line |= dict(zip(NUMBERS, rng.random(len(NUMBERS)).tolist(), strict=True))
    line |= dict(zip(STATES, rng.choice(["held", "vacuous"], len(STATES)).tolist(), strict=True))
    line["error"] = rng.binomial(20, 0.2) / 20
    line["features"] = rng.permutation(2 * N_SELECTED)[:N_SELECTED]
    line["environment"] = environment()
    return line
