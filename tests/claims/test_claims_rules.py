"""Each rule on made trials: every verdict can be reached, and only by what it stands for."""

import math
import re

import numpy as np
import pytest
from made_trials import MadeArtefacts
from scipy.stats import binom, binomtest, ttest_ind

from provlab.core.summaries import RADIUS_MARGIN_READS
from provlab.data import load_dataset
from provlab.report.figures.ranks import draw_rankings
from provlab.verdicts.claims.dataset_ranks import rank, ranked
from provlab.verdicts.claims.paired_tests import (
    CorrectedT,
    DisjointT,
    DyadicT,
    SignedRank,
    holm,
)
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_CONTRADICTED,
    NOT_RUN,
    NOT_TESTABLE,
    REPLICATED,
    VACUOUS,
    Finding,
)
from provlab.verdicts.claims.schema import RULES, Claim, RankingRequest
from provlab.verdicts.claims.verdicts import judge

SETS = [f"set{k}" for k in range(20)]
FIGURE = "made/figure"
ONE = "made/one"
COLUMNS = ["r=1", "r=2"]


@pytest.fixture
def artefacts(tmp_path):
    artefacts = MadeArtefacts(tmp_path / "store")
    artefacts.add(FIGURE, ["A", "B", "C", "D"], COLUMNS, SETS, n_splits=2)
    artefacts.add("made/other", ["A"], COLUMNS, SETS, n_splits=2)
    artefacts.add(ONE, ["A", "B"], COLUMNS, ["ccat"])
    artefacts.add("made/noise", ["A"], COLUMNS, ["noise"], dataset={"n_relevant": 5})
    return artefacts


def claim(test, name="made.claim", artefact=FIGURE, **parameters):
    config = {"artefact": artefact, "columns": COLUMNS, **parameters}
    return Claim(
        name, "made", "Figure 1", "what is claimed", RULES[test].from_config(config)
    )


def compare(test="better", **parameters):
    options = {"margin": 1.0} if test != "slightly_worse" else {}
    return claim(
        test, **{"row": "A", "than": "B", "over": "datasets", **options, **parameters}
    )


def verdict_on(artefacts, *claims):
    return judge(claims, artefacts.evidence())[0]


