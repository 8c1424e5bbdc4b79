"""Stores that somebody changed: each command that reads one ends in a sentence about it, and shows none of its numbers.

Whoever computes keys that fit, for other numbers in their ranges, is found by an audit alone.
"""

import numpy as np
import pytest

from made_paper import made_paper
from provlab.cli import main
from provlab.core.keys import trial_key
from provlab.core.store import TrialStore
from provlab.project.documents import digest_of
from small_runs import SMALL

RUN = ["run", "-m", "dataset=synthetic", "selector=uniform,rrqr", "selector.n_features_to_select=30", "executor=serial"]
REFUSING = [
    ["merge", "theirs", "--results", "merged"],
    ["export", "--results", "theirs", "--output", "exported"],
    ["status", "--results", "theirs"],
    ["verify", "--results", "theirs", *SMALL],
    ["report", "--results", "theirs", *SMALL],
    ["explain", "made2000/table", "--row", "BSS", "--column", "r=30", "--results", "theirs", *SMALL],
    ["reproduce", "made2000/table", "executor=serial", "results=theirs", *SMALL],
    [*RUN, "results=theirs", *SMALL],
]
"""Of which `merge` and `export` read all columns, and others those that they show."""

NESTED = "[" * 100_000 + "]" * 100_000


def exchanged(records, name):
    """Exchange a column between the records of two cells."""
    cells = sorted({record["cell"] for record in records})[:2]
    values = {cell: next(record[name] for record in records if record["cell"] == cell) for cell in cells}
    others = dict(zip(cells, [values[cell] for cell in reversed(cells)], strict=True))
    return [record | {name: others.get(record["cell"], record[name])} for record in records]


def with_config(records, text):
    """Give a record another config, with a cell and a key that follow from it."""
    first, *others = records
    key = trial_key(text, first["repeat"], first["fold"], first["draw"])
    return [first | {"config": text, "cell": digest_of(text), "key": key}, *others]


def with_value(records, name, value):
    return [records[0] | {name: value}, *records[1:]]


def with_values(records, name, value):
    return [record | {name: value} for record in records]


OTHER_TRIAL = "expected trials whose keys, cells and data follow from their configs and numbers, got"
NO_CONFIG = "expected a config of data set, selector and protocol, got"
CHANGES = {
    "cells exchanged": (lambda records: exchanged(records, "cell"), OTHER_TRIAL),
    "configs exchanged": (lambda records: exchanged(records, "config"), OTHER_TRIAL),
    "keys exchanged": (lambda records: exchanged(records, "key"), OTHER_TRIAL),
    "other data": (lambda records: with_value(records, "data", "0" * 64), OTHER_TRIAL),
    "another fold": (lambda records: with_value(records, "fold", records[0]["fold"] + 1), OTHER_TRIAL),
    "nested config": (lambda records: with_config(records, NESTED), "it is nested in more than 60 levels"),
    "config is a list": (lambda records: with_config(records, "[]"), NO_CONFIG),
    "config is no JSON": (lambda records: with_config(records, "{"), NO_CONFIG),
    "config without data": (lambda records: with_config(records, '{"dataset":5}'), NO_CONFIG),
}
NUMBERS = {
    "error -5": (lambda records: with_values(records, "error", -5.0), "column error: expected values from 0 to 1"),
    "error inf": (lambda records: with_values(records, "error", np.inf), "column error: expected values from 0 to 1"),
    "error nan": (lambda records: with_values(records, "error", np.nan), "column error: expected values from 0 to 1"),
    "features": (lambda records: with_values(records, "features", [10**9, -1]), "column features: expected"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a project with a small table and a sweep, and its records."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        made_paper(folder, patch)
        patch.chdir(folder)
        assert main(["reproduce", "made2000/table", "executor=serial", *SMALL]) == 0
        assert main([*RUN, *SMALL]) == 0
    return folder, TrialStore(folder / "results" / "store").query().to_pylist()


@pytest.fixture
def theirs(project, tmp_path, monkeypatch):
    """Return a function that writes changed records into the store of `theirs`, in an empty working folder."""
    monkeypatch.setenv("PROVSEL_PROJECT", str(project[0]))
    monkeypatch.chdir(tmp_path)
    return lambda change: TrialStore("theirs/store").append(change(project[1]))


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*.parquet")}


@pytest.mark.parametrize("name", CHANGES)
def test_trials_that_their_keys_do_not_name(name, theirs, tmp_path, capsys):
    change, message = CHANGES[name]
    theirs(change)
    before = files(tmp_path)
    for command in REFUSING:
        assert main(command) == 2, command
        error = capsys.readouterr().err
        assert f"{next(iter(before))}" in error, command
        assert message in error, command
        assert error.count("\n") < 5, command
    assert files(tmp_path) == before


READERS = {"error": {"merge", "export", "verify", "report", "explain", "reproduce", "run"},
           "features": {"merge", "export", "report", "explain", "run"}}  # fmt: skip
"""Commands that read a column; others say nothing that depends on it."""


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_no_trial_has(name, theirs, tmp_path, capsys):
    change, message = NUMBERS[name]
    theirs(change)
    before = files(tmp_path)
    refused = set()
    for command in REFUSING:
        status, error = main(command), capsys.readouterr().err
        assert (status == 2) == (message in error), command
        refused |= {command[0]} if status == 2 else set()
    assert refused == READERS[name.split()[0]]
    assert files(tmp_path) == before


@pytest.mark.parametrize("name", ["nothing", *CHANGES, *NUMBERS])
def test_an_audit_finds_or_skips_what_was_changed(name, theirs, project, capsys):
    change, _ = (CHANGES | NUMBERS).get(name, (list, ""))
    theirs(change)
    main(["audit", "--results", "theirs", "--fraction", "1", "executor=serial"])
    out = " ".join(capsys.readouterr().out.split())
    assert (f"identical │ {len(project[1])}" in out) == (name == "nothing"), out


@pytest.mark.parametrize("depth", [1_000, 100_000])
@pytest.mark.parametrize("place", ["provsel.toml", "claims.yaml", "override"])
def test_deep_texts_are_refused_in_words_wherever_they_are_parsed(place, depth, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deep = "[" * depth + "]" * depth
    (tmp_path / "provsel.toml").write_text(f"papers = {deep}\n" if place == "provsel.toml" else "")
    (tmp_path / "claims.yaml").write_text(deep)
    (tmp_path / "results.csv").write_text("m,e\nA,0.5\n")
    command = ["verify", "--results", "results.csv", "--claims", "claims.yaml"]
    if place == "override":
        command = ["run", f"selector.n_features_to_select={deep}"]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert error.startswith("provsel: ")
    assert "20 levels" in error
    assert len(error) < 1_000
