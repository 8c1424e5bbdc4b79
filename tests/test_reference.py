"""The committed reference results: whole, up to date, and still what this code computes."""

import json
import re
import shutil

import pandas as pd
import pytest

import provsel.models
import provsel.selectors
from provlab.claims.decisions import RULES_VERSION
from provlab.claims.judged import claim_files
from provlab.cli import main
from provlab.project import artefact_names, current_project
from provlab.reference import FOLDER, MAX_BYTES
from provlab.reports.tracing import versions
from provlab.store import TrialStore
from provlab.trials.environment import environment

REFERENCE = current_project().root / "results" / FOLDER
OLDER = {"RRQRSelector": ("table1_sets", "figure1", "figure2", "table4")}
"""Classes that have changed since the reference was written, and artefacts whose numbers are still the older ones."""
NEWER = (
    "selection/selectors",
    "paul2016/full_c",
    "paul2016/full_c_ccat",
    "paul2016/theorems",
    "wang2018/ofs-growth",
    "wang2018/ofs-times",
)
"""Artefacts that came after it, and wait for the next one; so do the claims about them."""

NEWER_CLAIMS = ("giesen2013.memory.linear-kept", "giesen2013.memory.linear-kept-400")
"""Claims that came after it about artefacts that it has."""

SAME_SD = 0.1
"""Of a number's standard deviation over trials: how far another machine's rounding may move the number. A single
prediction of the thousands behind it that comes out differently moves it by less than that."""


@pytest.fixture(scope="module")
def summary():
    return json.loads((REFERENCE / "summary.json").read_text(encoding="utf-8"))


def test_every_artefact_is_there_and_complete(summary):
    assert list(summary["artefacts"]) == [name for name in artefact_names() if name not in NEWER]
    for name, line in summary["artefacts"].items():
        assert line["state"] == "complete", name
        frame = pd.read_csv(REFERENCE / "tables" / f"{name}.csv", dtype={"row": str, "column": str})
        assert len(frame) > 0, name
        assert set(frame["state"]) == {"complete"}
        assert line["cpu_hours"] > 0
        assert line["n_stored"] == line["n_planned"] > 0


def test_every_claim_has_its_verdict(summary):
    verdicts = pd.read_csv(REFERENCE / "verdicts.csv")
    claims = [claim for file in claim_files() for claim in file.claims]
    known = [claim.id for claim in claims if claim.evaluator.artefact not in NEWER and claim.id not in NEWER_CLAIMS]
    assert verdicts["id"].tolist() == known
    if "kind" in verdicts:  # rules of version 1 counted all
        verdicts = verdicts[verdicts["kind"] == "paper"]
    for paper, counts in summary["verdicts"].items():
        found = verdicts.loc[verdicts["paper"] == paper, "verdict"].value_counts()
        assert {verdict: n for verdict, n in counts.items() if n} == found.to_dict()


def test_it_says_by_which_rules_its_verdicts_are(summary):
    """Verdicts cannot be judged again without the trials, which are not committed: the README says whose they are."""
    readme = (REFERENCE / "README.md").read_text(encoding="utf-8")
    assert f"by version {summary.get('rules', 1)} of the rules" in readme
    assert summary.get("rules", 1) <= RULES_VERSION


def test_it_was_written_with_these_algorithms(summary):
    """A changed algorithm has another `algorithm_version`: then its numbers have to be computed and written again."""
    assert len(summary["algorithm_versions"]) >= 15
    for name, version in summary["algorithm_versions"].items():
        cls = getattr(provsel.selectors, name, None) or getattr(provsel.models, name)
        current = getattr(cls, "algorithm_version", 0)
        if name in OLDER:
            assert version < current, f"{name}: the reference is renewed; take it out of OLDER, and the note with it"
        else:
            assert version == current, f"{name}: run its artefacts, then make reference"


def test_it_says_what_is_of_an_older_version():
    text = (REFERENCE / "README.md").read_text(encoding="utf-8")
    for name, artefacts in OLDER.items():
        assert f"{name} of version" in text
        assert all(artefact in text for artefact in artefacts)


def test_it_is_small_and_names_no_place():
    files = [path for path in REFERENCE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MAX_BYTES
    for path in files:
        if path.suffix in (".csv", ".md", ".json", ".svg"):
            assert not re.search(r"/(home|root|tmp|Users|work)/", path.read_text(encoding="utf-8")), path


def test_a_sample_of_its_trials_is_what_this_code_computes(tmp_path, capsys):
    shutil.copytree(REFERENCE / "sample", tmp_path / "store")
    n_trials = len(TrialStore(tmp_path / "store").keys())
    assert n_trials >= 20
    arguments = ["--results", str(tmp_path), "--fraction", "1", "executor=serial"]
    assert main(["audit", *arguments]) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    assert f"of {n_trials} stored" in printed
    assert "skipped" not in printed


def test_table_1_is_what_this_code_computes(tmp_path, capsys, summary):
    assert main(["reproduce", "paul2016/table1", f"results={tmp_path}", "executor=loky", "executor.n_jobs=2"]) == 0
    made = [folder / "tables" / "paul2016" / "table1.csv" for folder in (tmp_path, REFERENCE)]
    if is_same_machine(summary):
        assert made[0].read_bytes() == made[1].read_bytes()
    new, old = (pd.read_csv(path).set_index(["row", "column"]) for path in made)
    assert list(new.index) == list(old.index)
    assert (new["n_trials"] == old["n_trials"]).all()
    errors = old.index.get_level_values("column").str.endswith("error (%)")
    moved = new["value"][errors].astype(float) - old["value"][errors].astype(float)
    assert errors.sum() == 24
    assert (moved.abs() <= SAME_SD * old["sd"][errors] + 1e-9).all()


def is_same_machine(summary):
    there = [{name: value for name, value in each.items() if name != "trials"} for each in summary["environments"]]
    return there == [versions(environment())]