def spread(mean, scale=0.3):
    half = np.linspace(0.1, 1.0, len(SETS) // 2) * scale
    return 30 + mean + np.concatenate([half, -half - 1e-3])


def put(artefacts, row, *means, scale=0.3, artefact=FIGURE):
    """Store the means of a row in the first columns: 30 % and so much; None for nothing."""
    for column, mean in zip(COLUMNS, means, strict=False):
        if mean is not None:
            artefacts.put_means(
                artefact,
                row,
                column,
                spread(mean, scale) if scale else np.full(len(SETS), 30.0 + mean),
            )


COMPARISONS = [
    (
        "better",
        {},
        (-3, None),
        0.3,
        INCONCLUSIVE,
        "r=2: not run (nothing stored for A of made/figure)",
    ),
    ("better", {}, (None, None), 0.3, NOT_RUN, "r=1: not run"),
    ("better", {}, (-3, -3), 0.3, REPLICATED, "r=1: replicated, -3"),
    ("better", {}, (-3, 3), 0.3, CONTRADICTED, "r=2: contradicted, 3"),
    ("better", {}, (0, 0), 0.3, NO_DIFFERENCE, "r=1: no difference"),
    (
        "better",
        {},
        (-0.5, -0.5),
        0.1,
        REPLICATED,
        "smaller than the margin of equivalence",
    ),
    (
        "better",
        {"margin": 0.1},
        (0.4, 0.8),
        6.0,
        INCONCLUSIVE,
        "would decide it with power 0.9; n=20 can show",
    ),
    (
        "better",
        {"columns": ["r=1"], "also": ["r=2"]},
        (-3, 3),
        0.3,
        REPLICATED,
        "beside, r=2: contradicted, 3",
    ),
    ("better_somewhere", {}, (None, None), 0.3, NOT_RUN, "nothing stored for A and B"),
    ("better_somewhere", {}, (3, -3), 0.3, REPLICATED, "better in 1 of 2 columns: r=2"),
    ("better_somewhere", {}, (0, 0), 0.3, NO_DIFFERENCE, "better in 0 of 2 columns"),
    ("better_somewhere", {}, (3, 0), 0.3, CONTRADICTED, "better in 0 of 2 columns"),
    (
        "better_somewhere",
        {},
        (30, -0.05),
        6.0,
        INCONCLUSIVE,
        "better in 0 of 2 columns",
    ),
    ("comparable", {}, (0, 0), 0.3, REPLICATED, "r=1: replicated"),
    ("comparable", {}, (0, 2), 0.3, CONTRADICTED, "r=2: contradicted"),
    ("comparable", {}, (0, -2), 0.3, CONTRADICTED, "r=2: contradicted"),
    ("comparable", {}, (0, 0), 6.0, INCONCLUSIVE, "r=1: inconclusive"),
    ("not_worse", {}, (-9, 0.4), 0.3, REPLICATED, "r=1: replicated"),
    ("not_worse", {}, (-9, 1.6), 0.3, CONTRADICTED, "r=2: contradicted"),
    ("slightly_worse", {"most": 3.0}, (1.5, 1.5), 0.3, REPLICATED, "r=1: replicated"),
    (
        "slightly_worse",
        {"most": 3.0},
        (1.5, -1.5),
        0.3,
        CONTRADICTED,
        "r=2: contradicted",
    ),
    (
        "slightly_worse",
        {"most": 3.0},
        (1.5, 4.5),
        0.3,
        CONTRADICTED,
        "r=2: contradicted",
    ),
    ("slightly_worse", {"most": 3.0}, (0, 0), 6.0, INCONCLUSIVE, "r=1: inconclusive"),
]


@pytest.mark.parametrize(
    ("test", "parameters", "means", "scale", "verdict", "detail"), COMPARISONS
)
def test_comparisons_over_data_sets(
    artefacts, test, parameters, means, scale, verdict, detail
):
    put(artefacts, "B", 0, 0, scale=0)
    put(artefacts, "A", *means, scale=scale)
    judged = verdict_on(artefacts, compare(test, **parameters))
    assert judged.verdict == verdict
    assert detail in judged.detail
    parts = [
        part
        for part in judged.parts
        if part.verdict == verdict == INCONCLUSIVE and not math.isnan(part.needed)
    ]
    assert not parts or judged.needed == max(part.needed for part in parts) > len(SETS)


def test_only_data_sets_and_folds_of_both_sides_count(artefacts):
    """Folds that one side lacks are far off: they must not enter the other side's mean."""
    for k, data in enumerate(SETS):
        artefacts.put(FIGURE, "A", "r=1", [0.20 + 0.001 * k, 0.9], data=data)
        artefacts.put(FIGURE, "B", "r=1", [0.25], data=data)
    artefacts.put(FIGURE, "C", "r=1", [0.25], data=SETS[0])
    verdict = verdict_on(artefacts, compare(columns=["r=1"]))
    expected = SignedRank(np.arange(20) * 0.1 - 5.0)
    assert verdict.finding.effect == pytest.approx(expected.estimate)
    assert verdict.finding.p_value == pytest.approx(expected.p_value())
    assert dict(verdict.finding.sample) == pytest.approx(
        {name: 0.1 * k - 5 for k, name in enumerate(SETS)}
    )
    assert verdict.state == "partial (60 of 80)"
    on_one_set = verdict_on(artefacts, compare(than="C", columns=["r=1"]))
    assert on_one_set.verdict == INCONCLUSIVE
    assert "needs at least 2 data sets with both sides, found 1" in on_one_set.detail
    assert math.isnan(on_one_set.finding.p_value)


def test_errors_that_are_not_numbers_and_repeats_beyond_the_plan_do_not_count(
    artefacts,
):
    put(artefacts, "B", 0, 0, scale=0)
    values = spread(-3.0)
    values[:5] = np.nan
    artefacts.put_means(FIGURE, "A", "r=1", values)
    before = verdict_on(artefacts, compare(columns=["r=1"]))
    assert before.finding.n == len(SETS) - 5
    assert before.finding.effect == pytest.approx(SignedRank(values[5:] - 30).estimate)
    for data in SETS:
        artefacts.put(FIGURE, "A", "r=1", [0.9], data=data, repeat=1)
    assert verdict_on(artefacts, compare(columns=["r=1"])) == before


MEANS = {"A": [-0.35, -0.4], "B": [0.0, 0.0], "C": [0.1, 2.0]}


def errors_with(mean):
    return spread(mean, 1.3) if mean else np.full(20, 30.0)


def raw(row, than, side, shift=0.0):
    """The uncorrected p-values of both columns; what is not stored counts as 1."""
    if not {row, than} <= set(MEANS):
        return [1.0, 1.0]
    n_sides = 2 if shift == 0 else 1
    p_values = []
    for mean, than_mean in zip(MEANS[row], MEANS[than], strict=True):
        test = SignedRank(errors_with(mean) - errors_with(than_mean))
        p_values.append(min(1.0, n_sides * test.p_value(shift, side)))
    return p_values


def test_holm_over_the_family_of_a_claim(artefacts):
    """Better in all columns: over the claims, each with its largest p-value. Worse in one: over claims and columns."""
    for row, means in MEANS.items():
        put(artefacts, row, *means, scale=1.3 if any(means) else 0)
    # D has nothing, and counts
    pairs = [("A", "B"), ("A", "C"), ("C", "B"), ("A", "D")]
    claims = [compare(name=f"made.{a}{b}", row=a, than=b, margin=0.1) for a, b in pairs]
    verdicts = judge(claims, artefacts.evidence())
    weakest = [max(raw(a, b, "less")) for a, b in pairs]
    assert verdicts[0].finding.p_value == pytest.approx(holm(weakest)[0])
    assert "Holm over 4" in verdicts[0].finding.test
    worse = [p_value for a, b in pairs for p_value in raw(a, b, "greater")]
    assert verdicts[2].verdict == CONTRADICTED
    assert verdicts[2].finding.part == "r=2"
    assert verdicts[2].finding.p_value == pytest.approx(holm(worse)[5])
    assert "Holm over 8" in verdicts[2].finding.test
    alone = verdict_on(artefacts, claims[0])
    elsewhere = compare(name="made.x", than="A", than_artefact="made/other", margin=0.1)
    # another family, another rule
    for beside in ((), (elsewhere,), (compare("not_worse", name="made.y", than="C"),)):
        assert verdict_on(
            artefacts, claims[0], *beside
        ).finding.p_value == pytest.approx(weakest[0])
    assert alone.finding.needed <= verdicts[0].finding.needed or math.isnan(
        alone.finding.needed
    )


@pytest.mark.parametrize(
    ("n_columns", "verdict"), [(1, CONTRADICTED), (7, INCONCLUSIVE)]
)
def test_one_of_many_columns_contradicts_no_claim_by_chance(
    artefacts, n_columns, verdict
):
    """The same column, p = 0.015: alone it contradicts the claim, among seven it does not."""
    columns = [f"r={k}" for k in range(n_columns)]
    artefacts.add("made/many", ["A", "B"], columns, SETS, n_splits=2)
    for k, column in enumerate(columns):
        artefacts.put_means("made/many", "B", column, np.full(len(SETS), 30.0))
        artefacts.put_means(
            "made/many", "A", column, spread(4.0 if k == 0 else 3.0, 3.0)
        )
    assert (
        verdict_on(
            artefacts,
            compare("not_worse", artefact="made/many", columns=columns, margin=3.0),
        ).verdict
        == verdict
    )


def test_data_sets_that_share_categories(artefacts):
    names = [f"Exp_{a}_{b}" for a in range(5) for b in range(a + 1, 5)]
    artefacts.add("made/pairs", ["A", "B"], ["r=1"], names, n_splits=2)
    values = np.random.default_rng(1).normal(30, 1, len(names))
    artefacts.put_means("made/pairs", "A", "r=1", values)
    artefacts.put_means("made/pairs", "B", "r=1", np.full(len(names), 30.0))
    finding = verdict_on(
        artefacts,
        compare(
            "comparable", artefact="made/pairs", columns=["r=1"], dependence="dyadic"
        ),
    ).finding
    expected = DyadicT(
        values - 30, pairs=[tuple(name.split("_")[1:]) for name in names]
    )
    assert (finding.low, finding.high) == pytest.approx(expected.interval(0.9))
    assert "dyadic-robust t" in finding.test


def test_one_method_under_two_settings(artefacts):
    put(artefacts, "A", -3.0, -3.0)
    put(artefacts, "A", 0, 0, scale=0, artefact="made/other")
    verdict = verdict_on(artefacts, compare(than="A", than_artefact="made/other"))
    assert verdict.verdict == REPLICATED
    assert verdict.state == "partial (80 of 160)"
    assert verdict.finding.effect == pytest.approx(-3.0, abs=0.01)


@pytest.mark.parametrize("split", ["kfold", "kfold_inverse"])
def test_comparison_over_folds(artefacts, split):
    """Draws of a fold are averaged first; inverse folds have disjoint training sets, and share test rows."""
    draws = 0.10 + 0.02 * np.random.default_rng(0).standard_normal((10, 5))
    sizes = (
        {"n_train": 90, "n_test": 10}
        if split == "kfold"
        else {"n_train": 1000, "n_test": 9000}
    )
    artefacts.add(ONE, ["A", "B"], COLUMNS, ["ccat"], draws=5, split=split)
    artefacts.put(ONE, "A", "r=1", draws, **sizes)
    artefacts.put(ONE, "B", "r=1", np.full(10, 0.12), **sizes)
    verdict = verdict_on(
        artefacts,
        compare("comparable", artefact=ONE, over="folds", columns=["r=1"], margin=3.0),
    )
    differences = 100 * (draws.mean(axis=1) - 0.12)
    expected = CorrectedT(differences, ratio=1 / 9)
    if split == "kfold_inverse":
        variance = 100**2 * (draws.mean() + 0.12 - (draws.mean() - 0.12) ** 2)
        expected = DisjointT(differences, n_folds=10, shared=variance / 10_000)
    assert verdict.finding.effect == pytest.approx(expected.estimate)
    assert (verdict.finding.low, verdict.finding.high) == pytest.approx(
        expected.interval(0.9)
    )
    assert verdict.verdict == REPLICATED
    assert dict(verdict.finding.sample)["ccat, repeat 0, fold 3"] == pytest.approx(
        differences[3]
    )


def test_a_claim_about_one_data_set(artefacts):
    """Over the folds of that one; others have no say, and no part in the correction."""
    for data, shift in (("set3", -0.03), ("set4", 0.05)):
        for row, error in (("A", 0.30 + shift), ("B", 0.30)):
            artefacts.put(
                FIGURE,
                row,
                "r=1",
                error + np.array([0.001, -0.001]) * (row == "A"),
                data=data,
                n_test=0,
            )
    parameters = {"over": "folds", "columns": ["r=1"]}
    first, second = judge(
        [compare(name=f"made.{k}", dataset=f"set{k}", **parameters) for k in (3, 4)],
        artefacts.evidence(),
    )
    assert first.verdict == REPLICATED
    assert first.state == "complete"
    assert second.verdict == CONTRADICTED
    assert first.finding.effect == pytest.approx(-3.0)
    assert "Holm over 1" in first.finding.test
    assert (
        verdict_on(artefacts, compare(dataset="set5", **parameters)).verdict == NOT_RUN
    )


NUMBERS = ["16", "64", "256"]


def hermite(t, left, right, before, after):
    """Return the cubic with these values and slopes at 0 and 1."""
    rise = right - left
    return left + t * (
        before + t * (3 * rise - 2 * before - after + t * (before + after - 2 * rise))
    )


MIDDLE = -2 * 10 * 4 / (10 + 4)
"""The slope at 64, between 40, 30 and 26 %, a unit apart: the harmonic mean (Fritsch and Butland 1984)."""


@pytest.mark.parametrize(
    ("at", "kept", "than"),
    [
        # features kept where 64 were asked for, and the error of the other method
        # there: 40, 30 and 26 % in its columns
        ("kept", 64, 30.0),
        ("kept", 16, 40.0),
        ("kept", 256, 26.0),
        # half way, as 32 / 16 = 64 / 32
        ("kept", 32, hermite(0.5, 40, 30, (-3 * 10 + 4) / 2, MIDDLE)),
        ("kept", 128, hermite(0.5, 30, 26, MIDDLE, (-3 * 4 + 10) / 2)),
        (
            "kept",
            20,
            hermite(math.log(20 / 16) / math.log(4), 40, 30, (-3 * 10 + 4) / 2, MIDDLE),
        ),
        ("kept", 260, 26.0),  # 2 % off the end are the same number
        ("kept", 270, None),  # nothing is extrapolated
        ("kept", 15, None),
        ("kept", 0, None),
        ("kept", None, None),
        ("exact", 64, 30.0),
        ("exact", 65, 30.0),
        ("exact", 66, None),
        ("exact", 16, None),
        ("exact", None, None),
        ("", 16, 30.0),
        ("", None, 30.0),
    ],
)
def test_methods_are_compared_at_as_many_features_as_one_keeps(
    artefacts, at, kept, than
):
    """The first fold keeps the number of the case, the others 64; their difference is 5 points or nearly."""
    artefacts.add("made/sizes", ["A", "B"], NUMBERS, ["set"], n_splits=5)
    own = np.array([0.25, 0.251, 0.249, 0.25, 0.252])
    artefacts.put("made/sizes", "A", "64", own, n_selected=[kept, 64, 64, 64, 64])
    for column, error in zip(NUMBERS, [0.40, 0.30, 0.26], strict=True):
        artefacts.put("made/sizes", "B", column, np.full(5, error))
    options = {"artefact": "made/sizes", "over": "folds", "at": at}
    [part] = verdict_on(artefacts, compare(**options, columns=NUMBERS)).parts[1:2]
    expected = [*([] if than is None else [25.0 - than]), *(100 * own[1:] - 30)]
    assert [*dict(part.sample).values()] == pytest.approx(expected)
    assert part.effect == pytest.approx(np.mean(expected))
    assert part.p_value == pytest.approx(
        2 * CorrectedT(np.array(expected), ratio=1 / 9).p_value(0, "less"), rel=1e-6
    )
    assert ("1 of 5 left out, without an equal number of features" in part.line()) == (
        than is None
    )


def test_a_number_of_features_that_was_not_stored_is_asked_for(artefacts):
    """As of packed trials of a time when no claim was about it; with one fold there is no test."""
    artefacts.add("made/sizes", ["A", "B"], NUMBERS, ["set"], n_splits=5)
    for row, errors in (("A", [0.25, 0.26, 0.27]), ("B", [0.25, 0.25, 0.25])):
        artefacts.put("made/sizes", row, "64", errors)
    options = {"artefact": "made/sizes", "over": "folds", "columns": ["64"]}
    at_any_size, at_sizes_kept = (
        verdict_on(artefacts, compare("comparable", margin=50.0, **options, at=at))
        for at in ("", "kept")
    )
    assert at_any_size.verdict == REPLICATED
    assert at_sizes_kept.verdict == NOT_RUN
    assert "64: not run (nothing stored for A of made/sizes)" in at_sizes_kept.detail
    assert "n_selected" in at_sizes_kept.claim.rule.reads
    artefacts.put("made/sizes", "A", "16", [0.25, 0.26], n_selected=[16, 20])
    artefacts.put("made/sizes", "B", "16", [0.25, 0.26])
    on_one_fold = verdict_on(
        artefacts, compare(**{**options, "columns": ["16"]}, at="exact")
    )
    assert on_one_fold.verdict == INCONCLUSIVE
    assert (
        on_one_fold.detail
        == "16: inconclusive (needs at least 2 folds with both sides, found 1)"
    )


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [([0.10, 0.11, 0.105], REPLICATED), ([0.2, 0.21, 0.22], CONTRADICTED)],
)
def test_draws_against_a_method_without_chance(artefacts, errors, verdict):
    artefacts.add("made/drawn", ["A", "B"], COLUMNS, ["ccat"], n_splits=2, draws=3)
    for column in COLUMNS:
        artefacts.put("made/drawn", "A", column, [errors])
        artefacts.put("made/drawn", "B", column, [0.1])
    options = {"artefact": "made/drawn", "over": "draws", "margin": 3.0}
    judged = verdict_on(artefacts, compare("not_worse", **options))
    assert judged.verdict == verdict
    assert judged.finding.n == 3
    assert judged.finding.effect == pytest.approx(100 * (np.mean(errors) - 0.1))
    swapped = verdict_on(
        artefacts, compare("not_worse", **{**options, "row": "B", "than": "A"})
    )
    assert swapped.verdict == INCONCLUSIVE
    assert "needs draws on one fold, and one trial of A, found 3" in swapped.detail


