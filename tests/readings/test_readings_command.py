"""`provsel readings` on a paper with a known truth."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provlab.cli import main
from provlab.core.recipe import load_recipe
from provlab.core.store import TrialStore
from provlab.core.tables import write_frame
from provlab.verdicts.claims.provenance import Provenance
from provlab.verdicts.readings.packed import read_packed
from provlab.verdicts.readings.prints import printed_rows
from provlab.verdicts.readings.schema import Part, paper_readings
from provlab.verdicts.readings.study import (
    columns_to_read,
    readings_changes,
    stored_outcome,
    write_outcome,
)
from provlab.verdicts.readings.study import (
    multiverse_of as study_of,
)
from provsel.selectors import SVMRFESelector
from small_runs import REPO
from studies import READINGS, made_study

COMMAND = ["readings", "known2000"]
WRITTEN = ("universes.csv", "robustness.csv", "letter.md", "made.json")


def alone(place):
    return READINGS.replace(f"id: {place}\n", f"id: {place}\n    alone: true\n")


def plain(text):
    return re.sub(r"\s+", " ", text)


def read(path):
    return pd.read_csv(
        path, dtype={"C": str}, keep_default_na=False, na_values={"effect": [""]}
    )


def test_the_reading_that_turns_a_claim_is_found(study, capsys):
    robust = read(study / "robustness.csv").set_index("claim")
    better = robust.loc["known2000.better"].to_dict()
    expected = {"universes": 4, "run": 4, "default": "replicated", "turned_by": "method", "turns": 1.0, "same": 0.5,
                "flip": "method=a coin", "varied_by": "method"}  # fmt: skip
    assert better | expected == better
    assert float(better["variance"]) > 0.9
    universes = read(study / "universes.csv")
    # which a place that does not touch it does not multiply
    full = universes[universes["claim"] == "known2000.full"]
    assert len(full) == 4
    assert {*full["method"]} == {""}
    assert set(
        universes.loc[universes["claim"] == "known2000.better", "strictness"]
    ) == {""}
    # a reading of the test alone
    assert set(full.loc[full["strictness"] == "half", "verdict"]) == {"replicated"}
    assert set(full.loc[full["strictness"] == "none at all", "verdict"]) == {
        "contradicted"
    }
    assert main(["verify"]) == 0
    said = plain(capsys.readouterr().out)
    assert "2 depends on the reading" in said
    # of four readings two give it: the count must not head with it
    assert not re.search("[1-9] replicated", said)
    for words in (
        "replicated by default; 50% replicated",
        "most often changed by method",
        "most often changed by strictness",
    ):
        assert set(words.replace(";", "").split()) <= set(
            re.findall(r"[\w%]+", said)
        ), words
    verdicts = pd.read_csv("results/verdicts.csv").set_index("id")
    for claim, line in universes.groupby("claim").first().iterrows():
        assert line["verdict"] == verdicts.loc[claim, "verdict"]
        assert line["effect"] == pytest.approx(verdicts.loc[claim, "effect"], rel=1e-12)


def test_universes_share_cells_and_the_plan_says_what_is_missing_and_costs(
    study, capsys
):
    """RFE and Random in two columns, full data in one cell, under two C; a coin has the cells of Random."""
    planned = 10 * (2 * 2 + 2 * 2 + 2)
    for options, said in (
        ([], f"{planned} trials, {planned} stored, 0 to compute"),
        (
            ["protocol.repeats=3"],
            r"2 claims, 4 universes each, 8 verdicts.*200 to compute: about [\d.e-]+ CPU hours",
        ),
        (
            ["--results", "elsewhere"],
            "no trials similar to 100 of them are stored, so their cost is unknown",
        ),
        (["--claim", "full"], "1 claims"),
    ):
        assert main([*COMMAND, "--plan", *options]) == 0
        assert re.search(said, plain(capsys.readouterr().err)), options
    assert main([*COMMAND, "--claim", "nosuch", "--plan"]) == 2
    assert (
        "expected claims about known2000/table with nosuch" in capsys.readouterr().err
    )
    assert main([*COMMAND, "executor=serial"]) == 0
    assert f"{planned} were stored, 0 computed" in capsys.readouterr().err
    assert main([*COMMAND, "--render", "--results", "empty"]) == 0
    robust = read("empty/readings/known2000/robustness.csv")
    assert list(robust["run"]) == [0, 0]
    assert list(robust["default"]) == ["not run", "not run"]


def test_packed_trials_are_audited_and_the_reference_tells_what_audits_found(
    study, tmp_path, capsys
):
    """The packed trials are all that a clone has of these runs; one whose error was changed is found."""
    options = [
        "--fraction",
        "1",
        "--seed",
        "7",
        "executor=serial",
        "--results",
        str(tmp_path),
    ]
    assert main(["audit", "--readings", str(study), *options, "--strict"]) == 0
    assert re.search(r"identical │ 100 │ the same bits", plain(capsys.readouterr().out))
    changed = tmp_path / "known2000"
    shutil.copytree(study, changed)
    path = changed / "trials.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("error")
    errors = table["error"].to_pylist()
    table = table.set_column(place, "error", pa.array([errors[0] + 0.01, *errors[1:]]))
    pq.write_table(table, path)
    assert main(["audit", "--readings", str(changed), *options]) == 1
    assert re.search(r"error: stored \S+, now", plain(capsys.readouterr().out))
    assert main(["reference", "--audits", "--results", str(tmp_path)]) == 0
    audits = pd.read_csv(tmp_path / "reference" / "audits.csv")
    assert [*audits["trials_of"]] == ["known2000"] * 2
    counts = audits[["stored", "drawn", "identical", "different"]].to_numpy().tolist()
    assert counts == [[100, 100, 99, 1], [100, 100, 100, 0]]
    path.unlink()
    assert main(["audit", "--readings", str(changed)]) == 2
    assert (
        "expected packed trials that the readings of known2000 need, got none"
        in capsys.readouterr().err
    )
    assert main(["reference", "--audits", "--results", str(changed)]) == 2
    assert re.search(
        r"reference: expected runs of provsel audit in .*audits, got none",
        capsys.readouterr().err,
    )


def test_a_place_that_is_asked_alone_is_crossed_with_no_place_of_its_rows(
    tmp_path, monkeypatch
):
    """`method` touches RFE's row, `strictness` that of full data; both share rows with C, and not with each other."""
    room = made_study(tmp_path, monkeypatch)
    publish(room, [("RFE", "r=2", 1.0), ("Full", "r=2", 1.0)])
    universes = {}
    for name, readings in {
        "crossed": READINGS,
        "C": alone("C"),
        "method": alone("method"),
    }.items():
        (room / "readings.yaml").write_text(readings)
        study = study_of("known2000")
        of_claims = [
            *map(study.universes, study.claims),
            study.universes_of_print("known2000/table"),
        ]
        universes[name] = [[*of_claim] for of_claim in of_claims]
    METHOD, C, STRICT, UNIT = range(4)
    expected = {"C": lambda u: not u[C] or not (u[METHOD] or u[STRICT] or u[UNIT]),
                "method": lambda u: not u[METHOD] or not (u[C] or u[UNIT])}  # fmt: skip
    for name, kept in expected.items():
        assert universes[name] == [
            list(filter(kept, of_claim)) for of_claim in universes["crossed"]
        ]
        assert universes[name] != universes["crossed"]


