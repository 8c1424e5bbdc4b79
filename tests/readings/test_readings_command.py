"""`provsel readings` on a paper with a known truth."""

import json
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from studies import READINGS, made_study

from provlab.claims.provenance import Provenance
from provlab.cli import main
from provlab.readings import readings_versions, stored_outcome
from provlab.readings.letter import write_letter
from provlab.readings.prints import printed_rows
from provlab.readings.robustness import stored_shares
from provlab.readings.schema import Part
from provlab.readings.stored import write_outcome
from provlab.readings.study import asked
from provlab.recipe import load_recipe
from provlab.reference import Reference
from provlab.store import TrialStore
from provlab.tables import write_frame
from provsel.selectors import SVMRFESelector
from small_runs import REPO


def plain(text):
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Run the study once."""
    here = tmp_path_factory.mktemp("known")
    with pytest.MonkeyPatch.context() as patch:
        made_study(here, patch)
        assert main(["readings", "known2000", "executor=serial"]) == 0
    return here


@pytest.fixture
def study(project, monkeypatch):
    monkeypatch.setenv("PROVSEL_PROJECT", str(project))
    monkeypatch.chdir(project)
    return project / "results" / "readings" / "known2000"


def read(path):
    return pd.read_csv(path, dtype={"C": str}, keep_default_na=False, na_values={"effect": [""]})


def test_the_reading_that_turns_a_claim_is_found(study, capsys):
    robust = read(study / "robustness.csv").set_index("claim")
    better = robust.loc["known2000.better"]
    assert (better["universes"], better["run"], better["default"]) == (4, 4, "replicated")
    assert (better["turned_by"], better["turns"], better["same"]) == ("method", 1.0, 0.5)
    assert (better["flip"], better["varied_by"]) == ("method=a coin", "method")
    assert float(better["variance"]) > 0.9
    universes = read(study / "universes.csv")
    full = universes[universes["claim"] == "known2000.full"]  # which a place that does not touch it does not multiply
    assert (len(full), {*full["method"]}) == (4, {""})
    assert set(universes.loc[universes["claim"] == "known2000.better", "strictness"]) == {""}
    assert set(full.loc[full["strictness"] == "half", "verdict"]) == {"replicated"}  # a reading of the test alone
    assert set(full.loc[full["strictness"] == "none at all", "verdict"]) == {"contradicted"}
    assert main(["verify"]) == 0
    assert "replicated in 50% of 4" in plain(capsys.readouterr().out)
    verdicts = pd.read_csv("results/verdicts.csv").set_index("id")
    for claim, line in universes.groupby("claim").first().iterrows():
        assert line["verdict"] == verdicts.loc[claim, "verdict"]
        assert line["effect"] == pytest.approx(verdicts.loc[claim, "effect"], rel=1e-12)


def test_universes_share_cells_and_resume(study, capsys):
    """A coin has the cells of Random, and full data the same in both columns."""
    assert main(["readings", "known2000", "--plan"]) == 0
    said = capsys.readouterr().err
    planned = int(re.search(r"(\d+) trials, (\d+) stored, 0 to compute", said)[1])
    assert planned == 10 * (2 * 2 + 2 * 2 + 2)  # RFE, Random in two columns, full data; under two C
    assert main(["readings", "known2000", "executor=serial"]) == 0
    assert f"{planned} were stored, 0 computed" in capsys.readouterr().err


def test_it_states_what_it_was_made_with(study, monkeypatch):
    stated = json.loads((study / "made.json").read_text())
    made = Provenance.from_json(stated["known2000/table"], "made.json")
    assert (list(stated), made.settings) == (["known2000/table"], ())
    assert made.trials == 100, made
    assert made.versions.algorithm_versions["SVMRFESelector"] == SVMRFESelector.algorithm_version
    now = readings_versions("known2000/table")
    assert made.changes(now) == []
    assert made.changes(readings_versions("known2000/table", ["protocol.repeats=3"])) != []
    monkeypatch.setattr(SVMRFESelector, "algorithm_version", 99)
    assert made.changes(readings_versions("known2000/table")) == ["SVMRFESelector of version 1, now 99"]


def test_the_plan_estimates_the_cost_by_what_similar_trials_have_cost(study, capsys):
    assert main(["readings", "known2000", "--plan", "protocol.repeats=3"]) == 0
    said = capsys.readouterr().err
    assert "2 claims, 4 universes each, 8 verdicts" in said
    assert re.search(r"300 trials, 100 stored, 200 to compute: about [\d.e-]+ CPU hours", said)
    assert main(["readings", "known2000", "--plan", "--results", "elsewhere"]) == 0
    assert "nothing like 100 of them is stored, so their cost is not known" in capsys.readouterr().err


def test_nothing_stored_is_no_verdict(study):
    assert main(["readings", "known2000", "--render", "--results", "empty"]) == 0
    robust = read("empty/readings/known2000/robustness.csv")
    assert (list(robust["run"]), list(robust["default"])) == ([0, 0], ["not run", "not run"])


def test_claims_can_be_chosen(study, capsys):
    assert main(["readings", "known2000", "--claim", "full", "--plan"]) == 0
    assert "1 claims" in capsys.readouterr().err
    assert main(["readings", "known2000", "--claim", "nosuch", "--plan"]) == 2
    assert "expected claims about known2000/table with nosuch" in capsys.readouterr().err


def test_the_letter_and_the_curves_are_of_the_outcome(project, study, tmp_path):
    assert main(["readings", "known2000", "--render", "--letter", "--figures"]) == 0
    letter = plain((study / "letter.md").read_text())
    assert letter.startswith("# To the authors of known2000 ")
    assert "4 open places, 2 of your claims, 8 verdicts" in letter
    assert "with method=a coin it is" in letter
    asking = letter.partition("What we would ask you.")[2]
    assert "What is RFE?" in asking
    assert "How many errors are too many?" in asking
    assert "Less depends on" not in asking
    curve = (study / "curves" / "known2000.better.svg").read_text()
    assert "a coin" in curve
    assert "4 universes" in curve
    notes, outcome = project / "experiments" / "known2000" / "NOTES.md", stored_outcome("known2000", study.parents[1])
    notes.write_text("# Notes on Known (2000)\n\nText.\n")
    assert write_letter(outcome, tmp_path / "letter.md").startswith("# To the authors of Known (2000)\n")
    notes.unlink()


def test_a_long_letter_lists_some_claims_and_names_the_places_that_turn_fewest(tmp_path):
    outcome = stored_outcome("paul2016", REPO / "results" / "reference")
    letter = write_letter(outcome, tmp_path / "letter.md")
    assert re.search(r"\n- and \d+ more\n", letter)
    assert re.search(r"\n- Less depends on [\w-]+ \(\d+\), ", letter)
    assert "\n- paul2016/table1: of " in letter
    assert "paul2016/table1: of " not in write_letter(outcome.without(["paul2016/table1"]), tmp_path / "letter.md")


def test_a_claim_of_one_reading_holds_under_no_other(study, tmp_path):
    stored = stored_outcome("known2000", study.parents[1])
    better = stored.universes["claim"] == "known2000.better"
    outcome = replace(stored, universes=pd.concat([stored.universes[better].head(1), stored.universes[~better]]))
    letter = plain(write_letter(outcome, tmp_path / "letter.md"))
    assert "1 of your claims" in letter
    assert "Of what has one reading only, as it names one or is open in no place: 1 replicated." in letter
    write_outcome(outcome, tmp_path / "readings" / "known2000")
    assert list(stored_shares(tmp_path)) == ["known2000.full"]
    (tmp_path / "readings" / "known2000" / "robustness.csv").write_text("claim,default\na,b\n")
    assert stored_shares(tmp_path) == {}  # with a warning: verify does without


def test_a_part_of_the_data_is_said(tmp_path, monkeypatch, capsys):
    many = f"+dataset.seed=[{','.join(['0'] * 60)}]"
    part = "part: {known2000/table: {why: A quick look., overrides: [protocol.n_splits=2]}}"
    made_study(tmp_path, monkeypatch, READINGS + part)
    assert main(["readings", "known2000", "--plan"]) == 0
    said = capsys.readouterr().err
    assert "known2000/table: on a part of the data (protocol.n_splits=2): A quick look." in said
    assert Part("", (many, "protocol.repeats=1")).settings == "+dataset.seed=[0, ... 60 in all] protocol.repeats=1"
    assert "20 trials" in said
    assert main(["readings", "known2000", "--plan", "--whole"]) == 0
    said = capsys.readouterr().err
    assert "part of the data" not in said
    assert "100 trials" in said


def test_detective_work_finds_the_universe_that_was_printed(project, study, capsys):
    """Print the numbers of one universe: it is the nearest; how the table sums up is a reading as well."""
    room = project / "experiments" / "known2000"
    store = TrialStore(project / "results" / "store")
    universes = asked("known2000")
    found = load_recipe("known2000/table").frame(universes.artefact("known2000/table", (1, 0, 0, 1)), store)
    lines = [
        f"table,{line['row']},{line['column']},,{line['value']:.4f},5"
        for line in found.to_dict("records")
        if line["row"] != "Full"
    ]
    lines.insert(0, "artefact,row,column,dataset,printed_value,printed_sd")
    (room / "published.csv").write_text("\n".join(lines) + "\n")
    try:
        assert main(["readings", "known2000", "--render"]) == 0
    finally:
        (room / "published.csv").unlink()
    table = read(study / "print-table.csv")
    best = table[table["rank"] == 1]
    assert set(best["method"]) == {"a coin"}
    assert set(best["table-unit"]) == {"shares"}
    assert best["exact"].iloc[0] == 4
    assert len(table) == 8
    assert "the print tells method=a coin" in plain(capsys.readouterr().out)


def test_times_are_not_compared_with_the_print():
    """Whose numbers are another machine's."""
    assert printed_rows("wang2018/ofs-table3") == []
    assert printed_rows("paul2016/table1_nearest") == printed_rows("paul2016/table1")  # which it stands beside
    assert printed_rows("paul2016/table4") == ["BSS (t=128)", "BSS (t=256)", "RRQR", "RFE", "LPSVM", "Full"]


