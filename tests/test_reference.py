"""The committed reference results: whole, what they say of themselves, and still what this code computes.

What is older than the code is no failure: the statement of each artefact's part says so, and the README lists it. What
states the present versions has to be what they give.
"""

import re
from dataclasses import replace

import pandas as pd
import pytest

from provlab.claims import made_with
from provlab.claims.judged import all_claim_files, claims_about
from provlab.cli import main
from provlab.configs import compose_artefact, remembered_artefact
from provlab.plan import trials_of, unique_cells
from provlab.project import current_project
from provlab.reference import FOLDER, MAX_BYTES, README, Contents, readme
from provlab.reference.sample import whole_records
from provlab.site.tracing import versions
from provlab.store import TrialStore
from provlab.trials.environment import environment
from provsel.selectors import LeverageScoreSelector

REFERENCE = current_project().root / "results" / FOLDER

SAME_SD = 0.1
"""Of a number's standard deviation over trials: how far another machine's rounding may move the number. A single
prediction of the thousands behind it that comes out differently moves it by less than that."""


@pytest.fixture(scope="module")
def contents():
    return Contents.read(REFERENCE)


@pytest.fixture(scope="module")
def changes(contents):
    """Of each artefact, what is older than the code: the exceptions of all tests below."""
    return contents.changes()


@pytest.fixture(scope="module")
def planned(contents):
    """The digest of each artefact's plan as the code is now, and its cells by their ids."""
    artefacts = {name: remembered_artefact(name) for name in contents.parts}
    plans = {name: made_with.Versions.of_artefact(each, ()).plan for name, each in artefacts.items()}
    cells = {name: {cell.id: cell for cell in unique_cells(each.cells)} for name, each in artefacts.items()}
    return {name: (plans[name], cells[name]) for name in artefacts}


def is_planned(record, cells):
    """Tell whether a record's trial is one of these cells', and of no older algorithm. All keys would be a million."""
    return record["cell"] in cells and record["key"] in {key for *_, key in trials_of(cells[record["cell"]])}


def test_every_part_is_whole(contents):
    stated = [name for part in contents.parts.values() for name in part.files]
    there = [path for kind in ("tables", "figures") for path in (REFERENCE / kind).rglob("*") if path.is_file()]
    assert sorted(stated) == sorted(path.relative_to(REFERENCE).as_posix() for path in there)
    for name, part in contents.parts.items():
        frame = pd.read_csv(REFERENCE / "tables" / f"{name}.csv", dtype={"row": str, "column": str})
        assert set(frame["state"]) == {"complete"}
        assert f"tables/{name}.csv" in part.files
        assert part.made.trials > 0
        assert part.made.cpu_hours > 0
        assert sum(each["trials"] for each in part.made.environments) == part.made.trials
        assert part.made.settings == ()


def test_the_readme_lists_what_is_older_than_the_code(contents):
    """An algorithm or rule that changes makes this fail until `provsel reference --texts` has said so."""
    assert (REFERENCE / README).read_text(encoding="utf-8") == readme(contents), "run: provsel reference --texts"


@pytest.mark.parametrize("raised", ["algorithm", "rules", "claims"])
def test_a_change_of_the_code_is_noticed(contents, changes, monkeypatch, raised):
    name = "paul2016/theorems"
    assert changes[name] == []
    one = replace(contents, parts={name: contents.parts[name]}, readings={})  # to compose the others takes seconds
    before = readme(one)
    if raised == "algorithm":
        monkeypatch.setattr(LeverageScoreSelector, "algorithm_version", 99)
        [said] = one.changes()[name]
        assert said == "LeverageScoreSelector of version 1, now 99"
    elif raised == "rules":
        monkeypatch.setattr(made_with, "RULES_VERSION", 99)
        [said] = one.changes()[name]
        assert re.fullmatch(r"verdicts by version \d of the rules, now 99", said)
    else:
        monkeypatch.setattr("provlab.reference.contents.all_claim_files", lambda: all_claim_files()[:1])
        [said] = one.changes()[name]
        assert said == "other claims, or tests of them, than now"
    assert said not in before
    assert said in readme(one)


