"""A whole Figure 1 fold with everything shared, against the sum of stand-alone fits of the same trials.

python experiments/benchmarks/fold.py [--sets 5] [--setting supervised]

Both train and test the same classifiers on the same fold, without certificates, in one process on one BLAS thread;
the errors must agree. CPU seconds; the median ratio over data sets is what counts.
"""

import argparse
import statistics
import time

from threadpoolctl import threadpool_limits

from provsel.configs import compose_artefact
from provsel.datasets import dataset_members
from provsel.evaluation import load_from, make_tasks, run_task
from provsel.evaluation.components import build
from provsel.evaluation.fold import FoldContext, reduced_rows
from provsel.evaluation.keys import seed_from
from provsel.selectors import OnSupportVectors

GOAL = 1 / 3


def stand_alone(task):
    """Fit every trial for itself, as a user without a shared fold would; return the errors by key."""
    data = load_from(task.dataset)
    fold = FoldContext(data, split=task.split, n_splits=task.n_splits, split_seed=task.split_seed, fold=task.fold)
    X, y = fold.view.X, fold.view.y
    errors = {}
    for trial in task.trials:
        cell = task.cells[trial.cell]
        selector, model = build("selector", cell.selector), build("model", cell.model)
        if selector.is_random:
            selector.set_params(random_state=seed_from(trial.key))
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=5, help="number of TechTC sets")
    parser.add_argument("--setting", default="supervised", choices=["supervised", "unsupervised"])
    options = parser.parse_args()
    names = dataset_members("techtc")[: options.sets]
    chosen = f"dataset.set=[{','.join(names)}]"
    setting = [f"protocol.setting={options.setting}", "protocol.repeats=1", "protocol.certify=false"]
    artefact = compose_artefact("paul2016/figure1", [chosen, *setting])
    ratios = []
    print("| data set | trials | shared (s) | stand-alone (s) | ratio |\n|---|---|---|---|---|")
    with threadpool_limits(1):
        for name in names:
            cells = [entry.cell for entry in artefact.entries if entry.dataset == name]
            task = make_tasks(cells)[0]
            run_task(task)  # loads the data set, and warms up
            start = time.process_time()
            result = run_task(task)
            shared = time.process_time() - start
            start = time.process_time()
            errors = stand_alone(task)
            alone = time.process_time() - start
            assert not result.failures, result.failures
            assert errors == {record["key"]: record["error"] for record in result.records}, "different numbers"
            ratios.append(shared / alone)
            print(f"| {name} | {len(task.trials)} | {shared:.3f} | {alone:.3f} | {ratios[-1]:.3f} |", flush=True)
    median = statistics.median(ratios)
    print(f"\nmedian ratio {median:.3f}; goal at most {GOAL:.3f}: {'met' if median <= GOAL else 'missed'}")


if __name__ == "__main__":
    main()
