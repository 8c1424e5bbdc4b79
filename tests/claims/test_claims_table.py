"""Claims on tables that provsel did not compute: scikit-learn's `cv_results_`, and error rates by data set and method.

The numbers of the second are made; its layout is that of published tables of
time-series classifiers.
"""

import io
import re
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import PermutationMethod, t, wilcoxon

from provlab.cli import main
from provlab.core.store import TrialStore
from provlab.verdicts.claims.table import TableEvidence, judge_table
from small_runs import fake_records

WIDE = """Name,Train,ED (w=0),DTW (learned_w),DTW (w=100)
Adiac,390,0.389,0.391,0.396
Beef,30,0.333,0.333,0.367
CBF,30,0.148,0.004,0.003
Coffee,28,0.100,0.052,0.061
ECG200,100,0.120,0.118,0.230
FaceAll,560,0.286,0.192,0.192
FaceFour,24,0.216,0.114,0.170
Fish,175,0.217,0.154,0.177
GunPoint,50,0.087,0.081,0.093
Lightning2,60,0.246,0.131,0.131
OliveOil,30,0.133,0.130,0.167
Trace,100,0.240,0.010,0.000
"""
MARGINS = {"usual": 1.0, "small": 0.1, "large": 30.0}
CLAIMS = {
    "paper": "bench",
    "margins": {name: {"points": points, "why": "Of the test."} for name, points in MARGINS.items()},
    "results": {"dataset": "Name", "row": "*", "error": ["ED (w=0)", "DTW (learned_w)", "DTW (w=100)"]},
    "claims": [
        {
            "id": "bench.dtw", "where": "Table 1", "claim": "DTW is better.", "artefact": "bench", "test": "better",
            "parameters": {"row": "DTW (learned_w)", "than": "ED (w=0)", "columns": ["error"], "over": "datasets",
                           "margin": "usual"},
        }
    ],
    "rankings": [
        {"artefact": "bench", "rows": ["ED (w=0)", "DTW (learned_w)", "DTW (w=100)"], "columns": ["error"]}
    ],
}  # fmt: skip