def test_it_states_what_it_was_made_with(study):
    stated = json.loads((study / "made.json").read_text())
    provenance = Provenance.from_json(stated["known2000/table"], "made.json")
    assert list(stated) == ["known2000/table"]
    assert provenance.settings == ()
    assert provenance.trials == 100
    assert (
        provenance.versions.algorithm_versions["SVMRFESelector"]
        == SVMRFESelector.algorithm_version
    )
    assert readings_changes("known2000/table", provenance) == []
    assert readings_changes("known2000/figure", provenance) == ["no longer tested"]
    older = replace(provenance.versions, algorithm_versions={"SVMRFESelector": 0})
    [change] = readings_changes("known2000/table", replace(provenance, versions=older))
    assert (
        change == f"SVMRFESelector of version 0, now {SVMRFESelector.algorithm_version}"
    )


def test_the_letter_and_the_curves_are_of_the_outcome(project, study):
    assert main([*COMMAND, "--render", "--letter", "--figures"]) == 0
    letter = plain((study / "letter.md").read_text())
    assert letter.startswith("# To the authors of known2000 ")
    # no owner.toml is here
    assert "We use provsel, an open-source framework that replicates papers" in letter
    asking, _, telling = letter.partition("Verdicts on your claims.")
    assert re.findall(r"\d\. (.*?) \(We took \*(.*?)\*; 1 verdict depends on it\.\)", asking) == [
        ("What is RFE?", "elimination"), ("How many errors are too many?", "half"),
    ]  # fmt: skip
    assert (
        "We tested 2 claims (in our words). 4 open choices combine to at most 4 readings of a claim, 8 in all"
        in telling
    )
    assert (
        "**Depends on the reading: 2**, such as: RFE is better than random selection (Table 1). What"
        in telling
    )
    curve = (study / "curves" / "known2000.better.svg").read_text()
    assert "a coin" in curve
    assert "4 universes" in curve


