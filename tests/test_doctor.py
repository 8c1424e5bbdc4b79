"""`provsel doctor` and records: what is said of this installation, of data folders and of stores, untouched."""

import json

import pytest

from provlab.cli import main
from provlab.core.store import TrialStore
from provlab.custody.doctor import Check, examine
from provlab.data import dataset_names, read_source, source_names
from small_runs import fake_records

FORMS = {name: read_source(name).forms for name in ("cifar10", "rcv1_ccat")}


@pytest.fixture(autouse=True)
def folder(no_data, monkeypatch):
    """Work in a folder with an empty data folder and without a mirror."""
    monkeypatch.chdir(no_data)
    (no_data / "data").mkdir()
    return no_data


@pytest.fixture
def results(folder):
    """A results folder with 5 trials in two files."""
    store = TrialStore(folder / "results" / "store")
    for first, n in ((0, 3), (3, 2)):
        store.append(fake_records(first, n))
    return folder / "results"


def group(name, results):
    return {check.name: check for check in examine(results) if check.group == name}


def put(folder, source, paths=None):
    """Write empty files with the names of a source."""
    for file in read_source(source).files:
        if paths is None or file.path in paths:
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


def test_stores(folder, results):
    assert group("Store", results)["trials"] == Check("Store", "trials", "ok", "5")
    assert "2 files" in group("Store", results)["folder"].value
    absent = group("Store", folder / "nowhere")
    assert absent["trials"].advice == "provsel reproduce NAME, or provsel run"
    assert {check.state for check in absent.values()} == {"ok"}
    assert not (folder / "nowhere").exists()
    (folder / "other").mkdir()
    (folder / "other" / "store").write_text("x")
    assert group("Store", folder / "other")["folder"].state == "problem"


@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1PAR1"])
def test_a_damaged_file_is_told_and_left_alone(results, content, capsys):
    path = sorted((results / "store").glob("*.parquet"))[0]
    path.write_bytes(content)
    (results / "store" / "abc.damaged").write_bytes(b"x")
    before = {file: file.stat().st_mtime_ns for file in results.rglob("*")}
    store = group("Store", results)
    assert store[path.name].state == "problem"
    assert store["abc.damaged"].state == "warning"
    assert store["trials"].value in ("2", "3")
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("1 problem, ")
    assert {file: file.stat().st_mtime_ns for file in results.rglob("*")} == before


def test_data_that_are_absent_or_here(folder, results, monkeypatch):
    for name, check in group("Data sets", results).items():
        if name in source_names():
            assert check.state == "missing"
            assert check.advice == f"provsel fetch {name}"
            assert check.value.startswith("0 of ")
            put(folder / "data", name)
        elif name in dataset_names():
            assert check.state == "ok"
            assert check.value == "needs no files"
    assert {check.state for check in group("Data sets", results).values()} == {"ok"}
    monkeypatch.setenv("PROVSEL_DATA", str(folder / "none"))
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(folder / "data"))
    assert {check.state for check in group("Data sets", results).values()} == {"ok"}


def test_data_that_are_here_in_part(folder, results):
    files = read_source("dexter").files
    put(folder / "data", "dexter", {file.path for file in files[:3]})
    put(folder / "data", "techtc", {read_source("techtc").files[7].path})
    checks = group("Data sets", results)
    assert checks["dexter"][2:4] == ("missing", f"3 of 4 files, lacks {files[3].path}")
    # a part of a collection can be used
    assert checks["techtc"][2:4] == ("ok", "1 of 80 files")


@pytest.mark.parametrize(
    ("name", "form"), [(name, form) for name in FORMS for form in FORMS[name]]
)
def test_one_form_is_enough(folder, results, name, form):
    first, *others = [file.path for file in FORMS[name][form]]
    put(folder / "data", name, others)
    assert group("Data sets", results)[name].state == "missing"
    put(folder / "data", name, {first})
    check = group("Data sets", results)[name]
    assert check.state == "ok"
    assert f"of the form {form}" in check.value


def test_table_and_json(results, capsys):
    assert main(["doctor", "--results", str(results)]) == 0
    out = capsys.readouterr().out
    assert out.index("Installation") < out.index("Store")
    assert "-> provsel fetch techtc" in out
    assert out.splitlines()[-1].startswith("0 problems, ")
    assert main(["doctor", "--json"]) == 0
    read = [Check(**item) for item in json.loads(capsys.readouterr().out)]
    assert Check("Store", "trials", "ok", "5") in read