@pytest.fixture
def folder(outside, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    return outside


def changed(**changes):
    """Return the claims with another test or other parameters of the first; `results` of the file."""
    parts = {**CLAIMS, "claims": [dict(CLAIMS["claims"][0])]}
    for name in ("results", "rankings"):
        if name in changes:
            parts[name] = changes.pop(name)
    parameters = {**parts["claims"][0]["parameters"], **changes.pop("parameters", {})}
    kept = {name: value for name, value in parameters.items() if value is not None}
    parts["claims"][0] |= {"parameters": kept, **changes}
    return parts


def written(folder, claims=CLAIMS, table=WIDE):
    (folder / "bench.csv").write_text(table)
    (folder / "claims.yaml").write_text(yaml.safe_dump(claims))
    return folder / "bench.csv", folder / "claims.yaml"


def judged(folder, claims=CLAIMS, table=WIDE, roles=()):
    return judge_table(*written(folder, claims, table), dict(roles))


def walsh(values):
    return np.median([(a + b) / 2 for a, b in combinations_with_replacement(values, 2)])


def test_a_method_a_column(folder):
    [verdict] = judged(folder)[0]
    frame = pd.read_csv(io.StringIO(WIDE))
    points = 100 * frame["DTW (learned_w)"] - 100 * frame["ED (w=0)"]
    p_value = wilcoxon(
        points.round(9),
        zero_method="zsplit",
        method=PermutationMethod(n_resamples=np.inf),
    ).pvalue
    assert verdict.verdict == "replicated"
    assert verdict.finding.p_value == pytest.approx(p_value)
    assert verdict.finding.p_value < 0.05
    assert verdict.finding.effect == pytest.approx(walsh(points))
    assert verdict.finding.n == 12
    assert verdict.finding.unit == "percentage points"
    assert verdict.state == "complete"
    # the claim the other way round is contradicted by the same numbers
    [verdict] = judged(
        folder, changed(parameters={"row": "ED (w=0)", "than": "DTW (learned_w)"})
    )[0]
    assert verdict.verdict == "contradicted"


def test_one_table_in_four_layouts_and_three_formats(folder):
    [wide] = judged(folder)[0]
    long = (
        pd.read_csv(io.StringIO(WIDE))
        .drop(columns="Train")
        .melt("Name", var_name="method", value_name="rate")
    )
    results = {"dataset": "Name", "row": "method", "error": "rate"}
    [verdict] = judged(folder, changed(results=results), long.to_csv(index=False))[0]
    assert verdict == wide
    long["accuracy"] = 100 * (1 - long["rate"])
    results = {
        "dataset": "Name",
        "row": "method",
        "score": "accuracy",
        "unit": "percent",
    }
    shuffled = long.sample(frac=1, random_state=0)
    claims = changed(results=results, rankings=[], parameters={"columns": ["score"]})
    written(folder, claims)
    for name, write in (
        ("t.tsv", lambda path: shuffled.to_csv(path, sep="\t")),
        ("t.parquet", shuffled.to_parquet),
    ):
        write(folder / name)
        [verdict] = judge_table(folder / name, folder / "claims.yaml", {})[0]
        assert verdict.verdict == wide.verdict
        assert verdict.finding.effect == pytest.approx(wide.finding.effect)
        assert verdict.finding.p_value == pytest.approx(wide.finding.p_value)
    turned = long.pivot(index="method", columns="Name", values="rate").reset_index()
    results = {
        "row": "method",
        "dataset": "*",
        "error": [name for name in turned if name != "method"],
    }
    [verdict] = judged(folder, changed(results=results), turned.to_csv(index=False))[0]
    assert verdict == wide


def cv_results():
    """Return `cv_results_` of a grid search."""
    from sklearn.datasets import make_classification
    from sklearn.feature_selection import SelectKBest
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
    from sklearn.pipeline import make_pipeline

    X, y = make_classification(
        n_samples=100, n_features=30, n_informative=3, shuffle=False, random_state=0
    )
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    grid = {"selectkbest__k": [1, 5], "logisticregression__C": [1e-6, 1.0]}
    search = GridSearchCV(
        make_pipeline(SelectKBest(), LogisticRegression()), grid, cv=folds
    ).fit(X, y)
    return pd.DataFrame(search.cv_results_)


def test_cross_validation_of_scikit_learn(folder):
    searched = cv_results()
    results = {
        "row": "param_selectkbest__k", "column": "param_logisticregression__C", "score": "split*_test_score",
        "fold": "*", "n_train": 80, "n_test": 20,
    }  # fmt: skip
    parameters = {"row": "5", "than": "1", "columns": ["1.0"], "over": "folds"}
    claims = changed(results=results, rankings=[], parameters=parameters)
    [verdict] = judged(folder, claims, searched.to_csv())[0]
    splits = [f"split{k}_test_score" for k in range(10)]
    at = searched[searched["param_logisticregression__C"] == 1.0].set_index(
        "param_selectkbest__k"
    )[splits]
    points = 100 * (at.loc[1] - at.loc[5]).to_numpy(float)  # errors: 1 - accuracy
    error = np.sqrt((1 / 10 + 20 / 80) * points.var(ddof=1))
    assert verdict.finding.effect == pytest.approx(points.mean())
    assert verdict.finding.p_value == pytest.approx(
        2 * t.sf(abs(points.mean()) / error, 9)
    )
    assert verdict.finding.n == 10
    assert verdict.state == "complete"
    # the wrong number of rows is another test: no size is assumed
    roles = {"n_train": 50, "n_test": 50}
    [of_other_sizes] = judged(folder, claims, searched.to_csv(), roles=roles)[0]
    assert of_other_sizes.finding.p_value > verdict.finding.p_value
    assert verdict.verdict == (
        "replicated"
        if verdict.finding.p_value < 0.05 and points.mean() < 0
        else "inconclusive"
    )


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.5, "replicated"), (2.0, "contradicted")]
)
def test_seconds_of_a_table(folder, factor, verdict):
    times = np.random.default_rng(0).uniform(1.0, 1.1, size=10)
    lines = [
        f"A,{k},0.1,{factor * time}\nB,{k},0.1,{time}\n" for k, time in enumerate(times)
    ]
    results = {"row": "m", "fold": "f", "error": "e", "seconds": "took"}
    parameters = {"row": "A", "than": ["B"], "share": 0.5, "over": None, "margin": None}
    claims = changed(results=results, rankings=[], test="faster", parameters=parameters)
    [judgement] = judged(folder, claims, "m,f,e,took\n" + "".join(lines))[0]
    assert judgement.verdict == verdict
    assert judgement.finding.effect == (100 if factor < 1 else 0)
    # one time of each says nothing of how times vary
    [judgement] = judged(folder, claims, "m,f,e,took\n" + lines[0])[0]
    assert judgement.verdict == "inconclusive"
    assert judgement.finding.low == 0
    assert judgement.finding.high == 100
    assert f"{factor:.2f} times" in judgement.finding.note


