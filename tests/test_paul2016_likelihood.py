"""How often each reading gives the lists of Table 1: what is stored is what the script computes, and what texts say."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from provlab.core.keys import split_seed
from provlab.core.plan import identity_of
from provlab.data import load_dataset
from provlab.project.papers import paper_of

likelihood = paper_of("paul2016/table1").module("likelihood")
LISTS = ["r=30, k=40", "r=30, k=50", "r=40, k=40", "r=40, k=50"]
HIGHER = "the higher index"
EARLIER = "the earlier place"


@pytest.fixture(scope="module")
def lists():
    return pd.read_csv(likelihood.LISTS)


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(likelihood.TABLE)


def test_all_readings_have_the_same_folds_and_both_rules_for_ties(lists, table):
    """The cells of all readings ask for ten times ten folds; a seed has each reading by each rule for each list."""
    assert {(entry.cell.protocol["repeats"], entry.cell.protocol["n_splits"])
            for entry in likelihood.compose(likelihood.readings())} == {(10, 10)}  # fmt: skip
    assert {*lists["folds"]} == {*table["folds"]} == {100}
    readings = [
        (*row.split(", ", 1), ties)
        for row in likelihood.readings()
        for ties in (HIGHER, EARLIER)
    ]
    assert likelihood.tie_rules() == {HIGHER: "higher_index", EARLIER: "earlier_place"}
    for _, of_seed in lists.groupby("seed"):
        keys = [*zip(*(of_seed[name] for name in likelihood.KEY), strict=True)]
        assert sorted(keys) == sorted(
            (*reading, name) for reading in readings for name in LISTS
        )


def test_lists_are_what_the_script_computes(lists, tmp_path):
    """Of each method but the dear one, LPSVM, with a list that is drawn; by both rules for ties."""
    chosen = [
        "BSS, section 4.1 in L only, the step is skipped",
        "Lvg, begun anew",
        "RFE, half",
        "RRQR, by norm",
    ]
    readings = likelihood.readings()
    options = {row: readings[row] for row in chosen}
    entries = [
        entry for entry in likelihood.compose(options) if entry.column == "r=30, k=50"
    ]
    seed = 1
    new = likelihood.write_piece(seed, tmp_path, entries)
    is_chosen = (lists["method"] + ", " + lists["reading"]).isin(chosen) & (
        lists["list"] == "r=30, k=50"
    )
    old = lists[is_chosen & (lists["seed"] == seed)]
    order = likelihood.KEY
    pd.testing.assert_frame_equal(
        *(frame.sort_values(order, ignore_index=True) for frame in (new, old))
    )
    # a piece that is there is not computed
    (tmp_path / f"{seed}.csv").write_text("there\n")
    assert [*likelihood.write_piece(seed, tmp_path, ()).columns] == ["there"]


@pytest.mark.parametrize(("r", "k"), [(30, 40), (40, 50)])
def test_the_largest_scores_by_other_code(lists, r, k):
    """Support vectors by scikit-learn, right singular vectors by NumPy, counts by hand: the lists of `largest`."""
    seed = 0
    config = {
        "name": "synthetic",
        "seed": seed,
        "n_relevant": k,
        "n_samples": 200,
        "n_features": 1000,
    }
    data = load_dataset(config["name"], seed=seed, n_relevant=k)
    counts = Counter()
    places = Counter()
    for repeat in range(10):
        folds = StratifiedKFold(
            10,
            shuffle=True,
            random_state=split_seed(identity_of(config), 10, repeat, 0),
        )
        for train, _ in folds.split(data.X, data.y):
            rows = data.X[train][
                SVC(kernel="linear", C=1.0).fit(data.X[train], data.y[train]).support_
            ]
            _, s, Vt = np.linalg.svd(rows, full_matrices=False)
            top = np.argsort(-(Vt[s > 1e-9 * s[0]] ** 2).sum(axis=0))[:r] + 1
            counts.update(top)
            places.update(dict(zip(top, range(r), strict=True)))
    of_list = lists[
        (lists["seed"] == seed)
        & (lists["reading"] == "largest")
        & (lists["list"] == f"r={r}, k={k}")
    ]
    features = of_list.set_index("ties")["features"]
    by_index = sorted(counts, key=lambda feature: (-counts[feature], -feature))[:5]
    by_place = sorted(
        counts,
        key=lambda feature: (
            -counts[feature],
            places[feature] / counts[feature],
            feature,
        ),
    )[:5]
    assert features[HIGHER] == ", ".join(map(str, by_index))
    assert features[EARLIER] == ", ".join(map(str, by_place))


def test_the_table_is_of_the_lists(lists, table):
    pd.testing.assert_frame_equal(likelihood.shares(lists), table)
    assert {*table["sets"]} == {likelihood.N_SETS}
    assert {*lists["seed"]} == {*range(likelihood.N_SETS)}
    # Clopper and Pearson's interval, of one line by hand
    is_line = lambda frame: (  # noqa: E731
        (frame["reading"] == "as LAPACK leaves them")
        & (frame["list"] == "r=30, k=40")
        & (frame["ties"] == HIGHER)
    )
    line = table[is_line(table)].iloc[0]
    n = likelihood.N_SETS
    hits = int((lists[is_line(lists)]["features"] == "40, 30, 29, 28, 27").sum())
    low = beta.ppf(0.025, hits, n + 1 - hits) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    shares = line[["exactly", "exactly_low", "exactly_high"]].tolist()
    assert shares == pytest.approx([hits / n, low, high], abs=1e-4)


def test_what_the_texts_say(table):
    """The words of letter.j2 and NOTES.md.j2, whose numbers are filled."""
    at = table.set_index(likelihood.KEY).sort_index()
    hits = table[table["exactly"] > 0]
    bss = hits[hits["method"] == "BSS"]
    # no reading gives all four lists
    assert (bss.groupby(["reading", "ties"]).size() < 4).all()
    assert not bss["list"].str.endswith("k=40").any()
    assert (at.loc["BSS", "error"] == 0).all()
    largest = at.loc[("Lvg", "largest")]
    assert (largest.loc[HIGHER, "gaps"] == 0).all()
    assert [
        *hits.loc[(hits["reading"] == "largest") & (hits["ties"] == HIGHER), "list"]
    ] == ["r=30, k=50"]
    assert (
        at.loc[("Lvg", "with replacement, new in each fold", HIGHER), "gaps"] > 0.9
    ).all()
    assert (at.loc[("Lvg", "with replacement, new in each fold"), "error"] > 0).all()
    assert bss["reading"].str.startswith("section 4.1").all()
    lpsvm = hits[hits["method"] == "LPSVM"]
    assert {*lpsvm["reading"]} == {"as published"}
    assert lpsvm["list"].str.endswith("k=40").all()
    assert (at.loc[("RFE", "a tenth", HIGHER), "exactly"] > 0.9).all()
    assert (at.loc[("RRQR", "as LAPACK leaves them", HIGHER), "exactly"] > 0.7).all()
    for method, reading in (
        ("RFE", "a tenth"),
        ("RRQR", "as LAPACK leaves them"),
    ):  # the first rule was probably theirs
        by_rule = [
            at.loc[(method, reading, ties), "exactly"].mean()
            for ties in (HIGHER, EARLIER)
        ]
        assert by_rule[0] > by_rule[1] + 0.2
    # gaps depend on the rule for ties as well
    longest = [
        at.loc[("BSS", "section 4.1, the longest column", ties), "gaps"].max()
        for ties in (HIGHER, EARLIER)
    ]
    assert longest[1] > longest[0] + 0.5
