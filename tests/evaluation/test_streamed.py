"""Trials that train from a file in a process of their own, and measure its memory."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from provlab.identity.cell import Cell
from provlab.plan import identity_of, make_tasks
from provlab.protocols import streamed, training_process
from provlab.run.task import load_from, run_task
from provlab.store import TIMING, VOLATILE, TrialStore
from provsel.models import CompressedLinearSVM, LiblinearSVM
from small_runs import FULL, PROTOCOL, UNIFORM, run_quietly

M = 20_000
ROWS = {"name": "sparse_rows", "n_samples": 120, "n_features": M, "nonzeros": 20, "n_test": 60, "seed": 0}
COMPRESSED = {"_target_": "provsel.models.CompressedLinearSVM", "n_components": 30, "variance": "1/l"}
KEPT = {**COMPRESSED, "n_components": 100, "store": True}
LIBLINEAR = {"_target_": "provsel.models.LiblinearSVM", "C": 1.0}
STREAMED = {"split": "streamed", "n_splits": 1, "draws": 1, "setting": "unsupervised", "certify": False}


def cell(model=COMPRESSED, selector=FULL, **protocol):
    return Cell(ROWS, dict(selector), dict(model), {**PROTOCOL, **STREAMED, **protocol}, identity_of(ROWS))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Trials of both models: processes take a second or two to start."""
    store = TrialStore(tmp_path_factory.mktemp("streamed"))
    report, _ = run_quietly([cell(KEPT), cell(LIBLINEAR)], store, {"name": "serial"})
    assert report.failures == []
    return store


def test_trials_are_those_of_the_model_in_memory(store):
    data = load_from(ROWS)
    train = data.official_train
    records = {record["cell"]: record for record in store.query().to_pylist()}
    compressed, liblinear = records[cell(KEPT).id], records[cell(LIBLINEAR).id]
    model = CompressedLinearSVM(100, variance="1/l", random_state=compressed["seed"]).fit(data.X[train], data.y[train])
    assert compressed["objective"] == pytest.approx(model.objective_, rel=1e-6)
    assert compressed["error"] == np.mean(model.predict(data.X[~train]) != data.y[~train])
    model = LiblinearSVM(C=1.0).fit(data.X[train], data.y[train])
    assert liblinear["error"] == np.mean(model.predict(data.X[~train]) != data.y[~train])
    assert liblinear["objective"] is None
    assert liblinear["error"] < 0.5
    for record in records.values():
        assert (record["n_train"], record["n_test"], record["n_selected"]) == (120, 60, M)
        assert 120 * 20 * 15 < record["file_bytes"] < 120 * 20 * 35
        assert record["train_cpu"] > 0
    # Lambda takes 16 MB; LIBLINEAR keeps the rows, 40 kB
    assert 16e6 < compressed["peak_memory"] < 40e6
    assert 0 < liblinear["peak_memory"] < 8e6


def test_chunks_are_shorter_where_rows_are_long(tmp_path, monkeypatch):
    class Reader:
        def fit_stream(self, chunks):
            self.sizes = [X.shape[0] for X, _ in chunks]

    data, path, reader = load_from(ROWS), tmp_path / "train.svm", Reader()
    dump_svmlight_file(data.X, data.y, str(path), zero_based=False)
    for rows, nonzeros, sizes in ((70, 2**18, [70, 70, 40]), (1024, 20 * 50, [50, 50, 50, 30]), (1024, 1, [1] * 180)):
        monkeypatch.setattr(training_process, "CHUNK_ROWS", rows)
        monkeypatch.setattr(training_process, "CHUNK_NONZEROS", nonzeros)
        training_process.fit_file(reader, str(path), M)
        assert reader.sizes == sizes


def test_results_do_not_depend_on_the_executor_and_only_volatile_columns_on_the_run(store, tmp_path):
    other = TrialStore(tmp_path)
    report, _ = run_quietly([cell(LIBLINEAR)], other, {"name": "loky", "n_jobs": 1})
    assert report.failures == []
    tables = [made.query().drop_columns([*VOLATILE]).to_pandas() for made in (store, other)]
    tables[0] = tables[0][tables[0]["cell"] == cell(LIBLINEAR).id].reset_index(drop=True)
    assert len(tables[0]) == 1
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert set(VOLATILE) - set(TIMING) == {"peak_memory"}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print(1 / 0)", "got exit status 1 and 'ZeroDivisionError: "),
        ("import os; os.kill(os.getpid(), 9)", "got signal 9 and 'it wrote nothing'; correct that, or free memory"),
    ],
)
def test_what_goes_wrong_in_the_process_is_the_reason_of_the_failure(program, message, monkeypatch):
    run = subprocess.run
    monkeypatch.setattr(
        streamed.subprocess, "run", lambda _, **options: run([sys.executable, "-c", program], **options)
    )
    result = run_task(make_tasks([cell()])[0])
    assert result.records == []
    [(_, where, reason)] = result.failures
    assert where.startswith("sparse_rows")
    assert f"expected provsel.models.CompressedLinearSVM to be fitted, {message}" in reason


@pytest.mark.parametrize("model", [COMPRESSED, LIBLINEAR])
def test_the_process_in_this_one(model, tmp_path):
    data = load_from(ROWS)
    path = tmp_path / "train.svm"
    dump_svmlight_file(data.X, data.y, str(path), zero_based=False)
    asked = {"model": {**model, "random_state": 1}, "data": str(path), "n_features": M}
    request = tmp_path / "request.json"
    request.write_text(json.dumps({**asked, "result": str(tmp_path / "result.npz")}))
    training_process.train(request)
    with np.load(tmp_path / "result.npz", allow_pickle=False) as found:
        assert found["coef"].shape == (1, M)
        assert found["classes"].tolist() == [-1, 1]
        assert np.isnan(found["objective"]) == (model is LIBLINEAR)
        assert found["peak"] >= 0


def test_memory_without_proc(monkeypatch, tmp_path):
    there = training_process.peak_memory()
    monkeypatch.setattr(training_process, "Path", lambda _: tmp_path / "none")
    assert 0.5 * there < training_process.peak_memory() < 2 * there
    monkeypatch.setitem(sys.modules, "resource", None)
    assert training_process.peak_memory() is None


def test_streamed_needs_all_features_and_a_linear_model():
    with pytest.raises(ValueError, match=r"expected selector=full and setting=unsupervised .*got UniformSelector and"):
        cell(selector=UNIFORM)
    with pytest.raises(ValueError, match="got FullDataSelector and supervised"):
        cell(setting="supervised")
    with pytest.raises(ValueError, match=r"expected all_rows with a model that clusters"):
        cell({"_target_": "provsel.models.KMeansClustering"})
    with pytest.raises(ValueError, match="n_splits = repeats = 1 for the streamed split, there is only one"):
        cell(repeats=2)
