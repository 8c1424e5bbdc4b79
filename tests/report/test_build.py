"""The report of a store that is partial, older, damaged or empty, and of a paper that fails; and provsel explain."""

import re
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pages_reader import Page

from made_paper import made_paper
from provlab.cli import main
from provlab.core.store import SCHEMA, TrialStore
from provlab.custody.site import build_report
from provlab.report.artefact import ArtefactPage
from provlab.report.templating import trace_href
from small_runs import SMALL

SETTINGS = [*SMALL, "dataset.n_features=600", "dataset.n_relevant=20"]
"""Few relevant features among many, so that random selection makes errors."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Reproduce the synthetic table once."""
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        made_paper(folder, patch)
        assert main(["reproduce", "made2000/table", *SETTINGS, "executor=serial"]) == 0
    return folder / "results"


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    return made_paper(tmp_path, monkeypatch)


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


@pytest.fixture
def computed(stored, results):
    """Results with the synthetic table."""
    return shutil.copytree(stored, results)


def pages(results, *names, overrides=SETTINGS):
    """Build the report and return the texts of some pages."""
    folder = build_report(results, overrides).parent
    return [Page(folder / name).text for name in names]


def rewrite(results, change):
    """Pass every file of the store through a function of tables, as an older version wrote it."""
    for path in sorted((results / "store").glob("*.parquet")):
        table = change(pq.read_table(path))
        path.unlink()
        pq.write_table(table, path.with_name(f"old-{path.stem[:8]}.parquet"))


def nulled(name):
    def change(table):
        field = SCHEMA.field(name)
        return table.set_column(
            table.column_names.index(name), field, pa.nulls(len(table), field.type)
        )

    return change


def test_a_complete_artefact_and_one_that_the_settings_do_not_fit(computed):
    table, text, claim = pages(
        computed,
        "artefacts/table.html",
        "artefacts/text.html",
        "claims/made2000.text.html",
    )
    assert "all 30 planned trials are stored" in table
    assert {path.suffix for path in (computed / "report/files/table").iterdir()} == {
        ".csv", ".md", ".tex", ".svg", ".json",
    }  # fmt: skip
    assert "spectral" in table
    assert "do not fit it: override 'dataset.n_samples=" in text
    assert "provsel reproduce text" in text
    assert "do not fit" in claim
    assert "With the settings protocol.repeats=1" in text


def test_an_empty_store(results):
    index, table, text, claim = pages(
        results, "index.html", "artefacts/table.html", "artefacts/text.html", "claims/made2000.text.html",
        overrides=["protocol.repeats=1"],
    )  # fmt: skip
    assert "Nothing is stored yet." in index
    assert "0 of 2" in index
    assert "None of 220 trials is stored." in table
    assert "provsel reproduce table protocol.repeats=1" in table
    assert text.index("provsel fetch techtc") < text.index("provsel reproduce text")
    assert "data missing: provsel fetch techtc" in claim


def test_a_partial_store_says_how_much_is_there(computed):
    rewrite(computed, lambda table: table.filter(pa.compute.less(table["fold"], 2)))
    index, table = pages(computed, "index.html", "artefacts/table.html")
    assert "partial, 66 %" in index
    assert (
        "20 of 30 trials are stored. The numbers below are from these trials." in table
    )
    assert "partial (2 of 3)" in table
    assert "PARTIAL: 6 of 6" in table
    nearly = ArtefactPage("p/a", "A", "partial", n_stored=999, n_planned=1000)
    assert nearly.state_text == "partial, 99 %"  # "100 %" is for what is complete


def test_a_store_of_an_older_schema(computed):
    names = [
        name
        for name in SCHEMA.names
        if name.startswith(("certificate_", "environment", "git_", "peak", "seed"))
    ]
    rewrite(computed, lambda table: table.drop_columns(names))
    table, paper = pages(computed, "artefacts/table.html", "papers/made2000.html")
    assert "all 30 planned trials are stored" in table
    assert "No stored trial carries a certificate." in paper
    traces = [Page(path).text for path in (computed / "report/trace/table").iterdir()]
    assert len(traces) == 6
    for text in traces:
        assert (
            "some records lack seed, environment, git_revision, because an older version wrote them"
            in text
        )
        assert "not recorded" in text