def test_the_print_is_compared_with_the_columns_that_a_reading_takes(tmp_path, monkeypatch):
    """Print one column's numbers in both, as of a table whose column is open: the reading that takes it is found.

    A place that changes only how a claim is tested is no choice about the print.
    """
    size = "{four: [], six: {parameters: {columns: [r=6], also: [r=4]}}}"
    place = f"  - {{id: size, asks: At which size?, where: x, touches: {{known2000/table: all}}, options: {size}}}"
    room = made_study(tmp_path, monkeypatch, f"{READINGS}{place}\n")
    assert main(["reproduce", "known2000/table", "executor=serial"]) == 0
    table = pd.read_csv("results/tables/known2000/table.csv")
    of_six = table[table["column"] == "r=6"].set_index("row")["value"].astype(float)
    lines = ["artefact,row,column,dataset,printed_value,printed_sd"]
    lines += [f"table,{row},{column},,{of_six[row]:.4f},5" for row in of_six.index for column in ("r=4", "r=6")]
    (room / "published.csv").write_text("\n".join(lines) + "\n")
    assert main(["readings", "known2000", "executor=serial"]) == 0
    found = read("results/readings/known2000/print-table.csv")
    assert "strictness" not in found.columns
    assert set(found["printed"]) == {3}
    best = found[found["rank"] == 1]
    assert (set(best["size"]), set(best["exact"])) == ({"six"}, {3})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[selector=uniform]", "[selector.nu=3]", "the row has none of these settings"),
        ("[selector=uniform]", "[selector.n_features_to_select=3]", "each column sets selector.n_features_to_select"),
        ("[selector=uniform]", "[selector.strange]", "expected overrides such as selector.step=0.5"),
        ("[selector=uniform]", "3", "expected a list of overrides, or parameters of tests"),
        ("elimination: []", "elimination: [selector.step=0.5]", "expected a default that changes nothing"),
        ("      a coin: [selector=uniform]\n", "", "options: expected two or more, the default first"),
        ("table: [RFE]}", "table: [SVM]}", "expected all or a list of rows of known2000/table .RFE; Random; Full."),
        ("touches: {known2000/table: [RFE]}", "touches: {known2000/figure: all}", "artefact: expected one of"),
        ("touches: {known2000/table: [RFE]}", "touches: all", "touches: expected artefacts with all or a list of rows"),
        ("id: method", "id: verdict", "id: expected another name than claim, verdict, effect"),
        ("id: method", "id: C", "place C: expected each id once"),
        ("    asks: Which C?\n", "", "expected exactly the keys id, asks, where, touches, options"),
        ("places:", "plces:", "expected the keys paper, and places with a list"),
        ("places:", "places: [", "expected YAML"),
        ("{at_most: -1.0}", "{at_most: none}", "at_most: expected float, got 'none'"),
        ("{at_most: -1.0}", "[]", "parameters: expected a mapping"),
    ],
)
def test_bad_readings_are_one_message(tmp_path, monkeypatch, capsys, old, new, message):
    assert old in READINGS
    made_study(tmp_path, monkeypatch, READINGS.replace(old, new))
    assert main(["readings", "known2000", "--render", "executor=serial"]) == 2
    assert re.search(message, plain(capsys.readouterr().err))


