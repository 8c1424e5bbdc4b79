"""Claims on synthetic trials: pairing, draws, corrections over a family, partial stores, and each kind of test."""

import math

import numpy as np
import pytest
from made_trials import MadeArtefacts

from provlab.claims import (
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_RUN,
    REPLICATED,
    VACUOUS,
    Claim,
    RankingRequest,
    judge,
    rank,
    verdict_frame,
)
from provlab.claims.paired_tests import CorrectedT, DisjointT, DyadicT, SignedRank
from provlab.claims.schema import RULES
from provlab.claims.statistics import holm
from provlab.claims.verdicts import draw_rankings, ranking_frame

SETS = [f"set{k}" for k in range(20)]
FIGURE, COLUMNS = "made/figure", ["r=1", "r=2"]


@pytest.fixture
def made(tmp_path, monkeypatch):
    artefacts = MadeArtefacts(tmp_path / "store")
    artefacts.add(FIGURE, ["A", "B", "C", "D"], COLUMNS, SETS, n_splits=2)
    artefacts.add("made/other", ["A"], COLUMNS, SETS, n_splits=2)
    artefacts.add("made/one", ["A", "B"], COLUMNS, ["ccat"])
    artefacts.add("made/noise", ["A"], COLUMNS, ["noise"], dataset={"n_relevant": 5})
    return artefacts


def claim(test, name="made.claim", artefact=FIGURE, **parameters):
    config = {"artefact": artefact, "columns": COLUMNS, **parameters}
    return Claim(name, "made", "Figure 1", "what is claimed", RULES[test].from_config(config))


def verdict_on(made, *claims):
    return judge(claims, made.evidence())[0]


def compare(test, **parameters):
    return claim(test, **{"row": "A", "than": "B", "over": "datasets", **parameters})


