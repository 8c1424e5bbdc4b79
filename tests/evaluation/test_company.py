"""A trial has the same result alone, beside any others, in any order, resumed, and with every executor."""

import re
import sys
from functools import cache

import numpy as np
import pytest

from company import DENSE, PLAIN, SPARSE, STABLE, alone, cells, everything, run
from provlab.core.plan import make_tasks
from provlab.core.store import TrialStore
from provlab.run.task import run_task
from small_runs import records_of, rows, run_quietly

# What methods warn of on such small data is no matter here, and warnings are errors in
# other tests.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

MEMBERS = '''
import random
import warnings
import numpy as np
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.svm import LinearSVC
from provlab import Measure
from provsel.selectors import BaseSelector, Selection

KEPT = []

def values(X):
    """Return the array that holds the values of dense or sparse rows."""
    return X.data if hasattr(X, "tocsr") else X

def cleared(array):
    """Let a read-only array be written to, whoever owns its memory."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    owner.flags.writeable = True
    array.flags.writeable = True
    return array

class Selector(SelectorMixin, BaseEstimator):
    """The columns with the largest means, after what a subclass does to its input."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.act(X, y)
        means = np.abs(np.asarray(X.mean(axis=0))).ravel()
        self.mask_ = means >= np.sort(means)[-5]
        return self

    def act(self, X, y): pass
    def _get_support_mask(self): return self.mask_

class Honest(Selector): pass

class WritesX(Selector):
    def act(self, X, y): values(X)[:] = 0.0

class ScalesX(Selector):
    def act(self, X, y): values(X).__imul__(2.0)

class SortsX(Selector):
    """The same numbers at other places."""
    def act(self, X, y): cleared(values(X)).sort(axis=0)

class WritesY(Selector):
    def act(self, X, y): y[:] = y[::-1].copy()

class ClearsFlag(Selector):
    def act(self, X, y): cleared(values(X))[:] = 0.0

class ClearsFlagOfY(Selector):
    def act(self, X, y): cleared(y)[:] = y[::-1].copy()

class WritesAndRaises(Selector):
    def act(self, X, y):
        cleared(values(X))[:] = 0.0
        raise KeyError("after writing")

class ReplacesSparse(Selector):
    def act(self, X, y): X.data = 0.0 * X.data

class WritesIndices(Selector):
    def act(self, X, y): cleared(X.indices)[:] = X.indices[::-1].copy()

class WritesTestRows(Selector):
    def transform(self, X):
        cleared(values(X))[:] = 0.0
        return super().transform(X)

class KeepsAndWritesLater(Selector):
    def act(self, X, y):
        for earlier in KEPT:
            cleared(values(earlier))[:] = 0.0
        KEPT[:] = [X]

class NeedsWritable(Selector):
    """As compiled code without const."""
    def act(self, X, y):
        if not values(X).flags.writeable:
            raise ValueError("buffer source array is read-only")

class SetsForAll(Selector):
    def act(self, X, y):
        sklearn.set_config(transform_output="pandas")
        np.seterr(all="raise")
        warnings.simplefilter("error")
        random.seed(0)
        np.random.seed(0)

class DrawsWithoutSeed(Selector):
    def act(self, X, y): self.order_ = np.random.permutation(X.shape[1])
    def _get_support_mask(self): return np.isin(np.arange(self.order_.size), self.order_[:5])

class OfTheView(BaseSelector):
    """Has the parts of the view, after what a subclass does to them."""

    algorithm_version = 1
    def __init__(self, n_features_to_select=5): self.n_features_to_select = n_features_to_select

    def _select(self, view, rng):
        self.act(view)
        scores = np.square(view.basis().V).sum(axis=1)
        return Selection.unweighted(np.argsort(-scores, kind="stable")[:self.n_features_to_select], scores=scores)

    def act(self, view): pass

class WritesBasis(OfTheView):
    def act(self, view): view.basis().V[:] = 1.0

class ClearsFlagOfBasis(OfTheView):
    def act(self, view): cleared(view.basis().V)[:] = 1.0

class NamesPartsLikeOurs(OfTheView):
    def act(self, view):
        for name in ("gram", "basis", "class codes"):
            view.shared(name, lambda: None if name == "basis" else np.ones((view.n_samples, view.n_samples)))
        view._parts.pop("basis")

class WritesRowsOfView(OfTheView):
    def act(self, view): cleared(values(view.X))[:] = 0.0

class ZeroesInPredict(LinearSVC):
    def predict(self, X):
        predicted = super().predict(X)
        cleared(values(X))[:] = 0.0
        return predicted

class Scaling(Measure):
    """Scales the coefficients of a model, which may be that of all features."""
    scaled_coefficient: float = np.nan
    @classmethod
    def measure(cls, trial):
        trial.model.coef_ *= 2.0
        return cls(scaled_coefficient=float(trial.model.coef_.sum()))

class WritesTestRowsOfTrial(Measure):
    sum_of_test_rows: float = np.nan
    @classmethod
    def measure(cls, trial):
        cleared(values(trial.X_test))[:] = 0.0
        return cls(sum_of_test_rows=0.0)

class ReusesMemory(TransformerMixin, BaseEstimator):
    """A preparation whose rows are the same memory at each call."""
    def fit(self, X, y=None):
        self.memory_ = np.empty((1000, X.shape[1]))
        self.n_features_in_ = X.shape[1]
        return self
    def transform(self, X):
        rows = self.memory_[: X.shape[0]]
        rows[:] = X
        return rows
'''


