"""The reference results: how they are written, and that the committed ones are whole and what this code computes.

What is older than the code is no failure: the statement of each artefact's part says
so, and the README lists it. What states the present versions has to be what they give.
"""

import json
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from made_paper import ARTEFACT, SCRIPT, enter, made_paper
from provlab.cli import main
from provlab.core.artefact import compose_artefact
from provlab.core.plan import trials_of, unique_cells
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.core.summaries import versions
from provlab.custody.reference import (
    MAX_TRIALS,
    README,
    readme,
    sample_records,
    whole_records,
    write_readings,
    write_reference,
)
from provlab.custody.reference import (
    letters as letters_of,
)
from provlab.project.project import current_project
from provlab.run.environment import environment
from provlab.verdicts.claims.provenance import Versions
from provlab.verdicts.claims.rules import RULES_VERSION, VERDICTS
from provlab.verdicts.claims.schema import all_claim_files, claims_about
from provlab.verdicts.readings.schema import paper_readings
from provlab.verdicts.reference import FOLDER, Reference
from small_runs import FULL, REPO, UNIFORM, files_of, run_quietly, small_cell

REFERENCE = current_project().root / "results" / FOLDER
SMALL = ["protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=2"]
SAME_SD = 0.1
"""Of a number's standard deviation over trials: how far another machine's rounding may move the number. A single
prediction of the thousands behind it that comes out differently moves it by less than that."""


@pytest.fixture(scope="module")
def reproduced_project(tmp_path_factory):
    """Reproduce the artefact of a paper once."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        made_paper(folder, patch)
        assert (
            main(
                [
                    "reproduce",
                    "made2000/table",
                    *SMALL,
                    f"results={folder / 'results'}",
                    "executor=serial",
                ]
            )
            == 0
        )
    return folder


@pytest.fixture
def results(reproduced_project, tmp_path, monkeypatch):
    """Return the results of a project of a test's own."""
    shutil.copytree(reproduced_project, tmp_path / "own")
    enter(tmp_path / "own", monkeypatch)
    return tmp_path / "own" / "results"


def test_what_is_written(results, tmp_path, capsys):
    (results.parent / "README.md.j2").write_text(
        'Trials: {{ summary.trials | form(",d") }}.\n'
    )
    assert main(["reference", "--results", str(results), *SMALL]) == 0
    printed = capsys.readouterr().out
    folder = results / "reference"
    assert printed.startswith((folder / README).read_text(encoding="utf-8"))
    files = files_of(folder)
    [sample] = [
        name
        for name in files
        if name.startswith("sample/") and name.endswith(".parquet")
    ]
    written = {
        "tables/made2000/table.csv",
        "tables/made2000/table.md",
        "figures/made2000/table.svg",
    }
    assert {*files} - {sample} == {
        README,
        "summary.json",
        "verdicts.csv",
        "rankings.csv",
        *written,
    }
    # what the artefact's own command wrote
    for name in ("tables/made2000/table.csv", "figures/made2000/table.svg"):
        assert files[name] == (results / name).read_bytes()
    summary = json.loads(files["summary.json"])
    store = TrialStore(results / "store").query(columns=["key", "task_cpu"]).to_pandas()
    assert summary["trials"] == len(store)
    assert summary["cpu_hours"] == pytest.approx(
        store["task_cpu"].sum() / 3600, abs=6e-4
    )
    table = summary["artefacts"]["made2000/table"]
    assert set(table["files"]) == written
    assert table["trials"] == len(store)
    assert table["settings"] == SMALL
    assert table["certificates"]["spectral"].keys() <= {"held", "violated", "vacuous"}
    assert table["versions"]["rules"] == RULES_VERSION
    assert {"BSSSelector", "LibsvmSVM"} < set(table["versions"]["algorithm_versions"])
    assert set(table["sample"]) == {
        record["key"] for record in whole_records(TrialStore(folder / "sample"))
    }
    assert sum(summary["verdicts"]["made2000"].values()) == 3
    verdicts = pd.read_csv(folder / "verdicts.csv")
    assert list(verdicts["id"]) == ["made2000.zero", "made2000.bound", "made2000.folds"]
    assert set(verdicts["verdict"]) <= {*VERDICTS} - {"not run"}
    assert "Not computed yet: made2000/text." in printed
    assert re.search(r"made2000/table .*made with protocol.repeats=1", printed)
    assert re.search(r"\| paper .* not run \|\n.*\n\| made2000 .* 1 \|", printed)
    # the texts of a project state its own results, and no others
    assert (results.parent / "README.md").read_text() == f"Trials: {len(store):,}.\n"
    (results.parent / "README.md").unlink()
    shutil.copytree(results / "store", tmp_path / "other" / "store")
    assert main(["reference", "--results", str(tmp_path / "other"), *SMALL]) == 0
    assert not (results.parent / "README.md").exists()


