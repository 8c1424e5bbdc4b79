"""A whole Figure 1 fold with everything shared, against the sum of stand-alone fits of the same trials.

python experiments/benchmarks/fold.py [--sets 5] [--setting supervised|unsupervised|both]

Both train and test the same classifiers on the same fold, without certificates, in one process on one BLAS thread;
the errors must agree. CPU seconds; the median ratio over data sets is what counts. The limit is what all trials share:
the SVM and the spectral basis of all training rows.
"""

import argparse
import statistics
from dataclasses import replace

from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report

from provlab.core.artefact import compose_artefact
from provlab.core.cell import trial_seed
from provlab.core.plan import load_from, make_tasks
from provlab.core.protocols import protocol_named
from provlab.data import dataset_members
from provlab.project.components import build
from provlab.run.fold import make_fold
from provlab.run.task import run_task
from provsel.kernels.spectral import spectral_basis
from provsel.reducers import reduced_rows
from provsel.selectors import OnSupportVectors

BENCH = {
    "bench": ["--sets", "3", "--setting", "both"],
    "quick": ["--sets", "1"],
    "full": ["--setting", "both"],
    "left_out": "2 of 5 TechTC sets",
    "seconds": 300,
}
GOAL = 1 / 3
SETTINGS = ("supervised", "unsupervised")


def stand_alone(task):
    """Fit every trial for itself, as a user without a shared fold would; return the errors by key."""
    data = load_from(task.dataset)
    numbers = {"n_splits": task.protocol["n_splits"], "split_seed": task.split_seed, "fold": task.fold}
    fold = make_fold(protocol_named(task.protocol["split"]), data, **numbers)
    X, y = fold.view.X, fold.view.y
    errors = {}
    for trial in task.trials:
        cell = task.cells[trial.cell]
        selector, model = build("selector", cell.selector), build("model", cell.model)
        if selector.is_random:
            selector.set_params(random_state=trial_seed(cell, task.repeat, task.fold, trial.draw))
        rows = slice(None)
        if cell.protocol["setting"] == "supervised":
            selector = OnSupportVectors(selector, svm=model)
        selector.fit(X, y)
        if cell.protocol["setting"] == "supervised":
            rows, selector = selector.support_rows_, selector.selector_
        if selector.indices_.size == X.shape[1]:
            rows = slice(None)  # full data: the SVM on all rows, as run_task has it
        predicted = model.fit(reduced_rows(selector, X[rows]), y[rows]).predict(reduced_rows(selector, fold.X_test))
        errors[trial.key] = float((predicted != fold.y_test).mean())
    return errors


def cells_of(artefact, name):
    return [entry.cell for entry in artefact.entries if entry.dataset == name]


def measure(task):
    """Return CPU seconds of one task, and of the same trials one by one; of all methods and of all but BSS."""
    record = {}
    for label, chosen in {"all": task, "without BSS": without_bss(task)}.items():
        run_task(chosen)  # loads the data set, and warms up
        shared, result = cpu_seconds(run_task, chosen)
        alone, errors = cpu_seconds(stand_alone, chosen)
        assert not result.failures, result.failures
        assert errors == {found["key"]: found["error"] for found in result.records}, "different numbers"
        limit, _ = cpu_seconds(parts, chosen)
        record[label] = {
            "limit": limit,
            "trials": len(chosen.trials),
            "shared": shared,
            "alone": alone,
            "ratio": shared / alone,
        }
    return record


def parts(task):
    """Do what all trials of the task share, without the trials."""
    data = load_from(task.dataset)
    numbers = {"n_splits": task.protocol["n_splits"], "split_seed": task.split_seed, "fold": task.fold}
    fold = make_fold(protocol_named(task.protocol["split"]), data, **numbers)
    build("model", task.cells[task.trials[0].cell].model).fit(fold.view.X, fold.view.y)
    spectral_basis(fold.view.X)


def without_bss(task):
    kept = [trial for trial in task.trials if "BSS" not in task.cells[trial.cell].selector["_target_"]]
    return replace(task, trials=tuple(kept))


def cases(setting, records):
    """Return the common records: medians over the data sets."""
    found = []
    for label in ("all", "without BSS"):
        seconds = {key: [record[label][key] for record in records.values()] for key in ("shared", "alone", "limit")}
        found.append(
            case(f"{setting}, {len(records)} TechTC folds, methods: {label}", seconds["shared"],
                 peer=("each trial alone", seconds["alone"]), limit=("SVM + basis", seconds["limit"]),
                 goal=f"ratio >= {1 / GOAL:g}" if label == "all" else "")
        )  # fmt: skip
    return found


def markdown(records):
    lines = ["| data set | methods | trials | shared (s) | stand-alone (s) | ratio |", "|---|---|--:|--:|--:|--:|"]
    for name, record in records.items():
        for label, found in record.items():
            numbers = f"{found['shared']:.3f} | {found['alone']:.3f} | {found['ratio']:.3f}"
            lines.append(f"| {name} | {label} | {found['trials']} | {numbers} |")
    for label in ("all", "without BSS"):
        median = statistics.median(record[label]["ratio"] for record in records.values())
        goal = f" (goal <= {GOAL:.3f}: {'met' if median <= GOAL else 'missed'})" if label == "all" else ""
        lines.append(f"| median | {label} | | | | {median:.3f}{goal} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=5, help="number of TechTC sets")
    parser.add_argument("--setting", default="supervised", choices=[*SETTINGS, "both"])
    options = parser.parse_args()
    for setting in SETTINGS if options.setting == "both" else (options.setting,):
        run(setting, dataset_members("techtc")[: options.sets])


def run(setting, names):
    """Measure one setting on the TechTC sets of these names."""
    chosen = f"dataset.set=[{','.join(names)}]"
    overrides = [chosen, f"protocol.setting={setting}", "protocol.repeats=1", "protocol.certify=false"]
    artefact = compose_artefact("paul2016/figure1", overrides)
    with threadpool_limits(1):
        records = {name: measure(next(iter(make_tasks(cells_of(artefact, name))))) for name in names}
    report(f"fold_{setting}", markdown(records), cases(setting, records), setting=setting, sets=records)


if __name__ == "__main__":
    main()
