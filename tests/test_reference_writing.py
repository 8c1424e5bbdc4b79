"""`provsel reference` on a synthetic paper: what it writes and keeps, the sample, and what it does with nothing."""

import json
import re
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest

from made_paper import ARTEFACT, SCRIPT, made_paper
from provlab.claims import VERDICTS
from provlab.claims.decisions import RULES_VERSION
from provlab.claims.made_with import computed_with
from provlab.cli import main
from provlab.project import current_project
from provlab.reference import README, sample, write_readme, write_reference, writing
from provlab.reference.parts import certificate_counts
from provlab.reference.sample import sample_records, whole_records
from provlab.store import StoreSnapshot, TrialStore
from small_runs import FULL, UNIFORM, run_quietly, small_cell

SMALL = ["protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=2"]


@pytest.fixture
def results(tmp_path, monkeypatch):
    made_paper(tmp_path / "checkout", monkeypatch)
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "data"))
    results = tmp_path / "results"
    settings = [*SMALL, f"results={results}", "executor=serial"]
    assert main(["reproduce", "made2000/table", *settings]) == 0
    return results


def test_what_is_written(results, capsys):
    assert main(["reference", "--results", str(results), *SMALL]) == 0
    printed = capsys.readouterr().out
    folder = results / "reference"
    assert printed.startswith((folder / "README.md").read_text(encoding="utf-8"))
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    [sample] = [name for name in files if name.startswith("sample/")]
    written = {"tables/made2000/table.csv", "tables/made2000/table.md", "figures/made2000/table.svg"}
    assert files - {sample} == {"README.md", "summary.json", "verdicts.csv", "rankings.csv", *written}
    for name in ("tables/made2000/table.csv", "figures/made2000/table.svg"):  # what the artefact's own command wrote
        assert (folder / name).read_bytes() == (results / name).read_bytes()
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    store = TrialStore(results / "store").query(columns=["key", "task_cpu"]).to_pandas()
    assert summary["trials"] == len(store)
    assert summary["cpu_hours"] == pytest.approx(store["task_cpu"].sum() / 3600, abs=6e-4)
    table = summary["artefacts"]["made2000/table"]
    assert set(table["files"]) == written
    assert table["trials"] == len(store)
    assert table["certificates"]["spectral"].keys() <= {"held", "violated", "vacuous"}
    assert table["settings"] == SMALL
    assert table["versions"]["rules"] == RULES_VERSION
    assert set(table["versions"]["algorithm_versions"]) == {
        "BSSSelector", "LeverageScoreSelector", "UniformSelector", "LibsvmSVM",
    }  # fmt: skip
    assert table["environments"][0]["trials"] == len(store)
    assert set(table["sample"]) == set(TrialStore(folder / "sample").query(columns=["key"]).to_pandas()["key"])
    assert sum(summary["verdicts"]["made2000"].values()) == 3
    verdicts = pd.read_csv(folder / "verdicts.csv")
    assert list(verdicts["id"]) == ["made2000.zero", "made2000.bound", "made2000.folds"]
    assert set(verdicts["verdict"]) <= {*VERDICTS} - {"not run"}
    assert "Not here yet: made2000/text." in printed
    assert re.search(r"made2000/table .*made with protocol.repeats=1", printed)
    assert re.search(r"\| paper .* not run \|\n.*\n\| made2000 .* 1       \|", printed)


def test_one_artefact_is_written_and_the_others_stay(results, capsys):
    """A second artefact of other rows; then the first one's numbers are changed by hand, and only it is written."""
    room = current_project().root / "experiments" / "made2000"
    (room / "other.yaml").write_text(ARTEFACT.format(dataset="synthetic").replace("BSS: [selector=bss], ", ""))
    (room / "other.py").write_text(SCRIPT.format(name="other"))
    folder, settings = results / "reference", [*SMALL, f"results={results}", "executor=serial"]
    assert main(["reproduce", "made2000/other", *settings]) == 0
    write_reference(results, SMALL)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    table, other = (folder / "tables" / "made2000" / f"{name}.csv" for name in ("table", "other"))
    for path in (table, other):
        path.write_text("by hand")
    (folder / "verdicts.csv").write_text(
        "id,paper,verdict,kind\nmade2000.zero,made2000,vacuous,paper\nmade2000.gone,made2000,vacuous,paper\n"
    )
    write_reference(results, SMALL, ["other"])
    assert (table.read_text(), other.read_bytes()) == ("by hand", before[other])
    assert list(pd.read_csv(folder / "verdicts.csv")["id"]) == ["made2000.zero"]  # which no claim of `other` replaces
    assert main(["reference", "--results", str(results), *SMALL, "--artefact", "table"]) == 0
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert after == before
    (room / "other.yaml").unlink()
    write_reference(results, SMALL, ["table"])
    assert not other.exists()