def test_one_artefact_is_written_and_the_others_stay(results):
    """A second artefact of other rows; then the first one's numbers are changed by hand, and only it is written."""
    room = current_project().root / "experiments" / "made2000"
    (room / "other.yaml").write_text(
        ARTEFACT.format(dataset="synthetic").replace("BSS: [selector=bss], ", "")
    )
    (room / "other.py").write_text(SCRIPT.format(name="other"))
    folder = results / "reference"
    settings = [*SMALL, f"results={results}", "executor=serial"]
    folder.mkdir()
    (folder / "benchmarks.json").write_text('{"cases": []}')
    assert main(["reproduce", "made2000/other", *settings]) == 0
    assert write_reference(results, SMALL) == folder
    before = files_of(folder)
    assert before["benchmarks.json"] == b'{"cases": []}'
    table, second = (
        folder / "tables" / "made2000" / f"{name}.csv" for name in ("table", "other")
    )
    for path in (table, second):
        path.write_text("by hand")
    lines = "id,paper,verdict,kind\nmade2000.zero,made2000,vacuous,paper\nmade2000.gone,made2000,vacuous,paper\n"
    (folder / "verdicts.csv").write_text(lines)
    write_reference(results, SMALL, ["other"])
    assert table.read_text() == "by hand"
    assert second.read_bytes() == before["tables/made2000/other.csv"]
    # which no claim of `other` replaces
    assert list(pd.read_csv(folder / "verdicts.csv")["id"]) == ["made2000.zero"]
    assert (
        main(["reference", "--results", str(results), *SMALL, "--artefact", "table"])
        == 0
    )
    assert files_of(folder) == before
    (room / "other.yaml").unlink()
    write_reference(results, SMALL, ["table"])
    assert not second.exists()


def test_claims_on_two_artefacts_are_written_with_both(results):
    claims = current_project().root / "experiments" / "made2000" / "claims.yaml"
    claims.write_text(claims.read_text().replace("than: Random, columns: [r=30], over: folds", "than: Lvg, "
                      "than_artefact: made2000/text, columns: [r=30], over: datasets"))  # fmt: skip
    with pytest.raises(
        ValueError,
        match=r"got made2000/table: claims rest on it and made2000/text; .* or name them "
        r"all",
    ):
        write_reference(results, SMALL, ["table"])
    assert not (results / "reference").exists()


def test_what_is_not_complete_is_no_reference(results, tmp_path, caplog):
    settings = ["protocol.repeats=2", *SMALL[1:]]
    folder = results / "reference"
    for names in ((), ("table",)):
        with pytest.raises(
            ValueError,
            match=r"reference: .* made2000/table: partial \(\d+ of \d+\).*; run provsel rep",
        ):
            write_reference(results, settings, names)
    with pytest.raises(
        ValueError,
        match=r"reference: expected stored trials in .*, found none; run provsel reproduce",
    ):
        write_reference(tmp_path / "nowhere")
    with pytest.raises(
        ValueError,
        match=r"reference: expected readings of a paper in .*, got none; run provsel read",
    ):
        write_readings(results)
    assert not folder.exists()
    write_reference(results, SMALL)
    assert "made2000/text: data missing: provsel fetch techtc" in caplog.text
    (folder / "summary.json").write_text(
        '{"artefacts": {"made2000/table": {}}, "readings": {}}'
    )
    with pytest.raises(
        ValueError,
        match=r"summary.json: made2000/table: expected a mapping with written, .*, got no written",
    ):
        write_reference(results, SMALL)