@pytest.mark.parametrize(
    ("counts", "above", "near"),
    [
        (np.linspace(590, 610, 20), REPLICATED, CONTRADICTED),
        (np.linspace(290, 310, 20), CONTRADICTED, REPLICATED),
        (np.tile([20.0, 980.0], 10), INCONCLUSIVE, INCONCLUSIVE),
    ],
)
def test_numbers_of_features(artefacts, counts, above, near):
    for data, number in zip(SETS, counts, strict=True):
        artefacts.put(
            FIGURE, "A", "r=1", [0.3, 0.3], data=data, n_selected=[int(number)] * 2
        )
    artefacts.put(
        ONE, "A", "r=1", [0.3] * 10, n_selected=counts.astype(int)[:10].tolist()
    )
    shared = {"row": "A", "over": "datasets", "columns": ["r=1"]}
    verdict = verdict_on(artefacts, claim("count_above", above=500, **shared))
    plain = CorrectedT(counts.astype(int).astype(float), ratio=0.0)
    assert verdict.verdict == above
    assert verdict.finding.n == 20
    assert verdict.finding.unit == "features"
    assert (verdict.finding.low, verdict.finding.high) == pytest.approx(
        plain.interval(0.95)
    )
    assert (
        verdict_on(
            artefacts, claim("count_near", near=300, within=50, **shared)
        ).verdict
        == near
    )
    folds = verdict_on(
        artefacts,
        claim("count_above", artefact=ONE, above=500, **{**shared, "over": "folds"}),
    ).finding
    assert (folds.low, folds.high) == pytest.approx(
        CorrectedT(counts.astype(int)[:10], ratio=1 / 9).interval(0.95)
    )
    assert verdict_on(
        artefacts, claim("count_above", above=500, **{**shared, "row": "B"})
    ).lines == ("r=1: not run (nothing stored for B)",)


