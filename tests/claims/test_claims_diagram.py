"""The critical-difference diagram shows the ranks and the groups that it is given."""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import scikit_posthocs

from provlab.report.figures.ranks import draw_critical_difference, groups
from provlab.verdicts.claims.dataset_ranks import rank_methods
from small_runs import run_python

METHODS = ["BSS", "Lvg", "RFE", "LPSVM", "RRQR", "Random", "Full"]


def made_errors():
    rng = np.random.default_rng(1)
    shift = np.array([0.0, 0.3, 0.1, 1.5, 1.6, 6.0, 4.0])
    return pd.DataFrame(30 + rng.normal(0, 1.5, (30, 7)) + shift, columns=METHODS)


def ranked():
    ranking = rank_methods(made_errors())
    return ranking.set_index("method")["rank"], ranking["critical_difference"][0]


def draw(folder, name="diagram"):
    ranks, difference = ranked()
    return draw_critical_difference(
        ranks, folder / name, "Synthetic data", difference=difference
    )


def test_groups_are_the_largest_of_those_without_a_significant_difference():
    ranks, difference = ranked()
    pairs = scikit_posthocs.posthoc_nemenyi_friedman(made_errors())
    together = {
        frozenset(methods)
        for size in range(2, len(METHODS) + 1)
        for methods in combinations(METHODS, size)
        if (pairs.loc[list(methods), list(methods)] >= 0.05).all(axis=None)
    }
    smaller = {methods for methods in together for wider in together if methods < wider}
    largest = together - smaller
    order = list(ranks.index)
    bars = groups(ranks, difference)
    assert {
        frozenset(order[order.index(first) : order.index(last) + 1])
        for first, last in bars
    } == largest
    assert len(bars) == len(largest) == 3


def test_the_order_of_sets_does_not_show(tmp_path):
    # Names in a set have another order in every process: in this one, too.
    draw(tmp_path, "here")
    script = (
        f"import sys; from pathlib import Path; sys.path[:0] = {sys.path!r}\n"
        "from test_claims_diagram import draw; draw(Path(sys.argv[1]), 'there')"
    )
    process = run_python(
        ["-c", script, tmp_path], Path(__file__).parent, env={"PYTHONHASHSEED": "1"}
    )
    assert process.returncode == 0, process.stderr
    for kind in ("pdf", "png", "svg"):
        assert (tmp_path / f"here.{kind}").read_bytes() == (
            tmp_path / f"there.{kind}"
        ).read_bytes()