def test_the_sample_has_some_cheap_trials_whole(tmp_path):
    """One a cell, without downloads, with what own measures gave, of those cells that have them."""
    measures = [{"_target_": "provsel.certificates.SubsetApproximation", "k": 2}]
    downloaded = small_cell(UNIFORM, dataset={"name": "mnist"}, identity="x")
    cells = [small_cell(UNIFORM, measures=measures), small_cell(FULL), downloaded]
    store = TrialStore(tmp_path / "store")
    again = TrialStore(tmp_path / "again")
    run_quietly(cells[:2], store)
    records = {
        record["cell"]: record
        for record in sample_records(SimpleNamespace(cells=cells), store)
    }
    keys = store.query(columns=["key", "cell"]).to_pandas().groupby("cell")["key"].min()
    assert {cell: record["key"] for cell, record in records.items()} == keys.to_dict()
    assert records[cells[0].id]["subset_frobenius_ratio"] >= 0
    assert not any(name.startswith("subset_frobenius") for name in records[cells[1].id])
    again.append(list(records.values()))
    from_memory = sample_records(SimpleNamespace(cells=cells), StoreSnapshot(store))
    for others in (whole_records(again), from_memory):
        assert {record["cell"]: repr(record) for record in others} == {
            c: repr(r) for c, r in records.items()
        }


def test_the_sample_is_bounded_and_cheap(tmp_path):
    cells = [
        small_cell({**UNIFORM, "n_features_to_select": k})
        for k in range(1, MAX_TRIALS + 3)
    ]
    store = TrialStore(tmp_path)
    run_quietly(cells, store)
    chosen = sample_records(SimpleNamespace(cells=cells), store)
    assert len(chosen) == MAX_TRIALS
    costs = (
        store.query(columns=["key", "cell", "task_cpu"])
        .to_pandas()
        .sort_values("key")
        .groupby("cell")
        .head(1)
    )
    assert (
        max(record["task_cpu"] for record in chosen)
        <= costs["task_cpu"].nlargest(3).min()
    )


@pytest.fixture(scope="module")
def contents():
    return Reference.read(REFERENCE)


@pytest.fixture(scope="module")
def changes(contents):
    """Of each artefact, what is older than the code: the exceptions of all tests below."""
    return contents.changes()


@pytest.fixture(scope="module")
def planned(contents):
    """The digest of each artefact's current plan, and its cells by their ids."""
    plans = {}
    for name in contents.artefacts:
        artefact = compose_artefact(name)
        cells = {cell.id: cell for cell in unique_cells(artefact.cells)}
        plans[name] = (Versions.of_artefact(artefact, ()).plan, cells)
    return plans


def is_planned(record, cells):
    """Tell whether a record's trial is one of these cells', and of no older algorithm. All keys would be a million."""
    return record["cell"] in cells and record["key"] in {
        key for *_, key in trials_of(cells[record["cell"]])
    }


def test_every_part_is_whole_small_and_names_no_place(contents):
    stated = [name for part in contents.artefacts.values() for name in part["files"]]
    paths = [
        path
        for kind in ("tables", "figures")
        for path in (REFERENCE / kind).rglob("*")
        if path.is_file()
    ]
    assert sorted(stated) == sorted(
        path.relative_to(REFERENCE).as_posix() for path in paths
    )
    for name, part in contents.artefacts.items():
        frame = pd.read_csv(
            REFERENCE / "tables" / f"{name}.csv", dtype={"row": str, "column": str}
        )
        assert set(frame["state"]) == {"complete"}
        assert f"tables/{name}.csv" in part["files"]
        assert min(part["trials"], part["cpu_hours"]) > 0
        assert (
            sum(environment_part["trials"] for environment_part in part["environments"])
            == part["trials"]
        )
        assert part["settings"] == []
    files = files_of(REFERENCE)
    # a repository is cloned with its whole history
    assert sum(map(len, files.values())) <= 30_000_000
    texts = {
        name: text
        for name, text in files.items()
        if name.endswith((".csv", ".md", ".json", ".svg"))
    }
    assert [
        name
        for name, text in texts.items()
        if re.search(rb"/(home|root|tmp|Users|work)/", text)
    ] == []


