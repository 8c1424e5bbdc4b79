"""The artefacts about compression from their scripts, on small synthetic rows in the place of the real data."""

import numpy as np
import pytest

from provlab.claims import load_claims
from provsel.kernels.compression_bounds import norm_components
from small_runs import REPO, artefact_command

MADE = "dataset=sparse_rows,dataset.n_samples=60,dataset.n_test=40,dataset.n_features=300,dataset.dense=true"


def instead(*columns):
    """Overrides that put the synthetic rows in the place of the others."""
    chosen = ",".join(f"'{text}'" for text in MADE.split(","))
    names = ",".join(f"'{column}'" for column in columns)
    return [f"+artefact.datasets.Made={{choose:[{chosen}],columns:[{names}]}}", "artefact.only=[Made]"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("giesen2013")


@pytest.fixture
def run(results, monkeypatch, capsys):
    command = artefact_command("giesen2013", results, monkeypatch, capsys)

    def indexed(*arguments, **options):
        frame, text = command(*arguments, **options)
        return frame.set_index(["row", "column"]), text

    return indexed


def test_theorem5(run, results):
    frame, text = run("theorem5", *instead("10", "160"), "protocol.draws=3")
    value = frame["value"]
    for row in ("as printed", "transpose, 1/l", "dual, 1/m", "dual, 1/l"):
        shares = [value[row, f"160, delta={delta:g}"] for delta in (0.05, 0.1, 0.2, 0.3, 0.4, 0.499)]
        assert shares == sorted(shares)  # a larger delta asks for less
        np.testing.assert_allclose(np.array(shares) * 3 / 100, np.round(np.array(shares) * 3 / 100))
        optimum, objective, delta = (value[row, f"160, {name}"] for name in ("optimum", "objective", "delta"))
        assert optimum <= objective
        # medians of a monotone function of three draws
        assert objective / (1 + delta) ** 2 - delta == pytest.approx(optimum, abs=1e-9)
    assert value["dual, 1/l", "160, delta"] < value["dual, 1/l", "10, delta"]
    assert value["as printed", "10, loss_change"] > 0.3  # the printed variance shrinks the rows
    assert value["transpose, 1/l", "10, expansion_ratio"] == pytest.approx(30, rel=0.5)  # m / l
    assert set(frame["state"]) == {"complete"}
    assert "The right inequality fails in 0 runs" in text
    drawing = (results / "figures" / "giesen2013" / "theorem5.svg").read_text()
    for word in ("smallest delta", "Lemma 1", "Lemma 4", "Made", "w = 0", "dual, 1/l"):
        assert word in drawing
    again, _ = run("theorem5", *instead("10", "160"), "protocol.draws=4", "--render")
    assert again["state"].str.startswith("partial").all()


def test_theorem7(run):
    frame, text = run("theorem7", *instead("10", "40"), "protocol.draws=1")
    value = frame["value"]
    for row in ("as printed, 1/m", "kernel weights, 1/l"):
        optimum, objective, delta = (value[row, f"40, {name}"] for name in ("optimum", "objective", "delta"))
        assert optimum <= objective
        assert objective * (1 - delta) ** 2 - delta == pytest.approx(optimum, abs=1e-9)
        assert np.isnan(value[row, "40, loss_change"])
    assert "Theorem 7" in text


def test_compression_gap(run, results):
    frame, text = run("compression-gap", *instead("10", "100"), "protocol.draws=2")
    value, trials = frame["value"], frame["n_trials"]
    assert trials["uncompressed", "10"] == 1  # draws nothing
    optimum = value["uncompressed", "10, objective"]
    for row in ("dual, 1/l", "dual, 1/m", "transpose, 1/l", "transpose, 1/m", "refined, 1/l"):
        assert trials[row, "10"] == 2
        assert value[row, "10, optimum"] == pytest.approx(optimum)
        assert optimum * (1 - 1e-6) <= value[row, "100, scaled objective"] <= value[row, "100, objective"] * (1 + 1e-9)
    assert value["refined, 1/l", "100, objective"] < 1.05 * optimum < value["dual, 1/l", "100, objective"]
    lines = [line for line in text.splitlines() if "| uncompressed" in line]
    assert len(lines) == 1
    assert f"{value['uncompressed', '10']:.2f}" in lines[0]
    drawing = (results / "figures" / "giesen2013" / "compression-gap.svg").read_text()
    for word in ("test error", "objective / optimum", "at the best length", "Made", "refined"):
        assert word in drawing


def test_without_anything_stored(run, tmp_path):
    _, text = run("compression-gap", *instead("10"), "--render", at=tmp_path)
    assert "PARTIAL" in text


def test_the_theorem_asks_for_more_components_than_the_artefact_has_features():
    """Its constant is open; with one that its lemma follows from, l is beyond m for all synthetic rows."""
    assert norm_components(5, 100_000, 0.2) > 2560


def test_every_claim_names_what_is_there():
    file = load_claims(REPO / "experiments" / "giesen2013" / "claims.yaml")
    assert len(file.claims) > 90
    # those of Theorem 5 as printed are asked of the recovery that works as well
    ids = {claim.id for claim in file.claims}
    printed = {name for name in ids if ".theorem5.printed-" in name}
    assert len(printed) >= 6
    assert {name.replace("printed-", "dual-") for name in printed} <= ids
