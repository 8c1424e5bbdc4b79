"""`provsel decide`: more repeats for open claims, by looks and levels that are fixed beforehand."""

import re
from html import unescape

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp

from provlab.claims.decided import Look, read_decisions
from provlab.claims.evidence import artefact_datasets, artefact_layout
from provlab.cli import main
from provlab.deciding import looks_of, spending_levels
from provlab.site.build import build_report

ARTEFACT = """# @package _global_
defaults:
  - override /dataset: gaussian_clusters
  - override /model: kmeans
  - override /protocol: clustering
dataset: {n_samples: 60, n_features: 40}
protocol: {repeats: 4}
artefact:
  title: Seeds
  rows: {Random: [selector=uniform], Full: [selector=full]}
  columns: {"4": [selector.n_features_to_select=4], "20": [selector.n_features_to_select=20]}
"""

CLAIMS = """
paper: seeds2000
claims:
  - id: seeds2000.open
    where: Figure 1
    claim: Twenty features at random are not much worse than all.
    artefact: seeds2000/seeds
    test: not_worse
    parameters: {row: Random, than: Full, columns: ["20"], over: folds, margin: 20.0}
  - id: seeds2000.clear
    where: Figure 1
    claim: Four features at random are as good as all.
    artefact: seeds2000/seeds
    test: not_worse
    parameters: {row: Random, than: Full, columns: ["4"], over: folds, margin: 0.0}
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    room = tmp_path / "experiments" / "seeds2000"
    room.mkdir(parents=True)
    (room / "seeds.yaml").write_text(ARTEFACT)
    (room / "seeds.py").write_text(
        'from provlab.reports.recipe import Recipe\nRECIPE = Recipe("seeds2000/seeds", lambda made: "")\n'
    )
    (room / "claims.yaml").write_text(CLAIMS)
    (tmp_path / "provsel.toml").write_text("")
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for known in (artefact_layout, artefact_datasets):
        known.cache_clear()
    assert main(["reproduce", "seeds", "executor=serial"]) == 0
    return tmp_path


def test_levels_spend_alpha_and_no_more():
    levels = spending_levels([0.25, 0.5, 0.75, 1.0], 0.05)
    assert sum(levels) == pytest.approx(0.05)
    assert levels == sorted(levels)
    assert levels[0] == pytest.approx(2 * norm.sf(norm.isf(0.025) / 0.5))  # O'Brien and Fleming at a quarter
    assert spending_levels([1.0], 0.05) == pytest.approx([0.05])


def test_looks_are_evenly_spaced_and_end_beyond_what_one_test_needs():
    places = [look.repeats for look in looks_of(10, 50, 0.05, 4)]
    assert places[-1] == 61  # the last level is 0.021, whose test needs a fifth more
    assert np.ptp(np.diff([10, *places])) <= 1
    assert looks_of(4, 5, 0.05, 1) == (Look(5, pytest.approx(0.05)),)  # one look spends all of it
    assert [look.repeats for look in looks_of(10, 10.1, 0.05, 4)] == [11]


def test_the_looks_decide_with_the_promised_power():
    """By chance fewer than 1,750 of 2,000 would with a probability below 0.001; up to what one test needs, fewer do."""
    needed = 40
    effect = (norm.isf(0.025) + norm.isf(0.1)) / needed**0.5
    looks = looks_of(10, needed, 0.05, 4)
    samples = effect + np.random.default_rng(1).standard_normal((2000, looks[-1].repeats))

    def decided(looks):
        p_values = [ttest_1samp(samples[:, : look.repeats], 0, axis=1).pvalue < look.level for look in looks]
        return int(np.any(p_values, axis=0).sum())

    assert decided(looks) >= 1750
    levels = spending_levels([k / 4 for k in (1, 2, 3, 4)], 0.05)
    assert decided([Look(needed * k // 4, level) for k, level in enumerate(levels, start=1)]) < 1750


def test_looking_four_times_is_wrong_as_rarely_as_promised():
    """Of 2,000 null samples that are looked at four times at most 5 % are rejected; without spending far more are.

    By chance more than 130 of 2,000 would be with a probability below 0.002.
    """
    samples = np.random.default_rng(0).standard_normal((2000, 40))
    places, levels = [10, 20, 30, 40], spending_levels([0.25, 0.5, 0.75, 1.0], 0.05)
    p_values = np.array([ttest_1samp(samples[:, :n], 0, axis=1).pvalue for n in places])
    wrong = (p_values < np.array(levels)[:, None]).any(axis=0).sum()
    assert wrong <= 130
    assert (p_values < 0.05).any(axis=0).sum() > 180


def test_an_open_claim_is_decided_by_the_looks_that_were_written_down(study, capsys):
    assert main(["decide", "executor=serial"]) == 0
    said = capsys.readouterr().out
    assert "seeds2000.clear" not in said  # it is decided already
    assert not (study / "results" / "decisions.json").exists()  # only shown
    assert main(["decide", "--cpu-hours", "1", "executor=serial"]) == 0
    said = capsys.readouterr().out
    kept = read_decisions(study / "results")["seeds2000.open"]
    assert kept.repeats == 4
    assert kept.is_over
    assert tuple(Look(look.repeats, look.level) for look in kept.taken) == kept.looks[: len(kept.taken)]
    assert all(look.verdict == "inconclusive" for look in kept.taken[:-1])
    assert f"seeds2000.open: {kept.text}" in said
    assert "CPU hours spent" in said


def test_what_more_repeats_gave_is_shown_and_kept_in_the_reference(study, capsys):
    assert main(["decide", "--cpu-hours", "1", "executor=serial"]) == 0
    kept = read_decisions(study / "results")["seeds2000.open"]
    capsys.readouterr()
    assert main(["verify"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "with more repeats" in said
    assert f"at {kept.taken[-1].repeats} repeats" in said
    build_report(study / "results", n_jobs=1)
    page = (study / "results" / "report" / "claims" / "seeds2000.open.html").read_text()
    assert "With more repeats" in page
    assert all(look.detail in unescape(page) for look in kept.taken)
    assert page.count("not taken") == len(kept.looks) - len(kept.taken)
    assert "With more repeats" not in (study / "results" / "report" / "claims" / "seeds2000.clear.html").read_text()
    assert main(["reference"]) == 0
    reference = study / "results" / "reference"
    assert read_decisions(reference) == {"seeds2000.open": kept}
    [line] = [line for line in (reference / "README.md").read_text().splitlines() if "seeds2000.open" in line]
    assert f"{kept.text} |" in re.sub(" +", " ", line)
    (study / "results" / "decisions.json").unlink()  # what the reference has stays
    assert main(["reference"]) == 0
    assert read_decisions(reference) == {"seeds2000.open": kept}


def test_decisions_on_another_claim_are_not_shown_and_planned_anew(study, capsys, caplog):
    assert main(["decide", "--cpu-hours", "1", "--looks", "1", "executor=serial"]) == 0
    claims = study / "experiments" / "seeds2000" / "claims.yaml"
    claims.write_text(CLAIMS.replace("margin: 20.0", "margin: 21.0"))
    assert main(["reference"]) == 0
    readme = (study / "results" / "reference" / "README.md").read_text()
    assert re.search(r"seeds2000.open .*\| other claims, or tests of them, than now", readme)
    capsys.readouterr()
    assert main(["verify"]) == 0
    assert "with more repeats" not in capsys.readouterr().out
    assert "seeds2000.open: decided with other claims, or tests of them, than now; run provsel decide" in caplog.text
    assert main(["decide", "--cpu-hours", "1", "--looks", "2", "executor=serial"]) == 0
    assert "seeds2000.open: looks were fixed with other claims, or tests of them, than now" in caplog.text
    kept = read_decisions(study / "results")["seeds2000.open"]
    assert len(kept.looks) == 2
    assert kept.taken[0].repeats == kept.looks[0].repeats


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "decisions.json: expected an object of claims, got list; remove the file"),
        ('{"seeds2000.open"', "decisions.json: expected JSON, got "),
        (
            '{"seeds2000.open": {}}',
            "decisions.json: seeds2000.open: expected looks as provsel decide writes them, got KeyEr",
        ),
    ],
)
def test_damaged_decisions(study, capsys, text, message):
    (study / "results" / "decisions.json").write_text(text)
    assert main(["decide", "executor=serial"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_budget_that_is_too_small_computes_nothing_and_the_plan_stays(study, capsys):
    assert main(["decide", "--cpu-hours", "1e-9", "executor=serial"]) == 0
    kept = read_decisions(study / "results")["seeds2000.open"]
    assert kept.taken == ()
    assert main(["decide", "--cpu-hours", "1", "--looks", "1", "executor=serial"]) == 0
    assert (
        read_decisions(study / "results")["seeds2000.open"].looks == kept.looks
    )  # later settings do not move looks that are written down


def test_what_needs_too_many_repeats_is_said(study, capsys):
    assert main(["decide", "--most", "5", "executor=serial"]) == 0
    assert re.search(r"seeds2000.open: \d+ repeats would decide it, more than 5; raise --most", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cpu-hours", "0"], "--cpu-hours: expected more than 0, got 0"),
        (["--most", "1"], "decide: expected most of at least 2, got 1"),
        (["--looks", "0"], "decide: expected n_looks of at least 1, got 0"),
    ],
)
def test_bad_options(study, capsys, options, message):
    assert main(["decide", *options]) == 2
    assert message in capsys.readouterr().err