def test_the_readme_lists_what_is_older_than_the_code(contents):
    """An algorithm or rule that changes makes this fail until `provsel reference --texts` has said so."""
    assert (REFERENCE / README).read_text(encoding="utf-8") == readme(contents), (
        "run: provsel reference --texts"
    )


def test_the_letters_are_a_page_in_words_with_the_counts_of_the_readme(contents):
    """No name of ours is in them: of a place, an artefact, a setting, or an option with both."""
    letters = {path.parent.name: text for path, text in letters_of(contents).items()}
    assert {*letters} == {"paul2016", "giesen2013", "wang2018"}
    heading, _, *rows = re.findall(
        r"^\|.*\|$",
        (REPO / "README.md").read_text().partition("## What came out")[2],
        re.M,
    )
    readme = {
        row.split(" | ")[0].strip("| "): row.strip("| ").split(" | ")[1:]
        for row in rows[:3]
    }
    for paper, text in letters.items():
        path = REFERENCE / "readings" / paper / "letter.md"
        assert path.read_text(encoding="utf-8") == text, (
            "run: provsel reference --texts"
        )
        assert len(text.splitlines()) <= 45
        assert len(re.sub(r"\nNot final: .*\n", "", text).split()) <= 450
        assert (
            "We are the developers of provsel, an open-source framework that replicates papers"
            in text
        )
        assert text.index("We would like to ask you") < text.index(
            "Verdicts on your claims"
        )
        counts = {
            verdict.lower(): n
            for verdict, n in re.findall(r"\*\*([A-Z][a-z ]+): (\d+)\*\*", text)
        }
        others = re.search(r"\*\*Other verdicts:\*\* (.*)\.", text)[1].split(", ")
        counts |= dict(count.split(": ") for count in others)
        shown = dict(
            zip(heading.strip("| ").split(" | ")[1:], readme[paper], strict=True)
        )
        assert counts == {verdict: n for verdict, n in shown.items() if n != "0"}
        assert f"We tested {sum(map(int, counts.values()))} claims" in text
        ids = [place.id for place in paper_readings(paper).places if "-" in place.id]
        ids += [name for name in contents.artefacts if name.startswith(paper)]
        assert not re.search(rf"{'|'.join(map(re.escape, ids))}|\w+[-_.]\w+=", text)
    assert "no reading that we tried gives all four lists" in letters["paul2016"]


def test_a_change_of_the_code_is_noticed(contents, changes):
    """Of an algorithm; or of rules, claims, or cells, as older statements have them."""
    name = "paul2016/theorems"
    assert changes[name] == []
    part = contents.artefacts[name]
    # to compose the others takes seconds
    only = replace(contents, artefacts={name: part}, readings={})
    before = readme(only)
    for change, said in (
        (
            {"algorithm_versions": {"LeverageScoreSelector": 0}},
            "LeverageScoreSelector of version 0, now 1",
        ),
        ({"rules": 0}, "verdicts by version 0 of the rules, now "),
        ({"claims": "0"}, "claims or their tests have changed"),
        ({"plan": "0"}, "rows, columns, data or settings have changed"),
    ):
        older = replace(
            only, artefacts={name: {**part, "versions": part["versions"] | change}}
        )
        [change_said] = older.changes()[name]
        assert change_said.startswith(said)
        assert change_said not in before
        assert change_said in readme(older)


def test_every_claim_has_its_verdict_or_waits_in_the_readme(contents, changes):
    files = all_claim_files()
    with_verdict = set(contents.verdicts["id"])
    assert contents.verdicts["id"].is_unique
    as_the_code = [name for name, said in changes.items() if not said]
    assert {claim.id for claim in claims_about(as_the_code, files)} <= with_verdict
    absent = {claim.id for claim in claims_about(contents.absent(), files)}
    waiting = {*contents.without_verdict()}
    assert {
        claim.id for file in files for claim in file.claims
    } == with_verdict | waiting | absent
    assert not with_verdict & (waiting | absent)
    text = (REFERENCE / README).read_text(encoding="utf-8")
    assert all(name in text for name in (*waiting, *contents.absent()))


def test_a_claim_with_one_reading_says_why(contents):
    claims = contents.claims()
    for line in claims[
        (claims["kind"] == "paper") & (claims["counted"] == "one reading")
    ].to_dict("records"):
        assert paper_readings(line["paper"]).why_one_reading(line["id"]), line["id"]