def test_what_is_missing_is_partial_and_left_out_on_both_sides(folder):
    [whole] = judged(folder, table=WIDE.replace("Trace,100,0.240,0.010,0.000\n", ""))[0]
    [verdict] = judged(folder, table=WIDE.replace("0.240,0.010", "0.240,NaN"))[0]
    assert verdict.state == "partial (23 of 24)"
    assert verdict.finding == whole.finding


@pytest.mark.parametrize(
    ("parameters", "status", "verdict"),
    [
        ({}, 0, "replicated"),
        ({"row": "ED (w=0)", "than": "DTW (learned_w)"}, 1, "contradicted"),
        (
            {"row": "DTW (w=100)", "than": "ED (w=0)", "margin": "large"},
            1,
            "no difference",
        ),
        (
            {"row": "DTW (w=100)", "than": "ED (w=0)", "margin": "small"},
            3,
            "inconclusive",
        ),
    ],
)
def test_exit_status(folder, parameters, status, verdict, capsys):
    written(folder, changed(parameters=parameters))
    command = [
        "verify",
        "--results",
        "bench.csv",
        "--claims",
        "claims.yaml",
        "--output",
        "out.csv",
        "--detail",
    ]
    assert main(command) == status
    out = capsys.readouterr().out
    assert verdict in out
    assert "\n1 claim: " in out
    assert "Friedman p" in out
    assert pd.read_csv("out.csv")["verdict"].tolist() == [verdict]
    assert sorted(path.name for path in folder.iterdir()) == [
        "bench.csv",
        "claims.yaml",
        "out.csv",
    ]


def test_columns_by_options_go_before_the_file(folder):
    written(
        folder,
        changed(rankings=[], results={"row": "wrong", "error": "*"}, parameters=PAIR),
        LONG,
    )
    command = ["verify", "--results", "bench.csv", "--claims", "claims.yaml"]
    assert (
        main(
            [
                *command,
                "--column",
                "dataset=d",
                "--column",
                "row=*",
                "--column",
                "error=*(*",
            ]
        )
        == 2
    )
    of_two_sets = ["--column", "row=m", "--column", "dataset=d", "--column", "error=e"]
    assert main([*command, *of_two_sets]) == 3


LONG = "m,d,e\nA,one,0.1\nB,one,0.2\nA,two,0.1\nB,two,0.2\n"
ROLES = {"row": "m", "dataset": "d", "error": "e"}
PAIR = {"row": "A", "than": "B"}


