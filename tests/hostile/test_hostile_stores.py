"""Stores that somebody changed: each command that reads one ends in a sentence about it, and shows none of its numbers.

Whoever computes keys that fit, for other numbers in their ranges, is found by an audit
alone.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from made_paper import made_paper
from provlab.cli import main
from provlab.core.keys import trial_key
from provlab.core.store import TrialStore
from provlab.project.documents import digest_of
from small_runs import SMALL, files_of

RUN = [
    "run",
    "-m",
    "dataset=synthetic",
    "selector=uniform,rrqr",
    "selector.n_features_to_select=30",
    "executor=serial",
]
REFUSING = [
    ["merge", "theirs", "--results", "merged"],
    ["export", "--results", "theirs", "--output", "exported"],
    ["status", "--results", "theirs"],
    ["verify", "--results", "theirs", *SMALL],
    ["report", "--results", "theirs", *SMALL],
    [
        "explain",
        "made2000/table",
        "--row",
        "BSS",
        "--column",
        "r=30",
        "--results",
        "theirs",
        *SMALL,
    ],
    ["reproduce", "made2000/table", "executor=serial", "results=theirs", *SMALL],
    [*RUN, "results=theirs", *SMALL],
]

NESTED = "[" * 100_000 + "]" * 100_000


def exchanged(records, name):
    """Exchange a column between the records of two cells."""
    first, second = sorted({record["cell"] for record in records})[:2]
    value_of = {record["cell"]: record[name] for record in records}
    exchanged_value = {first: value_of[second], second: value_of[first]}
    return [
        record | {name: exchanged_value.get(record["cell"], record[name])}
        for record in records
    ]


def with_config(records, text):
    """Give a record another config, with a cell and a key that follow from it."""
    first, *others = records
    key = trial_key(text, first["repeat"], first["fold"], first["draw"])
    return [first | {"config": text, "cell": digest_of(text), "key": key}, *others]


def with_values(records, name, value):
    return [record | {name: value} for record in records]


OTHER_TRIAL = "expected keys, cells and data that follow from the configs and numbers of the trials, got"
NO_CONFIG = "expected a config of data set, selector and protocol, got"
CHANGES = {
    "cells exchanged": (lambda records: exchanged(records, "cell"), OTHER_TRIAL),
    "configs exchanged": (lambda records: exchanged(records, "config"), OTHER_TRIAL),
    "keys exchanged": (lambda records: exchanged(records, "key"), OTHER_TRIAL),
    "other data": (lambda records: with_values(records, "data", "0" * 64), OTHER_TRIAL),
    "no data": (lambda records: with_values(records, "data", None), OTHER_TRIAL),
    "other folds": (lambda records: with_values(records, "fold", 1), OTHER_TRIAL),
    "nested config": (
        lambda records: with_config(records, NESTED),
        "it is nested more than 60 levels",
    ),
    "config is a list": (lambda records: with_config(records, "[]"), NO_CONFIG),
    "config is no JSON": (lambda records: with_config(records, "{"), NO_CONFIG),
    "config without data": (
        lambda records: with_config(records, '{"dataset":5}'),
        NO_CONFIG,
    ),
    "error below 0": (
        lambda records: with_values(records, "error", -5.0),
        "column error: expected values from 0",
    ),
    "error inf": (
        lambda records: with_values(records, "error", np.inf),
        "column error: expected values from 0 to 1",
    ),
    "error nan": (
        lambda records: with_values(records, "error", np.nan),
        "column error: expected values from 0 to 1",
    ),
    "features": (
        lambda records: with_values(records, "features", [10**9, -1]),
        "column features: expected",
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a project with a small table and a sweep, and its records."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        made_paper(folder, patch)
        assert main(["reproduce", "made2000/table", "executor=serial", *SMALL]) == 0
        assert main([*RUN, *SMALL]) == 0
    return folder, TrialStore(folder / "results" / "store").query().to_pylist()


@pytest.fixture
def theirs(project, tmp_path, monkeypatch):
    """Return a function that writes changed records into the store of `theirs`, in an empty working folder."""
    monkeypatch.setenv("PROVSEL_PROJECT", str(project[0]))
    monkeypatch.chdir(tmp_path)
    return lambda change: TrialStore("theirs/store").append(change(project[1]))


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_store_is_refused_and_left_as_it_is(name, theirs, tmp_path):
    """At the store; the commands that read it are below, and an audit is in test_audit.py."""
    change, message = CHANGES[name]
    theirs(change)
    before = files_of(tmp_path)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        TrialStore("theirs/store").query()
    assert Path(*before).name in str(error.value)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("command", REFUSING, ids=lambda command: command[0])
def test_each_command_ends_in_a_sentence_about_a_changed_store(
    command, theirs, tmp_path, capsys
):
    change, message = CHANGES["keys exchanged"]
    theirs(change)
    before = files_of(tmp_path)
    assert main(command) == 2
    error = capsys.readouterr().err
    assert Path(*before).name in error
    assert message in error
    assert error.count("\n") < 5
    assert files_of(tmp_path) == before
