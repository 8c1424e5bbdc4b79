"""The stored panel: read by pandas alone, audited, merged; what was changed is found or refused."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from provlab.bench.methods import panel_methods
from provlab.bench.panel import panel_cells, panel_datasets, panel_frame
from provlab.bench.stored_panel import read_panel, read_table, write_table
from provlab.cli import main
from provlab.core.plan import trials_of
from provlab.core.store import TrialStore
from provlab.verdicts.panel_pairs import against_all
from provlab.verdicts.panel_ranking import leaderboard
from provlab.verdicts.panel_scores import Scores
from small_runs import REPO, files_of

NAMES = ("all features", "F-test", "random")
PANEL = Path("results/reference/benchmark")


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Return a folder with three methods on one small data set of the panel, computed and packed."""
    folder = tmp_path_factory.mktemp("panel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        chosen = [text for name in NAMES for text in ("--method", name)]
        assert main(["panel", "--dataset", "wine", *chosen, "executor=serial"]) == 0
        assert main(["reference", "--panel"]) == 0
    return folder


@pytest.fixture
def folder(computed, tmp_path, monkeypatch):
    shutil.copytree(computed / PANEL, tmp_path / PANEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    return tmp_path


def test_anybodys_pandas_reads_what_the_frame_has(computed):
    stored = pd.read_parquet(computed / PANEL)
    cells = panel_cells({name: panel_methods()[name] for name in NAMES}, {"wine": panel_datasets()["wine"]})
    panel = panel_frame(cells, TrialStore(computed / "results" / "store"))
    keys = ["method", "size", "model", "repeat", "fold"]
    assert len(stored) == len(panel) == sum(frame.cell.n_trials for frame in cells) == 100
    expected, read = (frame.sort_values(keys, ignore_index=True) for frame in (panel, read_panel(computed / PANEL)))
    pd.testing.assert_frame_equal(expected, read, rtol=1e-2, check_exact=False)  # seconds have three digits
    exact = ["cell", "error", "balanced_accuracy", "neg_log_loss", "subset_frobenius_ratio", "n_selected", "failure"]
    pd.testing.assert_frame_equal(expected[exact], read[exact])
    means = stored.groupby(["method", "size"])["stability"].agg(["nunique", "mean"])
    assert means.loc[("F-test", 10), "nunique"] == 1
    assert means.loc[("F-test", 10), "mean"] > means.loc[("random", 10), "mean"]
    assert stored.loc[stored["method"] == "all features", "stability"].isna().all()


def test_what_the_trials_come_to_stands_beside_them(computed):
    board, compared = (pd.read_csv(computed / PANEL / f"_{name}.csv") for name in ("leaderboard", "against_all"))
    scores = Scores.of(read_panel(computed / PANEL))
    assert board["method"].tolist() == [*leaderboard(scores).index]
    np.testing.assert_allclose(board["loss"], leaderboard(scores)["loss"], rtol=1e-5)
    assert {*compared["method"]} == {"F-test", "random"}
    assert (compared["domain"] == "all domains").all(), "a single data set is no domain"
    np.testing.assert_allclose(compared["difference"], against_all(scores)["difference"], rtol=1e-5)


def test_the_stored_tables_are_those_of_the_stored_trials():
    folder = REPO / PANEL
    board = pd.read_csv(folder / "_leaderboard.csv").set_index("method")
    expected = leaderboard(Scores.of(read_panel(folder)))
    assert [*board.index] == [*expected.index], "run: provsel reference --panel"
    np.testing.assert_allclose(board["rank"], expected["rank"], rtol=1e-5)


def test_keys_follow_from_cells_and_numbers(computed):
    stored = pd.read_parquet(computed / PANEL)
    cells = panel_cells({"F-test": panel_methods()["F-test"]}, {"wine": panel_datasets()["wine"]})
    planned = [planned_cell.cell for planned_cell in cells]
    assert {*stored.loc[stored["method"] == "F-test", "cell"]} == {cell.short_id for cell in planned}
    keys = TrialStore(computed / "results" / "store").keys()
    assert {key for cell in planned for *_, key in trials_of(cell)} <= keys


def test_writing_again_changes_no_byte_and_what_is_incomplete_stays_out(computed, tmp_path, capsys):
    folder = tmp_path / "again"
    shutil.copytree(computed, folder)
    before = files_of(folder / PANEL, "*.parquet")
    assert main(["reference", "--panel", "--results", str(folder / "results")]) == 0
    assert files_of(folder / PANEL, "*.parquet") == before
    store = TrialStore(folder / "results" / "store")
    trials = store.query()
    first = trials.select(["selector"]).to_pandas().drop_duplicates()  # a trial of each method
    missing = first.index[first["selector"].isin(["FTest", "FullDataSelector"])]
    shutil.rmtree(store.folder)
    store.add(trials.filter(~np.isin(np.arange(len(trials)), missing)))
    shutil.rmtree(folder / PANEL)
    capsys.readouterr()
    assert main(["reference", "--panel", "--results", str(folder / "results")]) == 0
    assert "2 left out as trials are missing" in capsys.readouterr().out


def test_an_honest_panel_is_merged_and_audited(folder, capsys):
    merged_results = folder / "other"
    assert main(["merge", str(folder / PANEL), "--panel", "--results", "other"]) == 0
    assert "100 new trials of all features, F-test, random" in capsys.readouterr().out
    merged = files_of(merged_results / "reference" / "benchmark")
    own = files_of(folder / PANEL)
    assert {name for name in own if merged.get(name) != own[name]} <= {"_datasets.csv"}
    assert merged.keys() | {"_datasets.csv"} == own.keys() | {"_datasets.csv"}
    assert "_leaderboard.csv" in own
    assert main(["merge", str(folder / PANEL), "--panel", "--results", "other"]) == 0
    assert "0 new trials of no method; known: 100 identical" in capsys.readouterr().out
    options = ["--panel", str(PANEL), "--method", "F-test", "--fraction", "0.2", "executor=serial"]
    assert main(["audit", *options]) == 0
    assert "identical" in capsys.readouterr().out


def test_changed_numbers_are_found_by_an_audit_and_in_a_merge(folder, capsys):
    shutil.copytree(PANEL, folder / "ours" / "reference" / "benchmark")
    table = read_table(PANEL)
    table.loc[table["method"] == "F-test", "balanced_accuracy"] = 0.999
    write_table(table, PANEL)
    assert main(["audit", "--panel", str(PANEL), "--method", "F-test", "--limit", "3", "executor=serial"]) == 1
    out = capsys.readouterr().out
    assert "balanced_accuracy: stored 0.99" in out
    assert "wine F-test, " in out
    assert main(["merge", str(PANEL), "--panel", "--results", "ours"]) == 1
    assert "40 that are different" in capsys.readouterr().err.replace("got ", "")
    kept = read_table(folder / "ours" / "reference" / "benchmark")
    assert (kept.loc[kept["method"] == "F-test", "balanced_accuracy"] < 0.999).any()


def renamed(names):
    return lambda table: table.assign(method=table["method"].replace(names))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda table: table.assign(cell=table["cell"].replace(table["cell"].iloc[0], "0" * 64)),
            "expected cells as the panel has them here, got 1 others",
        ),
        (renamed({"random": "F-test", "F-test": "random"}), "expected cells as the panel has them here, got 8 others"),
        (renamed({"random": "mine"}), r"expected a method of the panel .*, got 'mine'"),
        (lambda table: table[:-1], "expected each of 100 planned trials once, got 99 lines"),
        (lambda table: pd.concat([table, table[:1]]), "expected each of 100 planned trials once, got 101 lines"),
        (lambda table: table.assign(error=-0.5), "error: expected values from 0 to 1, got -0.5"),
        (lambda table: table.assign(select_cpu=-1.0), "select_cpu: expected finite values of at least 0, got -1"),
    ],
    ids=["id", "exchanged", "unknown", "short", "twice", "error", "seconds"],
)
def test_a_panel_of_other_cells_is_refused(folder, change, message, capsys):
    write_table(change(read_table(PANEL)), PANEL)
    assert main(["merge", str(PANEL), "--panel", "--results", "ours"]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not (folder / "ours" / "reference").exists()


def test_files_of_another_version_and_no_files_are_refused(folder, capsys):
    [path, *_] = sorted(PANEL.glob("*.parquet"))
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"provsel_panel": "2"}), path)
    assert main(["merge", str(PANEL), "--panel"]) == 2
    assert "version 1 of a panel's file, got 2" in capsys.readouterr().err
    path.write_bytes(b"no parquet")
    with pytest.raises(
        ValueError, match=r"all-features\.parquet: expected a file that provsel reference --panel writes"
    ):
        read_panel(PANEL)