def test_numbers_of_an_older_version_do_not_pass_as_the_present_ones(contents):
    """Whoever edits the version alone still has the cells of the older one."""
    made = contents.parts["paul2016/figure1"].made
    artefact = compose_artefact("paul2016/figure1")
    now = made_with.Versions.of_artefact(artefact, claims_about([artefact.name], all_claim_files()))
    if made.versions.plan == now.plan:
        pytest.skip("the reference has Figure 1 as the code is")
    forged = made_with.Versions(now.rules, now.algorithm_versions, made.versions.plan, now.claims)
    assert forged.until(now) == ["other rows, columns, data or settings than now"]
    assert now.until(now) == []


def test_every_claim_has_its_verdict(contents, changes):
    files, known = all_claim_files(), set(contents.verdicts["id"])
    assert contents.verdicts["id"].is_unique
    for name, said in changes.items():
        if not said:
            assert {claim.id for claim in claims_about([name], files)} <= known, name
    absent = {claim.id for claim in claims_about(contents.absent(), files)}
    waiting = {*contents.without_verdict()}
    assert {claim.id for file in files for claim in file.claims} == known | waiting | absent
    assert not known & (waiting | absent)
    text = (REFERENCE / README).read_text(encoding="utf-8")
    assert all(name in text for name in (*waiting, *contents.absent()))


def test_it_is_small_and_names_no_place():
    files = [path for path in REFERENCE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MAX_BYTES
    for path in files:
        if path.suffix in (".csv", ".md", ".json", ".svg"):
            assert not re.search(r"/(home|root|tmp|Users|work)/", path.read_text(encoding="utf-8")), path


def test_a_sample_of_its_trials_is_what_this_code_computes(tmp_path, capsys, contents, planned):
    records = {record["key"]: record for record in whole_records(TrialStore(REFERENCE / "sample"))}
    owned = {key for part in contents.parts.values() for key in part.sample}
    assert owned == {*records}
    for name, part in contents.parts.items():
        if part.made.versions.plan == planned[name][0]:
            assert all(is_planned(records[key], planned[name][1]) for key in part.sample), name
    plans = [cells for _, cells in planned.values()]
    records = [each for each in records.values() if any(is_planned(each, cells) for cells in plans)]
    assert len(records) >= 20
    assert audited(tmp_path / "same", records) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    assert f"of {len(records)} stored" in printed
    assert "skipped" not in printed
    cheapest = min((record for record in records if record["error"] is not None), key=lambda each: each["task_cpu"])
    assert audited(tmp_path / "other", [{**cheapest, "error": 1 - cheapest["error"]}]) != 0


def audited(folder, records):
    TrialStore(folder / "store").append(records)
    return main(["audit", "--results", str(folder), "--fraction", "1", "executor=serial"])


def test_table_1_is_what_this_code_computes(tmp_path, capsys, contents, changes, planned):
    if contents.parts["paul2016/table1"].made.versions.plan != planned["paul2016/table1"][0]:
        pytest.skip(f"the reference has another Table 1: {'; '.join(changes['paul2016/table1'])}")
    assert main(["reproduce", "paul2016/table1", f"results={tmp_path}", "executor=loky", "executor.n_jobs=2"]) == 0
    made = [folder / "tables" / "paul2016" / "table1.csv" for folder in (tmp_path, REFERENCE)]
    if is_same_machine(contents.parts["paul2016/table1"]):
        assert made[0].read_bytes() == made[1].read_bytes()
    new, old = (pd.read_csv(path).set_index(["row", "column"]) for path in made)
    assert list(new.index) == list(old.index)
    assert (new["n_trials"] == old["n_trials"]).all()
    assert moved(new, old) <= 1
    other = old.copy()
    some = other.index.get_level_values("column").str.endswith("error (%)") & (other["sd"] > 0)
    other.loc[some, "value"] = (other.loc[some, "value"].astype(float) + other.loc[some, "sd"]).astype(str)
    assert moved(new, other) > 1


def moved(new, old):
    """Return by how much the errors differ at most, in what another machine's rounding may make of them."""
    errors = old.index.get_level_values("column").str.endswith("error (%)")
    assert errors.sum() == 24
    by = (new["value"][errors].astype(float) - old["value"][errors].astype(float)).abs()
    return (by / (SAME_SD * old["sd"][errors] + 1e-9)).max()


def is_same_machine(part):
    there = [{name: value for name, value in each.items() if name != "trials"} for each in part.made.environments]
    return there == [versions(environment())]
