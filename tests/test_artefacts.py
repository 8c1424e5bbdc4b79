"""Artefacts from their scripts, on small synthetic data instead of real data: numbers, tables, figures, advice."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from provlab.cli import main
from provlab.cli.artefacts import executor_note
from provlab.core.artefact import compose_artefact
from provlab.data import MissingDataError, load_dataset
from provlab.project.papers import papers
from small_runs import reproduced


def instead(*choose, columns=(), name="Made"):
    """Return the override that adds a synthetic data set to an artefact."""
    listed = ",".join(f"'{text}'" for text in choose)
    of_columns = f",columns:{list(columns)!r}" if columns else ""
    return f"+artefact.datasets.{name}={{choose:[{listed}]{of_columns}}}"


def clusters(*columns):
    choose = (
        "dataset=gaussian_clusters",
        "dataset.n_samples=30",
        "dataset.n_features=300",
    )
    return [instead(*choose, columns=columns), "artefact.only=[Made]"]


def rows(*columns):
    choose = (
        "dataset=sparse_rows",
        "dataset.n_samples=60",
        "dataset.n_test=40",
        "dataset.n_features=300",
    )
    return [
        instead(*choose, "dataset.dense=true", columns=columns),
        "artefact.only=[Made]",
    ]


def few_rows(*columns):
    choose = (
        "dataset.n_samples=80",
        "dataset.n_test=10",
        "dataset.n_features=150",
        "dataset.nonzeros=40",
    )
    data = instead(
        "dataset=sparse_rows",
        *choose,
        "dataset.n_relevant=5",
        "artefact.c=0.001",
        columns=columns,
    )
    return [data, "artefact.only=[Made]", "protocol.n_splits=2"]


CASES = {
    "wang2018/ofs-figure1": [*clusters("20", "100"), "protocol.repeats=3"],
    "wang2018/ofs-table1": [instead("dataset=gaussian_clusters", "dataset.n_samples=12", "dataset.n_features=250",
                                    "model.n_clusters=3", columns=("12", "22", "c of Theorem 1")),
                            "artefact.only=[Made]", "protocol.repeats=2"],
    "wang2018/ofs-table2": clusters("all features"),
    "wang2018/ofs-table3": [*clusters("150"), "protocol.repeats=2"],
    "wang2018/ofs-times": [*clusters("10", "150"), "protocol.repeats=2"],
    "wang2018/ofs-growth": ["protocol.repeats=1"],
    "wang2018/ofs-section3": ["protocol.repeats=1", "artefact.only=['d = 25,000',Gaussian]"],
    "wang2018/ofs-alpha": clusters("accepted"),
    "wang2018/ofs-options": [*clusters("100"), "protocol.repeats=2"],
    "wang2018/ofs-certificates": ["protocol.repeats=2", "dataset=gaussian_clusters", "artefact.only=[disjoint rows]",
                                  "dataset.n_samples=8", "dataset.n_features=3000"],
    "giesen2013/theorem5": [*rows("10", "160"), "protocol.draws=3"],
    "giesen2013/theorem5-growth": ['artefact.only=["m = 100","m = 316"]', "protocol.draws=2"],
    "giesen2013/theorem7": [*rows("10", "40"), "protocol.draws=1"],
    "giesen2013/compression-gap": [*rows("10", "100"), "protocol.draws=2"],
    "giesen2013/compression-memory": rows("20"),
    "giesen2013/feature-selective": few_rows(),
    "giesen2013/feature-selective-peers": [*few_rows("10", "100"), "~artefact.rows.LPSVM"],
}  # fmt: skip

DRAWN = {
    "wang2018/ofs-figure1": [
        "number of selected features",
        "clustering accuracy",
        "Made",
        "LevS",
        "k-means",
    ],
    "giesen2013/theorem5": [
        "smallest delta",
        "Lemma 1",
        "Lemma 4",
        "Made",
        "w = 0",
        "dual, 1/l",
    ],
    "giesen2013/theorem5-growth": ["delta = 0.1", "like log m"],
    "giesen2013/compression-gap": [
        "test error",
        "objective / optimum",
        "at the best length",
        "Made",
        "refined",
    ],
    "giesen2013/feature-selective": [
        "kernel weights, compressed",
        "c1 / c1 that drops everything",
        "1e-3",
        "Made",
    ],
    "giesen2013/feature-selective-peers": ["number of selected features"],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture
def run(results, capsys):
    """Reproduce an artefact in one folder for all; return its numbers by data set, row and column, and the output."""

    def command(name, *overrides, at=results):
        frame = reproduced(name, *(overrides or CASES[name]), at=at)
        return frame.set_index(
            ["dataset", "row", "column"], drop=False
        ), capsys.readouterr().out

    return command


@pytest.mark.filterwarnings("ignore:.*every weight is zero")
@pytest.mark.parametrize("name", CASES)
def test_an_artefact_is_made_from_its_script_and_says_what_is_missing(
    run, results, tmp_path, name
):
    frame, text = run(name)
    assert set(frame["state"]) == {"complete"}
    assert "PARTIAL" not in text
    drawing = "".join(
        path.read_text() for path in (results / "figures").glob(f"{name}*.svg")
    )
    assert all(word in drawing for word in DRAWN.get(name, []))
    if name.endswith(("table3", "theorem5")):  # one of each paper
        _, text = run(name, *CASES[name], "--render", at=tmp_path)
        assert "PARTIAL" in text


def values_of(frame):
    return frame.droplevel("dataset")["value"].astype(float)


def test_clustering_by_streamed_columns(run):
    frame, text = run("wang2018/ofs-figure1")
    assert set(frame["row"]) == {
        "OFS",
        "LapS",
        "LevS",
        "Alpha",
        "SEC",
        "Random",
        "k-means",
    }
    assert set(frame["column"]) == {
        f"{n}{kind}" for n in (20, 100) for kind in ("", ", NMI", ", ARI", ", features")
    }
    kept = values_of(frame).xs("20, features", level="column")
    assert (kept[["LapS", "LevS", "SEC", "Random"]] == 20).all()
    assert kept["k-means"] == 300
    assert kept["Alpha"] <= 20
    [others] = re.findall(
        r"Features kept by .*?3 seeds.*?(\| Made.*?)\n\n", text, re.DOTALL
    )
    assert f"{values_of(frame)['Alpha', '100, features']:.1f} ± 0.0" in others
    assert not re.search("LapS|k-means", others)
    assert frame["value"].between(-10, 300).all()
    again, _ = run(
        "wang2018/ofs-figure1", *clusters("20", "100"), "protocol.repeats=4", "--render"
    )
    assert again["state"].str.startswith("partial").any()


def test_tables_of_the_streaming_paper(run):
    assert values_of(run("wang2018/ofs-table2")[0]).tolist() == [30, 300, 3]
    frame, text = run("wang2018/ofs-table3")
    times = values_of(frame)
    assert (times > 0).all()
    assert times["OFS", "search"] > times["OFS", "150"]  # several passes against one
    seconds, ratios = (
        line.replace(",", "") for line in text.splitlines() if "| Made" in line
    )
    assert f"| {times['LapS', '150']:.3g} " in seconds
    assert f"| {times['OFS', '150'] / times['LapS', '150']:.3g} " in ratios
    # times: equal only where the trials are the same
    same = values_of(run("wang2018/ofs-times")[0]).xs("150", level="column")
    assert same.to_dict() == times.xs("150", level="column").to_dict()
    assert "Made, 100" in run("wang2018/ofs-options")[1]


def test_the_stream_keeps_few_features_within_its_bounds(run):
    frame, text = run("wang2018/ofs-growth")
    values = values_of(frame)
    for row in ("OFS as printed", "OFS, outside the span 1"):
        kept = [values[row, f"d = {d},000, features"] for d in (25, 100, 400)]
        assert kept == sorted(kept)
        assert (
            kept
            < np.array([values[row, f"d = {d},000, bound"] for d in (25, 100, 400)])
        ).all()
        # four times the columns each: like log d
        assert kept[2] - kept[1] < 1.5 * (kept[1] - kept[0])
    lines = [line for line in text.splitlines() if line.startswith("| OFS")]
    assert [line.split("|")[-2].strip() for line in lines] == 2 * [
        "vacuous 1",
        "held 1",
        "held 1",
    ]
    frame, text = run("wang2018/ofs-certificates")
    values = values_of(frame)
    # columns outside the span are never kept
    assert values["OFS as printed", "largest ||E||"] == pytest.approx(1.0)
    assert values["OFS, outside the span 1", "largest ||E||"] <= 0.5
    assert values["OFS, outside the span 1", "features kept, mean"] < 3000
    assert "violated 2" in text
    assert "held 2" in text


def test_dimension_reduction_for_k_means_beside_the_printed_table(run):
    frame, text = run("wang2018/ofs-table1")
    ratios = values_of(frame)
    methods = [
        "Boutsidis et al. (2009)",
        "Boutsidis et al. (2015)",
        "Liu et al. (2017)",
        "This Work",
    ]
    assert (ratios[[(method, "22") for method in [*methods, "Random"]]] > 0.9).all()
    assert ratios["All features", "22"] == 1
    assert ratios["This Work", "c of Theorem 1, features"] == 250
    rows = {}
    for line in text.splitlines():
        name, *cells = [part.strip() for part in line.split("|")[1:-1]] or [""]
        if "| Made" in line and name in methods:
            rows[name] = cells
    # k ln(k / epsilon) / epsilon^2, k / epsilon^2 and 6 / (epsilon^2 delta) of 3
    # clusters at 1/2 and 1/20
    assert [rows[method][2] for method in methods[:3]] == ["22", "12", "480 &gt; d"]
    assert rows["Liu et al. (2017)"][3:] == [""] * 7
    assert (
        rows["Boutsidis et al. (2015)"][6]
        == f"{ratios['Boutsidis et al. (2015)', '12']:.3f}"
    )
    assert rows["This Work"][-1] == "vacuous 2"  # as it keeps all features
    norm = np.linalg.norm(
        load_dataset("gaussian_clusters", n_samples=12, n_features=250).X, 2
    )
    assert rows["This Work"][2].startswith(
        f"{math.ceil(4 * 12 * math.log(12) * math.log(norm)):,}"
    )
    assert re.search(
        r"Pourkamali-Anaraki .*\| log\(n\) / n +\| .*\| N/A +\| not measured: provsel has no",
        text,
    )


def test_what_a_stream_holds_and_what_lemma_1_needs(run):
    frame, text = run("wang2018/ofs-section3")
    kilobytes = frame["value"].astype(float).xs("OFS as printed", level="row")
    factor, kept, seen, printed = (
        kilobytes["d = 25,000", f"c of Theorem 1, {part} kB"]
        for part in ("factor", "kept", "seen", "printed")
    )
    assert factor == 8 * 2 * 10 * 10 / 1000
    assert seen == 16 * 25
    assert printed == pytest.approx(5 * kept)  # 8 n bytes of each instead of 16
    assert kept < 16 * 25 / 2
    errors = values_of(frame)["Lemma 1"]
    assert (
        errors["c = 8 ln(n) / eps^2, largest ||E||"]
        < 0.5
        < errors["c = 1 / eps, largest ||E||"]
    )
    assert re.search(r"\| c = 1 / eps +\| Gaussian \| 40 .*\| 0 of 1 ", text)


def test_alpha_investing_ends_where_its_constants_say(run):
    frame, _ = run("wang2018/ofs-alpha")
    accepted = values_of(frame).xs("accepted", level="column")
    assert (
        accepted["wealth 0.5, increment 0.5"]
        > accepted["wealth 0.5, increment 0.05"]
        >= 1
    )
    assert (
        accepted["wealth 0.5, increment 0.5, chi2"]
        >= accepted["wealth 0.5, increment 0.5"]
    )


@pytest.mark.parametrize(
    ("needed", "expected"),
    [
        (lambda m: m**0.7, [0.7] * 9),
        (lambda m: 40 * np.log(m), [0.131] * 3 + [0.111] * 3 + [0.097] * 3),
    ],
    ids=["power", "logarithm"],
)
def test_the_exponent_of_a_known_growth_is_found(needed, expected):
    """delta falls with l like 0.2 (l / l(0.2))^-1/2, up to noise of 1 %, on the grid of the artefact."""
    growth = papers()["giesen2013"].module("theorem5-growth")
    rng = np.random.default_rng(0)
    lines = []
    for m in (100, 1000, 10_000, 100_000):
        for size in (1.25 ** np.arange(0, 55)).round():
            noise = 1 + 0.01 * rng.standard_normal(10)
            lines += [
                (m, size, 0.2 * (size / needed(m)) ** -0.5 * factor) for factor in noise
            ]
    trials = pd.DataFrame(lines, columns=["n_features", "l", "certificate_delta"])
    fitted = growth.fitted_exponents(*growth.combinations_needed(trials))
    np.testing.assert_allclose(fitted["exponent"], expected, atol=0.02)
    assert (fitted["low"] <= fitted["exponent"] + 1e-9).all()
    assert (fitted["exponent"] <= fitted["high"] + 1e-9).all()
    assert (fitted["high"] - fitted["low"]).max() < 0.05
    np.testing.assert_allclose(
        fitted["of_log_m"], [0.131] * 3 + [0.111] * 3 + [0.097] * 3, atol=1e-3
    )
    shuffled = trials.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(
        growth.fitted_exponents(*growth.combinations_needed(shuffled)), fitted
    )
    # from delta = 0.14 on: 0.1 is not reached
    small = trials[trials["l"] < 2 * needed(trials["n_features"])]
    partly = growth.fitted_exponents(*growth.combinations_needed(small))
    assert partly["exponent"].isna().tolist() == [False, False, True] * 3


def test_compression_asks_for_less_at_a_larger_delta(run):
    frame, text = run("giesen2013/theorem5")
    value = values_of(frame)
    for row in ("as printed", "transpose, 1/l", "dual, 1/m", "dual, 1/l"):
        shares = np.array(
            [
                value[row, f"160, delta={delta:g}"]
                for delta in (0.05, 0.1, 0.2, 0.3, 0.4, 0.499)
            ]
        )
        assert (np.diff(shares) >= 0).all()
        np.testing.assert_allclose(shares * 3 / 100, np.round(shares * 3 / 100))
        optimum, objective, delta = (
            value[row, f"160, {name}"] for name in ("optimum", "objective", "delta")
        )
        assert optimum <= objective
        # medians of a monotone function of three draws
        assert objective / (1 + delta) ** 2 - delta == pytest.approx(optimum, abs=1e-9)
    assert value["dual, 1/l", "160, delta"] < value["dual, 1/l", "10, delta"]
    # the printed variance shrinks the rows
    assert value["as printed", "10, loss_change"] > 0.3
    # m / l
    assert value["transpose, 1/l", "10, expansion_ratio"] == pytest.approx(30, rel=0.5)
    assert "The right inequality fails in 0 runs" in text
    value = values_of(run("giesen2013/theorem7")[0])
    for row in ("as printed, 1/m", "kernel weights, 1/l"):
        optimum, objective, delta = (
            value[row, f"40, {name}"] for name in ("optimum", "objective", "delta")
        )
        assert objective * (1 - delta) ** 2 - delta == pytest.approx(optimum, abs=1e-9)
        assert np.isnan(value[row, "40, loss_change"])


def test_the_gap_of_compression(run):
    frame, text = run("giesen2013/compression-gap")
    value = values_of(frame)
    trials = frame.droplevel("dataset")["n_trials"]
    assert trials["uncompressed", "10"] == 1  # draws nothing
    optimum = value["uncompressed", "10, objective"]
    for row in (
        "dual, 1/l",
        "dual, 1/m",
        "transpose, 1/l",
        "transpose, 1/m",
        "refined, 1/l",
    ):
        assert trials[row, "10"] == 2
        assert value[row, "10, optimum"] == pytest.approx(optimum)
        assert (
            optimum * (1 - 1e-6)
            <= value[row, "100, scaled objective"]
            <= value[row, "100, objective"] * (1 + 1e-9)
        )
    assert (
        value["refined, 1/l", "100, objective"]
        < 1.05 * optimum
        < value["dual, 1/l", "100, objective"]
    )
    [line] = [line for line in text.splitlines() if "| uncompressed" in line]
    assert f"{value['uncompressed', '10']:.2f}" in line


@pytest.mark.filterwarnings("ignore:.*every weight is zero")
def test_error_and_features_against_the_price_and_at_equal_numbers(run):
    frame, text = run("giesen2013/feature-selective")
    prices = ["1e-6", "1e-4", "1e-3", "1e-2", "1e-1"]
    values = values_of(frame)
    for row in ("kernel weights", "as printed"):
        kept = [values[row, f"{price}, features"] for price in prices]
        assert kept == sorted(kept, reverse=True)
        assert kept[0] > 20 > 10 > kept[-1] >= 1
    # the printed penalty is the larger one for the same v
    for price in prices:
        assert (
            values["kernel weights", f"{price}, objective"]
            <= values["as printed", f"{price}, objective"] * 1.001
        )
    assert values["SVM", "1e-6, features"] == 150
    assert values["SVM", "1e-6"] == values["SVM", "1e-1"]
    assert f"({values['kernel weights', '1e-3, features']:.0f})" in text
    frame, text = run("giesen2013/feature-selective-peers")
    kept = values_of(frame)
    assert {
        kept[row, "10, features"] for row in ("FS-SVM", "RFE", "L1-SVM", "Random")
    } == {10}
    assert [kept[row, "100, features"] for row in ("RFE", "Random")] == [100, 100]
    assert kept["L1-SVM", "100, features"] < 72  # no more than rows
    assert f"[{kept['L1-SVM', '100, features']:.0f}]" in text.replace("\\", "")
    assert kept["Full", "10"] == kept["Full", "100"]


def test_times_that_are_measured_side_by_side_are_said_to_be():
    assert executor_note(compose_artefact("wang2018/ofs-table3")) == ""
    assert (
        executor_note(compose_artefact("wang2018/ofs-figure1", ["executor=loky"])) == ""
    )
    note = executor_note(compose_artefact("wang2018/ofs-table3", ["executor=loky"]))
    assert note.startswith(
        "wang2018/ofs-table3: expected executor=serial, because it measures times"
    )
    assert "got loky; parallel trials take longer: omit executor=..." in note


def test_missing_data_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    two = compose_artefact("wang2018/ofs-figure1", ["artefact.only=[COIL20, AR]"])
    two.check_data(n_stored=1)
    with pytest.raises(
        MissingDataError,
        match="No results are stored, and the data are missing; run provsel fetch coil20 ar",
    ):
        two.check_data(n_stored=0)
    assert (
        main(["status", "--results", str(tmp_path), "--artefact", "ofs-figure1"]) == 0
    )
    assert "provsel fetch usps" in capsys.readouterr().out


def test_a_script_that_shows_the_error_refuses_cells_judged_by_another_measure(
    tmp_path, capsys
):
    assert (
        main(
            [
                "reproduce",
                "paul2016/table1",
                "protocol.scoring=accuracy",
                f"results={tmp_path / 'r'}",
            ]
        )
        == 2
    )
    assert (
        "table1: expected cells measured by the test error (%), as its script requires, got"
        in (said := capsys.readouterr().err)
    )
    assert "got accuracy; leave out protocol.scoring" in said
    assert "unit='accuracy'" in said
    assert not (tmp_path / "r").exists()
