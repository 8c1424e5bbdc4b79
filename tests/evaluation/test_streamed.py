"""Trials that train from a file in a process of their own, and measure its memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from provlab.core.cell import Cell
from provlab.core.plan import identity_of, load_from, make_tasks
from provlab.core.store import TIMING, VOLATILE, TrialStore
from provlab.run import streamed
from provlab.run.task import run_task
from provsel.models import CompressedLinearSVM, LiblinearSVM
from small_runs import FULL, PROTOCOL, UNIFORM, run_quietly

M = 20_000
ROWS = {
    "name": "sparse_rows",
    "n_samples": 120,
    "n_features": M,
    "nonzeros": 20,
    "n_test": 60,
    "seed": 0,
}
COMPRESSED = {
    "_target_": "provsel.models.CompressedLinearSVM",
    "n_components": 30,
    "variance": "1/l",
}
KEPT = {**COMPRESSED, "n_components": 100, "store": True}
LIBLINEAR = {"_target_": "provsel.models.LiblinearSVM", "C": 1.0}
STREAMED = {
    "split": "streamed",
    "n_splits": 1,
    "draws": 1,
    "setting": "unsupervised",
    "certify": False,
}


def cell(model=COMPRESSED, selector=FULL, **protocol):
    return Cell(
        ROWS,
        dict(selector),
        dict(model),
        {**PROTOCOL, **STREAMED, **protocol},
        identity_of(ROWS),
    )


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
    compressed = records[cell(KEPT).id]
    liblinear = records[cell(LIBLINEAR).id]
    model = CompressedLinearSVM(
        100, variance="1/l", random_state=compressed["seed"]
    ).fit(data.X[train], data.y[train])
    assert compressed["objective"] == pytest.approx(model.objective_, rel=1e-6)
    assert compressed["error"] == np.mean(
        model.predict(data.X[~train]) != data.y[~train]
    )
    model = LiblinearSVM(C=1.0).fit(data.X[train], data.y[train])
    assert liblinear["error"] == np.mean(
        model.predict(data.X[~train]) != data.y[~train]
    )
    assert liblinear["objective"] is None
    assert liblinear["error"] < 0.5
    for record in records.values():
        assert record["n_train"] == 120
        assert record["n_test"] == 60
        assert record["n_selected"] == M
        assert 120 * 20 * 15 < record["file_bytes"] < 120 * 20 * 35
        assert record["train_cpu"] > 0
    # Lambda takes 16 MB; LIBLINEAR keeps the rows, 40 kB
    assert 16e6 < compressed["peak_memory"] < 40e6
    assert 0 < liblinear["peak_memory"] < 8e6


def test_results_do_not_depend_on_the_executor_and_only_volatile_columns_on_the_run(
    store, tmp_path
):
    second_store = TrialStore(tmp_path)
    report, _ = run_quietly(
        [cell(LIBLINEAR)], second_store, {"name": "loky", "n_jobs": 1}
    )
    assert report.failures == []
    tables = [
        trials.query().drop_columns([*VOLATILE]).to_pandas()
        for trials in (store, second_store)
    ]
    tables[0] = tables[0][tables[0]["cell"] == cell(LIBLINEAR).id].reset_index(
        drop=True
    )
    assert len(tables[0]) == 1
    pd.testing.assert_frame_equal(*tables, check_exact=True)
    assert set(VOLATILE) - set(TIMING) == {"peak_memory"}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print(1 / 0)", "got exit status 1 and 'ZeroDivisionError: "),
        (
            "import os; os.kill(os.getpid(), 9)",
            "got signal 9 and 'it wrote nothing'; correct the cause",
        ),
    ],
)
def test_what_goes_wrong_in_the_process_is_the_reason_of_the_failure(
    program, message, monkeypatch
):
    run = subprocess.run
    monkeypatch.setattr(
        streamed.subprocess,
        "run",
        lambda _, **options: run([sys.executable, "-c", program], **options),
    )
    result = run_task(make_tasks([cell()])[0])
    assert result.records == []
    [(_, where, reason)] = result.failures
    assert where.startswith("sparse_rows")
    assert (
        f"expected provsel.models.CompressedLinearSVM to be fitted, {message}" in reason
    )


def test_streamed_needs_all_features_and_a_linear_model():
    with pytest.raises(
        ValueError,
        match=r"the split streamed trains on unchanged rows .*got UniformSelector and",
    ):
        cell(selector=UNIFORM)
    with pytest.raises(ValueError, match="got FullDataSelector and supervised"):
        cell(setting="supervised")
    with pytest.raises(
        ValueError, match=r"protocol\.repeats: expected 1 for the split streamed, got 2"
    ):
        cell(repeats=2)
