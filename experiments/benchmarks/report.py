"""python experiments/benchmarks/report.py [--records 1000000] [--keep FOLDER]: the HTML report over a large store.

The store is made: the planned trials of every artefact whose data are here, up to the number of records, then trials of
cells that no artefact has, as a large sweep leaves them. Numbers are drawn, keys and cells are the real ones, features
are lists of up to 300. Goals: under a minute, no page above 3 MB. `provsel report` runs in a process of its own;
wall seconds and its peak memory. The limit is reading the store's files, all columns, in one process.
"""

import argparse
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from timing import case, report

from provlab.core.artefact import compose_artefact
from provlab.core.keys import seed_from, split_seed
from provlab.core.plan import trials_of, unique_cells
from provlab.core.store import SCHEMA, TrialStore
from provlab.data import MissingDataError
from provlab.project.documents import canonical_json
from provlab.project.papers import artefact_names
from provlab.run.environment import environment

BENCH = {
    "bench": ["--records", "100000"],
    "quick": ["--records", "5000"],
    "left_out": "900,000 of a million records",
    "seconds": 300,
}
FULL, SECONDS, PAGE = 1_000_000, 60.0, 3.0
"""Records that the goals are for; a minute; MB of a page."""
PER_FILE = 50_000
KEPT = 300


def planned(n_records):
    """Return (cells, their trials) of all artefacts, at most n_records of them."""
    cells = []
    for name in artefact_names():
        try:
            cells += compose_artefact(name).cells
        except MissingDataError as error:
            print(f"{name}: left out, {error.dataset} is missing")
    for cell in unique_cells(cells):
        for trial in itertools.islice(trials_of(cell), max(n_records, 0)):
            n_records -= 1
            yield cell, trial


def elsewhere(n):
    """Yield n trials of cells of a sweep that no artefact has."""
    for k in range(n):
        yield None, (k % 500 // 50, k % 50 // 5, k % 5, f"{k:064x}")


def table(trials, rng):
    """Return synthetic records of some trials."""
    n = len(trials)
    columns = {name: pa.nulls(n, SCHEMA.field(name).type) for name in SCHEMA.names}

    def put(name, values):
        columns[name] = pa.array(values, SCHEMA.field(name).type)

    for place, name in enumerate(("repeat", "fold", "draw", "key")):
        put(name, [trial[place] for _, trial in trials])
    known = {id(cell): cell for cell, _ in trials if cell is not None}
    config = {place: canonical_json(cell.identity) for place, cell in known.items()}
    put("cell", [cell.id if cell else f"sweep{k // 500:059d}" for k, (cell, _) in enumerate(trials)])
    put("config", [config.get(id(cell), "{}") for cell, _ in trials])
    put("dataset", [str(cell.dataset["name"]) if cell else "sweep" for cell, _ in trials])
    put("data", [cell.data if cell else "" for cell, _ in trials])
    put("source", ["synthetic; of no data; for this benchmark"] * n)
    put("n_classes", np.full(n, 2))
    put("setting", ["supervised"] * n)
    put("selector", [str(cell.selector["_target_"]).rsplit(".", 1)[-1] if cell else "" for cell, _ in trials])
    seeds = {}
    for cell, (repeat, *_) in trials:
        if cell is not None and (id(cell), repeat) not in seeds:
            protocol = cell.protocol
            seeds[id(cell), repeat] = split_seed(cell.data, protocol["n_splits"], protocol["seed"], repeat)
    put("split_seed", [seeds.get((id(cell), trial[0]), 0) for cell, trial in trials])
    put("seed", [seed_from(trial[3][:16]) for _, trial in trials])
    for name, value in (("n_train", 180), ("n_test", 20), ("n_features", 10_000), ("n_rows", 120), ("rank", 110)):
        put(name, np.full(n, value))
    put("n_selected", np.full(n, KEPT))
    put("error", rng.binomial(20, 0.2, n) / 20)
    for field in SCHEMA:
        if pa.types.is_floating(field.type) and field.name != "error":
            put(field.name, rng.random(n))
        if field.name.startswith("certificate_") and pa.types.is_string(field.type):
            put(field.name, rng.choice(["held", "vacuous"], n))
    features = rng.permuted(np.tile(np.arange(2 * KEPT, dtype=np.int32), (n, 1)), axis=1)[:, :KEPT]
    columns["features"] = pa.ListArray.from_arrays(np.arange(0, n * KEPT + 1, KEPT, dtype=np.int32), features.ravel())
    put("environment", [environment()] * n)
    put("git_revision", ["0" * 40] * n)
    return pa.table(columns, schema=SCHEMA)


def make_store(folder, n_records):
    """Write the store and return how many records artefacts plan."""
    rng, folder = np.random.default_rng(0), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    trials = list(planned(n_records))
    n_planned = len(trials)
    trials += elsewhere(n_records - n_planned)
    for k in range(0, len(trials), PER_FILE):
        part = table(trials[k : k + PER_FILE], rng).sort_by([("cell", "ascending"), ("key", "ascending")])
        pq.write_table(part, folder / f"merged-{k:08d}.parquet", compression="zstd", write_page_checksum=True,
                       row_group_size=8192)  # fmt: skip
    assert len(TrialStore(folder).keys()) == len(trials)
    return n_planned


def plainly_read(folder):
    """Return the wall seconds of reading all files of the store."""
    start = time.perf_counter()
    for path in sorted(folder.iterdir()):
        pq.read_table(path, use_threads=False)
    return time.perf_counter() - start


def cases(n_records, seconds, reading, size):
    """Return the common records."""
    name, judged = f"{n_records:,} records", n_records == FULL
    return [
        case(name, seconds, limit=("reading the store", reading), unit="wall s"),
        case(f"{name}, beside a minute", seconds, limit=("a minute", SECONDS), goal="ratio_to_limit <= 1",
             judged=judged, unit="wall s"),
        case(f"{name}, largest page", size, limit=("page allowed", PAGE), goal="ratio_to_limit <= 1", judged=judged,
             unit="MB"),
    ]  # fmt: skip


def main():
    """Make the store, build the report, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=FULL)
    parser.add_argument("--keep", help="make the store and the report below this folder, and leave them there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        results = Path(options.keep or temporary)
        n_planned = make_store(results / "store", options.records)
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "provlab.cli", "report", "--results", str(results)], check=True)
        seconds = time.perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
        pages = sorted(((path.stat().st_size, path.name) for path in results.rglob("report/**/*.html")), reverse=True)
        size, name = pages[0]
        reading = plainly_read(results / "store")
        store = sum(path.stat().st_size for path in (results / "store").iterdir())
    lines = [
        "| records | of artefacts | store (MB) | pages | wall (s) | largest page (MB) | peak memory (MB) |",
        "|---|---|---|---|---|---|---|",
        f"| {options.records:,} | {n_planned:,} | {store / 1e6:.0f} | {len(pages)} | {seconds:.1f} | "
        f"{size / 1e6:.2f} ({name}) | {memory:.0f} |",
    ]
    found = cases(options.records, seconds, reading, size / 1e6)
    report("report", "\n".join(lines), found, records=options.records, seconds=seconds, largest=size, memory=memory)


if __name__ == "__main__":
    main()
