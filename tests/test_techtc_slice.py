"""The main job on real input, in small: one TechTC set."""

import os
from pathlib import Path

import numpy as np
import pytest

from provlab.plan import cells_of, compose_config
from provlab.store import TrialStore
from small_runs import run_quietly

SET = "Exp_10341_186330"
OVERRIDES = ["dataset=techtc", f"dataset.set={SET}", "protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=2"]
METHODS = ("bss", "leverage", "uniform", "full")
MIRROR = os.environ.get("PROVSEL_DATA_MIRROR")


@pytest.fixture
def real_mirror(monkeypatch, tmp_path):
    if not MIRROR or not (Path(MIRROR) / "techtc100" / "tokens").is_dir():
        pytest.skip("needs real data: set PROVSEL_DATA_MIRROR to a folder that holds techtc100/tokens")
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", MIRROR)
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "data"))


def cell(method):
    size = [] if method == "full" else ["selector.n_features_to_select=300"]
    [made] = cells_of(compose_config([*OVERRIDES, f"selector={method}", *size]))
    return made


def test_one_set(real_mirror, tmp_path):
    cells = [cell(method) for method in METHODS]
    store = TrialStore(tmp_path / "store")
    report, _ = run_quietly(cells, store)
    assert report.failures == []
    assert report.n_run == 3 * (1 + 2 + 2 + 1)
    records = store.query().to_pylist()
    for record in records:
        assert record["n_train"] + record["n_test"] == records[0]["n_train"] + records[0]["n_test"]
        assert record["n_rows"] <= record["n_train"] < 300 < record["n_features"]
        assert 0 <= record["error"] <= 1
    by_method = {name: [r for r in records if r["cell"] == c.id] for name, c in zip(METHODS, cells, strict=True)}
    for record in by_method["bss"]:
        assert record["rank"] <= record["n_rows"]
        assert record["n_selected"] + record["n_repeats"] == 300
        assert record["certificate_spectral"] == "held"
        assert record["certificate_margin"] in {"held", "vacuous", "not separable"}
        assert record["certificate_soft"] in {"held", "vacuous"}
    for record in by_method["leverage"]:
        assert 0 < record["n_selected"] <= 300
        assert np.isfinite(record["certificate_spectral_error"])
    assert {record["n_selected"] for record in by_method["uniform"]} == {300}
    errors = {name: np.mean([record["error"] for record in found]) for name, found in by_method.items()}
    # 300 of thousands of words: chosen well they nearly do, drawn blindly they do not
    assert max(errors["bss"], errors["full"]) < errors["uniform"]

    again, _ = run_quietly(cells, store)
    assert (again.n_found, again.n_run) == (len(records), 0)