def states(held=0, violated=0, vacuous=0, **others):
    names = {"held": held, "violated": violated, "vacuous": vacuous, **others}
    return [name.replace("_", " ") for name, n in names.items() for _ in range(n)]


DELTA = {"quantity": "certificate_delta", "bound": 0.2}
TRIVIAL = {**DELTA, "trivial": "certificate_zero_delta"}
CASES = [
    # the test, its parameters, what the trials of r=1 say, the verdict, effect and p,
    # and a part of the detail
    (
        "certificates",
        {"quantity": "margin"},
        states(6, vacuous=4),
        NOT_CONTRADICTED,
        60.0,
        0.95**6,
        "n=59 would",
    ),
    # not most of them
    (
        "certificates",
        {"quantity": "margin"},
        states(5, vacuous=5),
        VACUOUS,
        50.0,
        None,
        "5 held",
    ),
    (
        "certificates",
        {"quantity": "margin"},
        states(3, not_separable=7),
        NOT_CONTRADICTED,
        100.0,
        0.95**3,
        "7 not",
    ),
    (
        "certificates",
        {"quantity": "margin"},
        states(vacuous=8, not_separable=2),
        VACUOUS,
        0.0,
        None,
        "8 vacuous",
    ),
    (
        "certificates",
        {"quantity": "margin"},
        states(9, 1),
        CONTRADICTED,
        90.0,
        None,
        "1 violated",
    ),
    (
        "certificates",
        {"quantity": "margin"},
        states(no_bound=10),
        VACUOUS,
        None,
        None,
        "applies to no trial",
    ),
    (
        "certificates",
        {"quantity": "margin", "at_most": 0.05},
        states(10),
        NOT_CONTRADICTED,
        100.0,
        0.95**10,
        "10 held",
    ),
    (
        "certificates",
        {"quantity": "margin", "at_most": 0.05},
        states(9, 1),
        NOT_CONTRADICTED,
        90.0,
        0.913862,
        "no n",
    ),
    (
        "certificates",
        {"quantity": "margin", "at_most": 0.3},
        states(10),
        REPLICATED,
        100.0,
        0.7**10,
        "10 held",
    ),
    (
        "certificates",
        {"quantity": "margin", "at_most": 0.05},
        states(5, 5),
        CONTRADICTED,
        50.0,
        6.3690e-5,
        "5 held",
    ),
    (
        "within",
        DELTA,
        [0.2] * 10,
        NOT_CONTRADICTED,
        100.0,
        0.95**10,
        "n=59 would decide it",
    ),
    ("within", DELTA, [0.3] + [0.2] * 9, CONTRADICTED, 90.0, None, "from 0.2 to 0.3"),
    (
        "within",
        {**DELTA, "at_most": 0.1},
        [0.3] + [0.2] * 9,
        NOT_CONTRADICTED,
        90.0,
        0.736099,
        "no n would decide",
    ),
    (
        "within",
        {**DELTA, "at_most": 0.3},
        [0.2] * 10,
        REPLICATED,
        100.0,
        0.7**10,
        "from 0.2",
    ),
    (
        "within",
        {**DELTA, "at_most": 0.1},
        [0.3] * 2 + [0.2] * 8,
        INCONCLUSIVE,
        80.0,
        0.263901,
        "would decide it",
    ),
    (
        "within",
        {**DELTA, "at_most": 0.1},
        [0.3] * 5 + [0.2] * 5,
        CONTRADICTED,
        50.0,
        0.001634937,
        "0.3",
    ),
    (
        "within",
        TRIVIAL,
        [(0.05, 0.1)] * 10,
        VACUOUS,
        100.0,
        1.0,
        "in 10 of 10 it says nothing",
    ),
    (
        "within",
        TRIVIAL,
        [(0.05, 0.21)] * 10,
        NOT_CONTRADICTED,
        100.0,
        0.95**10,
        "in 0 of 10 it says nothing",
    ),
    ("within", DELTA, [np.nan, np.nan], NOT_RUN, None, None, "nothing stored for A"),
    (
        "zero_error",
        {"at_most": 0.005},
        [0.0] * 10,
        REPLICATED,
        0.0,
        None,
        "0 of 10 folds have errors",
    ),
    (
        "zero_error",
        {"at_most": 0.005},
        [0.0] * 9 + [0.1],
        CONTRADICTED,
        1.0,
        None,
        "1 of 10 folds have errors",
    ),
    (
        "zero_error",
        {"at_most": 1.0},
        [0.0] * 9 + [0.1],
        REPLICATED,
        1.0,
        None,
        "1 of 10 folds have errors",
    ),
]


@pytest.mark.parametrize(
    ("test", "parameters", "trials", "verdict", "effect", "p_value", "detail"), CASES
)
def test_bounds(artefacts, test, parameters, trials, verdict, effect, p_value, detail):
    named = {"certificates": "certificate_margin", "within": "certificate_delta"}
    columns = {named[test]: trials} if test in named else {}
    if "trivial" in parameters:
        columns = dict(
            zip(
                ("certificate_delta", "certificate_zero_delta"),
                zip(*trials, strict=True),
                strict=True,
            )
        )
    artefacts.put(
        ONE,
        "A",
        "r=1",
        trials if test == "zero_error" else [0.1] * len(trials),
        **columns,
    )
    bound = claim(test, artefact=ONE, row="A", columns=["r=1"], **parameters)
    judged = verdict_on(artefacts, bound)
    assert judged.verdict == verdict
    assert judged.finding.effect == pytest.approx(
        math.nan if effect is None else effect, nan_ok=True
    )
    assert judged.finding.p_value == pytest.approx(
        math.nan if p_value is None else p_value, nan_ok=True, rel=1e-5
    )
    assert detail in judged.detail
    of_absent_row = verdict_on(
        artefacts,
        claim(test, artefact=ONE, **{**parameters, "row": "B", "columns": ["r=1"]}),
    )
    assert of_absent_row.verdict == NOT_RUN
    assert of_absent_row.state == NOT_RUN