@pytest.mark.parametrize(
    ("table", "results", "parameters", "message"),
    [
        (LONG, {}, PAIR, r"expected a column for row, and one for error or score, got none; .*m, d, e, for example "
                         r"--column row=m"),
        (LONG, {**ROLES, "error": "errors"}, PAIR, r"error: expected a column of m, d, e, got 'errors'"),
        (LONG, {**ROLES, "datset": "d"}, PAIR, r"expected a role out of .*, got 'datset'; did you mean 'dataset'\?"),
        (LONG, {**ROLES, "dataset": 3}, PAIR, r"dataset: expected a column of m, d, e, got 3"),
        (LONG, {**ROLES, "error": "*"}, PAIR, r"error: expected one column, or a pattern .*the roles none as '\*'"),
        (LONG, {**ROLES, "fold": "*", "error": "split*_x"}, PAIR, r"expected columns like 'split\*_x', got m"),
        (LONG, {"row": "m", "error": "e"}, PAIR, r"got a second result of row A, column error in line 3; .*dataset="),
        (LONG.replace("0.2", "20"), ROLES, PAIR, r"values from 0 to 1, got 20; name its unit"),
        (LONG.replace("0.2", "high"), ROLES, PAIR, r"column e: expected a finite number .*got 'high' in line 2"),
        (LONG.replace("B,", ","), ROLES, PAIR, r"column m: expected a name, got none in line 2"),
        (LONG + "A,three,0,1\n", ROLES, PAIR, r"bench\.csv: expected UTF-8 text .*Expected 3 fields in line 6, saw 4"),
        ("m,d,e\n", ROLES, PAIR, r"bench\.csv: there are no results below the column names"),
        ("", ROLES, PAIR, r"bench\.csv: expected UTF-8 text .*No columns to parse"),
        ("m,m,e\nA,B,1\n", ROLES, PAIR, r"bench\.csv: expected each column once, got 'm' twice"),
        (LONG + '"A', ROLES, PAIR, r"bench\.csv: expected UTF-8 text with cells separated by ',', got .*EOF inside"),
        (LONG, ROLES, {**PAIR, "row": "C"}, r"claims: bench\.dtw: expected a row of bench \(A; B\), got 'C'"),
        (LONG, ROLES, {**PAIR, "columns": ["r=1"]}, r"expected a column of bench \(error\), got 'r=1'"),
        (LONG, ROLES, {**PAIR, "dataset": "four"}, r"expected a data set of bench and columns of that data set"),
        (LONG, ROLES, {**PAIR, "than_artefact": "x"}, r"claims must be about a single one, got bench, x; "
                                                      r".*artefact=NAME"),
        (LONG, {**ROLES, "artefact": "d"}, PAIR, r"artefact: expected one of one, two in .*got 'bench'"),
        (LONG, ["m"], PAIR, r"claims\.yaml: results: expected a mapping, got \['m'\]"),
        (LONG.replace("two", "one"), ROLES, PAIR, r"a second result of .*dataset one in line 3; .*fold=NAME"),
        (WIDE.replace("0.333,0.367", "high,0.367"), CLAIMS["results"], PAIR, r"got 'high' in line 2\."),
        (WIDE.replace("Beef", ""), CLAIMS["results"], PAIR, r"column Name: expected a name, got none in line 2\."),
        (
            WIDE + "Beef,30,1,1,1\n", CLAIMS["results"], PAIR,
            r"a second result of row ED .*dataset Beef in line 13; .*fold=",
        ),
    ],
)  # fmt: skip
def test_messages(folder, table, results, parameters, message):
    with pytest.raises(ValueError, match=message):
        judged(
            folder, changed(results=results, rankings=[], parameters=parameters), table
        )


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("error", -5.0, "error: expected values from 0 to 1, got -5"),
        ("nmi", 1.5, "nmi: expected values from 0 to 1, got 1.5"),
        ("n_selected", -1, "n_selected: expected values of at least 0, got -1"),
        (
            "select_cpu",
            -0.5,
            "select_cpu: expected finite values of at least 0, got -0.5",
        ),
    ],
)
def test_a_table_and_a_store_take_the_same_numbers(folder, column, value, message):
    TrialStore(folder / "store").append([fake_records(0, 1)[0] | {column: value}])
    with pytest.raises(ValueError, match=message):
        TrialStore(folder / "store").query()
    pd.DataFrame({"m": ["A"], "rate": [0.5]}).assign(**{column: value}).to_csv(
        folder / "t.csv", index=False
    )
    roles = {"row": "m", "error": "error" if column == "error" else "rate"}
    with pytest.raises(ValueError, match=message):
        TableEvidence(folder / "t.csv", roles).column(column)
    with pytest.raises(
        ValueError, match="n_train: expected values of at least 0, got -3"
    ):
        TableEvidence(
            folder / "t.csv", {"row": "m", "error": "rate", "n_train": -3}
        ).column("n_train")


FOLDS = {"over": "folds", "dataset": "one", "margin": "usual"}
NEEDS = [
    ("better", {**PAIR, **FOLDS}, r"expected a column n_train, which is missing; .*"),
    (
        "count_above",
        {"row": "A", "over": "folds", "above": 1.0},
        r"a column n_selected, which is missing; name it: --column n_",
    ),
    ("faster", {"row": "A", "than": ["B"], "share": 0.5}, r"a column seconds"),
    (
        "most_frequent_relevant",
        {"rows": ["A"], "top": 2},
        r"about numbers, got one about the selected features",
    ),
    (
        "always_selected",
        {"row": "A", "dataset": "one", "features": ["x"]},
        r"got one about the selected features",
    ),
]


