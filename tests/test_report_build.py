"""The report of a real store: complete, partial, empty, older, damaged, with missing fields; and provsel explain."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from made_paper import made_paper
from provlab.agreement import DIFFERENT
from provlab.audit import AGREEMENT, read_audits
from provlab.claims import load_claims
from provlab.cli import main
from provlab.site.build import build_report, collect_report
from provlab.site.collect_environment import audit_summary, environment_page
from provlab.site.differences import with_differences
from provlab.store import SCHEMA, StoreSnapshot, TrialStore
from small_runs import PROVSEL, SMALL, run_python

SETTINGS = [*SMALL, "dataset.n_features=600", "dataset.n_relevant=20"]
"""Few relevant features among many, so that random selection makes errors."""


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "no-data"))
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    return made_paper(tmp_path, monkeypatch)


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


KEPT = []


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory):
    """Have a place for what `compute` would compute again and again."""
    KEPT.append(tmp_path_factory.mktemp("kept") / "results")
    yield
    KEPT.clear()


def compute(*, changed=False):
    """Reproduce the synthetic table here: once, and then as a copy, unless a test has changed the paper."""
    [first] = KEPT
    if first.exists() and not changed and not Path("results").exists():
        shutil.copytree(first, "results")
        return
    assert main(["reproduce", "made2000/table", *SETTINGS, "executor=serial"]) == 0
    if not first.exists() and not changed:
        shutil.copytree("results", first)


def collected(results, overrides=SETTINGS):
    folder = results / "new"
    folder.mkdir(parents=True, exist_ok=True)
    return collect_report(results, folder, overrides)


def artefacts(report):
    [paper] = report.papers
    return {page.short: page for page in paper.artefacts}


def rewrite(results, change):
    """Pass every file of the store through a function of tables."""
    for path in sorted((results / "store").glob("*.parquet")):
        pq.write_table(change(pq.read_table(path)), path)


def nulled(*names):
    def change(table):
        for name in names:
            field = SCHEMA.field(name)
            table = table.set_column(table.column_names.index(name), field, pa.nulls(len(table), field.type))
        return table

    return change


def test_a_complete_artefact(results):
    compute()
    report = collected(results)
    [paper], pages = report.papers, artefacts(report)
    table = pages["table"]
    assert (table.state, table.command, table.problem) == ("complete", "", "")
    assert table.n_found == table.n_planned == report.n_trials == 2 * 3 + 4 * 2 * 3
    numbers = {(number.row, number.column): number for number in table.numbers}
    frame = pd.read_csv("results/tables/made2000/table.csv").set_index(["row", "column"])
    assert len(numbers) == table.n_numbers == 6
    for place, number in numbers.items():
        assert number.value == pytest.approx(frame.loc[place, "value"])
        assert number.trace.startswith("trace/table/")
    bss = numbers["BSS", "r=30"]
    assert bss.printed == "12.50"
    assert bss.difference == pytest.approx(bss.value - 12.5)
    # three folds of 20 test and 40 training rows
    scale = (1 / 3 + 20 / 40) ** 0.5
    assert bss.standard_errors == pytest.approx(bss.difference / (scale * (bss.sd**2 + 1.5**2) ** 0.5))
    assert [cell.trace[:12] for cell in table.tables[0].rows[0]] == ["", "trace/table/", "trace/table/"]
    assert {download.href.rsplit(".", 1)[1] for download in table.downloads} == {
        "csv", "md", "tex", "pdf", "svg", "json",
    }  # fmt: skip
    for download in table.downloads:
        assert (results / "new" / download.href).stat().st_size == download.size
    assert table.figures[0].svg == "files/table/table.svg"
    [counts] = [found for found in table.certificates if found.name == "spectral"]
    assert counts.held + dict(counts.counts).get("vacuous", 0) == 6
    assert pages["text"].state == "not run"
    assert "do not fit it: override 'dataset.n_samples=" in pages["text"].problem
    assert pages["text"].command == "provsel reproduce text"
    assert paper.title == "Made (2000)"
    assert "&lt;script&gt;" in paper.notes


def test_claims_have_their_parts_rule_and_sample(results):
    compute()
    claims = {claim.id: claim for claim in collected(results).papers[0].claims}
    assert claims["made2000.zero"].verdict == "replicated"
    zero = claims["made2000.zero"].parts
    assert [part.part for part in zero] == ["r=30", "r=40"]
    assert [len(part.sample) for part in zero] == [3, 3]
    assert zero[0].margins == (100.0,)
    folds = claims["made2000.folds"]
    [part] = folds.parts
    assert part.margins == (-1.0, 1.0)
    assert [name for name, _ in part.sample] == [f"synthetic, repeat 0, fold {k}" for k in range(3)]
    frame = pd.read_csv("results/tables/made2000/table.csv").set_index(["row", "column"])["value"]
    mean = sum(value for _, value in part.sample) / 3
    assert mean == pytest.approx(frame["Lvg", "r=30"] - frame["Random", "r=30"])
    assert "significantly lower" in folds.rule
    assert "decisions" not in folds.rule
    assert ("margin", "1.0") in folds.parameters
    assert folds.margin == "Nobody would see less."
    assert claims["made2000.zero"].margin == ""
    assert claims["made2000.text"].verdict == "not run"
    assert "do not fit" in claims["made2000.text"].reason


def test_traces_lead_to_the_trials(results):
    compute()
    traces = {(trace.row, trace.column): trace for trace in artefacts(collected(results))["table"].traces}
    assert len(traces) == 6
    trace = traces["Lvg", "r=40"]
    [cell] = trace.cells
    [stored] = {line["config"] for line in TrialStore(results / "store").query([cell.cell]).to_pylist()}
    assert json.loads(stored) == json.loads(json.dumps(cell.identity))
    assert (cell.n_found, cell.n_planned, len(cell.trials)) == (6, 6, 6)
    error = next(found for found in cell.distributions if found.name == "error")
    frame = pd.read_csv("results/tables/made2000/table.csv").set_index(["row", "column"])
    assert (error.n, error.by, error.unit) == (3, "fold", "%")
    assert error.mean == pytest.approx(frame.loc[("Lvg", "r=40"), "value"])
    assert error.sd == pytest.approx(frame.loc[("Lvg", "r=40"), "sd"])
    assert error.minimum <= error.lower <= error.median <= error.upper <= error.maximum
    stored = TrialStore(results / "store").query([cell.cell], ["key", "seed", "repeat", "fold", "draw"]).to_pylist()
    assert {trial.key: (trial.seed, trial.repeat, trial.fold, trial.draw) for trial in cell.trials} == {
        line["key"]: (line["seed"], line["repeat"], line["fold"], line["draw"]) for line in stored
    }
    assert sum(n for _, n in trace.environments) == 6
    assert all("numpy" in versions for versions, _ in trace.environments)


def test_the_command_of_a_trace_computes_the_cell_again(results):
    compute()
    trace = next(t for t in artefacts(collected(results))["table"].traces if (t.row, t.column) == ("Random", "r=30"))
    _, *arguments = shlex.split(trace.cells[0].command)
    done = run_python([*PROVSEL, *arguments, "executor=serial"], results.parent)
    assert done.returncode == 0, done.stderr
    again = TrialStore(results / "again" / "store").query(columns=["key", "cell", "error"]).to_pylist()
    stored = TrialStore(results / "store").query([trace.cells[0].cell], ["key", "cell", "error"]).to_pylist()
    assert again == stored
    assert len(again) == 6


def test_an_empty_store(results):
    report = collected(results, ["protocol.repeats=1"])
    assert report.n_trials == 0
    pages = artefacts(report)
    assert (pages["table"].state, pages["text"].state) == ("not run", "data missing")
    assert pages["text"].fetch == "provsel fetch techtc"
    assert "techtc" in pages["text"].problem
    assert pages["table"].command == "provsel reproduce table protocol.repeats=1"
    assert "data missing" in next(claim.reason for claim in report.papers[0].claims if claim.id == "made2000.text")
    assert pages["table"].tables == pages["table"].figures == ()
    assert {claim.verdict for claim in report.papers[0].claims} == {"not run"}
    index = build_report(results, SETTINGS, n_jobs=1)
    assert "provsel reproduce table1" in index.read_text()


def test_a_partial_store(results):
    compute()
    rewrite(results, lambda table: table.filter(pa.compute.less(table["fold"], 2)))
    page = artefacts(collected(results))["table"]
    assert page.state == "partial"
    assert (page.n_found, page.n_planned) == (20, 30)
    assert page.command.startswith("provsel reproduce table")
    assert {number.state for number in page.numbers} == {"partial (2 of 3)", "partial (4 of 6)"}
    assert "PARTIAL: 6 of 6" in page.tables[0].note


def test_a_store_of_an_older_schema(results):
    compute()
    names = [name for name in SCHEMA.names if name.startswith(("certificate_", "environment", "git_", "peak", "seed"))]
    rewrite(results, lambda table: table.drop_columns(names))
    index = build_report(results, SETTINGS, n_jobs=1)
    page = artefacts(collected(results))["table"]
    assert page.state == "complete"
    assert page.certificates == ()
    cell = page.traces[0].cells[0]
    assert cell.problems == ("some records do not say seed, environment, git_revision: an older version wrote them",)
    assert cell.trials[0].seed == -1
    assert page.traces[0].environments == (({}, cell.n_found),)
    environment = (index.parent / "environment.html").read_text()
    assert "older records" in environment
    assert "peak_memory" in environment


@pytest.mark.parametrize("name", ["error", "n_train", "fold", "split_seed", "config", "cell", "n_selected"])
def test_records_with_a_missing_field(results, name):
    compute()
    rewrite(results, nulled(name))
    index = build_report(results, SETTINGS, n_jobs=1)
    page = artefacts(collected(results))["table"]
    lost = name in ("cell", "fold")
    assert page.state == ("not run" if lost else "complete")
    if name == "error":
        assert {number.text for number in page.numbers} == {""}
    if name == "cell":
        assert "30 records without a key or a cell" in (index.parent / "environment.html").read_text()
    assert (index.parent / "artefacts" / "table.html").exists()


def test_a_renderer_that_fails_is_said_on_its_page(results, checkout):
    compute()
    script = checkout / "table.py"
    script.write_text(script.read_text().replace("rows = mean", "1 / 0\n    rows = mean"))
    page = artefacts(collected(results))["table"]
    assert page.problem == "The table or figure cannot be made from what is stored: ZeroDivisionError: division by zero"
    assert len(page.numbers) == 6
    index = build_report(results, SETTINGS, n_jobs=1)
    assert "ZeroDivisionError: division by zero" in (index.parent / "artefacts" / "table.html").read_text()
    script.write_text("nonsense")
    page = artefacts(collected(results))["table"]
    assert (page.state, page.problem) == ("broken", "NameError: name 'nonsense' is not defined")
    script.unlink()
    assert "expected its script" in artefacts(collected(results))["table"].problem


def test_settings_that_fit_nothing(results):
    with pytest.raises(ValueError, match=r"the settings do not fit made2000/table.*got protocol.nonsense=1\."):
        build_report(results, ["protocol.nonsense=1"], n_jobs=1)
    assert not (results / "report").exists()
    assert [path for path in results.iterdir() if path.name.startswith(".report")] == []


def test_a_new_report_takes_the_place_of_the_old_one(results, monkeypatch):
    compute()
    index = build_report(results, SETTINGS, n_jobs=1)
    for name in ("stale.html", "mine.html"):
        (index.parent / name).write_text("old")
    with (index.parent / ".written").open("a") as written:
        written.write("stale.html\n")  # as of an artefact that is no more
    build_report(results, SETTINGS, n_jobs=1)
    assert not (index.parent / "stale.html").exists()
    assert (index.parent / "mine.html").read_text() == "old"
    before = index.read_bytes()
    monkeypatch.setattr("provlab.site.build.write_report", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_report(results, SETTINGS, n_jobs=1)
    assert index.read_bytes() == before
    assert [path.name for path in results.iterdir() if path.name.startswith(".report")] == []


def test_processes_do_not_change_the_pages(results, monkeypatch):
    """Two artefacts of the real checkout, as worker processes know no other; claims of others are not run."""
    monkeypatch.undo()
    names = ["paul2016/table1", "giesen2013/theorem7"]
    monkeypatch.setattr("provlab.site.collect.artefact_names", lambda: names)

    def some_claims(path):
        file = load_claims(path)
        return replace(file, claims=tuple(claim for claim in file.claims if claim.evaluator.artefact in names))

    monkeypatch.setattr("provlab.claims.judged.load_claims", some_claims)
    monkeypatch.setenv("PROVSEL_DATA", str(results / "no-data"))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    monkeypatch.chdir(results.parent)
    overrides = ["protocol.repeats=1"]
    one, two = (collect_report(results, results / name, overrides, n) for name, n in (("a", 1), ("b", 2)))
    assert repr(one.papers) == repr(two.papers)  # nan is not equal to itself
    assert {page.state for paper in one.papers for page in paper.artefacts} == {"not run"}


def test_paths_stay_out_of_the_report(results):
    compute()
    index = build_report(results, SETTINGS, n_jobs=1)
    for page in index.parent.rglob("*.html"):
        assert str(results.parent) not in re.sub(r"--results \S+", "", page.read_text()), page


def test_a_ledger_is_shown(results):
    compute()
    assert main(["audit", "--fraction", "1", "--limit", "4", "--seed", "3", "executor=serial"]) == 0
    page = environment_page(results, StoreSnapshot.take(TrialStore(results / "store")))
    [audit] = page.audits
    assert (audit.n_drawn, audit.n_identical, audit.n_different) == (4, 4, 0)
    index = build_report(results, SETTINGS, n_jobs=1)
    assert audit.when[:10] in index.read_text()
    assert f"<td>{audit.processor}</td>" in (index.parent / "environment.html").read_text()
    traces = artefacts(collected(results))["table"].traces
    assert sum(sum(cell.audited) for trace in traces for cell in trace.cells) == 4
    pages = [path.read_text() for path in (index.parent / "trace" / "table").iterdir()]
    audited = [int(n) for page in pages for n in re.findall(r"computed again: (\d+) the same bits", page)]
    assert sum(audited) == 4


def test_an_audit_of_another_kind_says_how_many_digits_agree(results):
    compute()
    assert main(["audit", "--fraction", "1", "--limit", "4", "--seed", "3", "executor=serial"]) == 0
    [run] = read_audits(results)
    lines = [("key", 4, 4, 0, 0.0), ("error", 4, 2, 0, 3e-12), ("nmi", 4, 3, 0, 2e-15)]
    agreement = pd.DataFrame([("{}", 4, *line) for line in lines], columns=[*AGREEMENT])
    other = replace(run, agreement=agreement, environment='{"cpu": ["X86_V2", "X86_V3"]}')
    found = audit_summary(other)
    assert (found.digits, found.processor) == (11, "X86_V2, X86_V3")
    assert audit_summary(replace(other, trials=run.trials.assign(outcome=DIFFERENT))).digits is None
    assert audit_summary(run).digits is None  # all have the same bits


def test_differences_in_standard_errors():
    frame = pd.DataFrame(
        {
            "value": [10.0, 10.0, 5.0, 5.0, "a, b", None, 3.0],
            "sd": [3.0, 3.0, 0.0, 0.0, 1.0, 1.0, float("nan")],
            "printed_value": ["13", "13", "5", "6", "a, b", "1", "4"],
            "printed_sd": [4.0, None, None, None, 1.0, 1.0, None],
            "scale": [0.5] * 7,
        }
    )
    made = with_differences(frame)
    assert made["difference"].fillna(-99).tolist() == [-3.0, -3.0, 0.0, -1.0, -99, -99, -1.0]
    expected = [-3 / 2.5, -3 / (0.5 * 3 * 2**0.5), 0.0, None, None, None, None]
    found = made["standard_errors"].tolist()
    for value, wanted in zip(found, expected, strict=True):
        assert (value != value) if wanted is None else value == pytest.approx(wanted)


def test_explain_prints_the_trace(results, capsys):
    compute()
    capsys.readouterr()
    assert main(["explain", "table", "--row", "Lvg", "--column", "r=30", "--trials", *SETTINGS]) == 0
    text = capsys.readouterr().out
    [store] = [TrialStore(results / "store")]
    trials = [line for line in store.query(columns=["key", "selector", "seed"]).to_pylist() if line["key"] in text]
    assert len(trials) == 6
    assert {line["selector"] for line in trials} == {"LeverageScoreSelector"}
    assert all(str(line["seed"]) in text for line in trials)
    frame = pd.read_csv("results/tables/made2000/table.csv").set_index(["row", "column"])
    assert f"{frame.loc[('Lvg', 'r=30'), 'value']:.2f}" in text
    for expected in ("6 of 6 trials", "git revision", "numpy=", "provsel run", "audit --cell", "split seeds"):
        assert expected in text
    assert main(["explain", "made2000/table", "--row", "BSS", "--column", "r=30, error (%)", *SETTINGS]) == 0
    assert "3 of 3 trials" in capsys.readouterr().out


def test_explain_of_nothing_stored_and_of_places(results, capsys):
    assert main(["explain", "table", "--row", "BSS", "--column", "r=40", *SETTINGS]) == 0
    text = capsys.readouterr().out
    assert "0 of 3 trials" in text
    assert "audit" not in text
    assert main(["explain", "table"]) == 0
    assert "rows: BSS; Lvg; Random" in capsys.readouterr().out
    assert main(["explain", "table", "--row", "Lvg"]) == 0
    assert "rows: Lvg\n" in capsys.readouterr().out
    assert main(["explain", "table", "--row", "nope"]) == 2
    assert "--row: expected one of BSS; Lvg; Random of made2000/table, got 'nope'" in capsys.readouterr().err


def test_explain_needs_no_data(capsys):
    assert main(["explain", "text", "--row", "BSS", "--column", "r=30", "--dataset", "Exp_10341_10755"]) == 0
    assert "Exp_10341_10755" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], r"artefact: expected one of table, text, got 'nope'"),
        (["table", "--row", "X", "--column", "r=30"], r"--row: expected one of BSS; Lvg; Random of made2000/table"),
        (["table", "--row", "BSS", "--column", "q"], r"--column: expected one of r=30; r=40"),
        (["table", "--row", "BSS", "--column", "r=30", "--dataset", "d"], r"--dataset: expected one of synthetic"),
    ],
)
def test_explain_says_what_is_wrong(arguments, message, capsys):
    assert main(["explain", *arguments]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error)
    assert error.count("\n") == 1


def test_a_cell_in_several_columns_counts_once(results, checkout):
    for config in (results.parent / "experiments" / "made2000").glob("t*.yaml"):
        config.write_text(config.read_text().replace("Random: [selector=uniform]", "Full: [selector=full]"))
    claims = checkout / "claims.yaml"
    claims.write_text(claims.read_text().replace("Random", "Full"))
    compute(changed=True)
    report = collected(results)
    page = artefacts(report)["table"]
    assert page.n_found == page.n_planned == report.n_trials == 2 * 3 + 2 * 6 + 3
    assert len([trace for trace in page.traces if trace.row == "Full"]) == 2