@pytest.mark.parametrize("name", ["error", "n_train", "fold", "split_seed", "cell"])
def test_records_with_a_missing_field(computed, name):
    rewrite(computed, nulled(name))
    table, environment = pages(computed, "artefacts/table.html", "environment.html")
    lost = name in ("cell", "fold")
    assert ("None of 30 trials is stored." in table) == lost
    assert ("30 records are ignored because they lack a key" in environment) == lost


def test_a_renderer_that_fails_is_said_on_its_page(computed, checkout):
    script = checkout / "table.py"
    script.write_text(script.read_text().replace("lines = ", "1 / 0\n    lines = "))
    [text] = pages(computed, "artefacts/table.html")
    assert (
        "The table or figure cannot be made from the stored trials: ZeroDivisionError: division by zero"
        in text
    )
    assert "all 30 planned trials are stored" in text
    assert text.count("BSS r=30") == 1  # numbers need no script
    script.write_text("nonsense")
    assert (
        "NameError: name 'nonsense' is not defined"
        in pages(computed, "artefacts/table.html")[0]
    )
    script.unlink()  # a table of rows and columns needs none
    assert "cannot be made" not in pages(computed, "artefacts/table.html")[0]


def test_settings_that_fit_nothing(results):
    with pytest.raises(
        ValueError,
        match=r"the settings do not fit made2000/table.*got protocol.nonsense=1\.",
    ):
        build_report(results, ["protocol.nonsense=1"])
    assert not (results / "report").exists()
    assert [path for path in results.iterdir() if path.name.startswith(".report")] == []


def test_a_new_report_takes_the_place_of_the_old_one(computed, checkout):
    index = build_report(computed, SETTINGS)
    for name in ("stale.html", "mine.html"):
        (index.parent / name).write_text("old")
    with (index.parent / ".written").open("a") as written:
        written.write("stale.html\n")  # as of an artefact that is no more
    build_report(computed, SETTINGS)
    assert not (index.parent / "stale.html").exists()
    assert (index.parent / "mine.html").read_text() == "old"
    before = index.read_bytes()
    claims = checkout / "claims.yaml"
    # no name for a page
    claims.write_text(claims.read_text().replace("id: made2000.zero", "id: index"))
    with pytest.raises(ValueError, match="index"):
        build_report(computed, SETTINGS)
    assert index.read_bytes() == before
    assert [
        path.name for path in computed.iterdir() if path.name.startswith(".report")
    ] == []


def test_paths_stay_out_of_the_report_and_control_characters_are_shown(
    computed, checkout
):
    (checkout / "NOTES.md").write_text("# a\x1b[31m\x9b\u202eb\n")
    folder = build_report(computed, SETTINGS).parent
    for path in folder.rglob("*.html"):
        text = path.read_text()
        assert str(computed.parent) not in re.sub(r"--results \S+", "", text), path
        assert not set("\x1b\x9b\u202e") & set(text), path
    assert r"a\x1b[31m\x9b\u202eb" in (folder / "papers/made2000.html").read_text()


def test_audits_are_shown(computed):
    assert (
        main(
            [
                "audit",
                "--fraction",
                "1",
                "--limit",
                "4",
                "--seed",
                "3",
                "executor=serial",
            ]
        )
        == 0
    )
    index, environment = pages(computed, "index.html", "environment.html")
    assert "4 of 30 trials recomputed, 4 identical bit for bit" in index
    assert "none different" in index
    assert "4 of 30 4 0" in environment
    traces = " ".join(
        path.read_text() for path in (computed / "report/trace/table").iterdir()
    )
    assert (
        sum(
            int(n)
            for n in re.findall(r"recomputed: (\d+) identical bit for bit", traces)
        )
        == 4
    )