def test_a_sample_of_its_trials_is_what_this_code_computes(
    tmp_path, capsys, contents, planned
):
    records = {
        record["key"]: record
        for record in whole_records(TrialStore(REFERENCE / "sample"))
    }
    owned = {key for part in contents.artefacts.values() for key in part["sample"]}
    assert owned == {*records}
    for name, part in contents.artefacts.items():
        if part["versions"]["plan"] == planned[name][0]:
            assert all(
                is_planned(records[key], planned[name][1]) for key in part["sample"]
            ), name
    cells = {
        cell_id: cell
        for _, cells_of_plan in planned.values()
        for cell_id, cell in cells_of_plan.items()
    }
    planned_now = [record for record in records.values() if is_planned(record, cells)]
    kinds = pd.Series(
        [
            f"{record['dataset']} {record['selector']} {json.loads(record['config'])['model']}"
            for record in planned_now
        ]
    )
    # one of each data set, selector and model
    records = [planned_now[k] for k in kinds.drop_duplicates().index]
    clusters = [
        record
        for record in records
        if "KMeans" in str(json.loads(record["config"])["model"])
    ]
    others = [record for record in records if record not in clusters]
    assert len(records) >= 20
    assert clusters
    assert audited(tmp_path / "same", others) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    assert f"of {len(others)} stored" in printed
    assert "skipped" not in printed
    # On another processor k-means may stop at another optimum: a last digit decides
    # where it starts.
    audited(tmp_path / "clusters", clusters)
    printed = capsys.readouterr().out
    assert f"of {len(clusters)} stored" in printed
    assert "features: stored" not in printed
    different = re.search(r"different\W+(\d+)", printed)
    assert int(different[1]) <= ("another environment" in printed)
    cheapest = min(
        (record for record in records if record["error"] is not None),
        key=lambda record: record["task_cpu"],
    )
    assert (
        audited(tmp_path / "other", [{**cheapest, "error": 1 - cheapest["error"]}]) != 0
    )


def audited(folder, records):
    TrialStore(folder / "store").append(records)
    return main(
        ["audit", "--results", str(folder), "--fraction", "1", "executor=serial"]
    )


def test_table_1_is_what_this_code_computes(tmp_path, contents, changes, planned):
    if (
        contents.artefacts["paul2016/table1"]["versions"]["plan"]
        != planned["paul2016/table1"][0]
    ):
        pytest.skip(
            f"the reference has another Table 1: {'; '.join(changes['paul2016/table1'])}"
        )
    assert (
        main(
            [
                "reproduce",
                "paul2016/table1",
                f"results={tmp_path}",
                "executor=loky",
                "executor.n_jobs=2",
            ]
        )
        == 0
    )
    paths = [
        folder / "tables" / "paul2016" / "table1.csv"
        for folder in (tmp_path, REFERENCE)
    ]
    if is_same_machine(contents.artefacts["paul2016/table1"]):
        assert paths[0].read_bytes() == paths[1].read_bytes()
    new, old = (pd.read_csv(path).set_index(["row", "column"]) for path in paths)
    assert list(new.index) == list(old.index)
    assert (new["n_trials"] == old["n_trials"]).all()
    assert moved(new, old) <= 1
    shifted = old.copy()
    some = shifted.index.get_level_values("column").str.endswith("error (%)") & (
        shifted["sd"] > 0
    )
    shifted.loc[some, "value"] = (
        shifted.loc[some, "value"].astype(float) + shifted.loc[some, "sd"]
    ).astype(str)
    assert moved(new, shifted) > 1


def moved(new, old):
    """Return by how much the errors differ at most, in what another machine's rounding may make of them."""
    errors = old.index.get_level_values("column").str.endswith("error (%)")
    assert errors.sum() == 36
    difference = (
        new["value"][errors].astype(float) - old["value"][errors].astype(float)
    ).abs()
    return (difference / (SAME_SD * old["sd"][errors] + 1e-9)).max()


def is_same_machine(part):
    if len(part["environments"]) != 1:
        return False
    stated = dict(part["environments"][0])
    del stated["trials"]
    return stated == versions(environment())