def test_a_paper_without_readings(tmp_path, monkeypatch, capsys):
    room = made_study(tmp_path, monkeypatch)
    (room / "readings.yaml").unlink()
    assert main(["readings", "known2000"]) == 2
    assert "expected a paper with a readings.yaml, of none, got 'known2000'" in plain(capsys.readouterr().err)


def test_packed_verdicts_are_read_where_there_are_no_others(study, tmp_path):
    folder = tmp_path / "readings" / "known2000"
    shutil.copytree(study, folder)
    universes = stored_outcome("known2000", tmp_path).universes
    write_frame(universes.head(4), folder / "universes.csv.gz")
    pd.testing.assert_frame_equal(stored_outcome("known2000", tmp_path).universes, universes)
    (folder / "universes.csv").unlink()
    pd.testing.assert_frame_equal(stored_outcome("known2000", tmp_path).universes, universes.head(4))


def test_packed_trials_take_the_place_of_the_store(study, tmp_path, capsys):
    names = ("universes.csv", "robustness.csv")
    assert main(["readings", "known2000", "--render"]) == 0
    capsys.readouterr()
    elsewhere = ["--packed", "results", "--results", str(tmp_path), "executor=serial"]
    assert main(["readings", "known2000", *elsewhere]) == 0
    said = capsys.readouterr().err
    assert "100 trials, 100 stored, 0 to compute" in said
    assert "100 trials: 100 were stored, 0 computed" in said
    assert not (tmp_path / "store").exists()
    found = tmp_path / "readings" / "known2000"
    assert [(found / name).read_bytes() for name in names] == [(study / name).read_bytes() for name in names]
    made, was = (json.loads((here / "made.json").read_text())["known2000/table"] for here in (found, study))
    assert made.pop("cpu_hours") == pytest.approx(was.pop("cpu_hours"), abs=1e-4)
    assert made == was
    assert main(["readings", "known2000", "--plan", "--results", str(tmp_path)]) == 0  # once taken they are its own
    assert "100 stored, 0 to compute" in capsys.readouterr().err