def test_explain_prints_the_trace(computed, capsys):
    capsys.readouterr()
    assert (
        main(
            [
                "explain",
                "table",
                "--row",
                "Lvg",
                "--column",
                "r=30",
                "--trials",
                *SETTINGS,
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    stored = (
        TrialStore(computed / "store")
        .query(columns=["key", "selector", "seed"])
        .to_pylist()
    )
    trials = [line for line in stored if line["key"] in text]
    assert len(trials) == 6
    assert {line["selector"] for line in trials} == {"LeverageScoreSelector"}
    assert all(str(line["seed"]) in text for line in trials)
    frame = pd.read_csv("results/tables/made2000/table.csv").set_index(
        ["row", "column"]
    )
    assert f"{frame.loc[('Lvg', 'r=30'), 'value']:.2f}" in text
    for expected in (
        "6 of 6 trials",
        "git revision",
        "numpy=",
        "provsel run",
        "audit --cell",
        "split seeds",
    ):
        assert expected in text
    measured = re.search(r"error \(%\)\s*│ folds\s*│ 3 \s*│ ([\d.]+)", text)
    assert float(measured[1]) == pytest.approx(
        frame.loc[("Lvg", "r=30"), "value"], rel=1e-3
    )
    assert (
        main(
            [
                "explain",
                "made2000/table",
                "--row",
                "BSS",
                "--column",
                "r=30, error (%)",
                *SETTINGS,
            ]
        )
        == 0
    )
    assert "3 of 3 trials" in capsys.readouterr().out


def test_explain_of_nothing_stored_and_of_places(capsys):
    assert (
        main(["explain", "table", "--row", "BSS", "--column", "r=40", *SETTINGS]) == 0
    )
    text = capsys.readouterr().out
    assert "0 of 3 trials" in text
    assert "audit" not in text
    assert main(["explain", "table", "--row", "Lvg"]) == 0
    assert "rows: Lvg\n" in capsys.readouterr().out
    assert (
        main(
            [
                "explain",
                "text",
                "--row",
                "BSS",
                "--column",
                "r=30",
                "--dataset",
                "Exp_10341_10755",
            ]
        )
        == 0
    )
    assert "Exp_10341_10755" in capsys.readouterr().out  # without its data


def test_the_reference_stands_beside_what_is_stored(computed, results, capsys):
    """A stranger's clone has the reference and nothing stored: its numbers, verdicts and figures are there, marked."""
    assert main(["reference", "--artefact", "made2000/table", *SETTINGS]) == 0
    verdicts = pd.read_csv(results / "reference" / "verdicts.csv").set_index("id")[
        "verdict"
    ]
    own = pages(
        results, "artefacts/table.html", overrides=[*SETTINGS, "protocol.repeats=2"]
    )[0]
    capsys.readouterr()
    assert (
        main(["explain", "table", "--row", "Lvg", "--column", "r=30", *SETTINGS]) == 0
    )
    head, _, line = capsys.readouterr().out.splitlines()[2:5]
    assert "reference" in head
    # ours twice
    assert len(set(re.findall(r"\d+\.\d\d", line))) < len(
        re.findall(r"\d+\.\d\d", line)
    )
    [trace] = pages(
        results, trace_href("made2000/table", "Lvg", "r=30"), overrides=SETTINGS
    )
    assert "Printed Reference" in trace
    assert ", reference " in trace
    shutil.rmtree(results / "store")
    index, table, text, claim = pages(
        results,
        "index.html",
        "artefacts/table.html",
        "artefacts/text.html",
        "claims/made2000.zero.html",
        overrides=(),
    )
    assert "1 tables and figures at full size, from 30 trials" in index
    assert "0 of 2" in index
    assert "None of" in table
    assert "not from the store of this report" in table.lower()
    assert "Older than the code: made with " in table
    assert "Table 1 of the reference" not in table  # its title is the caption
    numbers = pd.read_csv(results / "reference" / "tables" / "made2000" / "table.csv")
    assert f"{numbers['value'].max():.4g}"[:4] in table
    assert (
        verdicts["made2000.zero"] in claim.partition("reference run")[2].split(";")[0]
    )
    assert "Reference results" not in text
    assert "Not from the store of this report" in own
    assert {
        path.name for path in (results / "report" / "reference" / "table").iterdir()
    } == {
        path.name
        for path in (results / "reference" / "figures" / "made2000").glob("table*.svg")
    }
