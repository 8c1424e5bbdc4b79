"""Trials on all rows: clustering, selection alone, and transformers in place of selectors."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from provlab.core.plan import load_from, make_tasks
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.measuring import partition_scores
from provlab.run.task import run_task
from provsel.selectors import (
    LaplacianScoreSelector,
    OnlineLeverageSelector,
    SparseEmbedding,
)
from small_runs import DATASET, FULL, UNIFORM, records_of, small_cell

KMEANS = {"_target_": "provsel.models.KMeansClustering", "n_clusters": None}
LAPLACIAN = {
    "_target_": "provsel.selectors.LaplacianScoreSelector",
    "n_features_to_select": 15,
}
ONLINE = {
    "_target_": "provsel.selectors.OnlineLeverageSelector",
    "n_features_to_select": 15,
}
EMBEDDING = {"_target_": "provsel.selectors.SparseEmbedding", "n_components": 15}
WHOLE = {
    "n_splits": 1,
    "repeats": 2,
    "draws": 1,
    "setting": "unsupervised",
    "certify": False,
}
CLUSTERED = {**WHOLE, "split": "all_rows"}
ALONE = {**WHOLE, "split": "selection_only"}


def clustering(selector, dataset=None, **protocol):
    return small_cell(
        selector, dataset=dataset, model=KMEANS, **{**CLUSTERED, **protocol}
    )


def test_a_task_is_a_cell_and_a_repeat():
    tasks = make_tasks([clustering(LAPLACIAN), clustering(UNIFORM)])
    assert [(task.repeat, len(task.cells), len(task.trials)) for task in tasks] == [
        (0, 1, 1)
    ] * 2 + [(1, 1, 1)] * 2
    # of k-means: the same for both methods
    assert len({task.split_seed for task in tasks}) == 2


@pytest.mark.parametrize("selector", [LAPLACIAN, UNIFORM, EMBEDDING, FULL])
def test_clustering_is_plain_kmeans_on_the_reduced_rows(selector):
    cell = clustering(selector)
    data = load_from(cell.dataset)
    seeds = [task.split_seed for task in make_tasks([cell])]
    for record, seed in zip(records_of(cell), seeds, strict=True):
        if selector is EMBEDDING:
            rows = SparseEmbedding(15, random_state=record["seed"]).fit_transform(
                data.X
            )
            assert record["features"] is None
            assert record["n_selected"] == 15
        else:
            rows = (
                data.X if selector is FULL else data.X[:, np.sort(record["features"])]
            )
        clusters = KMeans(2, n_init=1, max_iter=100, tol=0.0, random_state=seed).fit(
            rows
        )
        assert record["error"] == pytest.approx(
            partition_scores(data.y, clusters.labels_)["error"]
        )
        means = np.array([data.X[clusters.labels_ == k].mean(axis=0) for k in range(2)])
        assert record["cost"] == pytest.approx(
            ((data.X - means[clusters.labels_]) ** 2).sum()
        )
        assert record["n_test"] == 0
        assert record["n_train"] == record["n_rows"] == DATASET["n_samples"]
        assert 0 <= record["nmi"] <= 1
        assert record["train_cpu"] >= 0
        assert record["pass_cpu"] is None


def test_a_selection_without_chance_is_made_once_for_all_repeats(monkeypatch):
    views = []
    select = LaplacianScoreSelector._select
    counting = lambda self, view, rng: views.append(view) or select(self, view, rng)  # noqa: E731
    monkeypatch.setattr(LaplacianScoreSelector, "_select", counting)
    # rows that no other test has had, so that nothing is there yet
    fresh = {"n_samples": 61}
    records = records_of(clustering(LAPLACIAN, fresh, repeats=3))
    assert len(views) == 1
    assert len(records) == 3
    # charged to each, whoever paid
    assert records[1]["shared_cpu"] == pytest.approx(records[0]["shared_cpu"])
    assert {tuple(record["features"]) for record in records} == {
        tuple(records[0]["features"])
    }


def test_selection_alone_has_no_model_and_no_error():
    cell = small_cell(LAPLACIAN, **ALONE)
    with_model = small_cell(LAPLACIAN, model=KMEANS, **ALONE)
    assert cell.id == with_model.id
    assert cell.identity["model"] is None
    for record in records_of(cell):
        assert (
            record["error"]
            is record["train_cpu"]
            is record["pass_cpu"]
            is record["nmi"]
            is None
        )
        assert record["select_cpu"] + record["shared_cpu"] > 0
        assert len(record["features"]) == 15


def test_a_search_and_its_last_pass_are_timed_apart():
    cell = small_cell(ONLINE, **ALONE)
    for record in records_of(cell):
        selector = OnlineLeverageSelector(15, random_state=record["seed"]).fit(
            load_from(cell.dataset).X
        )
        assert record["sampling_rate"] == selector.sampling_rate_
        assert record["features"].tolist() == selector.indices_.tolist()
        again = (
            selector.calibrated()
            .set_params(random_state=record["seed"])
            .fit(load_from(cell.dataset).X)
        )
        assert again.indices_.tolist() == selector.indices_.tolist()
        assert record["pass_cpu"] > 0


class WronglyCalibrated(OnlineLeverageSelector):
    algorithm_version = 1

    def calibrated(self):
        return OnlineLeverageSelector(sampling_rate=1e-9, n_initial=1)


def test_a_pass_that_keeps_other_features_is_a_failure():
    with estimators_in_hand():
        [task, _] = make_tasks([small_cell(as_config(WronglyCalibrated(15)), **ALONE)])
        result = run_task(task)
    assert result.records == []
    assert "keeps different features" in result.failures[0][2]


@pytest.mark.parametrize("split", ["all_rows", "selection_only"])
@pytest.mark.parametrize("wrong", [{"n_splits": 3}, {"setting": "supervised"}])
def test_without_test_rows_there_are_neither_folds_nor_support_vectors(split, wrong):
    with pytest.raises(
        ValueError, match=f"expected (1|'unsupervised') for the split {split}, got"
    ):
        small_cell(LAPLACIAN, model=KMEANS, **{**WHOLE, "split": split, **wrong})


def test_clusterers_cluster_and_classifiers_classify():
    with pytest.raises(
        ValueError, match=r"expected all_rows together with .*got kfold with .*KMeans"
    ):
        small_cell(LAPLACIAN, model=KMEANS)
    with pytest.raises(
        ValueError,
        match=r"expected all_rows .*got all_rows with .*LibsvmSVM; use protocol=clustering",
    ):
        small_cell(LAPLACIAN, **CLUSTERED)


@pytest.mark.parametrize("setting", ["supervised", "unsupervised_with_center"])
def test_a_transformer_has_no_features_for_the_settings_of_selectors(setting):
    with pytest.raises(
        ValueError,
        match=f"setting=unsupervised with SparseEmbedding, .*got '{setting}'",
    ):
        small_cell(EMBEDDING, setting=setting)


def test_a_transformer_can_be_cross_validated():
    [record, *_] = records_of(small_cell(EMBEDDING, setting="unsupervised", draws=1))
    assert record["n_selected"] == 15
    assert record["features"] is None
    assert 0 <= record["error"] <= 1
