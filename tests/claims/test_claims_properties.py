"""What must be so for any numbers: properties of verdicts on paired errors, over tables that are drawn."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from provlab.claims import CONTRADICTED, INCONCLUSIVE, NO_DIFFERENCE, REPLICATED
from provlab.claims.comparison import Better, Comparable, NotWorse
from provlab.claims.paired_tests import CorrectedT, SignedRank
from provlab.claims.rules import decide
from provlab.claims.table import judge_table

SWAPPED = {REPLICATED: CONTRADICTED, CONTRADICTED: REPLICATED}
errors = st.lists(st.integers(0, 400).map(lambda k: k / 1000), min_size=6, max_size=14)
rules = st.sampled_from(["better", "comparable", "not_worse"])
FEW = settings(max_examples=25, deadline=None)


def verdict(first, second, test="better", margin=1.0, *, row="A", names=None):
    """Return the verdict that `row` compares so with the other of A and B, whose errors by data set are given."""
    names = names or [f"set{k:02}" for k in range(len(first))]
    lines = [f"{name},{a!r},{b!r}" for name, a, b in zip(names, first, second, strict=True)]
    parameters = {"row": row, "than": "AB".replace(row, ""), "columns": ["error"], "over": "datasets", "margin": margin}
    claim = {"id": "made.one", "where": "Table 1", "claim": "So.", "artefact": "made", "test": test}
    with tempfile.TemporaryDirectory() as folder:
        table, claims = Path(folder, "table.csv"), Path(folder, "claims.yaml")
        table.write_text("\n".join(["name,A,B", *lines]))
        results = {"dataset": "name", "row": "*", "error": ["A", "B"]}
        stated = {"paper": "made", "results": results, "claims": [{**claim, "parameters": parameters}]}
        claims.write_text(yaml.safe_dump(stated))
        [found], _ = judge_table(table, claims, {})
    return found.finding


def paired(first):
    """Return strategies of two rows of as many errors."""
    return st.tuples(st.just(first), st.permutations(first))


@FEW
@given(errors.flatmap(paired))
def test_swapping_rows_swaps_replicated_and_contradicted(rows):
    one, other = verdict(*rows), verdict(*rows, row="B")
    assert other.verdict == SWAPPED.get(one.verdict, one.verdict)
    assert other.effect == pytest.approx(-one.effect, abs=1e-9)
    assert (verdict(*rows, "comparable").verdict, other.n) == (verdict(*rows, "comparable", row="B").verdict, one.n)


@FEW
@given(errors.flatmap(paired), st.randoms(use_true_random=False), rules)
def test_the_order_of_data_sets_does_not_matter(rows, random, test):
    names = [f"set{k:02}" for k in range(len(rows[0]))]
    order = random.sample(range(len(names)), len(names))
    moved = verdict(*([row[k] for k in order] for row in rows), test, names=[names[k] for k in order])
    assert moved == verdict(*rows, test)


@FEW
@given(errors.flatmap(paired), st.integers(1, 300), rules)
def test_adding_a_constant_to_both_rows_changes_nothing(rows, constant, test):
    moved = verdict(*([(1000 * value + constant) / 1000 for value in row] for row in rows), test)
    still = verdict(*rows, test)
    assert moved.verdict == still.verdict
    assert (moved.effect, moved.p_value) == pytest.approx((still.effect, still.p_value), abs=1e-9)


differences = st.lists(st.integers(-300, 300).map(lambda k: k / 100), min_size=6, max_size=30).map(np.array)
tests = st.sampled_from([SignedRank, lambda values: CorrectedT(values, ratio=1 / 9)])


@given(
    differences,
    tests,
    st.floats(0.01, 4),
    st.floats(0, 4),
    st.sampled_from([Comparable.criteria_at, NotWorse.criteria_at]),
)
def test_a_wider_margin_loses_no_replication(values, make, margin, more, criteria):
    test = make(values)
    if decide("r", test, criteria(margin), alpha=0.05).verdict == REPLICATED:
        assert decide("r", test, criteria(margin + more), alpha=0.05).verdict == REPLICATED


@given(differences, tests, st.floats(0.01, 4), st.lists(st.floats(0, 1), max_size=9))
def test_a_larger_family_makes_no_verdict_easier(values, make, margin, others):
    alone = decide("r", make(values), Better.criteria_at(margin), alpha=0.05)
    among = decide("r", make(values), Better.criteria_at(margin), [others] * 3, alpha=0.05)
    assert among.verdict in (alone.verdict, NO_DIFFERENCE, INCONCLUSIVE)
    assert among.verdict != NO_DIFFERENCE or alone.verdict != INCONCLUSIVE


@pytest.mark.parametrize("make", [SignedRank, lambda values: CorrectedT(values, ratio=0.0)])
def test_without_an_effect_claims_are_wrong_at_most_at_their_level(make):
    """The control: no difference, one of the margin itself, and one that is there, which is found."""
    rng = np.random.default_rng(0)
    share = {}
    better, comparable = Better.criteria_at(1e-9), Comparable.criteria_at(1.0)
    for mean, criteria, verdict in (
        (0.0, better, REPLICATED), (0.0, better, CONTRADICTED), (1.0, comparable, REPLICATED),
        (-1.0, better, REPLICATED),
    ):  # fmt: skip
        samples = mean + rng.standard_normal((400, 20))
        found = [decide("r", make(values), criteria, alpha=0.05).verdict == verdict for values in samples]
        share[mean, verdict] = np.mean(found)
    assert share.pop((-1.0, REPLICATED)) > 0.9
    assert max(share.values()) <= 0.08, share
