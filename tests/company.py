"""Cells of all that is registered, and ways to run them together: for tests that company changes no result."""

from sklearn.linear_model import LogisticRegression

from provlab.bench.methods import panel_methods
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, make_tasks
from provlab.core.protocols.scoring import usable_scorers
from provlab.core.store import SCHEMA, VOLATILE
from provlab.run.executors import execute

STABLE = [name for name in SCHEMA.names if name not in (*VOLATILE, "git_revision")]
"""Columns that company must not change; a commit while minutes of tests run is no company."""

DENSE = (
    "dataset=synthetic",
    "dataset.n_samples=40",
    "dataset.n_features=24",
    "dataset.n_relevant=2",
)
SPARSE = ("dataset=sparse_rows", "dataset.n_samples=60", "dataset.n_features=150")
FOLDS = ("protocol.n_splits=2", "protocol.repeats=1", "protocol.draws=1")
PLAIN = ("protocol.setting=unsupervised", "protocol.certify=false")

TOWNS = ("Rome", "Oslo", "Lima")
ANSWERS = ("yes", "yes", "no", "no", "no")
TABLE = "town,age,height,label\n" + "".join(
    f"{TOWNS[k % 3]},{k * 7 % 31},{k * k % 17 + 0.5},{ANSWERS[k % 5]}\n"
    for k in range(40)
)
NUMBERS = "a,b,c,label\n" + "".join(
    f"{k % 7},{k * k % 13},{k % 3},{k * 1.37 + k % 7}\n" for k in range(40)
)

UNSIZED = {
    "selector=full": [],
    "selector=full model=by_task": [],
    "selector=gaussian_compression": ["selector.n_components=6"],
    "selector=sparse_embedding": ["selector.n_components=6"],
    "selector=always_kept": ["selector.n_features_to_select=6"],
    "selector=cross_validated_size": [],
    "selector=feature_selective": [],
    "selector=l1_svm": [],
    "selector=lpsvm": [],
    "selector=lasso": [],
    "selector=rfe_half": [],
}
MODELS = (
    "compressed_svm", "extra_trees", "feature_selective_svm", "feature_selective_svm_relative", "hinge_svm",
    "liblinear", "liblinear_cv", "libsvm", "libsvm_cv", "logistic",
)  # fmt: skip
REGRESSIONS = ("ridge", "lasso", "svr")
PREPARATIONS = ("one_hot", "standardise", "range", "robust")


def cells(*overrides, data=DENSE):
    """Return the cells of some overrides on small data with two folds."""
    return cells_of(compose_config([*data, *FOLDS, *overrides]))


def everything(folder):
    """Return cells of all selectors, models, preparations and scorers that are registered, by a name for people."""
    table = folder / "table.csv"
    numbers = folder / "numbers.csv"
    table.write_text(TABLE)
    numbers.write_text(NUMBERS)
    named = {}
    for name, method in panel_methods().items():
        if method.is_installed and "classification" in method.tasks:
            named[name] = cells(*method.overrides(6), *PLAIN)
            # of nine rows, with certificates; knockoffs are fitted on ten or more
            if method.multiclass and method.source == "provsel" and name != "knockoffs":
                named[f"{name}, certified"] = cells(*method.overrides(6))
    for choice, further in UNSIZED.items():
        named[choice] = cells(*choice.split(), *further, *PLAIN)
    for name in MODELS:
        named[f"model {name}"] = cells("selector=full", f"model={name}", *PLAIN)
        named[f"model {name}, RRQR"] = cells(
            "selector=rrqr", "selector.n_features_to_select=6", f"model={name}", *PLAIN
        )
    for name in REGRESSIONS:
        data = ("dataset=file", f"dataset.path={numbers}")
        named[f"model {name}"] = cells(
            "selector=full", f"model={name}", *PLAIN, data=data
        )
    for name in PREPARATIONS:
        data = (
            "dataset=file",
            f"dataset.path={table}",
            "dataset.left_out=[town]" if name != "one_hot" else "dataset.left_out=[]",
        )
        named[f"preparation {name}"] = cells(
            "selector=full", f"preparation={name}", *PLAIN, data=data
        )
    for scorer in usable_scorers(LogisticRegression()):
        named[f"scorer {scorer}"] = cells(
            "selector=full", "model=logistic", f"protocol.scoring={scorer}", *PLAIN
        )
    for name in ("rrqr", "leverage", "uniform", "online_leverage"):
        size = "selector.n_features_to_select=6"
        named[f"{name}, clustering"] = cells(
            f"selector={name}",
            size,
            "protocol=clustering",
            "model=kmeans",
            "protocol.repeats=1",
            "protocol.draws=1",
        )
    return named


def stable(record):
    """Return a record as text, without what two runs of the same trial may differ in."""
    return repr([record[name] for name in STABLE if name in record])


def run(company, done=frozenset(), folds=(0, 1), **settings):
    """Run cells together in this process, and return records as text and reasons of failures, by key."""
    tasks = [task for task in make_tasks(company, done=done) if task.fold in folds]
    results = [*execute(tasks, {"name": "serial", **settings})]
    records = {
        record["key"]: stable(record) for result in results for record in result.records
    }
    failures = {key: reason for result in results for key, _, reason in result.failures}
    return records, failures


def alone(company, **settings):
    """Run the trials of each cell in tasks of its own, and return what `run` returns."""
    records = {}
    failures = {}
    for cell in company:
        of_cell = run([cell], **settings)
        records |= of_cell[0]
        failures |= of_cell[1]
    return records, failures