@pytest.fixture(autouse=True)
def members(tmp_path, monkeypatch):
    """Make a project that trusts the members."""
    (tmp_path / "provsel.toml").write_text('trust = ["members", "sklearn"]\n')
    (tmp_path / "members.py").write_text(MEMBERS)
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("members", None)


def own(name, *overrides, data=DENSE):
    return cells(
        "selector=any",
        f"selector._target_=members.{name}",
        *PLAIN,
        *overrides,
        data=data,
    )


@cache
def innocents(data):
    """Return cells of ours and of others, which use the rows, the test rows and the parts of a view."""
    sized = ["selector.n_features_to_select=6", *PLAIN]
    return [
        *cells("selector=full", *PLAIN, data=data),
        *cells(
            "selector=bss",
            "selector.n_features_to_select=20",
            "+selector.rank=4",
            data=data,
        ),
        *cells("selector=rrqr", *sized, data=data),
        *cells("selector=leverage", *sized, data=data),
        *cells("selector=laplacian_score", *sized, data=data),
        *own("Honest", data=data),
        *own("DrawsWithoutSeed", data=data),
        *cells(
            "selector=full",
            "model=logistic",
            *PLAIN,
            "+protocol.scoring=[roc_auc,neg_log_loss]",
            data=data,
        ),
    ]


WRITES = r"{}: expected a class that leaves its input as it is, got .*executor\.private_copies=\[.*{}.*\]\.$"


HOSTILE = {
    # class: (sparse data as well, what becomes of its trials)
    "WritesX": (True, "writes"),
    "ScalesX": (True, "writes"),
    "SortsX": (False, "writes"),
    "WritesY": (True, "writes"),
    "ClearsFlag": (True, "writes"),
    "ClearsFlagOfY": (True, "writes"),
    "WritesAndRaises": (True, "writes"),
    "WritesTestRows": (True, "writes"),
    "KeepsAndWritesLater": (False, "either"),
    "NeedsWritable": (True, "works"),
    "SetsForAll": (False, "works"),
    "WritesBasis": (False, "works"),
    "ClearsFlagOfBasis": (False, "writes"),
    "NamesPartsLikeOurs": (False, "works"),
    "WritesRowsOfView": (True, "writes"),
}
OF_SPARSE = {"ReplacesSparse": "writes", "WritesIndices": "writes"}
CASES = [(name, outcome, DENSE) for name, (_, outcome) in HOSTILE.items()]
CASES += [
    (name, outcome, SPARSE)
    for name, (is_for_sparse, outcome) in HOSTILE.items()
    if is_for_sparse
]
CASES += [(name, outcome, SPARSE) for name, outcome in OF_SPARSE.items()]


@cache
def innocents_alone(data):
    records, failures = alone(innocents(data))
    assert failures == {}
    return records


def assert_changes_nothing(hostile, data, outcome, culprit):
    """Run hostile cells first, in the middle and last, and compare the results of all others with those alone."""
    expected = innocents_alone(data)
    company = innocents(data)
    for place in (0, 4, len(company)):
        records, failures = run([*company[:place], *hostile, *company[place:]])
        assert {key: records.get(key) for key in expected} == expected
        if outcome == "works":
            assert failures == {}
            assert {
                key: text for key, text in records.items() if key not in expected
            } == run(hostile)[0]
        elif outcome == "writes":
            assert len(failures) == sum(cell.n_trials for cell in hostile)
            for reason in failures.values():
                assert re.search(
                    WRITES.format(re.escape(culprit), re.escape(culprit.split()[-1])),
                    reason,
                )


@pytest.mark.parametrize(
    ("name", "outcome", "data"),
    CASES,
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_hostile_selector_changes_no_other_result(name, outcome, data):
    assert_changes_nothing(own(name, data=data), data, outcome, f"members.{name}")


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("ClearsFlag", "writes"), ("WritesX", "writes"), ("NeedsWritable", "works")],
)
def test_a_hostile_selector_on_support_vectors_changes_no_other_result(name, outcome):
    """They are rows of their own, which another method of the fold has too."""
    hostile = own(name, "protocol.setting=supervised")
    assert_changes_nothing(hostile, DENSE, outcome, f"members.{name}")


