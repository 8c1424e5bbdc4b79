"""One task: records, and numbers that plain scikit-learn code gives as well."""

import json

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, LinearSVC

from provlab.core.keys import seed_from
from provlab.core.plan import load_from, make_tasks
from provlab.core.store import SCHEMA
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.task import run_task
from provsel.certificates import THEOREMS
from provsel.kernels import hard_margin
from provsel.models import LibsvmSVM
from provsel.selectors import BSSSelector, OnSupportVectors
from small_runs import BSS, DATASET, FULL, LEVERAGE, UNIFORM, records_of, small_cell

HARD = {"n_samples": 80, "n_features": 120, "n_relevant": 1}
"""Overlapping classes, so that errors are not all zero."""
WIDE_BSS = {**BSS, "n_features_to_select": 100}


def split(cell, fold):
    data = load_from(cell.dataset)
    [task] = [task for task in make_tasks([cell]) if task.fold == fold]
    folds = StratifiedKFold(
        cell.protocol["n_splits"], shuffle=True, random_state=task.split_seed
    )
    return data, *list(folds.split(data.X, data.y))[fold]


def test_records_have_the_columns_of_the_store():
    cells = [small_cell(s) for s in (BSS, UNIFORM, FULL)]
    records = records_of(*cells)
    assert len(records) == 3 * (1 + 2 + 1)
    for record in records:
        assert list(record) == SCHEMA.names
        assert record["dataset"] == "synthetic"
        assert record["data"] == cells[0].data
        assert record["content"] == load_from(cells[0].dataset).content
        assert record["seed"] == seed_from(record["key"])
        assert record["n_train"] + record["n_test"] == DATASET["n_samples"]
        assert record["n_rows"] <= record["n_train"]
        assert 0 <= record["error"] <= 1
        assert (
            min(record[name] for name in ("select_wall", "shared_wall", "train_wall"))
            >= 0
        )
        assert json.loads(record["config"]) in [cell.identity for cell in cells]
        assert {"numpy", "python", "blas", "cpu", "provsel"} <= set(
            json.loads(record["environment"])
        )
    assert {record["key"] for record in records} == {
        t.key for task in make_tasks(cells) for t in task.trials
    }


def test_what_selectors_chose_is_in_the_record():
    records = records_of(small_cell(BSS), small_cell(UNIFORM), small_cell(FULL))
    by_name = {record["selector"]: record for record in records}
    bss, uniform, full = (
        by_name[name] for name in ("BSSSelector", "UniformSelector", "FullDataSelector")
    )
    assert full["features"] is None
    assert full["n_selected"] == DATASET["n_features"]
    assert uniform["n_selected"] == len(uniform["features"]) == 20
    assert (
        bss["n_selected"] == len(set(bss["features"].tolist())) == 60 - bss["n_repeats"]
    )
    assert 0 < bss["rank"] < 60


@pytest.mark.parametrize("setting", ["supervised", "unsupervised"])
def test_full_data_is_a_plain_svc(setting):
    cell = small_cell(FULL, dataset=HARD, setting=setting)
    errors = []
    for record in records_of(cell):
        data, train, test = split(cell, record["fold"])
        svc = SVC(kernel="linear", C=1.0).fit(data.X[train], data.y[train])
        errors.append(np.mean(svc.predict(data.X[test]) != data.y[test]))
        assert record["error"] == errors[-1]
        assert record["n_rows"] == (
            len(train) if setting == "unsupervised" else svc.n_support_.sum()
        )
    assert max(errors) > 0
    assert len(errors) == 3


def test_supervised_trial_is_a_handwritten_pipeline():
    cell = small_cell(WIDE_BSS, dataset=HARD)
    for record in records_of(cell):
        data, train, test = split(cell, record["fold"])
        X = data.X[train]
        y = data.y[train]
        selector = OnSupportVectors(BSSSelector(100), svm=LibsvmSVM(C=1.0)).fit(X, y)
        rows = selector.support_rows_
        np.testing.assert_array_equal(
            rows, np.sort(SVC(kernel="linear", C=1.0).fit(X, y).support_)
        )
        svc = SVC(kernel="linear", C=1.0).fit(selector.transform(X[rows]), y[rows])
        assert record["error"] == np.mean(
            svc.predict(selector.transform(data.X[test])) != data.y[test]
        )
        np.testing.assert_array_equal(record["features"], selector.indices_)
        assert record["n_rows"] == rows.size


class NeverFits(LinearSVC):
    def fit(self, X, y, sample_weight=None):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("n_features", "reason"),
    [
        (300, "between 1 and the number of features, n_features = 120, got 300"),
        (20, "ZeroDivisionError"),
    ],
)
def test_a_number_of_features_that_there_are_not_fails_before_an_svm_is_trained(
    n_features, reason
):
    with estimators_in_hand():
        cell = small_cell(
            {**UNIFORM, "n_features_to_select": n_features},
            model=as_config(NeverFits()),
        )
        for task in make_tasks([cell]):
            result = run_task(task)
            assert result.records == []
            assert [reason in text for *_, text in result.failures] == [True, True]