def test_packed_trials_have_what_a_claim_reads_of_another_row(tmp_path, monkeypatch, capsys):
    """By default no claim reads how many features Full keeps."""
    room = made_study(tmp_path, monkeypatch)
    claims = (room / "claims.yaml").read_text()
    counted = "test: count_near, parameters: {row: Random, columns: [r=4], near: 4, within: 1, over: folds}"
    claim = f"{{id: known2000.count, where: Table 1, claim: Four are kept., artefact: known2000/table, {counted}}}"
    (room / "claims.yaml").write_text(f"{claims}  - {claim}\n")
    options = "{Random: [], Full: {parameters: {row: Full}}}"
    place = f"{{id: counted, asks: Which?, where: x, touches: {{known2000/table: [Random]}}, options: {options}}}"
    (room / "readings.yaml").write_text((room / "readings.yaml").read_text() + f"  - {place}\n")
    assert main(["readings", "known2000", "executor=serial"]) == 0
    elsewhere = tmp_path / "elsewhere"
    assert main(["readings", "known2000", "--render", "--packed", "results", "--results", str(elsewhere)]) == 0
    found, was = (here / "readings" / "known2000" / "universes.csv" for here in (elsewhere, tmp_path / "results"))
    assert found.read_bytes() == was.read_bytes()
    of_full = read(was)[lambda lines: (lines["claim"] == "known2000.count") & (lines["counted"] == "Full")]
    assert {*of_full["verdict"]} == {"contradicted"}