OTHERS = {
    "a model that writes to its copy of test rows": (
        "model=any",
        "model._target_=members.ZeroesInPredict",
        "works",
    ),
    "a measure that writes to test rows": (
        "model=logistic",
        "+protocol.measures=[{_target_:members.WritesTestRowsOfTrial}]",
        "writes",
    ),
    "a measure that scales the model of all features": (
        "model=logistic",
        "+protocol.measures=[{_target_:members.Scaling}]",
        "works",  # on a copy
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_hostile_model_or_measure_changes_no_other_result(case):
    *overrides, outcome = OTHERS[case]
    hostile = cells("selector=full", *overrides, *PLAIN)
    name = " or ".join(hostile[0].foreign)
    assert_changes_nothing(hostile, DENSE, outcome, name)


def test_a_model_that_works_in_place_changes_no_other_result(tmp_path):
    """Nothing has to be trusted for it: without read-only rows the second Ridge had an R2 of -7000."""
    X = np.random.default_rng(0).normal(50.0, 1.0, size=(60, 4))
    table = np.column_stack([X, X @ [1.0, 2.0, 0.0, 1.0]])
    np.savetxt(
        tmp_path / "r.csv", table, delimiter=",", header="a,b,c,d,label", comments=""
    )
    data = ("dataset=file", f"dataset.path={tmp_path / 'r.csv'}", "preparation=none")
    in_place, on_copy = (
        cells(
            "selector=full", "model=ridge", f"+model.copy_X={copies}", *PLAIN, data=data
        )
        for copies in ("false", "true")
    )
    expected, _ = alone(on_copy)
    records, failures = run([*in_place, *on_copy])
    assert failures == {}
    assert {key: records[key] for key in expected} == expected
    assert min(record["r2"] for record in records_of(*on_copy)) > 0.99


def test_a_preparation_may_use_its_memory_again():
    prepared = records_of(
        *own("Honest", "preparation=any", "preparation._target_=members.ReusesMemory")
    )
    plain = records_of(*own("Honest"))
    assert len(plain) == 2
    for name in ("error", "n_train", "n_test"):
        assert [record[name] for record in prepared] == [
            record[name] for record in plain
        ]


def test_a_class_that_needs_rows_to_write_to_gets_a_copy():
    """It is tried, and said once a kind; or it is named, and then it may write."""
    [needs] = own("NeedsWritable")
    [writes] = own("ScalesX")
    [honest] = own("Honest")
    with pytest.warns(
        UserWarning,
        match=r"members\.NeedsWritable: .* fails on read-only arrays, .*=\[members\.NeedsWritable\] avoids",
    ):
        run_task(make_tasks([needs])[0])
    settings = {"private_copies": ["members.NeedsWritable", "members.ScalesX"]}
    records, failures = run([needs, writes, honest], **settings)
    assert failures == {}
    assert {key: records[key] for key in run([honest])[0]} == run([honest])[0]
    # no key has the setting
    assert run([writes], **settings)[0].keys() == run([writes])[1].keys()
    with pytest.raises(
        ValueError,
        match=r"executor\.private_copies: expected a list .* got 'members\.ScalesX'; write",
    ):
        run([writes], private_copies="members.ScalesX")


def test_company_order_and_resuming_change_no_result(members):
    """Of what is registered and fitted within a second; `company_pairs.py` has the rest, and runs each pair."""
    named = {
        name: of_name
        for name, of_name in everything(members).items()
        if not name.startswith(("Boruta", "MCP"))
    }
    company = [cell for of_name in named.values() for cell in of_name]
    expected, failures = alone(company, folds=(0,))
    refused = {name for name, of_name in named.items() if run(of_name, folds=(0,))[1]}
    # such as scorers for two classes called 0 and 1
    assert all(name.startswith("scorer ") for name in refused)
    assert len(expected) > 100 > 10 * len(refused)
    order = np.random.default_rng(0).permutation(len(company))
    for arranged in (company[::-1], [company[k] for k in order]):
        assert run(arranged, folds=(0,)) == (expected, failures)
    done = frozenset(sorted(expected)[::2])
    left = {key: text for key, text in expected.items() if key not in done}
    assert run(company, done=done, folds=(0,)) == (left, failures)


@pytest.mark.parametrize("executor", ["serial", "loky"])
def test_executors_change_no_result(executor, members, tmp_path):
    """Hostile classes among them, from a store that has a part of the results."""
    undisturbed = TrialStore(tmp_path / "alone")
    store = TrialStore(tmp_path / "store")
    for cell in innocents(DENSE):
        run_quietly([cell], undisturbed)
    run_quietly(innocents(DENSE)[3:5], store)
    hostile = [*own("KeepsAndWritesLater"), *own("ClearsFlag"), *own("NeedsWritable")]
    run_quietly(
        [*innocents(DENSE)[:4], *hostile, *innocents(DENSE)[4:]],
        store,
        {"name": executor, "n_jobs": 2},
    )
    ids = [cell.id for cell in innocents(DENSE)]
    assert rows(store, cells=ids, columns=STABLE) == rows(
        undisturbed, cells=ids, columns=STABLE
    )
    assert len(undisturbed.keys()) == 2 * len(ids)
