"""Exports that others read, stores that are made of them again, and stores of several people as one."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_breast_cancer

from made_paper import enter, made_paper
from provlab.cli import main
from provlab.core.store import SCHEMA, TrialStore
from provlab.custody.agreement import OUTCOMES
from provlab.custody.export import data_set_table, write_csv
from provlab.custody.merge import compare_known, source_trials, with_source
from provlab.data import read_source
from small_runs import SMALL, fake_records, files_of


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a results folder with a small table of a project, and the project's folder."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        made_paper(folder, patch)
        assert main(["reproduce", "made2000/table", "executor=serial", *SMALL]) == 0
        assert main(["verify", *SMALL]) == 0
        yield folder


@pytest.fixture
def folder(stored, tmp_path, monkeypatch):
    """Work in an empty folder of the project."""
    enter(stored, monkeypatch)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def exported(stored):
    assert (
        main(["export", "--results", str(stored / "results"), "--output", "export"])
        == 0
    )
    return Path("export")


def all_of(store):
    return repr(TrialStore(store).query().to_pylist())


def test_a_store_that_is_exported_and_merged_again_gets_the_same_verdicts(
    stored, folder, capsys
):
    exported(stored)
    verdicts = (stored / "results" / "verdicts.csv").read_bytes()
    assert b"replicated" in verdicts
    capsys.readouterr()
    assert main(["merge", "export", "--results", "again"]) == 0
    n = len(TrialStore(stored / "results" / "store").keys())
    assert f"export: {n} new trials; known: 0 identical" in capsys.readouterr().out
    assert all_of("again/store") == all_of(stored / "results" / "store")
    assert main(["verify", "--results", "again", *SMALL]) == 0
    assert Path("again/verdicts.csv").read_bytes() == verdicts
    assert main(["merge", "export", "--results", "again"]) == 0
    assert f"export: 0 new trials; known: {n} identical" in capsys.readouterr().out


def test_an_export_is_the_store_and_one_csv_and_has_the_same_bytes_again(
    stored, folder
):
    first = files_of(exported(stored))
    # the first is .written
    assert sorted(Path(name).suffix for name in first) == [
        "",
        ".csv",
        ".md",
        ".parquet",
    ]
    assert files_of(exported(stored)) == first


def test_an_export_deletes_only_what_an_earlier_one_wrote(stored, folder, capsys):
    folder = exported(stored)
    with (folder / ".written").open("a") as file:  # as an export of an earlier version
        file.write("verdicts.csv\n")
    (folder / "verdicts.csv").write_text("id")
    others = {"notes.txt": "mine", "tables/mine.csv": "mine", "more/deep/a.txt": "mine"}
    for name, text in others.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "link").symlink_to("nowhere")
    for _ in range(2):  # the second export knows as well that it did not write them
        exported(stored)
        assert {name: (folder / name).read_text() for name in others} == others
        assert (folder / "link").readlink() == Path("nowhere")
        assert not (folder / "verdicts.csv").exists()
    assert not {*others, "link"} & {*(folder / ".written").read_text().splitlines()}
    (folder / "trials.csv").unlink()
    (folder / "trials.csv").mkdir()
    (folder / "trials.csv" / "mine.txt").write_text("mine")
    Path("file").write_text("mine")
    for target, place in (
        ("export", "export"),
        ("file", "file: .*'Not a directory'; name another folder"),
    ):
        capsys.readouterr()
        assert (
            main(["export", "--results", str(stored / "results"), "--output", target])
            == 2
        )
        assert re.search(f"provsel: .*{place}", capsys.readouterr().err)
    assert (
        Path("file").read_text()
        == (folder / "trials.csv" / "mine.txt").read_text()
        == "mine"
    )


def test_the_csv_says_what_each_trial_is(folder):
    """A preparation creates columns, whose names are in the trials."""
    data = load_breast_cancer(as_frame=True)
    data.frame.rename(columns={"mean area": "=mean, area"}).to_csv(
        "mine.csv", index=False
    )
    run = ["run", "dataset=file", f"dataset.path={folder / 'mine.csv'}", "selector=uniform", "protocol.n_splits=3",
           "protocol.repeats=1", "protocol.setting=unsupervised", "selector.n_features_to_select=20",
           "model=libsvm", "model.C=1e-6", "executor=serial"]  # fmt: skip
    assert main(["run", "dataset=digits", *run[3:]]) == 0
    for preparation in ("none", "standardise"):
        assert main([*run, f"preparation={preparation}"]) == 0
    assert main(["export"]) == 0
    trials = pd.read_csv("results/export/trials.csv", keep_default_na=False)
    columns = np.array(data.feature_names, object)
    columns[columns == "mean area"] = "=mean, area"
    named = trials[trials["feature_names"] != ""]
    assert len(named) == 15
    for line in named.itertuples():
        numbers = [int(k) for k in line.features.split()]
        assert json.loads(line.feature_names) == columns[numbers].tolist()
    for config in trials["config"]:
        assert "n_features_to_select" in json.dumps(json.loads(config)["selector"])


def test_an_export_cites_the_registered_data_sets():
    configs = ['{"dataset":{"name":"orl"}}', None, '{"dataset":{"name":"file"}}']
    _, _, *lines = data_set_table(
        pa.table({"data": ["a", "b", "c"], "config": configs})
    )
    assert [line.split()[1] for line in lines] == ["orl"]
    assert read_source("orl").citation in lines[0]


def test_values_in_csv(tmp_path):
    """Numbers have all their digits; a missing value is empty, an empty text is quoted."""
    changes = [{"error": np.nan, "rank": None}, {"error": -0.0, "source": ""}, {"error": 0.1 + 0.2, "source": "=1+1"},
               {"features": [], "environment": None, "feature_names": ["a b", '=c"']},
               {"features": None, "source": None, "feature_names": None}]  # fmt: skip
    records = [
        record | change
        for record, change in zip(fake_records(0, 5), changes, strict=True)
    ]
    write_csv(pa.Table.from_pylist(records, schema=SCHEMA), tmp_path / "trials.csv")
    lines = pd.read_csv(tmp_path / "trials.csv", dtype=str, keep_default_na=False)
    assert lines["error"].tolist() == ["nan", "-0", "0.30000000000000004", "0.5", "0.5"]
    assert lines["features"].tolist() == ["3 1 2", "3 1 2", "3 1 2", "", ""]
    assert lines["feature_names"].tolist() == ['["c", "a", "b"]'] * 3 + [
        r'["a b", "=c\""]',
        "",
    ]
    assert lines["source"].tolist() == ["", "", "'=1+1", "", ""]
    assert lines["environment"].tolist()[3] == ""
    assert '"",' in (tmp_path / "trials.csv").read_text().splitlines()[2]


def test_records_without_a_config_are_exported(folder):
    """They are of no use to a merge, which says so, and are the trials of the store all the same."""
    none = {"config": None, "feature_names": None}
    TrialStore("results/store").append([record | none for record in fake_records(0, 3)])
    assert main(["export"]) == 0
    assert len(pd.read_csv("results/export/trials.csv")) == 3


UNKNOWN_TRIAL = "expected trials with key, cell, data, config, repeat, fold, draw, got 1 of 30 without one of these"


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("dataset", lambda name: "other", ""),  # a name that is part of no key
        ("error", lambda value: 0.0, ""),
        ("draw", lambda draw: None, UNKNOWN_TRIAL),
        ("config", lambda text: None, UNKNOWN_TRIAL),
    ],
)
def test_trials_that_were_changed(stored, folder, column, change, message):
    changed(
        stored,
        "theirs",
        lambda k, record: {} if k else {column: change(record[column])},
    )
    if not message:
        assert len(source_trials(Path("theirs"))) > 0
        return
    with pytest.raises(ValueError, match=f"theirs.*: {re.escape(message)}"):
        source_trials(Path("theirs"))


@pytest.mark.parametrize("keep_first", [False, True])
def test_rows_with_the_key_of_another_row_are_counted_and_compared(
    stored, folder, keep_first, capsys
):
    records = TrialStore(stored / "results" / "store").query().to_pylist()
    TrialStore("same/store").append([*records, *[records[0] | {"task_cpu": 9.0}] * 29])
    assert main(["merge", "same", "--results", "new"]) == 0
    expected = "same: 29 rows repeat the key of an earlier row: 29 identical, 0 equal to the promised digits, 0 diff"
    assert expected in capsys.readouterr().out
    assert len(TrialStore("new/store").keys()) == len(records)
    errors = [records[0]["error"], 0.75, 0.8]
    TrialStore("other/store").append(
        [records[0] | {"error": error} for error in errors]
    )
    assert main(
        ["merge", "other", "--results", "again", *["--keep-first"] * keep_first]
    ) == (not keep_first)
    out, error = capsys.readouterr()
    assert (
        "other: 2 rows repeat the key of an earlier row: 0 identical, 0 equal to the promised digits, 2 diff"
        in out
    )
    assert "0.75" in out
    assert ("Kept the first" if keep_first else "nothing was written") in error
    assert [*TrialStore("again/store").query()["error"].to_pylist()] == errors[
        :1
    ] * keep_first


def changed(stored, folder, change):
    """Write a store with some records of another in another way."""
    records = TrialStore(stored / "results" / "store").query().to_pylist()
    TrialStore(Path(folder) / "store").append(
        [record | change(k, record) for k, record in enumerate(records)]
    )
    return len(records)


def test_conflicts_are_shown_and_nothing_is_written(stored, folder, capsys):
    n = changed(
        stored,
        "theirs",
        lambda k, record: (
            {"error": 0.75, "task_cpu": 9.0} if k < 2 else {"train_wall": 5.0}
        ),
    )
    shutil.copytree(stored / "results", "ours")
    before = all_of("ours/store")
    assert (
        main(["merge", "theirs", "--results", "ours", "--output", "conflicts.csv"]) == 1
    )
    out, error = capsys.readouterr()
    assert (
        f"theirs: 0 new trials; known: {n - 2} identical, 0 equal to the promised digits, 2 different"
        in out
    )
    assert "0.75" in out
    assert "got 2 that are different; nothing was written" in error
    conflicts = pd.read_csv("conflicts.csv")
    assert conflicts["column"].tolist() == ["error", "error"]
    assert conflicts["second"].tolist() == [0.75, 0.75]
    assert all_of("ours/store") == before
    # with an own trial missing, the first one's word counts and the new one comes in
    assert main(["merge", "ours", "theirs", "--results", "new"]) == 1
    assert not Path("new/store").exists() or not [*Path("new/store").glob("*.parquet")]
    assert main(["merge", "ours", "theirs", "--results", "new", "--keep-first"]) == 0
    assert all_of("new/store") == before
    assert "Kept the first copy of 2 trials" in capsys.readouterr().err
    assert main(["merge", "theirs", "ours", "--results", "other", "--keep-first"]) == 0
    assert all_of("other/store") != before


@pytest.mark.parametrize(
    ("outcome", "change"),
    [
        # of another environment, so that the last digits may be others
        (
            "close",
            lambda error: {
                "environment": '{"cpu":"another"}',
                "error": max(error * (1 + 1e-12), 1e-12),
            },
        ),
        ("different", lambda error: {"error": error + 1e-12}),
        # columns that one side never wrote are no conflict
        (
            "identical",
            lambda error: {"certificate_cost": None, "nmi": None, "objective": None},
        ),
    ],
)
def test_known_trials_are_compared_as_by_an_audit(stored, folder, outcome, change):
    n = changed(stored, "theirs", lambda k, record: change(record["error"]))
    ours = with_source(source_trials(stored / "results"), "ours")
    counts, conflicts = compare_known(ours, source_trials(Path("theirs")), "theirs")
    assert counts == {**dict.fromkeys(OUTCOMES, 0), outcome: n}
    assert conflicts["source"].tolist() == ["ours"] * (
        n if outcome == "different" else 0
    )


def test_parts_of_two_people_become_one_store(stored, folder):
    whole = TrialStore(stored / "results" / "store").query()
    for name, rows in (("a", range(0, len(whole), 2)), ("b", range(1, len(whole), 2))):
        TrialStore(Path(name) / "store").add(whole.take(pa.array([*rows])))
    assert main(["merge", "a", "b", "--results", "both"]) == 0
    assert all_of("both/store") == all_of(stored / "results" / "store")
    assert [path.name[:7] for path in Path("both/store").glob("*.parquet")] == [
        "merged-",
        "merged-",
    ]


def test_sources_are_read_and_never_changed(stored, folder, capsys):
    shutil.copytree(stored / "results" / "store", "theirs")
    n = len(TrialStore("theirs").keys())
    for name in ("page.parquet", "page.damaged"):
        Path("theirs", name).write_text(name)
    Path("plain").mkdir()
    pq.write_table(pa.table({"x": [1]}), "plain/mine.parquet")
    before = files_of(folder)
    assert main(["merge", "theirs", "--results", "ours"]) == 0
    assert len(TrialStore("ours/store").keys()) == n
    assert main(["merge", "plain", "--results", "other"]) == 2
    assert (
        "expected a results folder or an export with trials, got plain"
        in capsys.readouterr().err
    )
    assert not Path("other").exists()
    assert files_of(folder).items() >= before.items()
    assert sorted(path.name for path in Path("plain").iterdir()) == ["mine.parquet"]


def test_a_column_with_two_types_is_refused_by_name_and_one_without_values_has_none(
    stored, folder, capsys
):
    values = {"number": 0.5, "text": "a", "nothing": None}
    for name, value in values.items():
        n = changed(stored, name, lambda k, record, value=value: {"mine": value})
    assert main(["export", "--results", "text", "--output", "text-export"]) == 0
    capsys.readouterr()
    for first, second in (
        ("number", "text"),
        ("text", "number"),
        ("number", "text-export"),
    ):
        assert main(["merge", first, second, "--results", "new"]) == 2
        expected = "provsel: merge: its columns have other types than .* mine .*rename the measure"
        assert re.search(expected, capsys.readouterr().err)
        assert not Path("new").exists()
    for k, sources in enumerate(
        (["nothing", "number"], ["nothing", "text"], ["text-export", "nothing"])
    ):
        assert main(["merge", *sources, "--results", f"both{k}"]) == 0
        assert f"{n} identical" in capsys.readouterr().out
        assert main(["export", "--results", f"both{k}", "--output", f"export{k}"]) == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ["merge", "nowhere"],
            r"expected a results folder or an export with trials, got nowhere",
        ),
        (["merge", "a", "a"], r"merge: expected each folder once, got a a"),
        (
            ["export", "--results", "nowhere"],
            r"expected stored trials in nowhere.store, found none; run provsel repro",
        ),
        (
            ["export", "--output", "."],
            r"expected a new folder or an earlier export, got \.",
        ),
    ],
)
def test_wrong_arguments(stored, folder, command, message, capsys):
    (folder / "a").mkdir()
    if "--output" in command:
        command = [*command, "--results", str(stored / "results")]
    assert main(command) == 2
    assert re.match(f"provsel: .*{message}", capsys.readouterr().err)