def test_an_interval_without_an_end_comes_back_and_is_written_the_same_again(
    study, tmp_path
):
    outcome = stored_outcome("known2000", study.parents[1])
    outcome.universes.loc[0, ["low", "high"]] = [-np.inf, np.inf]
    folder = tmp_path / "readings" / "known2000"
    write_outcome(outcome, folder)
    written = (folder / "universes.csv").read_bytes()
    assert pd.read_csv(folder / "universes.csv")["low"].dtype == float
    again = stored_outcome("known2000", tmp_path)
    assert again.universes.loc[0, ["low", "high"]].tolist() == [-np.inf, np.inf]
    write_outcome(again, folder)
    assert (folder / "universes.csv").read_bytes() == written


def test_the_letter_asks_what_a_place_says_in_the_words_of_its_options(
    tmp_path, monkeypatch
):
    """A place that the paper states is not asked; one that is always asked stands without a number."""
    made_study(tmp_path, monkeypatch, READINGS.replace("id: method\n", "id: method\n    in_letter: never\n").replace(
        "id: strictness\n", "id: strictness\n    in_letter: always\n").replace(
        "half: []", "half: {words: every second}"))  # fmt: skip
    assert main([*COMMAND, "--letter", "executor=serial"]) == 0
    letter = (tmp_path / "results" / "readings" / "known2000" / "letter.md").read_text()
    asking = letter.partition("Verdicts on your claims.")[0]
    assert re.findall(r"^\d\. .*$", asking, re.M) == [
        "1. How many errors are too many? (We took *every second*.)"
    ]


def test_a_part_of_the_data_is_said(tmp_path, monkeypatch, capsys):
    many = f"+dataset.seed=[{','.join(['0'] * 60)}]"
    assert (
        Part("", (many, "protocol.repeats=1")).settings
        == "+dataset.seed=[0, ... 60 in all] protocol.repeats=1"
    )
    part = "part: {known2000/table: {why: A quick look., overrides: [protocol.n_splits=2]}}"
    made_study(tmp_path, monkeypatch, READINGS + part)
    assert main([*COMMAND, "--plan"]) == 0
    said = capsys.readouterr().err
    assert (
        "known2000/table: on part of the data (protocol.n_splits=2): A quick look."
        in said
    )
    assert "20 trials" in said
    assert main([*COMMAND, "--plan", "--whole"]) == 0
    said = capsys.readouterr().err
    assert "part of the data" not in said
    assert "100 trials" in said


# The print


def publish(room, lines):
    text = "".join(
        f"table,{row},{column},,{value:.4f},5\n" for row, column, value in lines
    )
    (room / "published.csv").write_text(
        f"artefact,row,column,dataset,printed_value,printed_sd\n{text}"
    )


