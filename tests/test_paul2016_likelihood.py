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
KEY = ["method", "reading", "list"]


@pytest.fixture(scope="module")
def lists():
    return pd.read_csv(likelihood.LISTS)


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(likelihood.TABLE)


def test_lists_are_what_the_script_computes(lists, tmp_path):
    """Each method, a list that is drawn, one of ten times ten folds, and one with other ties."""
    chosen = ["BSS, section 4.1 in L only, the step is skipped", "BSS, t is the mean", "Lvg, begun anew", "RFE, half",
              "LPSVM, optimum", "RRQR, by norm", "RRQR, the earlier place"]  # fmt: skip
    known = likelihood.readings()
    assert {*known} == {*(lists["method"] + ", " + lists["reading"])}
    found = {row: known[row] for row in chosen}
    new = likelihood.write_piece(137, tmp_path, found, likelihood.compose(found))
    old = lists[(lists["seed"] == 137) & (lists["method"] + ", " + lists["reading"]).isin(chosen)]
    pd.testing.assert_frame_equal(*(frame.sort_values(KEY, ignore_index=True) for frame in (new, old)))
    (tmp_path / "137.csv").write_text("there\n")  # a piece that is there is not computed
    assert [*likelihood.write_piece(137, tmp_path, found, ()).columns] == ["there"]


@pytest.mark.parametrize("seed", [0, 42, 199])
def test_the_largest_scores_by_other_code(lists, seed):
    """Support vectors by scikit-learn, right singular vectors by NumPy, counts by hand: the lists of `largest`."""
    for r, k in ((30, 40), (40, 50)):
        config = {"name": "synthetic", "seed": seed, "n_relevant": k, "n_samples": 200, "n_features": 1000}
        data = load_dataset(config["name"], seed=seed, n_relevant=k)
        folds = StratifiedKFold(10, shuffle=True, random_state=split_seed(identity_of(config), 10, 0, 0))
        counts = Counter()
        for train, _ in folds.split(data.X, data.y):
            rows = data.X[train][SVC(kernel="linear", C=1.0).fit(data.X[train], data.y[train]).support_]
            _, s, Vt = np.linalg.svd(rows, full_matrices=False)
            counts.update(np.argsort(-(Vt[s > 1e-9 * s[0]] ** 2).sum(axis=0))[:r] + 1)
        top = sorted(counts, key=lambda feature: (-counts[feature], -feature))[:5]
        line = lists[(lists["seed"] == seed) & (lists["reading"] == "largest") & (lists["list"] == f"r={r}, k={k}")]
        assert line["features"].item() == ", ".join(map(str, top))


def test_the_table_is_of_the_lists(lists, table):
    pd.testing.assert_frame_equal(likelihood.shares(lists), table)
    assert {*table["sets"]} == {200}
    assert {*lists["seed"]} == {*range(200)}
    # Clopper and Pearson's interval, of one line by hand
    line = table[(table["reading"] == "as LAPACK leaves them") & (table["list"] == "r=30, k=40")].iloc[0]
    of_line = lists[(lists["reading"] == "as LAPACK leaves them") & (lists["list"] == "r=30, k=40")]
    hits = (of_line["features"] == "40, 30, 29, 28, 27").sum()
    interval = beta.ppf(0.025, hits, 201 - hits), beta.ppf(0.975, hits + 1, 200 - hits)
    assert line[["exactly", "exactly_low", "exactly_high"]].tolist() == pytest.approx([hits / 200, *interval], abs=1e-4)


def test_what_the_texts_say(table):
    """The words of letter.j2 and NOTES.md.j2, whose numbers are filled."""
    at = table.set_index(KEY).sort_index()
    given = table[table["exactly"] > 0]
    bss = given[given["method"] == "BSS"]
    assert bss["reading"].str.startswith("section 4.1").all()  # only barriers by sqrt(tau l)
    assert {*bss["list"]} == {"r=30, k=50", "r=40, k=50"}  # none at k=40, so none gives all four
    skipped = bss["reading"].str.endswith("the step is skipped")
    assert skipped.sum() == 6  # each of the three forms gives both lists
    assert bss.loc[skipped, "exactly"].min() >= bss.loc[~skipped, "exactly"].max()
    displayed = table[(table["method"] == "BSS") & table["reading"].str.startswith("section 4.1")]
    skipped = displayed["reading"].str.endswith("the step is skipped")
    assert displayed.loc[skipped, "gaps"].min() > 0.4
    assert displayed.loc[~skipped, "gaps"].max() < 0.03
    assert (at.loc["BSS", "error"] == 0).all()
    assert (at.loc[("Lvg", "with replacement, new in each fold"), "gaps"] > 0.95).all()
    assert (at.loc[("Lvg", "largest"), "gaps"] == 0).all()
    assert [*given.loc[given["reading"] == "largest", "list"]] == ["r=30, k=50"]
    assert not given[(given["method"] == "Lvg") & given["list"].str.endswith("k=40")].size
    assert (at.loc["Lvg"].drop("largest")["error"] > 0).all()
    assert not given[given["method"] == "LPSVM"].size
    assert (at.loc[("RFE", "a tenth"), "exactly"] > 0.98).all()
    assert (at.loc[("RRQR", "as LAPACK leaves them"), "exactly"] > 0.75).all()
