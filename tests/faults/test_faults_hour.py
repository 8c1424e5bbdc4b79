"""The hour of faults, made short: one round on a small run, and that it notices what it is there to notice."""

import shutil

import hour
import pytest
from fault_tools import reproduce

from provlab.core.store import TrialStore
from small_runs import SMALL

COMMAND = ["reproduce", "paul2016/table1", *SMALL, "executor=serial"]


def test_a_round_ends_as_without_faults(tmp_path):
    # this process keeps its mounts
    counts, rounds, n_trials = hour.disturb(
        COMMAND, tmp_path, seed=1, rounds=1, n_faults=1, mount=lambda *_: False
    )
    assert rounds == 1
    assert n_trials == 114
    assert counts[hour.NOTHING, "went through"] >= 2
    assert hour.table(counts).count("\n") == 1 + len({fault for fault, _ in counts})


def test_it_notices_lost_trials_and_other_bytes(tmp_path):
    whole = tmp_path / "undisturbed"
    results = tmp_path / "disturbed"
    reproduce(whole)
    results.mkdir()
    tables, records = hour.written(whole)
    planned = TrialStore(whole / "store").keys()

    def steal(left):
        reproduce(results)
        if left < 1:
            shutil.rmtree(results / "store")
        return "a thief"

    def play(expected, disturb=lambda left: hour.NOTHING, n_faults=1):
        hour.play_round(
            disturb, lambda: reproduce(results), results, expected, planned, n_faults
        )

    with pytest.raises(hour.BrokenError, match="a thief: 9 trials are lost"):
        play((tables, records), steal, 2)
    play((tables, records))
    assert not (tmp_path / "broken").exists()
    with pytest.raises(hour.BrokenError, match=r"other bytes: \['table1.csv'\], see"):
        play(({**tables, "table1.csv": b""}, records))
    with pytest.raises(hour.BrokenError, match="other bytes: records, see"):
        play((tables, ""))