def test_detective_work_finds_the_universe_that_was_printed(project, study, capsys):
    """Print the numbers of one universe: it is the nearest; how the table sums up is a reading as well."""
    room = project / "experiments" / "known2000"
    store = TrialStore(project / "results" / "store")
    frame = load_recipe("known2000/table").frame(
        study_of("known2000").artefact("known2000/table", (1, 0, 0, 1)), store
    )
    publish(
        room,
        frame.loc[frame["row"] != "Full", ["row", "column", "value"]].itertuples(
            index=False
        ),
    )
    try:
        assert main([*COMMAND, "--render"]) == 0
    finally:
        (room / "published.csv").unlink()
    table = read(study / "print-table.csv")
    best = table[table["rank"] == 1]
    assert {*best["method"]} == {"a coin"}
    assert {*best["table-unit"]} == {"shares"}
    assert best["exact"].iloc[0] == 4
    assert len(table) == 8
    assert table["rank"].is_monotonic_increasing
    assert "with method=a coin" in plain(capsys.readouterr().out)
    # other tests are about a paper that printed nothing
    (study / "print-table.csv").unlink()


def test_times_are_not_compared_with_the_print():
    """Whose numbers are another machine's."""
    assert printed_rows("wang2018/ofs-table3", paper_readings("wang2018")) == []
    assert printed_rows("paul2016/table4", paper_readings("paul2016")) == [
        "BSS (t=128)",
        "BSS (t=256)",
        "RRQR",
        "RFE",
        "LPSVM",
        "Full",
    ]


def test_a_print_that_a_likelihood_compares_is_not_compared_cell_by_cell(
    project, study
):
    room = project / "experiments" / "known2000"
    text = (room / "readings.yaml").read_text()
    publish(room, [("RFE", "r=4", 1.0)])
    assert study_of("known2000").printed == {"known2000/table": ["RFE"]}
    try:
        (room / "readings.yaml").write_text(f"{text}likelihood: [known2000/table]\n")
        assert study_of("known2000").printed == {}
        (room / "readings.yaml").write_text(f"{text}likelihood: [known2000/nosuch]\n")
        with pytest.raises(ValueError, match=r"likelihood: .*expected one of"):
            study_of("known2000")
    finally:
        (room / "readings.yaml").write_text(text)
        (room / "published.csv").unlink()


def test_packed_errors_are_joined_by_selection_and_model(study):
    """Of RFE with two C the models differ, and the selections as well; a random selection has both models."""
    trials = pd.read_parquet(study / "trials.parquet")
    assert {*trials["model"].map(lambda text: json.loads(text)["arguments"]["C"])} == {
        1,
        2,
    }
    errors = trials.pivot(
        index=["selector", "selection", "repeat", "fold", "draw"],
        columns="model",
        values="error",
    )
    n_models = errors.notna().sum(axis=1).groupby("selector").unique().map(list)
    assert {json.loads(selector)["name"]: n for selector, n in n_models.items()} == {
        "SVMRFESelector": [1], "UniformSelector": [2], "FullDataSelector": [2]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: pa.table({"cell": ["a"]}), "got none"),
        (
            lambda table: table.set_column(
                *column(table, "error"), pa.array([-5.0] * 100)
            ),
            "error: expected .*got -5",
        ),
        (
            lambda table: table.set_column(
                *column(table, "fold"), pa.array(["x"] * 100)
            ),
            "a Parquet file that provsel",
        ),
        (
            lambda table: None,
            "a Parquet file that provsel readings wrote, got .*; run provsel readings again",
        ),
    ],
)
def test_packed_trials_that_nobody_can_have_written(study, tmp_path, change, message):
    folder = tmp_path / "known2000"
    folder.mkdir()
    table = change(pq.read_table(study / "trials.parquet"))
    if table is None:
        (folder / "trials.parquet").write_text("no Parquet")
    else:
        pq.write_table(table, folder / "trials.parquet")
    universes = study_of("known2000")
    if message == "got none":
        assert (
            len(read_packed(folder, universes.cells, columns_to_read(universes))) == 0
        )
        return
    with pytest.raises(ValueError, match=message):
        read_packed(folder, universes.cells)