def test_packed_trials_of_nowhere(study, tmp_path, capsys):
    assert main(["readings", "known2000", "--plan", "--packed", str(tmp_path)]) == 2
    assert "expected packed trials of known2000, found no" in plain(capsys.readouterr().err)


def test_another_version_of_a_method_is_computed_and_the_rest_taken(study, tmp_path, capsys, monkeypatch):
    assert main(["readings", "known2000", "--render"]) == 0
    monkeypatch.setattr(SVMRFESelector, "algorithm_version", 99)
    assert main(["readings", "known2000", "--packed", "results", "--results", str(tmp_path), "executor=serial"]) == 0
    # of RFE's block the coin is Random, too, and has its numbers from there
    assert "100 trials: 60 were stored, 40 computed" in capsys.readouterr().err


def test_a_universe_is_judged_when_all_its_trials_are_there(study, tmp_path, capsys):
    """Without errors of RFE under C = 2 half of the universes have none."""
    shutil.copytree(study.parents[1] / "store", tmp_path / "store")
    store = TrialStore(tmp_path / "store")
    trials = store.query()
    lacking = [line["selector"] == "SVMRFESelector" and '"C":2' in line["config"] and line["fold"] == 3
               for line in trials.to_pylist()]  # fmt: skip
    assert sum(lacking) == 2
    shutil.rmtree(tmp_path / "store")
    store.add(trials.filter([not each for each in lacking]))
    assert main(["readings", "known2000", "--render", "--letter", "--results", str(tmp_path)]) == 0
    robust = read(tmp_path / "readings" / "known2000" / "robustness.csv").set_index("claim")
    assert robust.loc["known2000.better", ["universes", "run"]].tolist() == [4, 3]
    assert robust.loc["known2000.full", ["universes", "run"]].tolist() == [4, 4]
    universes = read(tmp_path / "readings" / "known2000" / "universes.csv")
    [not_run] = universes[universes["verdict"] == "not run"].to_dict("records")
    assert (not_run["method"], not_run["C"]) == ("elimination", "2")
    assert "3 of 4" in plain(capsys.readouterr().out)
    assert "7 of 8 verdicts so far" in plain((tmp_path / "readings" / "known2000" / "letter.md").read_text())


@pytest.fixture
def two_artefacts(tmp_path, monkeypatch):
    """The study with its table twice, and claims about each."""
    room = made_study(tmp_path, monkeypatch)
    (room / "other.yaml").write_text((room / "table.yaml").read_text())
    (room / "other.py").write_text((room / "table.py").read_text().replace("/table", "/other"))
    head, claims = (room / "claims.yaml").read_text().split("claims:\n")
    more = claims.replace("known2000.", "known2000.other.").replace("/table", "/other")
    (room / "claims.yaml").write_text(f"{head}claims:\n{claims}{more}")
    text = (room / "readings.yaml").read_text()
    (room / "readings.yaml").write_text(
        re.sub(r"\{known2000/table: (.*)\}", r"{known2000/table: \1, known2000/other: \1}", text)
    )
    return tmp_path / "results" / "readings" / "known2000"


def test_one_artefact_after_the_other_is_as_both_at_once(two_artefacts, capsys):
    names = ("universes.csv", "robustness.csv", "letter.md", "made.json")
    for artefact in ("other", "table"):
        assert main(["readings", "known2000", "--artefact", artefact, "--letter", "executor=serial"]) == 0
        assert ("known2000.other.better" in capsys.readouterr().out) == (artefact == "other")
    one_by_one = {name: (two_artefacts / name).read_text() for name in names}
    assert {*json.loads(one_by_one["made.json"])} == {"known2000/table", "known2000/other"}
    for name in names:
        (two_artefacts / name).unlink()
    assert main(["readings", "known2000", "--render", "--letter"]) == 0
    assert {name: (two_artefacts / name).read_text() for name in names} == one_by_one