def spread(mean, scale=0.3):
    half = np.linspace(0.1, 1.0, len(SETS) // 2) * scale
    return 30 + mean + np.concatenate([half, -half - 1e-3])


def put(made, row, mean, scale=0.3, columns=COLUMNS, artefact=FIGURE):
    for column in columns:
        made.put_means(artefact, row, column, spread(mean, scale))


def base(made, row="B"):
    for column in COLUMNS:
        made.put_means(FIGURE, row, column, np.full(len(SETS), 30.0))


def test_a_claim_is_about_all_columns(made):
    base(made)
    put(made, "A", -3.0, columns=COLUMNS[:1])
    half = verdict_on(made, compare("better", margin=1.0))
    assert half.verdict == INCONCLUSIVE
    assert half.lines[0].startswith("r=1: replicated, -3")
    assert half.lines[1] == "r=2: not run (nothing stored for A of made/figure)"
    put(made, "A", 3.0, columns=COLUMNS[1:])
    both = verdict_on(made, compare("better", margin=1.0))
    assert both.verdict == CONTRADICTED
    assert both.finding.part == "r=2"


def test_columns_beside_have_no_say(made):
    base(made)
    put(made, "A", -3.0, columns=COLUMNS[:1])
    put(made, "A", 3.0, columns=COLUMNS[1:])
    verdict = verdict_on(made, compare("better", margin=1.0, columns=["r=1"], also=["r=2"]))
    assert verdict.verdict == REPLICATED
    assert verdict.lines[1].startswith("beside, r=2: contradicted, 3")


def test_only_data_sets_and_folds_of_both_sides_count(made):
    """Folds that one side lacks are far off: they must not enter the other side's mean."""
    for k, data in enumerate(SETS):
        made.put(FIGURE, "A", "r=1", [0.20 + 0.001 * k, 0.9], data=data)
        made.put(FIGURE, "B", "r=1", [0.25], data=data)
    made.put(FIGURE, "C", "r=1", [0.25], data=SETS[0])
    verdict = verdict_on(made, compare("better", margin=1.0, columns=["r=1"]))
    expected = SignedRank(np.arange(20) * 0.1 - 5.0)
    assert verdict.finding.effect == pytest.approx(expected.estimate)
    assert verdict.finding.p_value == pytest.approx(expected.p_value())
    assert verdict.state == "partial (60 of 80)"
    one = verdict_on(made, compare("better", margin=1.0, than="C", columns=["r=1"]))
    assert one.verdict == INCONCLUSIVE
    assert "needs at least 2 data sets with both sides, found 1" in one.detail
    assert math.isnan(one.finding.p_value)


def test_errors_that_are_not_numbers_are_left_out(made):
    base(made)
    values = spread(-3.0)
    values[:5] = np.nan
    made.put_means(FIGURE, "A", "r=1", values)
    finding = verdict_on(made, compare("better", margin=1.0, columns=["r=1"])).finding
    assert finding.n == len(SETS) - 5
    assert finding.effect == pytest.approx(SignedRank(values[5:] - 30).estimate)


def test_repeats_beyond_the_plan_do_not_count(made):
    base(made)
    put(made, "A", -3.0)
    before = verdict_on(made, compare("better", margin=1.0))
    for data in SETS:
        made.put(FIGURE, "A", "r=1", [0.9], data=data, repeat=1)
    after = verdict_on(made, compare("better", margin=1.0))
    assert after == before
    assert after.state == "partial (80 of 160)"


def raw(row, than, side, shift=0.0, values=None):
    """The uncorrected p-values of both columns; what is not stored counts as 1."""
    stored = values or {"A": [-0.35, -0.4], "B": [0.0, 0.0], "C": [0.1, 2.0]}
    if not {row, than} <= set(stored):
        return [1.0, 1.0]
    means = {name: [spread(m, 1.3) if m else np.full(20, 30.0) for m in stored[name]] for name in (row, than)}
    tests = [SignedRank(a - b) for a, b in zip(means[row], means[than], strict=True)]
    return [min(1.0, (2 if shift == 0 else 1) * test.p_value(shift, side)) for test in tests]


def test_holm_over_the_family_of_a_claim(made):
    """Better in all columns: over the claims, each with its largest p-value. Worse in one: over claims and columns."""
    base(made)
    for row, means in {"A": [-0.35, -0.4], "C": [0.1, 2.0]}.items():
        for column, mean in zip(COLUMNS, means, strict=True):
            made.put_means(FIGURE, row, column, spread(mean, 1.3))
    pairs = [("A", "B"), ("A", "C"), ("C", "B"), ("A", "D")]  # D has nothing, and counts
    claims = [compare("better", name=f"made.{a}{b}", row=a, than=b, margin=0.1) for a, b in pairs]
    verdicts = judge(claims, made.evidence())
    weakest = [max(raw(a, b, "less")) for a, b in pairs]
    assert verdicts[0].finding.p_value == pytest.approx(holm(weakest)[0])
    assert "Holm over 4" in verdicts[0].finding.test
    worse = [p_value for a, b in pairs for p_value in raw(a, b, "greater")]
    assert verdicts[2].verdict == CONTRADICTED
    assert verdicts[2].finding.part == "r=2"
    assert verdicts[2].finding.p_value == pytest.approx(holm(worse)[5])
    assert "Holm over 8" in verdicts[2].finding.test
    assert verdict_on(made, claims[0]).finding.p_value == pytest.approx(weakest[0])
    elsewhere = compare("better", name="made.x", than="A", than_artefact="made/other", margin=0.1)
    assert verdict_on(made, claims[0], elsewhere).finding.p_value == pytest.approx(weakest[0])


@pytest.mark.parametrize("n_columns", [1, 7])
def test_one_of_many_columns_contradicts_no_claim_by_chance(made, n_columns):
    """The same column, p = 0.015: alone it contradicts the claim, among seven it does not."""
    columns = [f"r={k}" for k in range(n_columns)]
    made.add("made/many", ["A", "B"], columns, SETS, n_splits=2)
    for k, column in enumerate(columns):
        made.put_means("made/many", "B", column, np.full(len(SETS), 30.0))
        made.put_means("made/many", "A", column, spread(4.0 if k == 0 else 3.0, 3.0))
    found = verdict_on(made, compare("not_worse", artefact="made/many", columns=columns, margin=3.0))
    assert found.verdict == (CONTRADICTED if n_columns == 1 else INCONCLUSIVE)


def test_the_same_everywhere_is_no_difference(made):
    base(made)
    put(made, "A", 0.0)
    found = verdict_on(made, compare("better", margin=1.0))
    assert found.verdict == NO_DIFFERENCE
    assert verdict_on(made, compare("better_somewhere", margin=1.0)).verdict == NO_DIFFERENCE
    assert verdict_on(made, compare("comparable", margin=1.0)).verdict == REPLICATED
    assert found.finding.smallest_margin < 0.5


def test_an_inconclusive_claim_says_what_would_decide_all_of_its_parts(made):
    base(made)
    put(made, "A", 0.4, 6.0, columns=COLUMNS[:1])
    put(made, "A", 0.8, 6.0, columns=COLUMNS[1:])
    found = verdict_on(made, compare("better", margin=0.1))
    assert found.verdict == INCONCLUSIVE
    parts = [part.needed for part in found.parts]
    assert parts[0] > parts[1] > len(SETS)
    assert found.needed == parts[0]
    frame = verdict_frame([found])
    assert frame.loc[0, "needed"] == parts[0]
    assert "would decide it with power 0.9" in found.detail


def test_data_sets_that_share_categories(made):
    names = [f"Exp_{a}_{b}" for a in range(5) for b in range(a + 1, 5)]
    made.add("made/pairs", ["A", "B"], ["r=1"], names, n_splits=2)
    values = np.random.default_rng(1).normal(30, 1, len(names))
    made.put_means("made/pairs", "A", "r=1", values)
    made.put_means("made/pairs", "B", "r=1", np.full(len(names), 30.0))
    options = {"artefact": "made/pairs", "columns": ["r=1"], "margin": 1.0}
    found = verdict_on(made, compare("comparable", dependence="dyadic", **options)).finding
    expected = DyadicT(values - 30, pairs=[tuple(name.split("_")[1:]) for name in names])
    assert (found.low, found.high) == pytest.approx(expected.interval(0.9))
    assert "dyadic-robust t" in found.test
    base(made)
    put(made, "A", 0.0)
    with pytest.raises(ValueError, match=r"dependence: expected data sets named like Exp_<one>_<other> .* got 'set0'"):
        verdict_on(made, compare("better", dependence="dyadic", margin=1.0))
    for wrong in ({"dependence": "dyad"}, {"dependence": "dyadic", "over": "folds"}):
        with pytest.raises(ValueError, match="dependence: expected dyadic, over datasets, or nothing, got"):
            compare("better", margin=1.0, **wrong)


def test_one_method_under_two_settings(made):
    put(made, "A", -3.0)
    for column in COLUMNS:
        made.put_means("made/other", "A", column, np.full(len(SETS), 30.0))
    verdict = verdict_on(made, compare("better", than="A", than_artefact="made/other", margin=1.0))
    assert verdict.verdict == REPLICATED
    assert verdict.state == "partial (80 of 160)"


@pytest.mark.parametrize("split", ["kfold", "kfold_inverse"])
def test_comparison_over_folds(made, split):
    """Draws of a fold are averaged first; inverse folds have disjoint training sets, and share test rows."""
    rng = np.random.default_rng(0)
    draws = 0.10 + 0.02 * rng.standard_normal((10, 5))
    sizes = {"n_train": 90, "n_test": 10} if split == "kfold" else {"n_train": 1000, "n_test": 9000}
    made.add("made/one", ["A", "B"], COLUMNS, ["ccat"], draws=5, split=split)
    made.put("made/one", "A", "r=1", draws, **sizes)
    made.put("made/one", "B", "r=1", np.full(10, 0.12), **sizes)
    verdict = verdict_on(made, compare("comparable", artefact="made/one", over="folds", columns=["r=1"], margin=3.0))
    differences = 100 * (draws.mean(axis=1) - 0.12)
    expected = CorrectedT(differences, ratio=1 / 9)
    if split == "kfold_inverse":
        variance = 100**2 * (draws.mean() + 0.12 - (draws.mean() - 0.12) ** 2)
        expected = DisjointT(differences, n_folds=10, shared=variance / 10_000)
    assert verdict.finding.effect == pytest.approx(expected.estimate)
    assert (verdict.finding.low, verdict.finding.high) == pytest.approx(expected.interval(0.9))
    assert verdict.verdict == REPLICATED


def test_folds_of_many_data_sets_are_refused(made):
    base(made)
    put(made, "A", 0.0)
    with pytest.raises(ValueError, match="over: expected datasets for an artefact with 20 data sets, got folds"):
        verdict_on(made, compare("comparable", over="folds", margin=1.0))


def test_zero_error(made):
    made.put("made/one", "A", "r=1", np.zeros(10))
    zero = claim("zero_error", artefact="made/one", row="A", at_most=0.005)
    assert verdict_on(made, zero).verdict == INCONCLUSIVE
    made.put("made/one", "A", "r=2", [*np.zeros(9), 0.1])
    verdict = verdict_on(made, zero)
    assert verdict.verdict == CONTRADICTED
    assert verdict.finding.effect == pytest.approx(1.0)
    assert "1 of 10 folds have errors" in verdict.detail
    assert verdict_on(made, claim("zero_error", artefact="made/one", row="A", at_most=1.0)).verdict == REPLICATED
    assert verdict_on(made, claim("zero_error", artefact="made/one", row="B", at_most=1.0)).verdict == NOT_RUN


def test_most_frequent_relevant(made):
    relevant = claim("most_frequent_relevant", artefact="made/noise", rows=["A"], top=3)
    assert verdict_on(made, relevant).verdict == NOT_RUN
    made.put("made/noise", "A", "r=1", np.zeros(10), features=[[0, 4, 2, 50 + k] for k in range(10)])
    assert verdict_on(made, relevant).verdict == REPLICATED
    made.put("made/noise", "A", "r=2", np.zeros(10), features=[[0, 4, 5, k] for k in range(10)])
    verdict = verdict_on(made, relevant)
    assert verdict.verdict == CONTRADICTED
    assert verdict.finding.effect == 50
    assert "2 of 3 in r=2" in verdict.detail


def test_always_selected(made, monkeypatch):
    names = np.array(["opera", "music", "tickets", "navy"], dtype=object)
    monkeypatch.setattr("provlab.claims.features.feature_names_of", lambda config: names)

    def words(*features):
        parameters = {"row": "A", "dataset": "set3", "features": list(features), "columns": ["r=1"]}
        return verdict_on(made, claim("always_selected", artefact="made/other", **parameters))

    assert words("opera").verdict == NOT_RUN
    assert "nothing stored for A on set3" in words("opera").detail
    made.put("made/other", "A", "r=1", np.zeros(2), features=[[0, 1], [2, 0]], data="set3")
    made.put("made/other", "A", "r=1", np.zeros(2), features=[[3], [3]], data="set4")  # another set has no say
    assert words("opera").verdict == REPLICATED
    both = words("opera", "music", "navy", "unknown")
    assert both.verdict == CONTRADICTED
    assert both.finding.effect == 25
    assert both.finding.n == 2
    assert "music in 1 of 2, navy in 0 of 2, unknown in 0 of 2" in both.detail


def test_ties_and_draws_are_counted_as_the_artefact_says(made, monkeypatch):
    names = np.array(["opera", "music"], dtype=object)
    monkeypatch.setattr("provlab.claims.features.feature_names_of", lambda config: names)
    found = {}
    for ties, draws in (("higher_index", "each"), ("earlier_place", "union")):
        name, options = f"made/{ties}", {"columns": ["r=1"], "rows": ["A"]}
        summary = {"ties": ties, "draws": draws}
        made.add(name, **options, datasets=["set"], dataset={"n_relevant": 3}, n_splits=2, draws=2, summary=summary)
        for draw, features in enumerate(([[0, 9], [9, 0]], [[1], [1]])):  # of each of two folds
            made.put(name, "A", "r=1", np.zeros(2), features=features, draw=draw)
        relevant = claim("most_frequent_relevant", artefact=name, **options, top=1)
        words = {"row": "A", "dataset": "set", "features": ["opera", "music"], "columns": ["r=1"]}
        always = claim("always_selected", artefact=name, **words)
        found[ties, draws] = verdict_on(made, relevant).verdict, verdict_on(made, always).verdict
    assert found == {
        ("higher_index", "each"): (CONTRADICTED, CONTRADICTED),
        ("earlier_place", "union"): (REPLICATED, REPLICATED),
    }


def test_relevance_needs_a_data_set_that_knows(made):
    made.put("made/one", "A", "r=1", np.zeros(10), features=[[200]] * 10)
    verdict = claim("most_frequent_relevant", artefact="made/one", rows=["A"], top=3)
    made.artefacts["made/one"].entries[0].cell.dataset.pop("n_relevant", None)
    with pytest.raises(ValueError, match="expected one data set with n_relevant in made/one, A, r=1"):
        verdict_on(made, verdict)


@pytest.mark.parametrize(
    ("numbers", "above", "near"),
    [
        (np.linspace(590, 610, 20), REPLICATED, CONTRADICTED),
        (np.linspace(290, 310, 20), CONTRADICTED, REPLICATED),
        (np.tile([20.0, 980.0], 10), INCONCLUSIVE, INCONCLUSIVE),
    ],
)
def test_numbers_of_features(made, numbers, above, near):
    for data, number in zip(SETS, numbers, strict=True):
        made.put(FIGURE, "A", "r=1", [0.3, 0.3], data=data, n_selected=[int(number)] * 2)
    shared = {"row": "A", "over": "datasets", "columns": ["r=1"]}
    verdict = verdict_on(made, claim("count_above", above=500, **shared))
    assert verdict.verdict == above
    assert verdict.finding.n == 20
    assert verdict.finding.effect == pytest.approx(numbers.astype(int).mean())
    assert verdict_on(made, claim("count_near", near=300, within=50, **shared)).verdict == near


@pytest.mark.parametrize(
    ("states", "verdict", "share"),
    [
        (["held"] * 6 + ["vacuous"] * 4, REPLICATED, 60.0),
        (["held"] * 5 + ["vacuous"] * 5, VACUOUS, 50.0),  # not most of them
        (["held"] * 3 + ["not separable"] * 7, REPLICATED, 100.0),
        (["vacuous"] * 8 + ["not separable"] * 2, VACUOUS, 0.0),
        (["held"] * 9 + ["violated"], CONTRADICTED, 90.0),
        (["no bound"] * 10, VACUOUS, math.nan),
    ],
)
def test_certificates(made, states, verdict, share):
    made.put("made/one", "A", "r=1", np.zeros(10), certificate_margin=states)
    found = verdict_on(made, claim("certificates", artefact="made/one", row="A", quantity="margin"))
    assert found.verdict == verdict
    assert found.finding.effect == pytest.approx(share, nan_ok=True)
    for state in set(states):
        assert f"{states.count(state)} {state}" in found.detail


@pytest.mark.parametrize(("violated", "verdict"), [(0, REPLICATED), (1, REPLICATED), (5, CONTRADICTED)])
def test_a_theorem_with_high_probability_may_fail_now_and_then(made, violated, verdict):
    states = ["violated"] * violated + ["held"] * (10 - violated)
    made.put("made/one", "A", "r=1", np.zeros(10), certificate_cost=states)
    claimed = {"artefact": "made/one", "row": "A", "quantity": "cost"}
    found = verdict_on(made, claim("certificates", at_most=0.05, **claimed))
    assert found.verdict == verdict
    assert found.finding.p_value == pytest.approx({0: 1.0, 1: 0.4013, 5: 6.37e-5}[violated], rel=1e-3)
    assert verdict_on(made, claim("certificates", **claimed)).verdict == (CONTRADICTED if violated else REPLICATED)


def test_a_theorem_that_fails_on_one_data_set_of_many_does_not_drown(made):
    """Ten of ten violated on one set, none on 19: 5 % in all, which the theorem allows."""
    made.add("made/tens", ["A"], ["r=1"], SETS)
    for data in SETS:
        states = ["violated" if data == "set7" else "held"] * 10
        made.put("made/tens", "A", "r=1", np.zeros(10), data=data, certificate_cost=states)
    options = {"artefact": "made/tens", "row": "A", "quantity": "cost", "at_most": 0.05, "columns": ["r=1"]}
    found = verdict_on(made, claim("certificates", **options))
    assert found.verdict == CONTRADICTED
    assert found.finding.p_value == pytest.approx(21 * 0.05**10)
    assert "clearest on set7" in found.detail


def test_certificates_of_nothing(made):
    found = verdict_on(made, claim("certificates", artefact="made/one", row="A", quantity="radius"))
    assert (found.verdict, found.state) == (NOT_RUN, NOT_RUN)


def test_frame_of_verdicts(made):
    base(made)
    put(made, "A", -3.0)
    frame = verdict_frame(
        judge([compare("better", margin=1.0), compare("better", name="b", row="D", margin=1.0)], made.evidence())
    )
    assert list(frame)[:9] == ["id", "paper", "verdict", "effect", "low", "high", "p_value", "n", "test"]
    assert list(frame["verdict"]) == [REPLICATED, NOT_RUN]
    assert frame["effect"].isna().tolist() == [False, True]


def test_rankings(made):
    for row, mean in (("A", -3.0), ("B", 0.0), ("C", 3.0)):
        put(made, row, mean, columns=["r=1"])
    first, second = rank([RankingRequest(FIGURE, ("A", "B", "C", "D"), tuple(COLUMNS))], made.evidence())
    assert list(first.ranking.ranks.items()) == [("A", 1.0), ("B", 2.0), ("C", 3.0)]
    assert first.ranking.p_value < 1e-6
    assert first.note == "nothing stored for D"
    assert second.ranking is None
    assert second.note == "nothing stored for A, B, C, D"


def test_rankings_as_files(made, tmp_path):
    for row, mean in (("A", -3.0), ("B", 0.0), ("C", 3.0)):
        put(made, row, mean, columns=["r=1"])
    results = rank([RankingRequest(FIGURE, ("A", "B", "C", "D"), tuple(COLUMNS))], made.evidence())
    frame = ranking_frame(results)
    assert list(frame["method"]) == ["A", "B", "C"]
    assert list(frame["rank"]) == [1.0, 2.0, 3.0]
    assert frame["p_against_best"].tolist()[0] == 1.0
    assert frame["p_against_best"].tolist()[2] < 1e-6
    paths = draw_rankings(results, tmp_path)
    assert [path.name for path in paths] == [f"critical_difference_figure_r1.{kind}" for kind in ("pdf", "png", "svg")]
    assert paths[0].parent == tmp_path / "made"
    assert "nothing stored for D" in paths[2].read_text()


def somewhere(made, first, second):
    base(made)
    put(made, "A", first, columns=COLUMNS[:1])
    put(made, "A", second, columns=COLUMNS[1:])
    return verdict_on(made, compare("better_somewhere", margin=1.0))


def test_better_in_one_column_is_better_somewhere(made):
    found = somewhere(made, 3.0, -3.0)
    assert found.verdict == REPLICATED
    assert found.finding.part == "r=2"
    assert "better in 1 of 2 columns: r=2" in found.detail
    raw = SignedRank(spread(-3.0) - 30).p_value(0.0, "less")
    assert found.finding.p_value == pytest.approx(2 * raw)  # Holm over two columns


@pytest.mark.parametrize(("first", "second", "verdict"), [(3.0, 0.0, CONTRADICTED), (3.0, -0.05, INCONCLUSIVE)])
def test_better_nowhere(made, first, second, verdict):
    base(made)
    put(made, "A", first, columns=COLUMNS[:1])
    put(made, "A", second, scale=0.3 if verdict == CONTRADICTED else 6.0, columns=COLUMNS[1:])
    assert verdict_on(made, compare("better_somewhere", margin=1.0)).verdict == verdict


def put_seconds(made, row, seconds, data, pass_cpu=None, column="r=1"):
    times = {"select_cpu": seconds, "shared_cpu": [0.25] * len(seconds), "pass_cpu": pass_cpu or [None] * len(seconds)}
    made.put(FIGURE, row, column, [0.0] * len(seconds), data=data, **times)


def put_times(made, row, factors, spread=0.01):
    """Store four runs of a row on each of two data sets; a factor a column."""
    for data in SETS[:2]:
        for column, factor in zip(COLUMNS, factors, strict=False):
            runs = factor * (1 + spread * np.array([-1.0, -0.5, 0.5, 1.0]))
            put_seconds(made, row, [0.0] * 4, data, pass_cpu=list(runs), column=column)


FASTER = {"row": "A", "than": ["B", "C"]}


def test_faster(made):
    faster = claim("faster", **FASTER, share=0.5, columns=["r=1"])
    assert verdict_on(made, faster).verdict == NOT_RUN
    for data in SETS[:2]:
        put_seconds(made, "A", [9.0, 9.0], data, pass_cpu=[1.0, 1.02])  # the search does not count
        put_seconds(made, "B", [1.75, 1.77], data)
    found = verdict_on(made, faster)
    assert (found.verdict, found.finding.effect, found.finding.n) == (REPLICATED, 100.0, 2)
    for data in SETS[:2]:
        put_seconds(made, "C", [0.25, 0.26], data)
    half = verdict_on(made, faster)
    assert (half.verdict, half.finding.effect, half.finding.high) == (CONTRADICTED, 50.0, 50.0)
    assert "slower: C on set0 (r=1: 2.00 times [1." in half.detail
    assert verdict_on(made, claim("faster", **FASTER, share=0.4, columns=["r=1"])).verdict == REPLICATED


@pytest.mark.parametrize(
    ("b", "c", "verdict", "effect", "high"),
    [
        ((2.0, 2.0), (2.0, 2.0), REPLICATED, 100.0, 100.0),
        ((0.5, 0.5), (2.0, 2.0), CONTRADICTED, 50.0, 50.0),
        ((2.0, 0.5), (2.0, 2.0), DEPENDS, 50.0, 100.0),
        ((2.0, 0.5), (0.5, 0.5), CONTRADICTED, 0.0, 50.0),
        ((1.0, 1.0), (2.0, 2.0), INCONCLUSIVE, 50.0, 100.0),
        (
            (1.0, 0.5),
            (2.0, 2.0),
            INCONCLUSIVE,
            50.0,
            100.0,
        ),  # slower in one column, not shown to be faster in the other
        ((2.0, 0.5), (1.0, 1.0), INCONCLUSIVE, 0.0, 100.0),
    ],
)
def test_faster_at_every_number_of_features(made, b, c, verdict, effect, high):
    for row, factors in (("A", (1.0, 1.0)), ("B", b), ("C", c)):
        put_times(made, row, factors)
    found = verdict_on(made, claim("faster", **FASTER, share=0.5))
    assert (found.verdict, found.finding.effect, found.finding.high, found.finding.n) == (verdict, effect, high, 4)


def test_noise_of_the_clock_and_single_runs_decide_nothing(made):
    for row, factor in (("A", 1.0), ("B", 1.3), ("C", 1.3)):
        put_times(made, row, (factor, factor), spread=0.5)
    assert verdict_on(made, claim("faster", **FASTER, share=0.5)).verdict == INCONCLUSIVE
    assert verdict_on(made, claim("faster", **FASTER, share=0.5, alpha=0.6)).verdict == REPLICATED


def test_a_claim_about_one_data_set(made):
    """Over the folds of that one; others have no say, and no part in the correction."""
    for data, shift in (("set3", -0.03), ("set4", 0.05)):
        for row, error in (("A", 0.30 + shift), ("B", 0.30)):
            made.put(FIGURE, row, "r=1", error + np.array([0.001, -0.001]) * (row == "A"), data=data, n_test=0)
    parameters = {"over": "folds", "margin": 1.0, "columns": ["r=1"]}
    one, other = (compare("better", name=f"made.{data}", dataset=data, **parameters) for data in ("set3", "set4"))
    first, second = judge([one, other], made.evidence())
    assert (first.verdict, second.verdict) == (REPLICATED, CONTRADICTED)
    assert first.finding.effect == pytest.approx(-3.0)
    assert first.state == "partial (4 of 4)" or first.state == "complete"
    assert "Holm over 1" in first.finding.test
    assert verdict_on(made, compare("better", dataset="set5", **parameters)).verdict == NOT_RUN


def within(made, deltas, zeros=None, **parameters):
    columns = {"certificate_delta": deltas, "certificate_zero_delta": zeros or [0.9] * len(deltas)}
    made.put("made/one", "A", "r=1", [0.1] * len(deltas), **columns)
    options = {"row": "A", "quantity": "certificate_delta", "bound": 0.2, "columns": ["r=1"], **parameters}
    return verdict_on(made, claim("within", artefact="made/one", **options))


@pytest.mark.parametrize(
    ("above", "at_most", "verdict"),
    [
        (0, 0.0, REPLICATED),
        (1, 0.0, CONTRADICTED),
        (0, 0.1, REPLICATED),
        (1, 0.1, REPLICATED),
        (2, 0.1, INCONCLUSIVE),
        (5, 0.1, CONTRADICTED),
    ],
)
def test_within_a_bound(made, above, at_most, verdict):
    found = within(made, [0.3] * above + [0.2] * (10 - above), at_most=at_most)
    assert found.verdict == verdict
    assert (found.finding.effect, found.finding.n) == (100 - 10 * above, 10)
    assert found.finding.note == ("from 0.2 to 0.3" if above else "from 0.2 to 0.2")


@pytest.mark.parametrize(("zero", "verdict"), [(0.1, VACUOUS), (0.21, REPLICATED)])
def test_within_a_bound_that_says_nothing(made, zero, verdict):
    found = within(made, [0.05] * 10, [zero] * 10, trivial="certificate_zero_delta")
    assert found.verdict == verdict
    assert f"in {10 if zero < 0.2 else 0} of 10 it says nothing" in found.finding.note


def test_within_needs_numbers_and_a_known_quantity(made):
    assert within(made, [np.nan, np.nan]).verdict == NOT_RUN
    with pytest.raises(ValueError, match=r"quantity: expected one of certificate_spectral_error, .*got 'delta'"):
        claim("within", row="A", quantity="delta", bound=0.2)
    with pytest.raises(ValueError, match=r"trivial: expected one of .*got 'certificate_recovery'"):
        claim("within", row="A", quantity="certificate_delta", bound=0.2, trivial="certificate_recovery")


def falls(made, first, second, **parameters):
    for column, values in zip(COLUMNS, (first, second), strict=True):
        made.put("made/one", "A", column, [0.1] * len(values), objective=values)
    return verdict_on(made, claim("falls", artefact="made/one", **{"row": "A", "quantity": "objective", **parameters}))


@pytest.mark.parametrize(
    ("second", "verdict", "tau"),
    [
        ([1, 2, 3, 4, 5], REPLICATED, -1),
        ([11, 12, 13, 14, 15], CONTRADICTED, 1),
        ([5, 6, 7, 8, 11], INCONCLUSIVE, None),
    ],
)
def test_a_number_that_falls(made, second, verdict, tau):
    found = falls(made, [6.0, 7, 8, 9, 10], [float(value) for value in second])
    assert found.verdict == verdict
    if tau is not None:
        # Kendall's tau-b of two groups of five: 25 of 45 pairs, and sqrt(25 * 45) for the ties
        assert found.finding.effect == pytest.approx(tau * 25 / math.sqrt(25 * 45))
    assert f"medians 8, {second[2]}" in found.finding.note


@pytest.mark.parametrize(("errors", "verdict"), [([0.10, 0.11, 0.105], REPLICATED), ([0.2, 0.21, 0.22], CONTRADICTED)])
def test_draws_against_a_method_without_chance(made, errors, verdict):
    made.add("made/drawn", ["A", "B"], COLUMNS, ["ccat"], n_splits=2, draws=3)
    for column in COLUMNS:
        made.put("made/drawn", "A", column, [errors])
        made.put("made/drawn", "B", column, [0.1])
    options = {"artefact": "made/drawn", "over": "draws", "margin": 3.0}
    found = verdict_on(made, compare("not_worse", **options))
    assert found.verdict == verdict
    assert found.finding.n == 3
    assert found.finding.effect == pytest.approx(100 * (np.mean(errors) - 0.1))
    swapped = verdict_on(made, compare("not_worse", **{**options, "row": "B", "than": "A"}))
    assert swapped.verdict == INCONCLUSIVE
    assert "needs draws on one fold, and one trial of A, found 3" in swapped.detail


SIZES = {"r=1": 1000.0, "r=2": 4000.0, "r=3": 16000.0}


def growth(made, exponent, noise, **parameters):
    """Store times of six runs at each of three sizes, and judge that they grow linearly."""
    made.add("made/sizes", ["A"], list(SIZES), ["data"])
    for column, size in SIZES.items():
        seconds = list(1e-3 * size**exponent * np.exp(noise * np.linspace(-1, 1, 6)))
        times = {"select_cpu": seconds, "shared_cpu": [0.0] * 6, "pass_cpu": [None] * 6}
        made.put("made/sizes", "A", column, [0.0] * 6, **times)
    options = {"quantity": "seconds", "sizes": list(SIZES.values()), "exponent": 1, "tolerance": 0.1, **parameters}
    return verdict_on(made, claim("grows_like", artefact="made/sizes", row="A", columns=list(SIZES), **options))


@pytest.mark.parametrize(
    ("exponent", "noise", "verdict"),
    [(1.0, 0.05, REPLICATED), (0.3, 0.05, REPLICATED), (1.5, 0.05, CONTRADICTED), (1.1, 0.05, INCONCLUSIVE),
     (1.0, 2.0, INCONCLUSIVE)],
)  # fmt: skip
def test_growth(made, exponent, noise, verdict):
    found = growth(made, exponent, noise)
    assert (found.verdict, found.finding.n, found.finding.margins) == (verdict, 18, (1.1,))
    assert found.finding.low <= found.finding.effect <= found.finding.high


def test_growth_over_data_sets(made):
    sizes = {"small": 10, "middle": 100, "large": 1000}
    made.add("made/sets", ["A"], ["l=100"], list(sizes))
    shared = {"row": "A", "quantity": "peak_memory", "exponent": 1.0, "tolerance": 0.1, "columns": ["l=100"]}
    linear = claim("grows_like", artefact="made/sets", datasets=list(sizes), sizes=list(sizes.values()), **shared)
    for data, size in list(sizes.items())[:2]:
        made.put("made/sets", "A", "l=100", [0.0], data=data, peak_memory=[10**6 * size])
    absent = verdict_on(made, linear)
    assert (absent.verdict, absent.detail.split("(")[1]) == (NOT_RUN, "nothing stored for 1 of 3 sizes)")
    made.put("made/sets", "A", "l=100", [0.0], data="large", peak_memory=[10**9])
    found = verdict_on(made, linear)
    assert (found.verdict, found.finding.n) == (REPLICATED, 3)
    assert found.finding.effect == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"quantity": "width"}, r"quantity: expected one of seconds, peak_memory, n_selected, got 'width'"),
        ({"sizes": [1, 2]}, r"sizes: expected a positive number for each of r=1; r=2; r=3, .*got \[1.0, 2.0\]"),
        ({"sizes": [1, 2, 2]}, r"sizes: .*three different ones"),
        ({"sizes": [0, 1, 2]}, r"sizes: expected a positive number"),
        ({"sizes": ["1", "2", "3"]}, r"sizes: expected a list of numbers, got \['1', '2', '3'\]"),
        ({"datasets": ["a", "b", "c"]}, r"columns: expected one, beside datasets, got r=1, r=2, r=3"),
    ],
)
def test_messages_of_growth(made, wrong, message):
    with pytest.raises(ValueError, match=message):
        growth(made, 1.0, 0.1, **wrong)