@pytest.mark.parametrize(
    ("n", "above", "at_most", "verdict"),
    [
        (58, 0, 0.0, NOT_CONTRADICTED),  # 0.95^58 > 0.05
        (59, 0, 0.0, REPLICATED),
        (59, 1, 0.0, CONTRADICTED),
        (59, 0, 0.05, REPLICATED),
        (93, 1, 0.05, REPLICATED),
        (92, 1, 0.05, NOT_CONTRADICTED),
        (92, 5, 0.05, INCONCLUSIVE),
        (92, 10, 0.05, CONTRADICTED),
    ],
)
def test_a_share_of_runs_is_shown_where_its_exact_interval_lies_inside(
    artefacts, n, above, at_most, verdict
):
    """And what `needed` says decides: by SciPy's own binomial test, of the certificates as well."""
    artefacts.add("made/runs", ["A"], ["r=1"], ["data"], n_splits=n)
    values = [0.3] * above + [0.1] * (n - above)
    held = states(n - above, above)
    artefacts.put(
        "made/runs",
        "A",
        "r=1",
        np.zeros(n),
        certificate_delta=values,
        certificate_margin=held,
    )
    shared = {
        "artefact": "made/runs",
        "row": "A",
        "columns": ["r=1"],
        "at_most": at_most,
    }
    judged = verdict_on(artefacts, claim("within", **DELTA, **shared))
    interval = binomtest(above, n).proportion_ci(0.9, method="exact")
    assert judged.verdict == verdict
    assert (judged.finding.low, judged.finding.high) == pytest.approx(
        (100 - 100 * interval.high, 100 - 100 * interval.low)
    )
    assert (interval.high < (at_most or 0.05)) == (verdict == REPLICATED)
    if verdict == NOT_CONTRADICTED:
        runs = int(judged.needed)
        failed = np.arange(runs + 1)
        shown = [
            binomtest(k, runs, at_most or 0.05, "less").pvalue < 0.05 for k in failed
        ]
        # the power at the rate that was seen
        assert 0.85 < binom.pmf(failed, runs, above / n)[shown].sum() <= 1
        assert above or binomtest(0, runs - 1, at_most or 0.05, "less").pvalue > 0.05
    theorem = verdict_on(artefacts, claim("certificates", quantity="margin", **shared))
    assert theorem.verdict == (NOT_CONTRADICTED if verdict == INCONCLUSIVE else verdict)


# ||E||, margin (state, ratio), radius (state, ratio): (1 + eps) / (1 - eps) is 2 at ||E|| = 1/4, and infinite from 1/2
RADIUS_MARGIN_CASES = [
    ((0.25, "held", 0.8, "held", 1.2), "held"),  # 1.5
    ((0.25, "held", 0.5, "held", 1.0), "held"),  # 2
    ((0.25, "held", 0.5, "held", 1.01), "violated"),
    ((0.25, "violated", 0.0, "held", 1.0), "violated"),  # the classes are merged
    ((0.6, "vacuous", 0.9, "held", 1.0), "vacuous"),
    ((0.25, "not separable", np.nan, "held", 1.0), "not separable"),
    ((0.25, "held", 0.9, "rank undecided", 1.0), "rank undecided"),
    ((0.25, "held", 0.9, "not measured", np.nan), "not measured"),
]


@pytest.mark.parametrize(("numbers", "state"), RADIUS_MARGIN_CASES)
def test_the_ratio_of_radius_to_margin_is_bounded_where_both_are_measured(
    artefacts, numbers, state
):
    artefacts.add("made/runs", ["A"], ["r=1"], ["data"], n_splits=10)
    columns = dict(
        zip(RADIUS_MARGIN_READS, zip(*[numbers] * 10, strict=True), strict=True)
    )
    artefacts.put(
        "made/runs",
        "A",
        "r=1",
        np.zeros(10),
        **{name: [*values] for name, values in columns.items()},
    )
    theorem = claim(
        "certificates",
        artefact="made/runs",
        row="A",
        quantity="radius_margin",
        columns=["r=1"],
    )
    judged = verdict_on(artefacts, theorem)
    assert f"10 {state}" in judged.detail
    verdicts = {"held": NOT_CONTRADICTED, "violated": CONTRADICTED}
    assert judged.verdict == verdicts.get(state, VACUOUS)


def test_a_theorem_is_shown_on_each_data_set_or_not_at_all(artefacts):
    """A hundred runs of one set without a failure say nothing of another with ten."""
    artefacts.add("made/tens", ["A"], ["r=1"], SETS[:2], n_splits=100)
    for data, n in (("set0", 100), ("set1", 10)):
        artefacts.put(
            "made/tens",
            "A",
            "r=1",
            np.zeros(n),
            data=data,
            certificate_cost=["held"] * n,
        )
    theorem = claim(
        "certificates",
        artefact="made/tens",
        row="A",
        quantity="cost",
        at_most=0.05,
        columns=["r=1"],
    )
    judged = verdict_on(artefacts, theorem)
    assert judged.verdict == NOT_CONTRADICTED
    assert judged.finding.p_value == pytest.approx(0.95**10)
    artefacts.put(
        "made/tens",
        "A",
        "r=1",
        np.zeros(100),
        data="set1",
        certificate_cost=["held"] * 100,
    )
    assert verdict_on(artefacts, theorem).verdict == REPLICATED


def test_a_theorem_that_fails_on_one_data_set_of_many_does_not_drown(artefacts):
    """Ten of ten violated on one set, none on 19: 5 % in all, which the theorem allows."""
    artefacts.add("made/tens", ["A"], ["r=1"], SETS)
    for data in SETS:
        states = ["violated" if data == "set7" else "held"] * 10
        artefacts.put(
            "made/tens", "A", "r=1", np.zeros(10), data=data, certificate_cost=states
        )
    options = {
        "artefact": "made/tens",
        "row": "A",
        "quantity": "cost",
        "at_most": 0.05,
        "columns": ["r=1"],
    }
    verdict = verdict_on(artefacts, claim("certificates", **options))
    assert verdict.verdict == CONTRADICTED
    assert verdict.finding.p_value == pytest.approx(21 * 0.05**10)
    assert "clearest on set7" in verdict.detail


def test_most_frequent_relevant(artefacts):
    relevant = claim("most_frequent_relevant", artefact="made/noise", rows=["A"], top=3)
    assert verdict_on(artefacts, relevant).verdict == NOT_RUN
    artefacts.put(
        "made/noise",
        "A",
        "r=1",
        np.zeros(10),
        features=[[0, 4, 2, 50 + k] for k in range(10)],
    )
    assert verdict_on(artefacts, relevant).verdict == REPLICATED
    artefacts.put(
        "made/noise",
        "A",
        "r=2",
        np.zeros(10),
        features=[[0, 4, 5, k] for k in range(10)],
    )
    verdict = verdict_on(artefacts, relevant)
    assert verdict.verdict == CONTRADICTED
    assert verdict.finding.effect == 50
    assert "2 of 3 in r=2" in verdict.detail


