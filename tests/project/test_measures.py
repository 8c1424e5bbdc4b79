"""Metrics and certificates of one's own, and columns of a store that this version does not know."""

import sys

import numpy as np
import pytest

from provlab.audit.compare import DIFFERENT, IDENTICAL
from provlab.audit.session import run_audit
from provlab.configs import cells_of, compose_config
from provlab.project import components
from provlab.store import SCHEMA, StoreSnapshot, TrialStore
from small_runs import fake_records, run_quietly

STUDY = """
import numpy as np
from typing import ClassVar
from provlab import Measure

class Both(Measure):
    columns: ClassVar = {"balanced_error": float, "state": str}
    def __init__(self, *, least=0.0): self.least = least
    def measure(self, trial):
        wrong = trial.predicted != trial.y_test
        found = np.mean([wrong[trial.y_test == y].mean() for y in np.unique(trial.y_test)])
        return {"balanced_error": found, "state": "held" if found >= self.least else "violated"}

class Rank(Measure):
    columns: ClassVar = {"rank_of_kept": float}
    def measure(self, trial):
        kept = trial.reducer.get_support()
        return {"rank_of_kept": np.linalg.matrix_rank(trial.rows.X[:, kept])}

class Clash(Measure):
    columns: ClassVar = {"error": float}
    def measure(self, trial): return {"error": 0.0}

class WrongKind(Measure):
    columns: ClassVar = {"odd": float}
    def measure(self, trial): return {"odd": "text"}

class WrongName(Measure):
    columns: ClassVar = {"odd": float}
    def measure(self, trial): return {"even": 1.0}

class Nothing(Measure):
    columns: ClassVar = {}
    def measure(self, trial): return {}
"""
SMALL = ["dataset=synthetic", "dataset.n_samples=60", "dataset.n_features=40", "dataset.n_relevant=5",
         "protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=1"]  # fmt: skip


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "provsel.toml").write_text('trust = ["measuring_study"]\n')
    (tmp_path / "measuring_study.py").write_text(STUDY)
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield tmp_path
    sys.modules.pop("measuring_study", None)
    components._trusted.cache_clear()


RANDOM = ["selector=uniform", "selector.n_features_to_select=10", "protocol.setting=unsupervised"]


def cell(*measures):
    named = ",".join(f"{{_target_:measuring_study.{each}}}" if each[0] != "{" else each for each in measures)
    [found] = cells_of(compose_config([*SMALL, *RANDOM, f"+protocol.measures=[{named}]"]))
    return found


def test_they_are_stored_beside_ours_and_audited(project):
    store = TrialStore(project / "results" / "store")
    chosen = cell("{_target_:measuring_study.Both,least:2.0}", "Rank")
    report, _ = run_quietly([chosen], store)
    assert report.failures == []
    assert store.columns() == [*SCHEMA.names, "balanced_error", "rank_of_kept", "state"]
    found = store.query(columns=["error", "balanced_error", "state", "rank_of_kept"]).to_pandas()
    assert (np.abs(found["error"] - found["balanced_error"]) < 0.2).all()
    assert set(found["state"]) == {"violated"}
    assert set(found["rank_of_kept"]) == {10.0}
    snapshot = StoreSnapshot.take(store)
    assert snapshot.query([chosen.id], ["state", "key"]).to_pydict()["state"] == ["violated"] * 3
    run, _ = run_audit(project / "results", fraction=1.0, executor={"name": "serial"})
    assert (run.count(IDENTICAL), run.count(DIFFERENT)) == (3, 0)
    _damage(store, chosen)
    run, _ = run_audit(project / "results", fraction=1.0, executor={"name": "serial"})
    assert [found.column for each in run.different for found in each.differences] == ["rank_of_kept"] * 3
    other, _ = run_quietly([cell("Rank")], store)
    assert other.n_run == 3  # what is measured is part of the key


def _damage(store, chosen):
    """Write other values of an own column for all trials of a cell."""
    records = store.query().to_pylist()
    for path in store.folder.iterdir():
        path.unlink()
    store.append([{**record, "rank_of_kept": 9.0} for record in records])


def test_without_them_keys_are_what_they_were():
    plain, empty = (
        cells_of(compose_config([*SMALL, "selector=bss", *more]))[0] for more in ([], ["+protocol.measures=[]"])
    )
    assert plain.id == empty.id
    assert "measures" not in plain.identity["protocol"]


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["Clash"], r"Clash\.columns: expected names that no other column has, each with float or str, got 'error'"),
        (["Rank", "Rank"], r"Rank\.columns: expected names that no other column has, .*'rank_of_kept'"),
        (["Nothing"], r"Nothing\.columns: expected a mapping of names to float or str, got \{\}"),
        (["{a:1}"], r"protocol\.measures: expected a list of mappings with a _target_"),
        (
            ["{_target_:os.system}"],
            r"config of the measure: expected a _target_ of the modules that",
        ),
        (["np"], r"expected a subclass of provlab\.project\.measures\.Measure, got measuring_study\.np"),
    ],
)
def test_bad_measures_are_refused_before_anything_runs(measures, message):
    with pytest.raises(ValueError, match=message):
        cell(*measures)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WrongKind", "WrongKind: expected float or None in column odd, got 'text'"),
        ("WrongName", "WrongName: expected the columns odd, got even"),
    ],
)
def test_bad_values_are_failures_of_trials(project, name, message):
    report, _ = run_quietly([cell(name)], TrialStore(project / "store"))
    assert len(report.failures) == 3
    assert message in report.failures[0][2]


def test_columns_of_others_survive_a_merge(tmp_path):
    store, names = TrialStore(tmp_path / "store"), ["key", "of_a_newer_version", "their_state"]
    for k in range(4):
        extra = {"of_a_newer_version": float(k), "their_state": "held"} if k % 2 else {}
        store.append([{**record, **extra} for record in fake_records(10 * k, 10)])
    before = store.query(columns=names).to_pydict()
    assert store.compact(minimum=1) == 4
    assert TrialStore(tmp_path / "store").query(columns=names).to_pydict() == before
    assert before["their_state"].count("held") == 20
    assert before["of_a_newer_version"].count(None) == 20
