"""Robustness of a claim from its universes, against numbers worked out by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from provlab.readings.robustness import robustness_frame, robustness_of
from provlab.readings.schema import Option, Place, Readings


def readings_of(**places):
    made = tuple(
        Place(name, "", "", {}, tuple(Option(option) for option in options)) for name, options in places.items()
    )
    return Readings("made2000", made, {})


def frame_of(readings, effect, verdict):
    lines = []
    for chosen in product(*(range(len(place.options)) for place in readings.places)):
        names = {place.id: place.options[k].name for place, k in zip(readings.places, chosen, strict=True)}
        found = effect(*chosen)
        lines.append({"claim": "c", **names, "verdict": verdict(*chosen), "effect": found, "mean_effect": found})
    return pd.DataFrame(lines)


def test_shares_of_the_variance_of_an_additive_effect():
    """Of 3 a + b with a, b in {0, 1}: 9/10 and 1/10 of the variance."""
    readings = readings_of(a=["0", "1"], b=["0", "1"])
    [made] = robustness_of(readings, frame_of(readings, lambda a, b: 3.0 * a + b, lambda a, b: "replicated"))
    assert made.variance == pytest.approx({"a": 0.9, "b": 0.1})
    assert list(made.variance) == ["a", "b"]
    assert made.same == 1.0
    assert made.flips == []
    assert set(made.turns.values()) == {0.0}
    [line] = robustness_frame([made]).to_dict("records")
    assert (line["turned_by"], line["turns"], line["varied_by"]) == ("", 0.0, "a")


def test_an_interaction_is_nobodys_alone():
    readings = readings_of(a=["0", "1"], b=["0", "1"])
    [made] = robustness_of(readings, frame_of(readings, lambda a, b: float(a ^ b), lambda a, b: "replicated"))
    assert made.variance == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-12)


def test_the_smallest_changes_that_flip():
    """Contradicted where both of a and b are changed, or c is at its third option."""
    readings = readings_of(a=["0", "1"], b=["0", "1"], c=["0", "1", "2"])
    verdict = lambda a, b, c: "contradicted" if (a and b) or c == 2 else "replicated"  # noqa: E731
    [made] = robustness_of(readings, frame_of(readings, lambda a, b, c: float(a + b + c), verdict))
    assert made.flips == [("c=2", "contradicted")]
    assert made.shares == pytest.approx({"replicated": 6 / 12, "contradicted": 6 / 12})
    # of c: pairs 0-1, 0-2, 1-2 in each of four settings of a, b; in three of them the last two differ
    assert made.turns == pytest.approx({"c": 6 / 12, "a": 2 / 6, "b": 2 / 6})


def test_two_changes_are_needed():
    readings = readings_of(a=["0", "1"], b=["0", "1"])
    verdict = lambda a, b: "inconclusive" if a and b else "replicated"  # noqa: E731
    [made] = robustness_of(readings, frame_of(readings, lambda a, b: 0.0, verdict))
    assert made.flips == [("a=1, b=1", "inconclusive")]
    assert made.variance == {}


def test_what_was_not_run_has_no_say():
    readings = readings_of(a=["0", "1", "2"])
    frame = frame_of(readings, float, lambda a: ["replicated", "not run", "replicated"][a])
    [made] = robustness_of(readings, frame)
    assert (made.n_universes, made.n_run, made.shares) == (3, 2, {"replicated": 1.0})
    frame = frame_of(readings, float, lambda a: ["not run", "replicated", "replicated"][a])
    [made] = robustness_of(readings, frame)
    assert np.isnan(made.same)
    assert made.flips == []