@pytest.mark.parametrize("selector", [UNIFORM, LEVERAGE], ids=["uniform", "leverage"])
def test_draws_differ_and_a_repeated_run_gives_the_same(selector):
    cell = small_cell(selector, draws=3)
    first = records_of(cell)
    again = records_of(cell)
    for a, b in zip(first, again, strict=True):
        assert a["key"] == b["key"]
        np.testing.assert_array_equal(a["features"], b["features"])
        assert a["error"] == b["error"]
    chosen = [tuple(record["features"]) for record in first]
    assert len(set(chosen)) == len(chosen) == 9


@pytest.mark.parametrize("dataset", [{}, HARD], ids=["separable", "overlapping"])
@pytest.mark.parametrize("setting", ["supervised", "unsupervised"])
def test_certificates_of_bss_hold(setting, dataset):
    records = records_of(
        small_cell(
            {**BSS, "n_features_to_select": 110}, dataset=dataset, setting=setting
        )
    )
    assert len(records) == 3
    for record in records:
        assert record["certificate_spectral"] == "held"
        assert (
            record["certificate_spectral_error"] <= record["certificate_spectral_bound"]
        )
        assert record["certificate_margin"] in {"held", "vacuous", "not separable"}
        assert record["certificate_soft"] in {"held", "vacuous"}
        radius = "held" if setting == "unsupervised" else "not measured"
        assert record["certificate_radius"] == radius
    if setting == "unsupervised":
        assert all(
            record["certificate_radius_ratio"] <= record["certificate_radius_bound"]
            for record in records
        )


def test_certificates_are_left_out_when_not_asked_for_or_not_promised():
    nothing = {
        name: value
        for theorem in THEOREMS
        for name, value in theorem().as_record().items()
    }
    assert len(nothing) == 33
    for cell in (small_cell(BSS, certify=False), small_cell(UNIFORM), small_cell(FULL)):
        for record in records_of(cell):
            np.testing.assert_equal({name: record[name] for name in nothing}, nothing)


class CountingBSS(BSSSelector):
    algorithm_version = 1
    n_selections = 0

    def _select(self, view, rng):
        CountingBSS.n_selections += 1
        return super()._select(view, rng)


@pytest.mark.parametrize(
    ("setting", "n_selections"),
    [("supervised", 2), ("unsupervised", 1), ("unsupervised_with_center", 1)],
)
def test_trials_that_differ_in_their_model_share_a_selection_without_chance(
    monkeypatch, setting, n_selections
):
    """At C = 1e3 and 1e4 these rows have the same support vectors, at C = 1e-3 others."""
    margins = []
    margin = hard_margin.hard_margin
    monkeypatch.setattr(
        hard_margin,
        "hard_margin",
        lambda *args, **more: margins.append(1) or margin(*args, **more),
    )
    models = [
        {"_target_": "provsel.models.LibsvmSVM", "C": C} for C in (1e-3, 1e3, 1e4)
    ]
    with estimators_in_hand():
        selector = as_config(CountingBSS(100))
        cells = [small_cell(selector, model=model, setting=setting) for model in models]
        CountingBSS.n_selections = 0
        together = run_task(make_tasks(cells)[0]).records
        assert CountingBSS.n_selections == n_selections
        # of all features, and of those selected
        assert len(margins) == 2 * n_selections
        alone = [
            record
            for cell in cells
            for record in run_task(make_tasks([cell])[0]).records
        ]
    assert len(together) == len(alone) == 3
    times = {
        "task_cpu",
        *(
            f"{part}_{clock}"
            for part in ("select", "shared", "train")
            for clock in ("cpu", "wall")
        ),
    }
    for ours, theirs in zip(together, alone, strict=True):
        np.testing.assert_equal(
            {**ours, **dict.fromkeys(times)}, {**theirs, **dict.fromkeys(times)}
        )
        assert ours["select_cpu"] + ours["shared_cpu"] > 0


def test_selections_of_the_same_features_are_tested_once():
    """The trials have the cost of one test, and the scores that they have alone."""
    selectors = [
        {"_target_": f"provsel.selectors.{name}", "n_features_to_select": 20}
        for name in ("RRQRSelector", "StrongRRQRSelector")
    ]
    cells = [small_cell(selector, setting="unsupervised") for selector in selectors]
    together = run_task(make_tasks(cells)[0]).records
    alone = [
        record for cell in cells for record in run_task(make_tasks([cell])[0]).records
    ]
    features = [sorted(record["features"]) for record in together]
    assert features[0] == features[1]
    assert together[0]["train_cpu"] == together[1]["train_cpu"]
    assert alone[0]["train_cpu"] != alone[1]["train_cpu"]
    for ours, theirs in zip(together, alone, strict=True):
        for name in ("key", "error", "coefficients", "objective"):
            assert ours[name] == theirs[name]