def column(table, name):
    return table.column_names.index(name), name


def test_the_reference_has_packed_trials_of_the_readings_as_they_are():
    universes = study_of("giesen2013")
    trials = read_packed(
        REPO / "results/reference/readings/giesen2013",
        universes.cells,
        columns_to_read(universes),
    )
    assert len(trials) == sum(cell.n_trials for cell in universes.cells)


def test_the_print_is_compared_with_the_columns_that_a_reading_takes(
    tmp_path, monkeypatch
):
    """Print one column's numbers in both, as of a table whose column is open: the reading that takes it is found.

    A place that changes only how a claim is tested is no choice about the print.
    """
    size = "{four: [], six: {parameters: {columns: [r=6], also: [r=4]}}}"
    place = f"  - {{id: size, asks: At which size?, where: x, touches: {{known2000/table: all}}, options: {size}}}"
    room = made_study(tmp_path, monkeypatch, f"{READINGS}{place}\n")
    assert main(["reproduce", "known2000/table", "executor=serial"]) == 0
    table = pd.read_csv("results/tables/known2000/table.csv")
    of_six = table[table["column"] == "r=6"].set_index("row")["value"].astype(float)
    publish(
        room,
        [
            (row, column, of_six[row])
            for row in of_six.index
            for column in ("r=4", "r=6")
        ],
    )
    assert main([*COMMAND, "executor=serial"]) == 0
    compared = read("results/readings/known2000/print-table.csv")
    assert "strictness" not in compared.columns
    assert set(compared["printed"]) == {3}
    best = compared[compared["rank"] == 1]
    assert set(best["size"]) == {"six"}
    assert set(best["exact"]) == {3}


# Mistakes


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[selector=uniform]", "[selector.nu=3]", "the row has no such setting"),
        (
            "[selector=uniform]",
            "[selector.n_features_to_select=3]",
            "each column sets selector.n_features_to_select",
        ),
        (
            "[selector=uniform]",
            "[selector.strange]",
            "expected overrides such as selector.step=0.5",
        ),
        (
            "elimination: []",
            "elimination: [selector.step=0.5]",
            "the default must change nothing",
        ),
        (
            "      a coin: [selector=uniform]\n",
            "",
            "options: expected two or more options, the default first, got",
        ),
        (
            "table: [RFE]}",
            "table: [SVM]}",
            "expected all or a list of rows of known2000/table .RFE; Random; Full.",
        ),
        (
            "touches: {known2000/table: [RFE]}",
            "touches: {known2000/figure: all}",
            "artefact: expected one of",
        ),
        (
            "id: method",
            "id: verdict",
            "id: expected a name other than claim, verdict, effect",
        ),
        (
            "id: method",
            "id: C",
            "places: C: id: expected a name other than .*, C, got 'C'",
        ),
        (
            "{at_most: -1.0}",
            "{at_most: none}",
            "parameters: at_most: expected a number, got 'none'",
        ),
    ],
)
def test_bad_readings_are_one_message(tmp_path, monkeypatch, old, new, message):
    assert old in READINGS
    made_study(tmp_path, monkeypatch, READINGS.replace(old, new))
    with pytest.raises(ValueError, match=message):
        study_of("known2000").cells  # noqa: B018


def test_a_paper_without_readings(tmp_path, monkeypatch, capsys):
    room = made_study(tmp_path, monkeypatch)
    (room / "readings.yaml").unlink()
    assert main(COMMAND) == 2
    assert (
        "expected a paper with a readings.yaml, one of none, got 'known2000'"
        in plain(capsys.readouterr().err)
    )


# Trials and verdicts from elsewhere