@pytest.mark.parametrize(
    ("top", "verdict", "detail"), [(2, REPLICATED, ""), (3, VACUOUS, "only 2 in r=1")]
)
def test_a_method_that_keeps_fewer_features_than_a_claim_speaks_of_cannot_show_it(
    artefacts, top, verdict, detail
):
    artefacts.put("made/noise", "A", "r=1", np.zeros(10), features=[[0, 4]] * 10)
    judged = verdict_on(
        artefacts,
        claim("most_frequent_relevant", artefact="made/noise", rows=["A"], top=top),
    )
    assert judged.verdict == verdict
    assert detail in judged.detail


@pytest.mark.parametrize(
    ("chosen", "verdict"), [("relevant", REPLICATED), ("first", CONTRADICTED)]
)
def test_relevant_features_are_found_in_shuffled_columns(artefacts, chosen, verdict):
    data = {"n_samples": 20, "n_features": 30, "n_relevant": 5, "seed": 0}
    plain, shuffled = (
        load_dataset("synthetic", **data, shuffle_columns=seed) for seed in (None, 3)
    )
    artefacts.add(
        "made/shuffled",
        ["A"],
        ["r=1"],
        ["noise"],
        dataset={"name": "synthetic", **data, "shuffle_columns": 3},
    )
    is_relevant = (
        (shuffled.X[:, :, None] == plain.X[:, None, :5]).all(axis=0).any(axis=1)
    )
    columns = np.flatnonzero(is_relevant).tolist()
    features = [columns if chosen == "relevant" else list(range(5))] * 10
    artefacts.put("made/shuffled", "A", "r=1", np.zeros(10), features=features)
    relevant = claim(
        "most_frequent_relevant",
        artefact="made/shuffled",
        rows=["A"],
        top=5,
        columns=["r=1"],
    )
    assert verdict_on(artefacts, relevant).verdict == verdict


@pytest.fixture
def words(tmp_path):
    """Return the settings of a data set whose features are words."""
    (tmp_path / "words.csv").write_text(
        "opera,music,tickets,navy,label\n" + "1,0,2,0,a\n0,1,0,3,b\n" * 5
    )
    return {"name": "file", "path": str(tmp_path / "words.csv")}


def test_always_selected(artefacts, words):
    artefacts.add(
        "made/words", ["A"], ["r=1"], ["set3", "set4"], dataset=words, n_splits=2
    )

    def always(*features):
        parameters = {
            "row": "A",
            "dataset": "set3",
            "features": list(features),
            "columns": ["r=1"],
        }
        return verdict_on(
            artefacts, claim("always_selected", artefact="made/words", **parameters)
        )

    assert always("opera").verdict == NOT_RUN
    assert "nothing stored for A on set3" in always("opera").detail
    artefacts.put(
        "made/words", "A", "r=1", np.zeros(2), features=[[0, 1], [2, 0]], data="set3"
    )
    # another set has no say
    artefacts.put(
        "made/words", "A", "r=1", np.zeros(2), features=[[3], [3]], data="set4"
    )
    assert always("opera").verdict == REPLICATED
    both = always("opera", "music", "navy", "unknown")
    assert both.verdict == CONTRADICTED
    assert both.finding.effect == 25
    assert both.finding.n == 2
    assert (
        "music in 1 of 2, navy in 0 of 2, unknown is not a feature of these data"
        in both.detail
    )
    # what a run cannot select is no evidence against the claim
    stem = always("opera", "unknown")
    assert stem.verdict == NOT_TESTABLE
    assert stem.finding.effect == 50


def test_names_of_data_that_are_not_here_leave_a_claim_untested(artefacts, no_data):
    absent = {"name": "techtc", "set": "Exp_10341_10755"}
    artefacts.add("made/absent", ["A"], ["r=1"], ["set3"], dataset=absent, n_splits=2)
    artefacts.put(
        "made/absent", "A", "r=1", np.zeros(2), features=[[0, 1], [2, 0]], data="set3"
    )
    parameters = {
        "row": "A",
        "dataset": "set3",
        "features": ["opera"],
        "columns": ["r=1"],
    }
    judged = verdict_on(
        artefacts, claim("always_selected", artefact="made/absent", **parameters)
    )
    assert judged.verdict == NOT_RUN
    assert "data missing, provsel fetch techtc" in judged.detail


@pytest.mark.parametrize(
    ("ties", "draws", "verdict"),
    [("higher_index", "each", CONTRADICTED), ("earlier_place", "union", REPLICATED)],
)
def test_ties_and_draws_are_counted_as_the_artefact_says(
    artefacts, words, ties, draws, verdict
):
    options = {"columns": ["r=1"], "rows": ["A"]}
    counted = {"n_splits": 2, "draws": 2, "summary": {"ties": ties, "draws": draws}}
    artefacts.add(
        "made/relevant",
        **options,
        datasets=["set"],
        dataset={"n_relevant": 3},
        **counted,
    )
    artefacts.add("made/words", **options, datasets=["set"], dataset=words, **counted)
    # of each of two folds
    for draw, features in enumerate(([[0, 9], [9, 0]], [[1], [1]])):
        for artefact in ("made/relevant", "made/words"):
            artefacts.put(
                artefact, "A", "r=1", np.zeros(2), features=features, draw=draw
            )
    named = {
        "row": "A",
        "dataset": "set",
        "features": ["opera", "music"],
        "columns": ["r=1"],
    }
    relevant = claim(
        "most_frequent_relevant", artefact="made/relevant", **options, top=1
    )
    assert verdict_on(artefacts, relevant).verdict == verdict
    assert (
        verdict_on(
            artefacts, claim("always_selected", artefact="made/words", **named)
        ).verdict
        == verdict
    )


def put_seconds(artefacts, row, column, seconds, data, pass_cpu=None, **options):
    times = {
        "select_cpu": seconds,
        "shared_cpu": [0.25] * len(seconds),
        "pass_cpu": pass_cpu or [None] * len(seconds),
    }
    artefacts.put(
        options.get("artefact", FIGURE),
        row,
        column,
        [0.0] * len(seconds),
        data=data,
        **times,
    )


def put_times(artefacts, row, factors, spread=0.01):
    """Store four runs of a row on each of two data sets; a factor a column."""
    for data in SETS[:2]:
        for column, factor in zip(COLUMNS, factors, strict=False):
            runs = factor * (1 + spread * np.array([-1.0, -0.5, 0.5, 1.0]))
            put_seconds(artefacts, row, column, [0.0] * 4, data, pass_cpu=list(runs))


FASTER = {"row": "A", "than": ["B", "C"], "share": 0.5}


