"""`provsel reference` on a synthetic paper: what it writes, costs, the sample, and what it does with nothing."""

import json
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest

from made_paper import made_paper
from provlab.cli import main
from provlab.project import current_project
from provlab.reference import sample, write_reference, writing
from provlab.reference.costs import Cost, certificate_counts, computed_with, cost_of
from provlab.reference.sample import sample_records
from provlab.store import TrialStore
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
    assert files - {sample} == {
        "README.md", "summary.json", "verdicts.csv", "rankings.csv", "tables/made2000/table.csv",
        "tables/made2000/table.md", "figures/made2000/table.svg",
    }  # fmt: skip
    for name in ("tables/made2000/table.csv", "figures/made2000/table.svg"):  # what the artefact's own command wrote
        assert (folder / name).read_bytes() == (results / name).read_bytes()
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    store = TrialStore(results / "store").query(columns=["key", "task_cpu"]).to_pandas()
    assert summary["trials"] == len(store)
    assert summary["cpu_hours"] == pytest.approx(store["task_cpu"].sum() / 3600, abs=6e-4)
    assert summary["artefacts"]["made2000/text"] == {"state": "data missing"}
    table = summary["artefacts"]["made2000/table"]
    assert (table["state"], table["n_stored"], table["n_planned"]) == ("complete", len(store), len(store))
    assert table["certificates"]["spectral"].keys() <= {"held", "violated", "vacuous"}
    assert set(summary["algorithm_versions"]) == {
        "BSSSelector", "LeverageScoreSelector", "UniformSelector", "LibsvmSVM",
    }  # fmt: skip
    assert sum(summary["verdicts"]["made2000"].values()) == 4
    assert summary["environments"][0]["trials"] == len(store)
    assert len(pd.read_csv(folder / "verdicts.csv")) == 4


def test_the_texts_of_the_project_whose_results_they_are_quote_them(results):
    root = current_project().root
    readme = root / "README.md"
    readme.write_text("Trials: ?<!--= summary: trials; ,d -->.\n")
    assert main(["reference", "--results", str(results), *SMALL]) == 0
    assert readme.read_text().startswith("Trials: ?")
    shutil.copytree(results / "store", root / "results" / "store")
    assert main(["reference", "--results", str(root / "results"), *SMALL]) == 0
    trials = json.loads((root / "results" / "reference" / "summary.json").read_text())["trials"]
    assert readme.read_text() == f"Trials: {trials:,}<!--= summary: trials; ,d -->.\n"


def test_a_part_of_an_artefact_is_counted_and_not_shown(results):
    write_reference(results, ["protocol.repeats=2", *SMALL[1:]])
    folder = results / "reference"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    line = summary["artefacts"]["made2000/table"]
    assert (line["state"], line["n_planned"]) == ("partial", 2 * line["n_stored"])
    assert not (folder / "tables").exists()
    assert summary["verdicts"]["made2000"]["not run"] < 4


def test_benchmarks_stay_and_old_numbers_go(results):
    folder = results / "reference"
    folder.mkdir()
    (folder / "benchmarks.json").write_text("{}")
    (folder / "old.csv").write_text("old")
    assert write_reference(results, SMALL) == folder
    assert (folder / "benchmarks.json").read_text() == "{}"
    assert not (folder / "old.csv").exists()
    assert not list(results.glob(".reference-*"))


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


def test_costs():
    trials = pd.DataFrame({"key": ["a", "b"], "task_cpu": [1800.0, None]})
    assert cost_of(trials, 3) == Cost(2, 3, 0.5)
    assert [Cost(*counts, 0.0).state for counts in ((0, 2), (1, 2), (2, 2))] == ["not run", "partial", "complete"]


def test_what_trials_were_computed_with():
    trials = pd.DataFrame(
        {
            "environment": ['{"python":"3.11"}', '{"python":"3.12"}', '{"python":"3.12"}'],
            "git_revision": ["x", None, "x"],
        }
    )
    assert computed_with(trials) == {
        "environments": [{"python": "3.12", "trials": 2}, {"python": "3.11", "trials": 1}],
        "revisions": [{"revision": "x", "trials": 2}, {"revision": "", "trials": 1}],
    }


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