def test_claims_on_two_artefacts_are_written_with_both(results, monkeypatch):
    monkeypatch.setattr(writing, "artefacts_of", lambda claim: {"made2000/table", "made2000/text"})
    with pytest.raises(ValueError, match=r"got made2000/table: claims rest on it and made2000/text; .* or name both"):
        write_reference(results, SMALL, ["table"])
    assert not (results / "reference").exists()


def test_the_texts_of_the_project_whose_results_they_are_state_them(results):
    root = current_project().root
    readme = root / "README.md"
    (root / "README.md.j2").write_text('Trials: {{ summary.trials | form(",d") }}.\n')
    assert main(["reference", "--results", str(results), *SMALL]) == 0
    assert not readme.exists()
    shutil.copytree(results / "store", root / "results" / "store")
    assert main(["reference", "--results", str(root / "results"), *SMALL]) == 0
    trials = json.loads((root / "results" / "reference" / "summary.json").read_text())["trials"]
    assert readme.read_text() == f"Trials: {trials:,}.\n"


def test_a_part_of_an_artefact_is_no_reference(results, caplog):
    settings, folder = ["protocol.repeats=2", *SMALL[1:]], results / "reference"
    for names in ((), ("table",)):
        with pytest.raises(
            ValueError, match=r"reference: .* made2000/table: partial \(\d+ of \d+\).*; run provsel repr"
        ):
            write_reference(results, settings, names)
    assert not folder.exists()
    write_reference(results, SMALL)
    assert "made2000/text: data missing: provsel fetch techtc" in caplog.text


def test_benchmarks_stay_and_old_numbers_go(results):
    folder = results / "reference"
    folder.mkdir()
    (folder / "benchmarks.json").write_text("{}")
    (folder / "old.csv").write_text("old")
    assert write_reference(results, SMALL) == folder
    assert (folder / "benchmarks.json").read_text() == "{}"
    assert not (folder / "old.csv").exists()
    assert not list(results.glob(".reference-*"))


def test_the_goals_of_speed_stand_in_the_readme(results):
    folder = write_reference(results, SMALL)
    assert "Goals of speed" not in (folder / README).read_text(encoding="utf-8")
    shared = {"script": "bss", "peer": "textbook", "limit": "basis", "limit_spread": None, "ratio_spread": [40, 60]}
    cases = [
        {"case": "r = 3", "goal": "ratio >= 50", "met": True, "ratio": 51.25, "ratio_to_limit": 2.0},
        {"case": "r = 4", "goal": "ratio_to_limit <= 2", "met": False, "ratio": 1.0, "ratio_to_limit": 3.0},
        {"case": "r = 5", "goal": "ratio >= 50", "met": None, "ratio": 1.0, "ratio_to_limit": 1.0},
    ]
    run = {"environment": {"date": "2026-11-25T01:02:03+00:00", "cpu_features": ["X86_V3"]}}
    (folder / "benchmarks.json").write_text(json.dumps(run | {"cases": [shared | case for case in cases]}))
    assert write_readme(folder)
    text = re.sub(" +", " ", (folder / README).read_text(encoding="utf-8"))
    assert "| bss | r = 3 | textbook / ours | 51.2 (40 - 60) | at least 50 | met |" in text
    assert "| bss | r = 4 | ours / basis | 3 (3 - 3) | at most 2 | missed |" in text
    assert "1 of 2 met." in text
    assert "2026-11-25, X86\\_V3." in text
    assert "r = 5" not in text  # not at this size


def test_too_large(results, monkeypatch):
    write_reference(results, SMALL)
    before = (results / "reference" / "summary.json").read_bytes()
    monkeypatch.setattr(writing, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"reference: expected at most 1000 bytes, got \d+; leave out the largest"):
        write_reference(results, SMALL)
    assert (results / "reference" / "summary.json").read_bytes() == before