def test_faster(artefacts):
    faster = claim("faster", **FASTER, columns=["r=1"])
    assert verdict_on(artefacts, faster).verdict == NOT_RUN
    for data in SETS[:2]:
        # the search does not count
        put_seconds(artefacts, "A", "r=1", [9.0, 9.0], data, pass_cpu=[1.0, 1.02])
        put_seconds(artefacts, "B", "r=1", [1.75, 1.77], data)
    judged = verdict_on(artefacts, faster)
    assert judged.verdict == REPLICATED
    assert judged.finding.effect == 100.0
    assert judged.finding.n == 2
    for data in SETS[:2]:
        put_seconds(artefacts, "C", "r=1", [0.25, 0.26], data)
    half = verdict_on(artefacts, faster)
    assert half.verdict == CONTRADICTED
    assert half.finding.effect == 50.0
    assert half.finding.high == 50.0
    logarithms = np.log([1.0, 1.02]), np.log([0.5, 0.51])
    low, high = np.exp(
        ttest_ind(*logarithms, equal_var=False).confidence_interval(0.95)
    )
    assert f"slower: C on set0 (r=1: 2.00 times [{low:.2f}, {high:.2f}])" in half.detail
    assert (
        verdict_on(
            artefacts, claim("faster", **{**FASTER, "share": 0.4}, columns=["r=1"])
        ).verdict
        == REPLICATED
    )


@pytest.mark.parametrize(
    ("b", "c", "verdict", "effect", "high"),
    [
        ((2.0, 2.0), (2.0, 2.0), REPLICATED, 100.0, 100.0),
        ((0.5, 0.5), (2.0, 2.0), CONTRADICTED, 50.0, 50.0),
        ((2.0, 0.5), (2.0, 2.0), DEPENDS, 50.0, 100.0),
        ((2.0, 0.5), (0.5, 0.5), CONTRADICTED, 0.0, 50.0),
        ((1.0, 1.0), (2.0, 2.0), INCONCLUSIVE, 50.0, 100.0),
        # slower in one column, open in the other
        ((1.0, 0.5), (2.0, 2.0), INCONCLUSIVE, 50.0, 100.0),
        ((2.0, 0.5), (1.0, 1.0), INCONCLUSIVE, 0.0, 100.0),
    ],
)
def test_faster_at_every_number_of_features(artefacts, b, c, verdict, effect, high):
    for row, factors in (("A", (1.0, 1.0)), ("B", b), ("C", c)):
        put_times(artefacts, row, factors)
    judged = verdict_on(artefacts, claim("faster", **FASTER))
    assert judged.verdict == verdict
    assert judged.finding.effect == effect
    assert judged.finding.high == high
    assert judged.finding.n == 4


def test_noise_of_the_clock_decides_nothing(artefacts):
    for row, factor in (("A", 1.0), ("B", 1.3), ("C", 1.3)):
        put_times(artefacts, row, (factor, factor), spread=0.5)
    assert verdict_on(artefacts, claim("faster", **FASTER)).verdict == INCONCLUSIVE
    assert (
        verdict_on(artefacts, claim("faster", **FASTER, alpha=0.6)).verdict
        == REPLICATED
    )


@pytest.mark.parametrize(
    ("first", "second", "verdict", "detail"),
    [
        (
            [[9, 8, 7], [5, 4, 3]],
            [[9, 8, 7], [5, 4, 3]],
            REPLICATED,
            "set1, r=1 to r=2: replicated",
        ),
        (
            [[9, 8, 7], [5, 4, 3]],
            [[9, 8, 7], [8, 9, 7]],
            INCONCLUSIVE,
            "set1, r=1 to r=2: inconclusive",
        ),
        (
            [[9, 8, 7], [5, 4, 3]],
            [[9, 8, 7]],
            INCONCLUSIVE,
            "set1, r=1 to r=2: not run (nothing stored for A, r=2)",
        ),
        (
            [[9] * 9, [5] * 9],
            [[5] * 9, [9] * 9],
            CONTRADICTED,
            "set1, r=1 to r=2: contradicted",
        ),
    ],
)
def test_a_number_that_falls_on_each_data_set(
    artefacts, first, second, verdict, detail
):
    """Each is asked on its own: the two together would fall in the second case, and tie in the last."""
    artefacts.add("made/sets", ["A"], COLUMNS, SETS[:2])
    for data, samples in zip(SETS, (first, second), strict=False):
        for column, values in zip(COLUMNS, samples, strict=False):
            artefacts.put(
                "made/sets",
                "A",
                column,
                np.zeros(len(values)),
                data=data,
                objective=[float(x) for x in values],
            )
    judged = verdict_on(
        artefacts, claim("falls", artefact="made/sets", row="A", quantity="objective")
    )
    assert judged.verdict == verdict
    assert len(judged.parts) == 2
    assert detail in judged.detail
    # Kendall's tau-b of two groups of three: 9 of 15 pairs are no ties; and where each
    # group is one number
    tau, medians = (
        (-9 / math.sqrt(9 * 15), "medians 8, 4")
        if len(first[0]) == 3
        else (-1.0, "medians 9, 5")
    )
    assert judged.parts[0].effect == pytest.approx(tau)
    assert judged.parts[0].note == medians


@pytest.mark.parametrize(
    ("last", "scale", "verdict"),
    [(0.0, 0.3, REPLICATED), (2.0, 0.3, CONTRADICTED), (0.0, 6.0, INCONCLUSIVE)],
)
def test_one_claim_that_several_rows_are_comparable(artefacts, last, scale, verdict):
    """Its parts are what a claim for each row says, with the corrections of these."""
    put(artefacts, "D", 0, 0, scale=0)
    for row, mean in (("A", 0.0), ("B", 0.2), ("C", last)):
        put(artefacts, row, mean, mean, scale=scale)
    shared = {"than": "D", "over": "datasets", "margin": 1.0}
    judged = verdict_on(
        artefacts, claim("all_comparable", rows=["A", "B", "C"], **shared)
    )
    by_row = judge(
        [compare("comparable", name=f"made.{row}", row=row, than="D") for row in "ABC"],
        artefacts.evidence(),
    )
    assert judged.verdict == verdict
    assert judged.state == "partial (160 of 320)"
    assert [part.part for part in judged.parts] == [
        f"{row}, {column}" for row in "ABC" for column in COLUMNS
    ]
    alone = [part for of_row in by_row for part in of_row.parts]
    assert [part.p_value for part in judged.parts] == [part.p_value for part in alone]


SIZES = {"r=1": 1000.0, "r=2": 4000.0, "r=3": 16000.0}
GROWTH = {"row": "A", "quantity": "seconds", "exponent": 1, "tolerance": 0.1}
GROWTH |= {"artefact": "made/sizes", "columns": [*SIZES], "sizes": [*SIZES.values()]}


@pytest.mark.parametrize(
    ("exponent", "noise", "verdict"),
    [(1.0, 0.05, REPLICATED), (0.3, 0.05, REPLICATED), (1.5, 0.05, CONTRADICTED), (1.1, 0.05, INCONCLUSIVE),
     (1.0, 2.0, INCONCLUSIVE)],
)  # fmt: skip
def test_growth(artefacts, exponent, noise, verdict):
    artefacts.add("made/sizes", ["A"], list(SIZES), ["data"])
    for column, size in SIZES.items():
        seconds = list(1e-3 * size**exponent * np.exp(noise * np.linspace(-1, 1, 6)))
        put_seconds(
            artefacts,
            "A",
            column,
            [0.0] * 6,
            "data",
            pass_cpu=seconds,
            artefact="made/sizes",
        )
    judged = verdict_on(artefacts, claim("grows_like", **GROWTH))
    assert judged.verdict == verdict
    assert judged.finding.n == 18
    assert judged.finding.margins == (1.1,)
    assert judged.finding.low <= judged.finding.effect <= judged.finding.high