@pytest.mark.parametrize(("test", "parameters", "message"), NEEDS)
def test_what_a_test_needs_and_the_table_lacks(folder, test, parameters, message):
    table = "m,d,f,e\n" + "".join(
        f"{m},one,{k},0.{k + 1}\n" for m in "AB" for k in range(3)
    )
    unused = dict.fromkeys(("row", "than", "over", "margin"))
    claims = changed(
        results={**ROLES, "fold": "f"},
        rankings=[],
        test=test,
        parameters={**unused, **parameters},
    )
    with pytest.raises(ValueError, match=message):
        judged(folder, claims, table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--results", "bench.csv"], r"--claims FILE and --results FILE together, .*got no file '' of --claims; name"),
        (["--claims", "claims.yaml"], r"--claims FILE and --results FILE together, .*got no file 'results' of"),
        (["--results", "nothing.csv", "--claims", "claims.yaml"], r"got no file 'nothing\.csv' of --results; name"),
        (["--results", "a.csv", "--claims", "b.yaml"], r"got no file 'b\.yaml' of --claims, no file 'a\.csv' of"),
        (["--results", "bench.csv", "--claims", "nothing.yaml"], r"nothing\.yaml"),
        (["--results", "bench.csv", "--claims", "claims.yaml", "--paper", "x"], r"options of a project, got --paper"),
        (["--results", "bench.csv", "--claims", "claims.yaml", "a=1"], r"options of a project, got a=1"),
        (["--results", "bench.csv", "--claims", "claims.yaml", "--column", "row"], r"ROLE=NAME such as .*got 'row'"),
        (["--results", "claims.yaml", "--claims", "claims.yaml"], r"ending in \.csv, \.tsv, \.parquet, got \.yaml"),
        (["--results", "broken.parquet", "--claims", "claims.yaml"], r"expected a sound Parquet file"),
        (["--column", "row=x"], r"--column and --output need --claims FILE; add it."),
    ],
)  # fmt: skip
def test_wrong_arguments(folder, options, message, capsys):
    written(folder)
    (folder / "broken.parquet").write_bytes(b"PAR1 nothing PAR1")
    assert main(["verify", *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("provsel: ")
    assert re.search(message, error)


@pytest.mark.parametrize(
    ("test", "margin", "verdicts"),
    [
        ("better", 1.0, {"replicated", "contradicted"}),
        ("better_somewhere", 1.0, {"replicated", "contradicted"}),
        ("comparable", 30.0, {"replicated"}),
        ("not_worse", 1.0, {"replicated", "contradicted"}),
        ("slightly_worse", 30.0, {"replicated", "contradicted"}),
    ],
)
def test_a_measure_of_which_more_is_better_gets_the_same_verdict(
    folder, test, margin, verdicts
):
    """With 1 - error in place of the error: effects and intervals change their sign and their unit."""
    long = (
        pd.read_csv(io.StringIO(WIDE))
        .drop(columns="Train")
        .melt("Name", var_name="method", value_name="rate")
    )
    table = long.assign(roc_auc=1 - long["rate"]).to_csv(index=False)
    seen = set()
    results = {"dataset": "Name", "row": "method", "error": "rate"}
    for row, than in (("DTW (learned_w)", "ED (w=0)"), ("ED (w=0)", "DTW (learned_w)")):
        judgements = []
        for quantity, scale in (("", 1), ("roc_auc", 100)):
            name = "most" if test == "slightly_worse" else "margin"
            more = {"quantity": quantity} if quantity else {}
            parameters = {
                "row": row,
                "than": than,
                "margin": None,
                **more,
                name: margin / scale,
            }
            claims = changed(
                results=results, rankings=[], test=test, parameters=parameters
            )
            [judgement] = judged(folder, claims | {"margins": {}}, table)[0]
            judgements.append(judgement)
        by_error, by_area = (value.finding for value in judgements)
        assert by_area.verdict == by_error.verdict
        assert [
            100 * value for value in (by_area.effect, by_area.low, by_area.high)
        ] == pytest.approx(
            [-value for value in (by_error.effect, by_error.high, by_error.low)],
            nan_ok=True,
        )
        assert by_area.p_value == pytest.approx(by_error.p_value)
        assert by_error.unit == "percentage points"
        assert by_area.unit == "roc_auc"
        seen.add(by_error.verdict)
    assert seen == verdicts


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"quantity": "auc"},
            "quantity: expected one of error, rmse, mae, .*accuracy, .*roc_auc.* got 'auc'",
        ),
        (
            {"quantity": "f1"},
            "expected a column f1, which is missing; name it: --column f1=NAME",
        ),
    ],
)
def test_a_measure_that_is_not_there(folder, parameters, message):
    with pytest.raises(ValueError, match=message):
        judged(
            folder, changed(parameters=parameters | {"margin": 0.1}) | {"margins": {}}
        )
