"""From a test to a verdict: corrections, intervals, the number that would decide, and claims of several parts."""

import math

import numpy as np
import pytest
from made_trials import criteria

from provlab.verdicts.claims.comparison import Better, Comparable, NotWorse
from provlab.verdicts.claims.paired_tests import CorrectedT, SignedRank
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_RUN,
    REPLICATED,
    VACUOUS,
    Finding,
    decide,
)
from provlab.verdicts.claims.verdicts import headline, verdict_of


def differences(mean, spread=1.0, n=40):
    """Symmetric around the mean, without ties."""
    half = np.linspace(0.05, 1.0, n // 2) * spread
    return mean + np.concatenate([half, -half - 1e-4])


MANY = [0.9] * 30


@pytest.mark.parametrize(
    ("mean", "margin", "families", "verdict"),
    [
        (-0.4, 0.1, [], REPLICATED),
        (-0.4, 0.1, [MANY, [], []], INCONCLUSIVE),
        (-0.4, 0.1, [[], MANY, MANY], REPLICATED),
        (0.4, 0.1, [MANY, [], []], CONTRADICTED),
        (0.4, 0.1, [[], MANY, []], INCONCLUSIVE),
        (0.0, 0.5, [], NO_DIFFERENCE),
        (0.0, 0.5, [[], [], [0.9] * 2000], INCONCLUSIVE),
    ],
)
def test_each_criterion_is_corrected_for_its_own_family(
    mean, margin, families, verdict
):
    test = SignedRank(differences(mean, 1.3))
    finding = decide("r", test, criteria(Better, margin), families, alpha=0.05)
    assert finding.verdict == verdict
    if families == [MANY, [], []] and mean < 0:
        assert finding.p_value == pytest.approx(31 * 2 * test.p_value(0.0, "less"))
        assert "Holm over 31" in finding.test


def test_the_interval_shown_is_the_one_that_decides():
    for mean in np.linspace(0.5, 1.5, 21):
        test = CorrectedT(differences(mean, 1.0), ratio=1 / 9)
        finding = decide("r", test, criteria(Comparable, 1.0), alpha=0.05)
        inside = finding.low > -1.0 and finding.high < 1.0
        outside = finding.low > 1.0 or finding.high < -1.0
        assert (finding.verdict == REPLICATED) == inside
        assert (finding.verdict == CONTRADICTED) == outside
        assert inside or outside or finding.verdict == INCONCLUSIVE
        assert (finding.p_value < 0.05) == (inside or outside)
        assert "90 % interval" in finding.test


@pytest.mark.parametrize(
    "make", [SignedRank, lambda values: CorrectedT(values, ratio=1 / 9)]
)
@pytest.mark.parametrize(
    ("rule", "verdict"),
    [(Better, NO_DIFFERENCE), (Comparable, REPLICATED), (NotWorse, REPLICATED)],
)
def test_the_smallest_margin_is_where_the_verdict_turns(make, rule, verdict):
    test = make(differences(0.1, 1.0))
    margin = decide("r", test, criteria(rule, 1.0), alpha=0.01).smallest_margin
    assert (
        decide("r", test, criteria(rule, margin * 1.02), alpha=0.01).verdict == verdict
    )
    assert (
        decide("r", test, criteria(rule, margin * 0.98), alpha=0.01).verdict
        == INCONCLUSIVE
    )


def test_an_inconclusive_finding_says_the_number_that_would_decide():
    values = differences(-0.3, 3.0)
    better = criteria(Better, 0.1)
    test = CorrectedT(values, ratio=0.0)
    finding = decide("r", test, better, alpha=0.05)
    assert finding.verdict == INCONCLUSIVE
    needed = int(finding.needed)
    assert (
        test.power(needed, 0.3, 0.025, "less")
        >= 0.9
        > test.power(needed - 1, 0.3, 0.025, "less")
    )
    assert f"n={needed} would decide it with power 0.9; n=40 can show" in finding.line()
    assert test.power(40, finding.detectable, 0.025, "less") == pytest.approx(
        0.9, abs=1e-3
    )
    family = decide("r", test, better, [[0.9] * 9, [0.9] * 9, [0.9] * 9], alpha=0.05)
    assert family.needed > finding.needed
    assert family.detectable > finding.detectable
    assert math.isnan(
        decide("r", CorrectedT(values - 9, ratio=0.0), better, alpha=0.05).needed
    )


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
    assert (
        verdict_of([Finding(str(k), verdict) for k, verdict in enumerate(parts)])
        == whole
    )


@pytest.mark.parametrize(
    ("parts", "stands_for_all"),
    [
        ([("strong", REPLICATED, 0.001), ("weak", REPLICATED, 0.04)], "weak"),
        (
            [
                ("weak", REPLICATED, 0.04),
                ("b", CONTRADICTED, 0.04),
                ("clear", CONTRADICTED, 0.001),
            ],
            "clear",
        ),
        (
            [
                ("strong", REPLICATED, 0.001),
                ("open", INCONCLUSIVE, 0.5),
                ("none", NOT_RUN, math.nan),
            ],
            "open",
        ),
        ([("strong", REPLICATED, 0.001), ("none", NOT_RUN, math.nan)], "strong"),
        (
            [
                ("small", CONTRADICTED, math.nan, 0.1),
                ("large", CONTRADICTED, math.nan, 3.0),
            ],
            "large",
        ),
    ],
)
def test_the_part_that_stands_for_the_claim(parts, stands_for_all):
    findings = [
        Finding(part, verdict, *effect or [1.0], p_value=p_value)
        for part, verdict, p_value, *effect in parts
    ]
    assert headline(findings).part == stands_for_all
