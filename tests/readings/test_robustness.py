"""Robustness of a claim from its universes, against numbers worked out by hand."""

import math
from itertools import product

import pandas as pd
import pytest

from provlab.verdicts.claims.rules import DECIDED
from provlab.verdicts.readings.robustness import (
    counted,
    robustness_frame,
    robustness_of,
    stored_robustness,
    under_readings,
)
from provlab.verdicts.readings.schema import Option, Place, Readings

MOSTLY_OPEN = "inconclusive under most readings"


def robustness(
    numbers,
    verdict=lambda *chosen: "replicated",
    effect=lambda *chosen: float(sum(chosen)),
):
    """Return what becomes of a claim whose places a, b and c have so many options, and its frame."""
    names = "abc"[: len(numbers)]
    places = []
    for name, n_options in zip(names, numbers, strict=True):
        options = tuple(Option(str(k)) for k in range(n_options))
        places.append(Place(name, "", "", options))
    universes = pd.DataFrame(
        product(*(map(str, range(n)) for n in numbers)), columns=[*names]
    )
    chosen = list(product(*map(range, numbers)))
    universes = universes.assign(
        claim="claim",
        verdict=[verdict(*options) for options in chosen],
        mean_effect=[effect(*options) for options in chosen],
    )
    [of_claim] = robustness_of(Readings("made2000", tuple(places), {}), universes)
    return of_claim


def test_shares_of_the_variance_of_an_additive_effect():
    """Of 3 a + b with a, b in {0, 1}: 9/10 and 1/10 of the variance; of an interaction nothing is of one place."""
    claim = robustness([2, 2], effect=lambda a, b: 3.0 * a + b)
    assert claim.variance == pytest.approx({"a": 0.9, "b": 0.1})
    assert list(claim.variance) == ["a", "b"]
    assert claim.same == 1.0
    assert claim.flips == []
    assert set(claim.turns.values()) == {0.0}
    [line] = robustness_frame([claim]).to_dict("records")
    assert line["turned_by"] == ""
    assert line["turns"] == 0.0
    assert line["varied_by"] == "a"
    claim = robustness([2, 2], effect=lambda a, b: float(a ^ b))
    assert claim.variance == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-12)
    assert robustness([2, 2], effect=lambda a, b: 0.0).variance == {}


def test_the_smallest_changes_that_flip():
    """Contradicted where both of a and b are changed, or c is at its third option."""
    claim = robustness(
        [2, 2, 3],
        lambda a, b, c: "contradicted" if (a and b) or c == 2 else "replicated",
    )
    assert claim.flips == [("c=2", "contradicted")]
    assert claim.shares == pytest.approx({"replicated": 6 / 12, "contradicted": 6 / 12})
    # of c: pairs 0-1, 0-2, 1-2 in each of four settings of a, b; in three of them the
    # last two differ
    assert claim.turns == pytest.approx({"c": 6 / 12, "a": 2 / 6, "b": 2 / 6})
    claim = robustness([2, 2], lambda a, b: "inconclusive" if a and b else "replicated")
    assert claim.flips == [("a=1, b=1", "inconclusive")]


def test_what_was_not_run_has_no_say():
    claim = robustness([3], lambda a: ["replicated", "not run", "replicated"][a])
    assert claim.n_universes == 3
    assert claim.n_run == 2
    assert claim.shares == {"replicated": 1.0}
    claim = robustness([3], lambda a: ["not run", "replicated", "replicated"][a])
    assert math.isnan(claim.same)
    assert claim.flips == []


@pytest.mark.parametrize(
    ("shares", "counts_as"),
    [
        # how many of the universes have each verdict, and what verdicts count as
        (
            {"replicated": 4, "contradicted": 1},
            {"contradicted": "depends on the reading", "replicated": "replicated"},
        ),
        (
            {"replicated": 3, "contradicted": 1},
            {"replicated": "depends on the reading", "vacuous": "vacuous"},
        ),
        # half of all decide, and then fewer
        (
            {"replicated": 4, "contradicted": 1, "inconclusive": 5},
            {"replicated": "replicated"},
        ),
        (
            {"replicated": 4, "contradicted": 1, "inconclusive": 6},
            {"replicated": MOSTLY_OPEN},
        ),
        (
            {"contradicted": 9, "inconclusive": 91},
            {"contradicted": MOSTLY_OPEN, "inconclusive": "inconclusive"},
        ),
        (
            {"replicated": 48, "contradicted": 6, "vacuous": 46},
            {"replicated": "replicated"},
        ),
        # shares are read again with four decimals: a half of 14 that decide, 80 % of 15
        # of 16
        ({"replicated": 7, "inconclusive": 7}, {"replicated": "replicated"}),
        (
            {"replicated": 12, "contradicted": 3, "inconclusive": 1},
            {"replicated": "replicated"},
        ),
        (
            {"replicated": 11, "contradicted": 3, "inconclusive": 2},
            {"replicated": "depends on the reading"},
        ),
        (
            {"no difference": 3, "replicated": 1, "not run": 6},
            {"no difference": "depends on the reading"},
        ),
        (
            {"inconclusive": 5, "vacuous": 5},
            {"replicated": MOSTLY_OPEN, "not contradicted": MOSTLY_OPEN},
        ),
        (
            {"not contradicted": 3, "contradicted": 1},
            {"contradicted": "depends on the reading"},
        ),
        ({"not contradicted": 3, "replicated": 2}, {"replicated": "replicated"}),
        ({"contradicted": 8, "no difference": 2}, {"contradicted": "contradicted"}),
    ],
)
def test_a_verdict_counts_where_most_universes_that_decide_agree(
    tmp_path, shares, counts_as
):
    """Half of all decide, and 80 % of these agree; and what is read again from robustness.csv says the same."""
    verdicts = [verdict for verdict, n in shares.items() for _ in range(n)]
    claim = robustness([len(verdicts), 1], lambda a, b: verdicts[a])
    (tmp_path / "readings" / "made2000").mkdir(parents=True)
    robustness_frame([claim]).to_csv(
        tmp_path / "readings" / "made2000" / "robustness.csv", index=False
    )
    stored = stored_robustness(tmp_path)
    assert claim.turned_by == stored["claim"].turned_by
    for verdict, counts in counts_as.items():
        assert claim.counts_as(verdict) == counted("claim", verdict, stored) == counts
        assert counted("another", verdict, stored) == verdict
        one_reading = verdict in DECIDED
        assert counted("made2000.other", verdict, {"made2000.claim": claim}) == (
            "one reading" if one_reading else verdict
        )
    assert under_readings("another", stored) == "not tested"
    assert under_readings("claim", stored).endswith("; most often changed by a")


def test_a_claim_with_one_universe_has_one_reading():
    claim = robustness([1], lambda a: "replicated")
    assert claim.counts_as("replicated") == "one reading"
    assert claim.counts_as("inconclusive") == "inconclusive"
