"""python experiments/benchmarks/rfe.py [--quick] [--repeats 5] [--set NAME]: SVMRFESelector against scikit-learn's RFE.

A TechTC set, d to 300 features, one process, one BLAS thread, CPU seconds of the process, medians of repeats that
take turns. "integer step": both drop 500 features a round and train the same SVMs. "tenth": each as its users would
write step=0.1, a tenth of the remaining features here and of all features in scikit-learn, which is fewer rounds
for scikit-learn. "r = 500, 400, 300": the integer step for three sizes, which share one path here. scikit-learn gets
the rows in the form, sparse or dense, that is faster for it. Goal: at least 10 times as fast with an integer step.
The limit is the first of its SVMs, on all features.

The sets have many equal columns, which scikit-learn drops lowest index first and this library highest first. The
kept features are compared on columns scaled at random by up to 1 %, which no two are then equal.
"""

import argparse
import statistics

import numpy as np
from scipy import sparse
from sklearn.feature_selection import RFE
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report

from provlab.data import load_dataset
from provsel.models import LibsvmSVM
from provsel.selectors import SVMRFESelector
from provsel.training_view import TrainingView

BENCH = {
    "bench": ["--repeats", "3"],
    "quick": ["--quick"],
    "left_out": "",
    "seconds": 300,
}
N_SELECTED, STEP, SPEEDUP_GOAL = 300, 500, 10.0


def ours(X, y, step, sizes=(N_SELECTED,)):
    """Fit for all sizes on one view, and return the number of SVMs that the longest path takes."""
    view = TrainingView(X, y)
    return max(SVMRFESelector(r, step=step).fit_view(view).n_rounds_ for r in sizes)


def theirs(X, y, step, sizes=(N_SELECTED,)):
    """As `ours`, by scikit-learn."""
    fits = [RFE(SVC(kernel="linear", C=1), n_features_to_select=r, step=step).fit(X, y) for r in sizes]
    return sum(int(fit.ranking_.max()) for fit in fits)  # one SVM more each, on the kept features


def measure(X, y, step, sizes, repeats):
    """Return the record of one schedule; X sparse, shape (n, d)."""
    forms = {"sparse": sparse.csr_matrix(X), "dense": X.toarray()}
    seconds = {"ours": [], "one svm": [], "sparse": [], "dense": []}
    for _ in range(repeats):
        seconds["one svm"].append(cpu_seconds(LibsvmSVM().fit, X, y)[0])
        of_ours, our_svms = cpu_seconds(ours, X, y, step, sizes)
        seconds["ours"].append(of_ours)
        for form, rows in forms.items():
            of_theirs, their_svms = cpu_seconds(theirs, rows, y, step, sizes)
            seconds[form].append(of_theirs)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    best = min("sparse", "dense", key=medians.get)
    return {
        "step": step, "sizes": list(sizes), "svms": our_svms, "sklearn_svms": their_svms,
        "seconds": medians["ours"], "sklearn_seconds": medians[best], "sklearn_form": best,
        "sklearn_over_ours": medians[best] / medians["ours"],
        "all_seconds": seconds,
    }  # fmt: skip


def same_features(X, y):
    """Tell whether both keep the same features where no two columns are equal."""
    scaled = sparse.csr_matrix(X * np.random.default_rng(0).uniform(0.99, 1.01, X.shape[1]))
    reference = RFE(SVC(kernel="linear", C=1, tol=1e-9), n_features_to_select=N_SELECTED, step=STEP).fit(scaled, y)
    support = SVMRFESelector(N_SELECTED, step=STEP, tol=1e-9).fit(scaled, y).get_support()
    return bool(np.array_equal(support, reference.support_))


def cases(name, shape, records):
    """Return the common records."""
    return [
        case(f"{name}, {shape[0]} x {shape[1]:,}, {schedule}", record["all_seconds"]["ours"],
             peer=("scikit-learn's RFE", record["all_seconds"][record["sklearn_form"]]),
             limit=("one full SVM", record["all_seconds"]["one svm"]),
             goal=f"ratio >= {SPEEDUP_GOAL:g}" if schedule == "integer step" else "")
        for schedule, record in records.items()
    ]  # fmt: skip


def markdown(records):
    """Return the table of all schedules."""
    lines = [
        "| schedule | SVMs | SVMs, scikit-learn | provsel (ms) | scikit-learn (ms) | its rows | ratio |",
        "|---|--:|--:|--:|--:|---|--:|",
    ]
    for name, record in records.items():
        goal = f" (goal >= {SPEEDUP_GOAL:g})" if name == "integer step" else ""
        lines.append(
            f"| {name} | {record['svms']} | {record['sklearn_svms']} | {1e3 * record['seconds']:.1f} "
            f"| {1e3 * record['sklearn_seconds']:.0f} | {record['sklearn_form']} "
            f"| {record['sklearn_over_ours']:.1f}{goal} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--set", default="Exp_10341_10755")
    options = parser.parse_args()
    dataset = load_dataset("techtc", set=options.set)
    X, y = dataset.X, dataset.y
    schedules = {
        "integer step": (STEP, (N_SELECTED,)),
        "tenth": (0.1, (N_SELECTED,)),
        "r = 500, 400, 300": (STEP, (500, 400, 300)),
    }
    repeats = 1 if options.quick else options.repeats
    with threadpool_limits(1):
        records = {name: measure(X, y, step, sizes, repeats) for name, (step, sizes) in schedules.items()}
        same = same_features(X, y)
    head = f"{dataset.name}: n = {X.shape[0]}, d = {X.shape[1]}, {X.nnz} values; same features kept: {same}\n\n"
    found = cases(dataset.name, X.shape, records)
    report("rfe", head + markdown(records), found, set=options.set, shape=list(X.shape), same=same, schedules=records)
    if not same:
        raise SystemExit("rfe.py: the kept features differ from scikit-learn's")


if __name__ == "__main__":
    main()
