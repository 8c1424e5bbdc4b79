"""The hour of faults, made short: one round on a small run, and that it notices what it is there to notice."""

import shutil

import hour
import pytest
from fault_tools import reproduce

from provlab.store import TrialStore
from small_runs import SMALL

COMMAND = ["reproduce", "paul2016/table1", *SMALL, "executor=serial"]


def test_a_round_ends_as_without_faults(tmp_path, monkeypatch):
    monkeypatch.setattr(hour, "mount_own", lambda *_: False)  # this process keeps its mounts
    counts, rounds, n_trials = hour.disturb(COMMAND, tmp_path, seed=1, rounds=1, n_faults=1)
    assert (rounds, n_trials) == (1, 78)
    assert counts[hour.NOTHING, "went through"] >= 2
    assert sum(counts[fault, "runs"] for fault, _ in set(counts)) >= 1
    assert hour.table(counts).count("\n") == 1 + len({fault for fault, _ in counts})


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run that needs no command, what it has to make, and its trials."""
    reproduce(tmp_path / "undisturbed")
    run = hour.Disturbed([], tmp_path / "disturbed", hour.random.Random(0), has_disk=False)
    run.results.mkdir()
    monkeypatch.setattr(run, "undisturbed", lambda: reproduce(run.results))
    return run, hour.made(tmp_path / "undisturbed"), TrialStore(tmp_path / "undisturbed" / "store").keys()


def test_it_notices_lost_trials(run, monkeypatch):
    run, expected, planned = run

    def loses():
        if any(run.results.iterdir()):
            shutil.rmtree(run.results / "store")
        else:
            reproduce(run.results)
        return "a thief"

    monkeypatch.setattr(run, "disturbed", loses)
    with pytest.raises(hour.BrokenError, match="a thief: 9 trials are lost"):
        run.round(expected, planned, 2)


def test_it_notices_other_bytes(run, monkeypatch):
    run, (tables, records), planned = run

    monkeypatch.setattr(run, "disturbed", lambda: hour.NOTHING)
    run.round((tables, records), planned, 1)
    assert not (run.results.parent / "broken").exists()
    with pytest.raises(hour.BrokenError, match=r"other bytes: \['table1.csv'\], see"):
        run.round(({**tables, "table1.csv": b""}, records), planned, 1)
    with pytest.raises(hour.BrokenError, match="other bytes: records, see"):
        run.round((tables, ""), planned, 1)