def test_packed_verdicts_are_read_where_there_are_no_others(study, tmp_path):
    folder = tmp_path / "readings" / "known2000"
    shutil.copytree(study, folder)
    universes = stored_outcome("known2000", tmp_path).universes
    write_frame(universes.head(4), folder / "universes.csv.gz")
    pd.testing.assert_frame_equal(
        stored_outcome("known2000", tmp_path).universes, universes
    )
    (folder / "universes.csv").unlink()
    pd.testing.assert_frame_equal(
        stored_outcome("known2000", tmp_path).universes, universes.head(4)
    )


def test_packed_trials_take_the_place_of_the_store(
    study, tmp_path, capsys, monkeypatch
):
    names = ("universes.csv", "robustness.csv")
    assert main([*COMMAND, "--render"]) == 0
    capsys.readouterr()
    folder = tmp_path / "readings" / "known2000"
    elsewhere = [*COMMAND, "--results", str(tmp_path)]
    written = []
    for _ in range(2):  # another time adds nothing
        assert main([*elsewhere, "--packed", "results", "executor=serial"]) == 0
        said = capsys.readouterr().err
        assert "100 trials, 100 stored, 0 to compute" in said
        assert "100 trials: 100 were stored, 0 computed" in said
        written.append((folder / "trials.parquet").read_bytes())
    assert written[0] == written[1] == (study / "trials.parquet").read_bytes()
    assert not (tmp_path / "store").exists()
    assert [(folder / name).read_bytes() for name in names] == [
        (study / name).read_bytes() for name in names
    ]
    ours, theirs = (
        json.loads((place / "made.json").read_text())["known2000/table"]
        for place in (folder, study)
    )
    assert ours.pop("cpu_hours") == pytest.approx(theirs.pop("cpu_hours"), abs=1e-4)
    assert ours == theirs
    assert main([*elsewhere, "--plan"]) == 0  # once taken they are its own
    assert "100 stored, 0 to compute" in capsys.readouterr().err
    assert main([*COMMAND, "--plan", "--packed", str(tmp_path / "nowhere")]) == 2
    assert "expected packed trials of known2000, found no" in plain(
        capsys.readouterr().err
    )
    # another version of a method is computed; of RFE's block the coin is Random, too,
    # and has its numbers from there
    monkeypatch.setattr(SVMRFESelector, "algorithm_version", 99)
    assert (
        main(
            [
                *COMMAND,
                "--packed",
                "results",
                "--results",
                str(tmp_path / "new"),
                "executor=serial",
            ]
        )
        == 0
    )
    assert "100 trials: 60 were stored, 40 computed" in capsys.readouterr().err


def test_packed_trials_have_what_a_claim_reads_of_another_row(tmp_path, monkeypatch):
    """By default no claim reads how many features Full keeps."""
    room = made_study(tmp_path, monkeypatch)
    counted = "test: count_near, parameters: {row: Random, columns: [r=4], near: 4, within: 1, over: folds}"
    claim = f"{{id: known2000.count, where: Table 1, claim: Four are kept., artefact: known2000/table, {counted}}}"
    (room / "claims.yaml").write_text(
        f"{(room / 'claims.yaml').read_text()}  - {claim}\n"
    )
    options = "{Random: [], Full: {parameters: {row: Full}}}"
    place = f"{{id: counted, asks: Which?, where: x, touches: {{known2000/table: [Random]}}, options: {options}}}"
    (room / "readings.yaml").write_text(f"{READINGS}  - {place}\n")
    assert main([*COMMAND, "executor=serial"]) == 0
    assert (
        main([*COMMAND, "--render", "--packed", "results", "--results", "elsewhere"])
        == 0
    )
    packed, stored = (
        tmp_path / place / "readings" / "known2000" / "universes.csv"
        for place in ("elsewhere", "results")
    )
    assert packed.read_bytes() == stored.read_bytes()
    of_full = read(stored)[
        lambda lines: (
            (lines["claim"] == "known2000.count") & (lines["counted"] == "Full")
        )
    ]
    assert {*of_full["verdict"]} == {"contradicted"}


