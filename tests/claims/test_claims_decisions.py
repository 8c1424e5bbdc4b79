"""The rules from a test to a verdict: every verdict can be reached, and only by what it stands for."""

import math

import numpy as np
import pytest

from provlab.claims.comparison import Better, Comparable, NotWorse, SlightlyWorse
from provlab.claims.paired_tests import CorrectedT, SignedRank
from provlab.claims.rules import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_RUN,
    REPLICATED,
    VACUOUS,
    Finding,
    decide,
)
from provlab.claims.verdicts import headline as deciding
from provlab.claims.verdicts import verdict_of


def differences(mean, spread=1.0, n=40):
    """Symmetric around the mean, without ties."""
    half = np.linspace(0.05, 1.0, n // 2) * spread
    return mean + np.concatenate([half, -half - 1e-4])


def slightly_worse(most):
    return SlightlyWorse(artefact="", columns=(), row="A", than="B", over="datasets", most=most).criteria


TESTS = [SignedRank, lambda values: CorrectedT(values, ratio=1 / 9)]
NOISE = 40.0


@pytest.mark.parametrize("make", TESTS, ids=["over data sets", "over folds"])
@pytest.mark.parametrize(
    ("mean", "spread", "better_is", "comparable_is", "slightly_is", "not_worse_is"),
    [
        (-5.0, 1.0, REPLICATED, CONTRADICTED, CONTRADICTED, REPLICATED),
        (5.0, 1.0, CONTRADICTED, CONTRADICTED, CONTRADICTED, CONTRADICTED),
        (1.5, 0.3, CONTRADICTED, CONTRADICTED, REPLICATED, CONTRADICTED),
        (0.01, 0.3, NO_DIFFERENCE, REPLICATED, INCONCLUSIVE, REPLICATED),
        (0.0, NOISE, INCONCLUSIVE, INCONCLUSIVE, INCONCLUSIVE, INCONCLUSIVE),
        (-0.8, 0.3, REPLICATED, REPLICATED, CONTRADICTED, REPLICATED),
    ],
)
def test_verdicts(make, mean, spread, better_is, comparable_is, slightly_is, not_worse_is):
    test = make(differences(mean, spread))
    rules = (Better.criteria_at(1.0), Comparable.criteria_at(1.0), slightly_worse(2.0), NotWorse.criteria_at(1.0))
    expected = [better_is, comparable_is, slightly_is, not_worse_is]
    assert [decide("r", test, rule, alpha=0.05).verdict for rule in rules] == expected


def test_each_criterion_is_corrected_for_its_own_family():
    test = SignedRank(differences(-0.4, 1.3))
    rule = Better.criteria_at(0.1)
    p_value = min(1.0, 2 * test.p_value(0.0, "less"))
    assert p_value < 0.05
    assert decide("r", test, rule, alpha=0.05).verdict == REPLICATED
    many = [0.9] * 30
    found = decide("r", test, rule, [many, [], []], alpha=0.05)
    assert (found.verdict, found.p_value) == (INCONCLUSIVE, pytest.approx(31 * p_value))
    assert "Holm over 31" in found.test
    assert decide("r", test, rule, [[], many, many], alpha=0.05).verdict == REPLICATED
    worse = SignedRank(differences(0.4, 1.3))
    assert decide("r", worse, rule, [many, [], []], alpha=0.05).verdict == CONTRADICTED
    assert decide("r", worse, rule, [[], many, []], alpha=0.05).verdict == INCONCLUSIVE
    same = SignedRank(differences(0.0, 1.3))
    assert decide("r", same, Better.criteria_at(0.5), alpha=0.05).verdict == NO_DIFFERENCE
    assert decide("r", same, Better.criteria_at(0.5), [[], [], [0.9] * 2000], alpha=0.05).verdict == INCONCLUSIVE


def test_the_interval_shown_is_the_one_that_decides():
    for mean in np.linspace(0.5, 1.5, 21):
        finding = decide("r", CorrectedT(differences(mean, 1.0), ratio=1 / 9), Comparable.criteria_at(1.0), alpha=0.05)
        inside = finding.low > -1.0 and finding.high < 1.0
        outside = finding.low > 1.0 or finding.high < -1.0
        assert finding.verdict == (REPLICATED if inside else CONTRADICTED if outside else INCONCLUSIVE)
        assert (finding.p_value < 0.05) == (inside or outside)
        assert "90 % interval" in finding.test


def test_better_by_less_than_the_margin_says_so():
    finding = decide("r", SignedRank(differences(-0.5, 0.2)), Better.criteria_at(1.0), alpha=0.05)
    assert finding.verdict == REPLICATED
    assert "smaller than the margin" in finding.note


@pytest.mark.parametrize("make", TESTS, ids=["over data sets", "over folds"])
def test_the_smallest_margin_is_where_the_verdict_turns(make):
    test = make(differences(0.1, 1.0))
    for rule, verdict in ((Better, NO_DIFFERENCE), (Comparable, REPLICATED), (NotWorse, REPLICATED)):
        margin = decide("r", test, rule.criteria_at(1.0), alpha=0.01).smallest_margin
        assert decide("r", test, rule.criteria_at(margin * 1.02), alpha=0.01).verdict == verdict
        assert decide("r", test, rule.criteria_at(margin * 0.98), alpha=0.01).verdict == INCONCLUSIVE
    assert math.isnan(decide("r", test, slightly_worse(1.0), alpha=0.01).smallest_margin)


def test_an_inconclusive_finding_says_the_number_that_would_decide():
    values = differences(-0.3, 3.0)
    test = CorrectedT(values, ratio=0.0)
    finding = decide("r", test, Better.criteria_at(0.1), alpha=0.05)
    assert finding.verdict == INCONCLUSIVE
    needed = int(finding.needed)
    assert test.power(needed, 0.3, 0.025, "less") >= 0.9 > test.power(needed - 1, 0.3, 0.025, "less")
    assert f"n={needed} would decide it with power 0.9; n=40 can show" in finding.line()
    assert test.power(40, finding.detectable, 0.025, "less") == pytest.approx(0.9, abs=1e-3)
    family = decide("r", test, Better.criteria_at(0.1), [[0.9] * 9, [0.9] * 9, [0.9] * 9], alpha=0.05)
    assert family.needed > finding.needed
    assert family.detectable > finding.detectable
    assert math.isnan(decide("r", CorrectedT(values - 9, ratio=0.0), Better.criteria_at(0.1), alpha=0.05).needed)


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ((REPLICATED, REPLICATED, REPLICATED), REPLICATED),
        ((REPLICATED, CONTRADICTED, REPLICATED), CONTRADICTED),
        ((REPLICATED, INCONCLUSIVE, REPLICATED), INCONCLUSIVE),
        ((REPLICATED, NOT_RUN, NOT_RUN), INCONCLUSIVE),
        ((CONTRADICTED, NOT_RUN, INCONCLUSIVE), CONTRADICTED),
        ((NOT_RUN, NOT_RUN), NOT_RUN),
        ((REPLICATED, NO_DIFFERENCE, INCONCLUSIVE), NO_DIFFERENCE),
        ((CONTRADICTED, NO_DIFFERENCE), CONTRADICTED),
        ((VACUOUS, VACUOUS), VACUOUS),
        ((VACUOUS, REPLICATED), INCONCLUSIVE),
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