def test_growth_over_data_sets(artefacts):
    sizes = {"small": 10, "middle": 100, "large": 1000}
    artefacts.add("made/sets", ["A"], ["l=100"], list(sizes))
    shared = {
        "row": "A",
        "quantity": "peak_memory",
        "exponent": 1.0,
        "tolerance": 0.1,
        "columns": ["l=100"],
    }
    linear = claim(
        "grows_like",
        artefact="made/sets",
        datasets=list(sizes),
        sizes=list(sizes.values()),
        **shared,
    )
    for data, size in list(sizes.items())[:2]:
        artefacts.put(
            "made/sets", "A", "l=100", [0.0], data=data, peak_memory=[10**6 * size]
        )
    absent = verdict_on(artefacts, linear)
    assert absent.verdict == NOT_RUN
    assert absent.detail.split("(")[1] == "nothing stored for 1 of 3 sizes)"
    artefacts.put("made/sets", "A", "l=100", [0.0], data="large", peak_memory=[10**9])
    judged = verdict_on(artefacts, linear)
    assert judged.verdict == REPLICATED
    assert judged.finding.n == 3
    assert judged.finding.effect == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("test", "parameters", "message"),
    [
        (
            "better",
            {"over": "folds"},
            r"over: expected datasets for an artefact with 20 data sets, got folds",
        ),
        (
            "better",
            {"dependence": "dyadic"},
            r"dependence: dyadic needs names .* Exp_<one>_<other>, got 'set0'",
        ),
        (
            "better",
            {"dependence": "dyad"},
            r"dependence: expected dyadic together with .*, got 'dyad'",
        ),
        (
            "better",
            {"dependence": "dyadic", "over": "folds"},
            r"expected dyadic together with .* over 'folds'",
        ),
        ("better", {"at": "best"}, r"at: expected one of , kept, exact, got 'best'"),
        (
            "better",
            {"at": "kept"},
            r"at: expected columns that are numbers of features, .* with 'kept', got 'r=1'; l",
        ),
        (
            "better",
            {"at": "exact", "columns": ["64", "0"]},
            r"at: expected columns that are numbers .*, got '0'; le",
        ),
        (
            "better",
            {"at": "kept", "columns": ["64"], "over": "draws"},
            r"at: .*over datasets or folds.*, got 'draws'",
        ),
        (
            "certificates",
            {"row": "A", "quantity": "delta"},
            r"quantity: expected one of spectral, .*got 'delta'",
        ),
        (
            "within",
            {"row": "A", **DELTA, "quantity": "delta"},
            r"quantity: expected .*certificate_spectral_.*'delta'",
        ),
        (
            "within",
            {"row": "A", **DELTA, "trivial": "x"},
            r"trivial: expected one of .*got 'x'",
        ),
        (
            "all_comparable",
            {"rows": ["A"], "than": "B", "over": "seeds", "margin": 1},
            r"over: .*got 'seeds'",
        ),
        (
            "falls",
            {"row": "A", "quantity": "width"},
            r"quantity: expected one of error, .*got 'width'",
        ),
        (
            "falls",
            {"row": "A", "quantity": "error", "columns": ["r=1"]},
            r"columns: expected at least two",
        ),
        (
            "grows_like",
            {**GROWTH, "quantity": "width"},
            r"quantity: expected one of seconds, .*got 'width'",
        ),
        (
            "grows_like",
            {**GROWTH, "sizes": [1, 2]},
            r"sizes: expected a positive .*r=1; r=2; r=3, .*\[1.0, 2.0\]",
        ),
        (
            "grows_like",
            {**GROWTH, "sizes": [1, 2, 2]},
            r"sizes: .*, at least three of them different, got",
        ),
        (
            "grows_like",
            {**GROWTH, "sizes": [0, 1, 2]},
            r"sizes: expected a positive number",
        ),
        (
            "grows_like",
            {**GROWTH, "sizes": ["1", "2", "3"]},
            r"sizes: 1: expected a number, got '1'",
        ),
        (
            "grows_like",
            {**GROWTH, "datasets": ["a", "b", "c"]},
            r"columns: expected a single column if .*, got r=1, r",
        ),
        (
            "most_frequent_relevant",
            {"artefact": ONE, "rows": ["A"], "top": 3},
            r"data set with n_relevant in made/one",
        ),
    ],
)
def test_messages(artefacts, test, parameters, message):
    put(artefacts, "A", 0, 0)
    put(artefacts, "B", 0, 0)
    artefacts.put(ONE, "A", "r=1", np.zeros(10), features=[[200]] * 10)
    artefacts.artefacts[ONE].entries[0].cell.dataset.pop("n_relevant", None)
    with pytest.raises(ValueError, match=message):
        verdict_on(
            artefacts,
            compare(**parameters) if test == "better" else claim(test, **parameters),
        )


def test_rankings(artefacts, tmp_path):
    for row, mean in (("A", -3.0), ("B", 0.0), ("C", 3.0)):
        put(artefacts, row, mean)
    results = rank(
        [RankingRequest(FIGURE, ("A", "B", "C", "D"), tuple(COLUMNS))],
        artefacts.evidence(),
    )
    assert results["note"].tolist() == ["nothing stored for D"] * 3 + [
        "nothing stored for A, B, C, D"
    ]
    frame = ranked(results)
    assert frame["method"].tolist() == ["A", "B", "C"]
    assert frame["rank"].tolist() == [1.0, 2.0, 3.0]
    assert frame["friedman_p"].max() < 1e-6
    assert frame["p_against_best"].tolist()[0] == 1.0
    assert frame["p_against_best"].tolist()[2] < 1e-6
    paths = draw_rankings(results, tmp_path)
    assert [path.name for path in paths] == [
        f"critical_difference_figure_r1.{kind}" for kind in ("pdf", "png", "svg")
    ]
    assert paths[0].parent == tmp_path / "made"
    texts = " ".join(re.findall(r">([^<>]+)</text>", paths[2].read_text()))
    difference = frame["critical_difference"].iloc[0]
    for words in (
        "A (1.00)",
        "(2.00)",
        "(3.00)",
        f"critical difference {difference:.2f}",
        "nothing stored for D",
    ):
        assert words in texts


def test_a_finding_from_too_few_observations_says_so_in_words():
    part = Finding(
        "100",
        INCONCLUSIVE,
        effect=0.2,
        low=-np.inf,
        high=np.inf,
        n=3,
        needed=9,
        detectable=np.inf,
    )
    remarks = (
        "n=9 would decide it with power 0.9; n=3 is too few to show any difference"
    )
    assert part.line() == f"100: inconclusive, 0.2, n=3 ({remarks})"