def test_packed_trials_are_read_where_a_claim_is_about_a_theorem_that_none_of_them_has(
    tmp_path, monkeypatch, capsys
):
    """It is the project's own, of an artefact without readings."""
    room = made_study(tmp_path, monkeypatch)
    theorem = "class Few(Theorem):\n    name, source = 'few', 'made'\n    def measure(trial): return Few('held')\n"
    (tmp_path / "own.py").write_text(
        f"from provsel.certificates import Theorem\n{theorem}"
    )
    with (tmp_path / "provsel.toml").open("a") as file:
        file.write('trust = ["own"]\n')
    measured = "protocol: {measures: [{_target_: own.Few}], "
    (room / "other.yaml").write_text(
        (room / "table.yaml").read_text().replace("protocol: {", measured)
    )
    claim = "{id: known2000.few, where: Theorem 1, claim: Few are kept., artefact: known2000/other, "
    claim += (
        "test: certificates, parameters: {row: Full, columns: [r=4], quantity: few}}"
    )
    (room / "claims.yaml").write_text(
        f"{(room / 'claims.yaml').read_text()}  - {claim}\n"
    )
    assert main([*COMMAND, "executor=serial"]) == 0
    capsys.readouterr()
    assert (
        main([*COMMAND, "--plan", "--packed", "results", "--results", "elsewhere"]) == 0
    )
    assert "100 trials, 100 stored, 0 to compute" in capsys.readouterr().err


def test_a_universe_is_judged_when_all_its_trials_are_there(study, tmp_path, capsys):
    """Without errors of RFE under C = 2 half of the universes have none."""
    trials = TrialStore(study.parents[1] / "store").query()
    lacking = [line["selector"] == "SVMRFESelector" and '"C":2' in line["config"] and line["fold"] == 3
               for line in trials.to_pylist()]  # fmt: skip
    assert sum(lacking) == 2
    TrialStore(tmp_path / "store").add(
        trials.filter([not is_lacking for is_lacking in lacking])
    )
    assert main([*COMMAND, "--render", "--letter", "--results", str(tmp_path)]) == 0
    robust = read(tmp_path / "readings" / "known2000" / "robustness.csv").set_index(
        "claim"
    )
    assert robust.loc["known2000.better", ["universes", "run"]].tolist() == [4, 3]
    assert robust.loc["known2000.full", ["universes", "run"]].tolist() == [4, 4]
    universes = read(tmp_path / "readings" / "known2000" / "universes.csv")
    [not_run] = universes[universes["verdict"] == "not run"].to_dict("records")
    assert not_run["method"] == "elimination"
    assert not_run["C"] == "2"
    assert "3 of 4" in plain(capsys.readouterr().out)
    assert "readings of a claim, 7 of 8 in all" in plain(
        (tmp_path / "readings" / "known2000" / "letter.md").read_text()
    )


# Two artefacts, and the reference


@pytest.fixture
def two_artefacts(tmp_path, monkeypatch):
    """The study with its table twice, and claims about each."""
    room = made_study(tmp_path, monkeypatch)
    (room / "other.yaml").write_text((room / "table.yaml").read_text())
    (room / "other.py").write_text(
        (room / "table.py").read_text().replace("/table", "/other")
    )
    head, claims = (room / "claims.yaml").read_text().split("claims:\n")
    more = claims.replace("known2000.", "known2000.other.").replace("/table", "/other")
    (room / "claims.yaml").write_text(f"{head}claims:\n{claims}{more}")
    touches = re.sub(
        r"\{known2000/table: (.*)\}",
        r"{known2000/table: \1, known2000/other: \1}",
        READINGS,
    )
    (room / "readings.yaml").write_text(touches)
    return tmp_path / "results" / "readings" / "known2000"


