"""What must be so for any numbers: properties of verdicts on paired errors, over tables that are drawn."""

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_trials import criteria

from provlab.verdicts.claims.comparison import Better, Comparable, NotWorse
from provlab.verdicts.claims.paired_tests import CorrectedT, SignedRank
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    REPLICATED,
    decide,
)
from provlab.verdicts.claims.table import judge_table

SWAPPED = {REPLICATED: CONTRADICTED, CONTRADICTED: REPLICATED}
FEW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
pairs = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=6, max_size=14
)
rules = st.sampled_from(["better", "comparable", "not_worse"])


def verdict_on(folder, lines, roles, test, **parameters):
    """Return the verdict on a claim about a table of some lines."""
    table = folder / "table.csv"
    claims = folder / "claims.yaml"
    table.write_text("\n".join(lines))
    claim = {
        "id": "made.one",
        "where": "Table 1",
        "claim": "So.",
        "artefact": "made",
        "test": test,
    }
    claim["parameters"] = {"margin": 1.0, **parameters}
    claims.write_text(
        yaml.safe_dump({"paper": "made", "results": roles, "claims": [claim]})
    )
    [[verdict], _] = judge_table(table, claims, {})
    return verdict


@pytest.fixture
def judged(tmp_path):
    def judge(rows, test="better", *, row="A", order=None):
        """Return the finding that `row` compares so with the other of A and B, with errors in per mille."""
        lines = [
            f"set{k:02},{a / 1000!r},{b / 1000!r}" for k, (a, b) in enumerate(rows)
        ]
        if order is not None:
            lines = [lines[k] for k in order]
        compared = {
            "row": row,
            "than": "AB".replace(row, ""),
            "columns": ["error"],
            "over": "datasets",
        }
        return verdict_on(
            tmp_path,
            ["name,A,B", *lines],
            {"dataset": "name", "row": "*", "error": ["A", "B"]},
            test,
            **compared,
        ).finding

    return judge


@FEW
@given(pairs)
def test_swapping_rows_swaps_replicated_and_contradicted(judged, rows):
    forward = judged(rows)
    swapped = judged(rows, row="B")
    assert swapped.verdict == SWAPPED.get(forward.verdict, forward.verdict)
    assert swapped.effect == pytest.approx(-forward.effect, abs=1e-9)
    assert (
        judged(rows, "comparable").verdict
        == judged(rows, "comparable", row="B").verdict
    )


@FEW
@given(pairs, st.randoms(use_true_random=False), rules)
def test_the_order_of_data_sets_does_not_matter(judged, rows, random, test):
    assert judged(
        rows, test, order=random.sample(range(len(rows)), len(rows))
    ) == judged(rows, test)


@FEW
@given(pairs, st.integers(1, 300), rules)
def test_adding_a_constant_to_both_rows_changes_nothing(judged, rows, constant, test):
    moved = judged([(a + constant, b + constant) for a, b in rows], test)
    still = judged(rows, test)
    assert moved.verdict == still.verdict
    assert (moved.effect, moved.p_value) == pytest.approx(
        (still.effect, still.p_value), abs=1e-9
    )


@settings(FEW, max_examples=8)  # each judges five tables that it writes
@given(
    st.lists(
        st.lists(st.integers(0, 400), min_size=6, max_size=6), min_size=3, max_size=8
    ),
    rules,
)
def test_where_all_keep_what_is_asked_nothing_depends_on_where_they_are_compared(
    tmp_path, folds, test
):
    """To the last digit; the control: the verdict's effect is another one where only half as many are kept."""
    sizes = ["20", "100", "500"]
    lines = [
        f"{row},{size},{fold},{errors[3 * k + j] / 1000!r},{int(size) // share}"
        for share in (1, 2)
        for fold, errors in enumerate(folds)
        for k, row in enumerate("AB")
        for j, size in enumerate(sizes)
    ]
    compared = {"row": "A", "than": "B", "columns": sizes, "over": "folds"}
    roles = {
        "row": "row",
        "column": "column",
        "fold": "fold",
        "error": "error",
        "n_train": 90,
        "n_test": 10,
    }
    head = "row,column,fold,error,n_selected"
    half = len(lines) // 2
    findings = []
    for share, at in ((1, ""), (1, "kept"), (1, "exact"), (2, ""), (2, "kept")):
        part = [head, *(lines[:half] if share == 1 else lines[half:])]
        findings.append(
            verdict_on(tmp_path, part, roles, test, **compared, at=at).parts
        )
    at_column, kept, exact, of_half, at_half = findings
    assert at_column == kept == exact == of_half
    constant = all(len({*errors[3:]}) == 1 for errors in folds)  # of B
    assert constant or [part.effect for part in at_half[1:]] != [
        part.effect for part in at_column[1:]
    ]


differences = st.lists(
    st.integers(-300, 300).map(lambda k: k / 100), min_size=6, max_size=30
).map(np.array)
tests = st.sampled_from([SignedRank, lambda values: CorrectedT(values, ratio=1 / 9)])


@given(
    differences,
    tests,
    st.floats(0.01, 4),
    st.floats(0, 4),
    st.sampled_from([Comparable, NotWorse]),
)
def test_a_wider_margin_loses_no_replication(values, make, margin, more, rule):
    test = make(values)
    if decide("r", test, criteria(rule, margin), alpha=0.05).verdict == REPLICATED:
        assert (
            decide("r", test, criteria(rule, margin + more), alpha=0.05).verdict
            == REPLICATED
        )


@given(differences, tests, st.floats(0.01, 4), st.lists(st.floats(0, 1), max_size=9))
def test_a_larger_family_makes_no_verdict_easier(values, make, margin, others):
    better = criteria(Better, margin)
    alone = decide("r", make(values), better, alpha=0.05)
    among = decide("r", make(values), better, [others] * 3, alpha=0.05)
    assert among.verdict in (alone.verdict, NO_DIFFERENCE, INCONCLUSIVE)
    assert among.verdict != NO_DIFFERENCE or alone.verdict != INCONCLUSIVE


@pytest.mark.parametrize(
    "make", [SignedRank, lambda values: CorrectedT(values, ratio=0.0)]
)
@pytest.mark.parametrize(
    ("mean", "rule", "margin", "verdict"),
    [
        (0.0, Better, 1e-9, REPLICATED),
        (0.0, Better, 1e-9, CONTRADICTED),
        (1.0, Comparable, 1.0, REPLICATED),
    ],
)
def test_without_an_effect_claims_are_wrong_at_most_at_their_level(
    make, mean, rule, margin, verdict
):
    """The control: an effect of one standard deviation, which is found."""

    def share(mean, verdict):
        samples = mean + np.random.default_rng(0).standard_normal((400, 20))
        verdicts = [
            decide("r", make(values), criteria(rule, margin), alpha=0.05).verdict
            for values in samples
        ]
        return np.mean([decided == verdict for decided in verdicts])

    assert share(mean, verdict) <= 0.08
    assert share(-1.0 if mean == 0 else 0.0, REPLICATED) > 0.9