def test_nothing_stored(tmp_path):
    with pytest.raises(ValueError, match=r"reference: expected stored trials in .*, found none; run provsel reproduce"):
        write_reference(tmp_path)
    assert not (tmp_path / "reference").exists()


def test_what_trials_were_computed_with():
    trials = pd.DataFrame(
        {
            "environment": ['{"python":"3.11"}', '{"python":"3.12"}', '{"python":"3.12"}'],
            "git_revision": ["x", None, "x"],
        }
    )
    assert computed_with(trials) == (
        ({"python": "3.12", "trials": 2}, {"python": "3.11", "trials": 1}),
        ({"revision": "x", "trials": 2}, {"revision": "", "trials": 1}),
    )


def test_a_summary_that_is_not_one(results):
    (results / "reference").mkdir()
    (results / "reference" / "summary.json").write_text('{"artefacts": {"made2000/table": {}}, "readings": {}}')
    with pytest.raises(ValueError, match=r"summary.json: made2000/table: expected what it was made with, .*'versions'"):
        write_reference(results, SMALL)


def test_states_of_certificates_are_counted():
    names = ("spectral", "margin", "soft", "radius", "scores", "cost", "partition", "recovery")
    trials = pd.DataFrame({f"certificate_{name}": ["not measured"] * 3 for name in names})
    trials["certificate_spectral"] = ["held", "violated", "held"]
    trials["certificate_margin"] = ["vacuous", "no bound", "not measured"]
    assert certificate_counts(trials) == {"spectral": {"held": 2, "violated": 1}, "margin": {"vacuous": 1}}


def test_the_sample_has_one_cheap_trial_a_cell(tmp_path):
    downloaded = small_cell(UNIFORM, dataset={"name": "mnist"}, identity="x")
    artefact = SimpleNamespace(cells=[small_cell(UNIFORM), small_cell(FULL), downloaded])
    store = TrialStore(tmp_path)
    run_quietly(artefact.cells[:2], store)
    records = sample_records(artefact, store)
    keys = store.query(columns=["key", "cell"]).to_pandas().groupby("cell")["key"].min()
    assert {record["cell"]: record["key"] for record in records} == keys.to_dict()
    assert len(records) == 2


def test_the_sample_has_what_own_measures_gave(tmp_path):
    """Of the cells that have them; and what was written once more is the same."""
    measures = [{"_target_": "provsel.certificates.SubsetApproximation", "k": 2}]
    cells = [small_cell(UNIFORM, measures=measures), small_cell(FULL)]
    store = TrialStore(tmp_path / "store")
    run_quietly(cells, store)
    records = {record["cell"]: record for record in sample_records(SimpleNamespace(cells=cells), store)}
    assert records[cells[0].id]["subset_frobenius_ratio"] >= 0
    assert not any(name.startswith("subset_") for name in records[cells[1].id])
    again = TrialStore(tmp_path / "again")
    again.append(list(records.values()))
    assert {record["cell"]: repr(record) for record in whole_records(again)} == {
        cell: repr(record) for cell, record in records.items()
    }
    from_memory = sample_records(SimpleNamespace(cells=cells), StoreSnapshot.take(store))
    assert {record["cell"]: repr(record) for record in from_memory} == {
        cell: repr(record) for cell, record in records.items()
    }


def test_the_sample_is_bounded(tmp_path, monkeypatch):
    cells = [small_cell({**UNIFORM, "n_features_to_select": k}) for k in range(1, 6)]
    store = TrialStore(tmp_path)
    run_quietly(cells, store)
    artefact = SimpleNamespace(cells=cells)
    monkeypatch.setattr(sample, "MAX_TRIALS", 3)
    chosen = sample_records(artefact, store)
    assert len(chosen) == 3
    lowest = store.query(columns=["key", "cell", "task_cpu"]).to_pandas().sort_values("key").groupby("cell").head(1)
    assert max(record["task_cpu"] for record in chosen) <= lowest["task_cpu"].nlargest(2).min()
    monkeypatch.setattr(sample, "MAX_SECONDS", 1e-9)
    assert sample_records(artefact, store) == []