def test_parts_that_are_asked_after_each_other_are_as_all_at_once(
    two_artefacts, capsys, caplog
):
    for artefact in ("other", "table"):
        assert (
            main([*COMMAND, "--artefact", artefact, "--letter", "executor=serial"]) == 0
        )
        assert ("known2000.other.better" in capsys.readouterr().out) == (
            artefact == "other"
        )
    one_by_one = {name: (two_artefacts / name).read_text() for name in WRITTEN}
    assert {*json.loads(one_by_one["made.json"])} == {
        "known2000/table",
        "known2000/other",
    }
    for name in WRITTEN:
        (two_artefacts / name).unlink()
    assert main([*COMMAND, "--render", "--letter"]) == 0
    assert {name: (two_artefacts / name).read_text() for name in WRITTEN} == one_by_one
    capsys.readouterr()
    assert main([*COMMAND, "--claim", "other.better", "--letter", "--render"]) == 0
    assert "known2000.full" not in capsys.readouterr().out
    assert {name: (two_artefacts / name).read_text() for name in WRITTEN} == one_by_one
    # what no longer fits the readings is not kept
    (two_artefacts / "universes.csv").write_text(
        one_by_one["universes.csv"].replace("a coin", "a die")
    )
    assert main([*COMMAND, "--artefact", "table", "--render"]) == 0
    assert re.search(
        "readings of known2000 about other claims were discarded.*'a die'", caplog.text
    )
    assert {*read(two_artefacts / "universes.csv")["claim"]} == {
        "known2000.better",
        "known2000.full",
    }


def test_the_reference_has_the_readings_and_a_letter_on_what_is_as_the_code(
    two_artefacts,
):
    results = two_artefacts.parents[1]
    reference = two_artefacts.parents[1] / "reference"
    letter = reference / "readings" / "known2000" / "letter.md"
    assert main([*COMMAND, "--letter", "executor=serial"]) == 0
    for artefact in ("table", "other"):
        assert main(["reproduce", f"known2000/{artefact}", "executor=serial"]) == 0
    assert main(["reference"]) == 0
    assert letter.read_bytes() == (two_artefacts / "letter.md").read_bytes()
    packed = stored_outcome("known2000", reference).universes
    pd.testing.assert_frame_equal(
        packed, stored_outcome("known2000", results).universes, rtol=1e-5
    )
    # other data since
    config = results.parent / "experiments" / "known2000" / "other.yaml"
    config.write_text(config.read_text().replace("n_samples: 100", "n_samples: 90"))
    assert main(["reference", "--artefact", "table"]) == 0
    text = letter.read_text()
    assert "We tested 4 claims" in text
    assert (
        "Not final: we are recomputing the readings of Table 1, and their verdicts may change."
        in text
    )
    # without new readings as well, as the counts of the README change
    letter.unlink()
    shutil.move(results / "readings", results / "later")
    assert main(["reference", "--artefact", "table"]) == 0
    assert letter.read_text() == text
    assert len(stored_outcome("known2000", reference).universes) == len(packed)


def test_what_is_left_out_of_the_data_is_not_waited_for(tmp_path, monkeypatch):
    """A claim on data that the part has not has no verdict, but everything that was planned of it is there."""
    made_study(tmp_path, monkeypatch)
    assert main([*COMMAND, "executor=serial"]) == 0
    universes = tmp_path / "results" / "readings" / "known2000" / "universes.csv"
    lines = pd.read_csv(universes, dtype=str, keep_default_na=False)
    full = lines["claim"] == "known2000.full"
    for state, waits in (("complete", False), ("not run", True)):
        lines.loc[full, ["verdict", "state"]] = "not run", state
        lines.to_csv(universes, index=False)
        assert main(["reference", "--readings"]) == 0
        text = (tmp_path / "results" / "reference" / "README.md").read_text()
        assert (f"so far {sum(~full)} verdicts of {len(lines)}" in text) == waits


def test_what_only_claims_without_readings_are_about_is_not_packed():
    """No reading touches the artefact that is asked for the ratio of radius to margin."""
    columns = columns_to_read(study_of("paul2016", artefacts=["table4"]))
    assert "certificate_radius" in columns
    assert "certificate_radius_ratio" not in columns
