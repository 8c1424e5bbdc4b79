"""Numbers are of the trials that a command plans: what else a store has changes none of them."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provlab.cli import main
from provlab.core.frames import planned_trials
from provlab.core.keys import trial_key
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.project.documents import canonical_json
from small_runs import UNIFORM, fake_records, small_cell

RUN = ["run", "dataset=synthetic", "selector=uniform", "selector.n_features_to_select=3", "protocol.draws=2",
       "protocol.repeats=2", "dataset.n_samples=60", "dataset.n_features=50", "executor=serial"]  # fmt: skip
COMMANDS = [
    RUN,
    ["reproduce", "known2000/table", "executor=serial"],
    ["explain", "known2000/table", "--row", "Random", "--column", "r=4"],
    ["readings", "known2000", "--render"],
    ["verify"],
    ["report"],
    ["export"],
]
KINDS = ("repeat", "fold", "draw", "split", "data", "version")
OF_THE_STORE = {"environment.html", "trials.csv", "cells.csv", "datasets.csv"}
"""Files that are about all that is stored, and say so."""


def numbers(capsys):
    """Return all that the commands print and write, without times."""
    texts = {}
    for command in COMMANDS:
        assert main(command) in (0, 1), command
        texts[command[0]] = capsys.readouterr().out
    for path in Path("results").rglob("*"):
        if (
            path.suffix in (".csv", ".html", ".json", ".md", ".svg")
            and path.name not in OF_THE_STORE
        ):
            texts[str(path)] = path.read_text(encoding="utf-8")
    # times, and what says itself that it is about the whole store
    passing = r"[\d.]+ s:|Made .+ UTC by|store of [\d,]+|merged-\w+|Stored trials</dt><dd>[\d,]+|; not those of [^\n]*"
    return {name: re.sub(passing, "", text) for name, text in texts.items()}


def unplanned(record, kind, step):
    """Return a trial that is not planned."""
    config = json.loads(record["config"])
    place = {name: record[name] for name in ("repeat", "fold", "draw")}
    if kind in place:
        place[kind] += 10 * step
    elif kind == "split":
        config["protocol"]["n_splits"] += step
    elif kind == "data":
        config["data"] = f"{step:064x}"
    else:
        config["selector"]["algorithm_version"] = 100 + step
    text = canonical_json(config)
    cell = hashlib.sha256(text.encode()).hexdigest()
    wrong = {
        "error": 0.9,
        "n_selected": 1,
        "features": [0],
        "task_cpu": 1e6,
        "select_cpu": 1e6,
    }
    return {
        **record,
        **place,
        **wrong,
        "data": config["data"],
        "config": text,
        "cell": cell,
        "key": trial_key(text, *place.values()),
    }


def test_no_other_trial_changes_a_number_of_a_command(
    project, tmp_path, monkeypatch, capsys
):
    copy = shutil.copytree(project, tmp_path / "known")
    monkeypatch.setenv("PROVSEL_PROJECT", str(copy))
    monkeypatch.chdir(copy)
    assert main(RUN) == 0
    capsys.readouterr()
    before = numbers(capsys)
    store = TrialStore("results/store")
    assert len(before) > 25
    store.append(
        [
            unplanned(record, kind, 1)
            for record in store.query().to_pylist()
            for kind in KINDS
        ]
    )
    after = numbers(capsys)
    assert [
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    ] == []
    # what plans more takes more
    assert main([*RUN, "protocol.repeats=12", "protocol.draws=1"]) == 0
    assert " 120 " in capsys.readouterr().out


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.tuples(st.integers(0, 1), *[st.integers(0, 3)] * 3), unique=True, max_size=40
    ),
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(1, 3), st.integers(1, 3)), max_size=4
    ),
)
def test_a_plan_joined_with_a_store_is_what_both_have(tmp_path_factory, stored, plan):
    """Of cells that are asked for again, with other repeats and draws, each gets its own trials."""
    store = TrialStore(tmp_path_factory.mktemp("store"))
    pair = [
        small_cell(UNIFORM, setting=setting, identity="0" * 64)
        for setting in ("supervised", "unsupervised")
    ]
    blank = fake_records(0, 1)[0]
    store.append(
        [
            {
                **blank,
                "key": f"{n:064x}",
                "cell": pair[which].id,
                "repeat": repeat,
                "fold": fold,
                "draw": draw,
            }
            for n, (which, repeat, fold, draw) in enumerate(stored)
        ]
    )
    cells = [
        replace(
            pair[which],
            protocol={**pair[which].protocol, "repeats": repeats, "draws": draws},
        )
        for which, repeats, draws in plan
    ]
    expected = [
        (place, repeat, fold, draw)
        for place, (cell, (which, *_)) in enumerate(zip(cells, plan, strict=True))
        for stored_of, repeat, fold, draw in stored
        if stored_of == which
        and repeat < cell.protocol["repeats"]
        and fold < 3
        and draw < cell.protocol["draws"]
    ]
    snapshot = StoreSnapshot(store)
    for reader in (store, snapshot):
        joined = planned_trials(reader, cells, ["error"])
        lines = list(
            zip(
                *(
                    joined[name].tolist()
                    for name in ("place", "repeat", "fold", "draw")
                ),
                strict=True,
            )
        )
        assert sorted(lines) == sorted(expected)
        assert [line[0] for line in lines] == sorted(line[0] for line in lines)
    for place, cell in enumerate(cells):
        n = [line[0] for line in expected].count(place)
        assert snapshot.count([cell]) == n
        assert snapshot.has_any([cell]) == (n > 0)