def test_one_claim_keeps_the_others(two_artefacts, capsys):
    assert main(["readings", "known2000", "--letter", "executor=serial"]) == 0
    names = ("universes.csv", "robustness.csv", "letter.md", "made.json")
    whole = {name: (two_artefacts / name).read_text() for name in names}
    assert "known2000.full" in capsys.readouterr().out
    assert main(["readings", "known2000", "--claim", "other.better", "--letter", "--render"]) == 0
    assert "known2000.full" not in capsys.readouterr().out
    assert {name: (two_artefacts / name).read_text() for name in names} == whole


def test_the_letter_of_the_reference_leaves_out_what_was_asked_of_other_data(two_artefacts):
    results = two_artefacts.parents[1]
    assert main(["readings", "known2000", "executor=serial"]) == 0
    for artefact in ("table", "other"):
        assert main(["reproduce", f"known2000/{artefact}", "executor=serial"]) == 0
    assert main(["reference"]) == 0
    letter = results / "reference" / "readings" / "known2000" / "letter.md"
    assert "4 of your claims" in letter.read_text()
    assert "Not in this letter" not in letter.read_text()
    other = results.parent / "experiments" / "known2000" / "other.yaml"
    other.write_text(other.read_text().replace("n_samples: 100", "n_samples: 90"))
    assert main(["reference", "--artefact", "table"]) == 0
    assert "2 of your claims" in letter.read_text()
    assert "Not in this letter: known2000/other, whose readings, data or methods have changed" in letter.read_text()


def test_what_no_longer_fits_the_readings_is_not_kept(two_artefacts, capsys, caplog):
    assert main(["readings", "known2000", "--artefact", "other", "executor=serial"]) == 0
    universes = (two_artefacts / "universes.csv").read_text()
    (two_artefacts / "universes.csv").write_text(universes.replace("a coin", "a die"))
    assert main(["readings", "known2000", "--artefact", "table", "executor=serial"]) == 0
    assert "readings of known2000 about other claims are not kept" in caplog.text
    assert "'a die'" in caplog.text
    assert {*read(two_artefacts / "universes.csv")["claim"]} == {"known2000.better", "known2000.full"}


@pytest.fixture
def results(tmp_path, monkeypatch):
    made_study(tmp_path, monkeypatch)
    return tmp_path / "results"


def test_a_letter_stays_where_no_readings_came(results):
    """What data it is about stands in readings.yaml, which may be another by then."""
    assert main(["reproduce", "known2000/table", "executor=serial"]) == 0
    assert main(["readings", "known2000", "--letter", "executor=serial"]) == 0
    assert main(["reference"]) == 0
    letter = results / "reference" / "readings" / "known2000" / "letter.md"
    assert letter.read_bytes() == (results / "readings" / "known2000" / "letter.md").read_bytes()
    letter.write_text("Of the data of then.\n")
    shutil.move(results / "readings", results / "later")
    assert main(["reference"]) == 0
    assert letter.read_text() == "Of the data of then.\n"
    shutil.move(results / "later", results / "readings")
    assert main(["reference"]) == 0
    assert "defensible reading" in letter.read_text()


def test_what_is_left_out_of_the_data_is_not_waited_for(results):
    """A claim on data that the part has not has no verdict, but everything that was planned of it is there."""
    assert main(["readings", "known2000", "executor=serial"]) == 0
    universes = results / "readings" / "known2000" / "universes.csv"
    lines = pd.read_csv(universes, dtype=str, keep_default_na=False)
    full = lines["claim"] == "known2000.full"
    n, n_full = len(lines), int(full.sum())

    def judged(state):
        lines.loc[full, ["verdict", "state"]] = "not run", state
        lines.to_csv(universes, index=False)
        assert main(["reference", "--readings"]) == 0
        return Reference.read(results / "reference").judged["known2000/table"]

    assert judged("complete") == (n - n_full, n - n_full)
    assert "verdicts of" not in (results / "reference" / "README.md").read_text()
    assert judged("not run") == (n - n_full, n)
    assert f"so far {n - n_full} verdicts of {n}" in (results / "reference" / "README.md").read_text()
