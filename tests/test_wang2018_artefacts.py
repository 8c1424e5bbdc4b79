"""Every artefact of the streaming paper from its script, on a small synthetic data set for the six real ones."""

import numpy as np
import pandas as pd
import pytest

from provlab.cli import main
from provlab.cli.artefacts import executor_note
from provlab.datasets import MissingDataError
from provlab.figures.style import FORMATS
from provlab.plan import compose_artefact
from small_runs import REPO, artefact_command

MADE = "'dataset=gaussian_clusters','dataset.n_samples=30','dataset.n_features=300'"


def instead(columns):
    """Overrides that put the synthetic set in the place of the six."""
    return [
        f"+artefact.datasets.Made={{choose:[{MADE}],columns:[{','.join(columns)}]}}",
        "artefact.only=[Made]",
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("wang2018")


@pytest.fixture
def run(results, monkeypatch, capsys):
    return artefact_command("wang2018", results, monkeypatch, capsys)


def test_figure1(run, results):
    columns = ["'20'", "'100'"]
    frame, text = run("ofs-figure1", *instead(columns), "protocol.repeats=3", formats=FORMATS)
    assert set(frame["row"]) == {"OFS", "LapS", "LevS", "Alpha", "SEC", "Random", "k-means"}
    assert set(frame["column"]) == {f"{n}{kind}" for n in (20, 100) for kind in ("", ", NMI", ", ARI", ", features")}
    assert set(frame["state"]) == {"complete"}
    kept = frame[frame["column"] == "20, features"].set_index("row")["value"]
    assert (kept[["LapS", "LevS", "SEC", "Random"]] == 20).all()
    assert kept["k-means"] == 300
    assert kept["Alpha"] <= 20
    assert frame["value"].between(-10, 300).all()
    for suffix in FORMATS:
        assert (results / "figures" / "wang2018" / f"ofs-figure1.{suffix}").stat().st_size > 1000
    drawing = (results / "figures" / "wang2018" / "ofs-figure1.svg").read_text()
    for word in ("number of selected features", "clustering accuracy", "Made", "LevS", "k-means"):
        assert word in drawing
    assert "PARTIAL" not in text
    again, _ = run("ofs-figure1", *instead(columns), "protocol.repeats=4", "--render")
    assert again["state"].str.startswith("partial").any()


def test_figure1_without_anything_stored(run, tmp_path):
    _, text = run("ofs-figure1", *instead(["'20'"]), "--render", at=tmp_path)
    assert "PARTIAL: 7 of 7 numbers wait" in text


def test_times_that_are_measured_side_by_side_are_said_to_be():
    assert executor_note(compose_artefact("wang2018/ofs-table3")) == ""
    assert executor_note(compose_artefact("wang2018/ofs-figure1", ["executor=loky"])) == ""
    note = executor_note(compose_artefact("wang2018/ofs-table3", ["executor=loky"]))
    assert note.startswith("wang2018/ofs-table3: expected executor=serial, as its file has it for the times")
    assert "got loky; trials side by side take longer: leave executor=... out" in note


def test_table2(run):
    frame, text = run("ofs-table2", *instead(["all features"]))
    assert frame.set_index("column")["value"].astype(float).to_dict() == {
        "data points": 30.0,
        "features": 300.0,
        "classes": 3.0,
    }
    assert "30" in text


def test_table3(run):
    frame, text = run("ofs-table3", *instead(["'150'"]), "protocol.repeats=2")
    times = frame.set_index(["row", "column"])["value"]
    assert (times > 0).all()
    assert times["OFS", "search"] > times["OFS", "150"]  # several passes against one
    assert set(frame["n_trials"]) == {2}
    line = next(line for line in text.splitlines() if "Made" in line)
    ratio = times["OFS", "150"] / times["LapS", "150"]
    assert f"{times['LapS', '150']:.3g} ({ratio:.3g})" in line.replace(",", "")


def test_times_at_several_numbers_of_features_are_those_of_table3_in_the_middle(run):
    frame, text = run("ofs-times", *instead(["'10'", "'150'"]), "protocol.repeats=2")
    assert "CPU time of selection at the fewest" in text
    assert set(frame["column"]) == {"10", "150"}
    middle, _ = run("ofs-table3", *instead(["'150'"]), "protocol.repeats=2")
    same = frame[frame["column"] == "150"].set_index(["dataset", "row"])["value"]
    known = middle[middle["column"] == "150"].set_index(["dataset", "row"])["value"]
    assert same.to_dict() == known.to_dict()  # times: equal only where the trials are the same


def test_growth_with_the_stream(run):
    frame, text = run("ofs-growth", "protocol.repeats=1")
    values = frame.set_index(["row", "column"])["value"].astype(float)
    for row in ("OFS as printed", "OFS, outside the span 1"):
        kept, bound = ([values[row, f"d = {d},000, {what}"] for d in (25, 100, 400)] for what in ("features", "bound"))
        assert kept == sorted(kept)
        assert all(k < b for k, b in zip(kept, bound, strict=True))
        assert kept[2] - kept[1] < 1.5 * (kept[1] - kept[0])  # four times the columns each: like log d
    lines = [line for line in text.splitlines() if line.startswith("| OFS")]
    assert [line.split("|")[-2].strip() for line in lines] == 2 * ["vacuous 1", "held 1", "held 1"]


def test_printed_times_stand_beside():
    published = pd.read_csv(REPO / "experiments" / "wang2018" / "published.csv", dtype={"column": str})
    table = (
        published[published["artefact"] == "ofs-table3"].set_index(["dataset", "row"])["printed_value"].astype(float)
    )
    assert table["CIFAR-10", "LapS"] == 120
    assert len(table) == 30
    layout = compose_artefact("wang2018/ofs-table3").config.artefact
    for line in published[published["artefact"] == "ofs-table3"].itertuples():
        assert line.row in layout.rows
        assert line.column in layout.datasets[line.dataset].columns


def test_options(run):
    frame, text = run("ofs-options", *instead(["'100'"]), "protocol.repeats=2")
    assert set(frame["row"]) >= {"as printed", "outside the span 1, unscaled", "Random"}
    assert "Made, 100" in text
    shared = frame[(frame["row"] == "as printed") & (frame["column"] == "100")]["value"].item()
    assert np.isfinite(shared)


def test_certificates(run):
    small = ["artefact.only=[disjoint rows]", "dataset.n_samples=8", "dataset.n_features=3000"]
    frame, text = run("ofs-certificates", "protocol.repeats=2", "dataset=gaussian_clusters", *small)
    values = frame.set_index(["row", "column"])["value"]
    assert values["OFS as printed", "largest ||E||"] == pytest.approx(1.0)  # columns outside the span are never kept
    assert values["OFS, outside the span 1", "largest ||E||"] <= 0.5
    assert values["OFS, outside the span 1", "features kept, mean"] < 3000
    assert "violated 2" in text
    assert "held 2" in text


def test_columns_of_a_data_set_must_exist():
    with pytest.raises(ValueError, match=r"expected columns of Made among \['10', '20', .*got \['7'\]; add them"):
        compose_artefact("wang2018/ofs-figure1", instead(["'7'"]))


@pytest.mark.parametrize("only", ["[USPS, Nowhere]", "[]"])
def test_only_names_data_sets_of_the_artefact(only):
    with pytest.raises(ValueError, match=r"expected artefact.only to name some of USPS, AR, .*, ORL, got \["):
        compose_artefact("wang2018/ofs-figure1", [f"artefact.only={only}"])


def test_missing_data_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    two = compose_artefact("wang2018/ofs-figure1", ["artefact.only=[COIL20, AR]"])
    two.check_data(n_stored=1)
    with pytest.raises(MissingDataError, match="Nothing is stored, and the data are not here: provsel fetch coil20 ar"):
        two.check_data(n_stored=0)
    assert main(["status", "--results", str(tmp_path), "--artefact", "ofs-figure1"]) == 0
    printed = capsys.readouterr().out
    assert "provsel fetch usps" in printed


def test_every_claim_names_what_is_there():
    from provlab.claims import load_claims

    file = load_claims(REPO / "experiments" / "wang2018" / "claims.yaml")
    assert len(file.claims) > 40
