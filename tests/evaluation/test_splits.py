"""Which rows a trial trains on and is tested on, for each kind of split."""

import json
from typing import ClassVar

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from provlab.datasets import make_dataset
from provlab.plan import cells_of, compose_config, load_from, make_tasks
from provlab.protocols import COLUMNS, PROTOCOLS, protocol_named
from provlab.protocols.in_memory import AbstractPrediction
from provlab.run.task import run_task
from small_runs import FULL, UNIFORM, small_cell

HARD = {"n_samples": 80, "n_features": 120, "n_relevant": 1}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 6)), np.where(np.arange(40) % 2, 1, -1)
    train = np.arange(40) < 25
    return make_dataset(X, y, list("abcdef"), name="made", source="test", official_train=train)


def context(data, split):
    return protocol_named(split).fold(data, n_splits=5, split_seed=3, fold=0)


def test_official_split_is_the_data_sets_own(data):
    made = context(data, "official")
    np.testing.assert_array_equal(made.view.X, data.X[:25])
    np.testing.assert_array_equal(made.X_test, data.X[25:])
    np.testing.assert_array_equal(made.y_test, data.y[25:])


class Halves(AbstractPrediction):
    """Train on a random half of each class and test on the other half; each repeat draws another."""

    name = "halves"
    fixed: ClassVar = {"n_splits": 1}

    def rows(self, dataset, *, n_splits, split_seed, fold):
        rows = np.arange(len(dataset.y))
        return train_test_split(rows, test_size=0.5, stratify=dataset.y, random_state=split_seed)


def test_protocols_agree_on_the_kinds_of_their_columns():
    names = [column.name for column in COLUMNS]
    assert len({*names}) == len(names)


def test_a_protocol_is_a_class(data, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "halves", Halves())
    made = context(data, "halves")
    assert (made.view.n_samples, made.view.y.sum(), len(made.y_test)) == (20, 0, 20)
    assert len(np.unique(np.vstack([made.view.X, made.X_test]), axis=0)) == 40
    cell = small_cell(UNIFORM, repeats=2, draws=1, split="halves", n_splits=1)
    results = [run_task(task).records for task in make_tasks([cell])]
    assert [(record["repeat"], record["fold"], record["n_test"]) for [record] in results] == [(0, 0, 30), (1, 0, 30)]
    with pytest.raises(ValueError, match=r"protocol\.n_splits: expected 1 for the split halves, got 3"):
        small_cell(UNIFORM, split="halves", n_splits=3)


def test_inverse_trial_is_handwritten():
    cell = small_cell(FULL, dataset=HARD, split="kfold_inverse")
    data = load_from(cell.dataset)
    errors = []
    for task in make_tasks([cell]):
        [record] = run_task(task).records
        folds = StratifiedKFold(3, shuffle=True, random_state=task.split_seed)
        test, train = list(folds.split(data.X, data.y))[task.fold]
        svc = SVC(kernel="linear").fit(data.X[train], data.y[train])
        errors.append(np.mean(svc.predict(data.X[test]) != data.y[test]))
        assert record["error"] == errors[-1]
        assert json.loads(record["config"])["protocol"]["split"] == "kfold_inverse"
    assert len(errors) == 3
    assert max(errors) > 0
    plain = make_tasks([small_cell(FULL, dataset=HARD)])
    assert [task.split_seed for task in plain] == [task.split_seed for task in make_tasks([cell])]
    assert len(make_tasks([cell, small_cell(FULL, dataset=HARD)])) == 6  # and no trial in common


@pytest.mark.parametrize(
    "chosen", [["protocol=official_split"], ["protocol=streamed", "selector=full", "model=liblinear"]]
)
def test_the_split_of_a_data_set_is_one_fold_whatever_a_sweep_says_and_a_failure_without_one(chosen):
    counts = ["protocol.repeats=4", "protocol.n_splits=7", "protocol.draws=2"]
    [cell] = cells_of(compose_config([*chosen, *counts]))
    assert (cell.protocol["repeats"], cell.protocol["n_splits"], cell.protocol["draws"]) == (1, 1, 2)
    [(_, _, reason), *_] = run_task(make_tasks([cell])[0]).failures
    assert "synthetic: expected one with an official split, got none; use protocol=" in reason
