"""The rules from a test to a verdict: every verdict can be reached, and only by what it stands for."""

import math

import numpy as np
import pytest

from provlab.claims.decisions import better, comparable, slightly_worse
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NOT_RUN, REPLICATED, Finding, deciding, verdict_of
from provlab.claims.statistics import CorrectedT, SignedRank


def differences(mean, spread=1.0, n=40):
    """Symmetric around the mean, without ties."""
    half = np.linspace(0.05, 1.0, n // 2) * spread
    return mean + np.concatenate([half, -half - 1e-4])


TESTS = [SignedRank, lambda values: CorrectedT(values, ratio=1 / 9)]
NOISE = 40.0


@pytest.mark.parametrize("make", TESTS, ids=["over data sets", "over folds"])
@pytest.mark.parametrize(
    ("mean", "spread", "better_is", "comparable_is", "slightly_is"),
    [
        (-5.0, 1.0, REPLICATED, CONTRADICTED, CONTRADICTED),
        (5.0, 1.0, CONTRADICTED, CONTRADICTED, CONTRADICTED),
        (1.5, 0.3, CONTRADICTED, CONTRADICTED, REPLICATED),
        (0.01, 0.3, CONTRADICTED, REPLICATED, INCONCLUSIVE),
        (0.0, NOISE, INCONCLUSIVE, INCONCLUSIVE, INCONCLUSIVE),
        (-0.8, 0.3, REPLICATED, REPLICATED, CONTRADICTED),
    ],
)
def test_verdicts(make, mean, spread, better_is, comparable_is, slightly_is):
    test = make(differences(mean, spread))
    assert better("r", test, test.p_value(), margin=1.0, alpha=0.05, how="").verdict == better_is
    assert comparable("r", test, margin=1.0, alpha=0.05).verdict == comparable_is
    assert slightly_worse("r", test, most=2.0, alpha=0.05).verdict == slightly_is


def test_correction_decides():
    test = SignedRank(differences(-0.4, 1.3))
    assert test.p_value() < 0.05
    assert better("r", test, test.p_value(), margin=0.1, alpha=0.05, how="").verdict == REPLICATED
    assert better("r", test, 0.06, margin=0.1, alpha=0.05, how="").verdict == INCONCLUSIVE


def test_the_interval_shown_is_the_one_that_decides():
    for mean in np.linspace(0.5, 1.5, 21):
        finding = comparable("r", CorrectedT(differences(mean, 1.0), ratio=1 / 9), margin=1.0, alpha=0.05)
        inside = finding.low > -1.0 and finding.high < 1.0
        outside = finding.low > 1.0 or finding.high < -1.0
        assert finding.verdict == (REPLICATED if inside else CONTRADICTED if outside else INCONCLUSIVE)
        assert (finding.p_value < 0.05) == (inside or outside)
        assert "90 % interval" in finding.test


def test_the_same_is_not_better():
    finding = better("r", SignedRank(np.zeros(30)), 1.0, margin=1.0, alpha=0.05, how="")
    assert finding.verdict == CONTRADICTED
    assert "the same within the margin" in finding.line()
    assert finding.test.startswith("TOST")


def test_better_by_less_than_the_margin_says_so():
    test = SignedRank(differences(-0.5, 0.2))
    finding = better("r", test, test.p_value(), margin=1.0, alpha=0.05, how="")
    assert finding.verdict == REPLICATED
    assert "smaller than the margin" in finding.note


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ((REPLICATED, REPLICATED, REPLICATED), REPLICATED),
        ((REPLICATED, CONTRADICTED, REPLICATED), CONTRADICTED),
        ((REPLICATED, INCONCLUSIVE, REPLICATED), INCONCLUSIVE),
        ((REPLICATED, NOT_RUN, NOT_RUN), INCONCLUSIVE),
        ((CONTRADICTED, NOT_RUN, INCONCLUSIVE), CONTRADICTED),
        ((NOT_RUN, NOT_RUN), NOT_RUN),
        ((), NOT_RUN),
    ],
)
def test_a_claim_about_several_parts(parts, whole):
    assert verdict_of([Finding(str(k), verdict) for k, verdict in enumerate(parts)]) == whole


def test_the_part_that_stands_for_the_claim():
    def finding(part, verdict, p_value, effect=1.0):
        return Finding(part, verdict, effect=effect, p_value=p_value)

    weak, strong = finding("weak", REPLICATED, 0.04), finding("strong", REPLICATED, 0.001)
    assert deciding([strong, weak]).part == "weak"
    clear, unclear = finding("clear", CONTRADICTED, 0.001), finding("unclear", CONTRADICTED, 0.04)
    assert deciding([weak, unclear, clear]).part == "clear"
    assert deciding([strong, finding("open", INCONCLUSIVE, 0.5), Finding("none", NOT_RUN)]).part == "open"
    assert deciding([strong, Finding("none", NOT_RUN)]).part == "strong"
    small, large = (finding(str(e), CONTRADICTED, math.nan, effect=e) for e in (0.1, 3.0))
    assert deciding([small, large]) is large


def test_a_line_of_a_finding_without_numbers():
    assert Finding("r=300", NOT_RUN, note="why").line() == "r=300: not run (why)"
