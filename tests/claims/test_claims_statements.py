"""Statements on the benchmark: rules about many methods, conditions on lines of a table, and the entries by hand."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import beta, binomtest, spearmanr, ttest_1samp, wilcoxon

from provlab.bench.panel import CARDS, stored_folder
from provlab.bench.statement_pages import OUTCOMES, summary, write_field
from provlab.bench.statements import statement_frame, traced
from provlab.bench.stored_panel import read_panel
from provlab.bench.studies import tagged_trials
from provlab.cli import main
from provlab.project.papers import papers
from provlab.report.templating import Site
from provlab.verdicts.claims.paired_tests import ShareTest
from provlab.verdicts.claims.schema import read_content
from provlab.verdicts.claims.table import TableEvidence, judge_table
from provlab.verdicts.claims.verdicts import judge_files, verdict_frame
from provlab.verdicts.panel_table import claims_on_panel, panel_table
from provlab.verdicts.readings.robustness import read_robustness
from provlab.verdicts.readings.schema import paper_readings
from provlab.verdicts.readings.universes import Multiverse, judge_on_table

CLAIMS = Path(__file__).parents[2] / "experiments/literature/claims.yaml"
METHODS = ["A", "B", "C", "D"]
EACH = {"rows": ["A"], "than": ["B", "C"], "margin": "point"}
CONTENT = {
    "paper": "made",
    "evidence": "panel",
    "results": {
        "row": "method",
        "column": "size",
        "dataset": "dataset",
        "error": "error",
        "unit": "percent",
    },
    "lines": {"judge": "linear"},
    "groups": {"both": ["A", "B"]},
    "planned": {"rows": ["E"], "columns": ["chosen"], "quantities": ["roc_auc"]},
    "margins": {
        "point": {"points": 1.0, "why": "Of the test."},
        "step": {"units": 0.05, "why": "Of the test."},
    },
}


def made_table(errors, *, noise=0.1, n_sets=12, beside=None):
    """Return a table: each method's mean error by size, the same on all sets but for noise; a second judge is worse."""
    rng = np.random.default_rng(0)
    lines = []
    for k in range(n_sets):
        place = {
            "dataset": f"set{k}",
            "source": f"source{k // 2}",
            "domain": f"domain{k % 6}",
        }
        hardness = 20 * rng.random()
        for method, by_size in errors.items():
            for size, error in by_size.items():
                value = min(95, max(5, 25 + hardness + error + noise * rng.normal()))
                index = (beside or {}).get(method, 0.5) + 0.001 * rng.normal()
                line = {**place, "method": method, "size": size, "stability": index}
                lines.append({**line, "judge": "linear", "error": value})
                lines.append(
                    {**line, "judge": "forest", "error": value + 10 * (method == "A")}
                )
    return pd.DataFrame(lines)


def flat(**errors):
    """Return errors that are the same at both sizes."""
    return {method: {"5": error, "10": error} for method, error in errors.items()}


def judged(tmp_path, table, test, **parameters):
    """Return the verdict of one claim on a table."""
    beyond = parameters.pop("beyond", {})
    claim = {
        "id": "made.one", "where": "abstract", "claim": "what is claimed", "artefact": "panel", "test": test,
        "parameters": {"columns": ["5"], "over": "datasets", **parameters}, "beyond": beyond,
    }  # fmt: skip
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({**CONTENT, "claims": [claim]}))
    file, evidence = claims_on_panel(path, table)
    verdicts, _ = judge_files([file], evidence)
    return verdicts if beyond else verdicts[0]


ALIKE = flat(A=0, B=0, C=0, D=0)
AHEAD = flat(A=0, B=5, C=5, D=9)
BEHIND = flat(A=5, B=0, C=0, D=9)
ONE_AHEAD = flat(A=0, B=5, C=-5, D=9)
BY_SIZE = {name: {"5": 0, "10": 5} for name in METHODS}
RANKED = {"rows": ["A"], "among": METHODS, "at_most": 0.3}
FIRST = {"rows": ["A"], "than": METHODS, "margin": "point"}


@pytest.mark.parametrize(
    ("test", "parameters", "errors", "noise", "verdict"),
    [
        ("better_by", {"row": "A", "than": "B", "margin": "point"}, AHEAD, 0.1, "replicated"),
        ("better_by", {"row": "A", "than": "B", "margin": "point"}, ALIKE, 0.1, "contradicted"),
        ("better_by", {"row": "A", "than": "B", "margin": "point"}, ALIKE, 15, "inconclusive"),
        ("better_by", {"row": "A", "than": "A", "than_column": "10", "margin": "point"}, BY_SIZE, 0.1, "replicated"),
        ("better", {"row": "both", "than": "C", "margin": "point"}, flat(A=0, B=4, C=5), 0.1, "replicated"),
        ("better", {"row": "both", "than": "C", "margin": "point"}, flat(A=0, B=9, C=2), 0.1, "contradicted"),
        ("each", {"kind": "better", **EACH}, AHEAD, 0.1, "replicated"),
        ("each", {"kind": "better", **EACH}, ONE_AHEAD, 0.1, "contradicted"),
        ("each", {"kind": "better", **EACH}, ALIKE, 0.1, "no difference"),
        ("each", {"kind": "better", **EACH}, AHEAD, 15, "inconclusive"),
        ("each", {"kind": "better", **EACH, "share": 0.5}, ONE_AHEAD, 0.1, "replicated"),
        ("each", {"kind": "better", **EACH, "share": 0.5}, BEHIND, 0.1, "contradicted"),
        ("each", {"kind": "better", **EACH, "share": 0.5}, AHEAD, 15, "inconclusive"),
        ("each", {"kind": "better", **EACH, "than": ["B", "E"]}, AHEAD, 0.1, "not run"),
        ("each", {"kind": "not_worse", **EACH, "than": ["itself"], "than_column": "10"}, BY_SIZE, 0.1, "replicated"),
        ("each", {"kind": "comparable", **EACH, "rows": ["A", "B"], "than": ["C", "D"], "paired": True},
         flat(A=0, B=5, C=0, D=5), 0.1, "replicated"),
        ("each", {"kind": "comparable", **EACH, "rows": ["A", "B"], "than": ["C", "D"]},
         flat(A=0, B=5, C=0, D=5), 0.1, "contradicted"),
        ("rank_within", RANKED, AHEAD, 0.1, "replicated"),
        ("rank_within", RANKED, BEHIND, 0.1, "contradicted"),
        ("rank_within", {**RANKED, "at_most": 0.5}, ALIKE, 2, "inconclusive"),
        ("share_of_sets", {**FIRST, "at_most": 0.5}, BEHIND, 0.1, "replicated"),
        ("share_of_sets", {**FIRST, "at_most": 0.5}, ALIKE, 0.1, "contradicted"),
        ("share_of_sets", {**FIRST, "at_least": 0.5}, AHEAD, 0.1, "replicated"),
        ("share_of_sets", {**FIRST, "at_least": 0.2, "at_most": 0.7}, AHEAD, 0.1, "contradicted"),
        ("share_of_sets", {"rows": ["A", "B"], "than": ["C"], "best": True, "at_least": 0.5}, ONE_AHEAD, 0.1,
         "contradicted"),
        ("between", {"rows": ["A"], "low": 0.0, "high": 60.0}, ALIKE, 0.1, "replicated"),
        ("between", {"rows": ["A"], "low": 60.0, "high": 90.0}, ALIKE, 0.1, "contradicted"),
        ("between", {"rows": ["A"], "low": 33.0, "high": 36.0}, ALIKE, 0.1, "inconclusive"),
        ("better", {"row": "A", "than": "B", "quantity": "roc_auc", "margin": "step"}, AHEAD, 0.1, "not run"),
        ("better", {"row": "A", "than": "B", "columns": ["chosen"], "margin": "point"}, AHEAD, 0.1, "not run"),
        ("better", {"row": "A", "than": "B", "margin": "point", "only": {"judge": "forest"}}, AHEAD, 0.1,
         "contradicted"),
    ],
)  # fmt: skip
def test_each_verdict_of_each_rule(tmp_path, test, parameters, errors, noise, verdict):
    assert (
        judged(tmp_path, made_table(errors, noise=noise), test, **parameters).verdict
        == verdict
    )


def test_pairs_are_corrected_where_one_suffices_and_not_where_all_are_needed(tmp_path):
    single = judged(
        tmp_path, made_table(ONE_AHEAD), "better", row="A", than="C", margin="point"
    ).finding
    pairs = judged(
        tmp_path, made_table(ONE_AHEAD), "each", kind="better", **EACH
    ).finding
    assert (single.verdict, pairs.verdict) == ("contradicted", "contradicted")
    assert pairs.p_value == pytest.approx(2 * single.p_value)
    single = judged(
        tmp_path, made_table(AHEAD), "better", row="A", than="C", margin="point"
    ).finding
    pairs = judged(tmp_path, made_table(AHEAD), "each", kind="better", **EACH).finding
    assert (single.verdict, pairs.verdict) == ("replicated", "replicated")
    assert pairs.p_value == pytest.approx(single.p_value)


@pytest.mark.parametrize("n_cases", [0, 3, 9, 10])
def test_a_share_of_single_cases_is_tested_by_the_exact_binomial(n_cases):
    test = ShareTest(np.repeat([1.0, 0.0], [n_cases, 10 - n_cases]))
    for side in ("less", "greater"):
        assert test.one_sided(0.3, side) == pytest.approx(
            binomtest(n_cases, 10, 0.3, side).pvalue
        )
    interval = binomtest(n_cases, 10).proportion_ci(0.9)
    assert test.interval(0.9) == pytest.approx((interval.low, interval.high))
    assert (
        test.power(400, 0.2, 0.05, "less")
        > 0.99
        > 0.3
        > test.power(4, 0.02, 0.05, "less")
    )


@pytest.mark.parametrize(
    ("slope", "verdict"), [(0.1, "contradicted"), (-0.1, "contradicted")]
)
def test_correlation_of_two_measures_over_methods(tmp_path, slope, verdict):
    errors = flat(A=0, B=2, C=4, D=6)
    beside = {name: 0.5 + slope * k for k, name in enumerate(METHODS)}
    parameters = {"among": METHODS, "beside": "stability", "low": -0.2, "high": 0.2}
    judgement = judged(
        tmp_path, made_table(errors, beside=beside), "correlated", **parameters
    )
    assert judgement.verdict == verdict
    assert judgement.finding.effect == pytest.approx(np.sign(slope), abs=0.05)
    judgement = judged(
        tmp_path,
        made_table(errors, beside=beside),
        "correlated",
        **{**parameters, "low": -1.1, "high": 1.1},
    )
    assert judgement.verdict == "replicated"


def test_groups_of_data_sets_are_single_observations(tmp_path):
    table = made_table(flat(A=0, B=5), n_sets=12)
    numbers = {}
    for over in ("datasets", "sources", "domains"):
        numbers[over] = judged(
            tmp_path, table, "better", row="A", than="B", margin="point", over=over
        ).finding.n
    assert numbers == {"datasets": 12, "sources": 6, "domains": 6}
    by_domain = table[table["judge"] == "linear"].pivot_table(
        "error", ["domain", "dataset"], ["method", "size"]
    )
    differences = (by_domain["A", "5"] - by_domain["B", "5"]).groupby("domain").mean()
    finding = judged(
        tmp_path, table, "better", row="A", than="B", margin="point", over="domains"
    ).finding
    assert [value for _, value in finding.sample] == pytest.approx(differences.tolist())


def test_a_statement_is_asked_elsewhere_as_a_claim_beside(tmp_path):
    table = made_table(flat(A=0, B=5))
    is_first = table["domain"] == "domain0"
    table.loc[is_first & (table["method"] == "A"), "error"] += 10
    parameters = {
        "row": "A",
        "than": "B",
        "margin": "point",
        "only": {"domain": ["domain0"]},
    }
    beyond = {
        "over": "domains",
        "only": {"domain": "all"},
        "without": {"domain": "domain0"},
    }
    own, elsewhere = judged(tmp_path, table, "better", **parameters, beyond=beyond)
    assert (own.finding.n, elsewhere.finding.n) == (2, 5)
    assert elsewhere.claim.id == "made.one.beyond"
    assert (own.claim.kind, elsewhere.claim.kind) == ("paper", "alternative")
    assert own.finding.effect > 0 > elsewhere.finding.effect


@pytest.mark.parametrize(
    ("test", "parameters", "message"),
    [
        ("better", {"row": "F", "than": "B", "margin": "point"}, "expected a row of panel .*got 'F'"),
        ("better", {"row": "A", "than": "B", "margin": "point", "only": {"model": "linear"}},
         "only, without: expected a column of the table, got 'model'"),
        ("better", {"row": "A", "than": "B", "margin": "point", "only": {"judge": 3}},
         "judge: expected a string or a list of strings, got 3; put numbers in quotes"),
        ("each", {"kind": "better", **EACH, "than": ["A"]}, "than: expected a row that is not in rows, got A"),
        ("each", {"kind": "better", **EACH, "share": 0.0}, "share: expected a number above 0, at most 1, got 0.0"),
        ("each", {"kind": "better", **EACH, "paired": True}, "paired: expected equally many entries .*, got 1 and 2"),
        ("each", {"kind": "better", **EACH, "columns": ["5", "10"]}, "columns: expected a single column, got 5; 10"),
        ("rank_within", {**RANKED, "rows": ["E"]}, "among: expected three or more methods, which include E, got"),
        ("share_of_sets", FIRST, "at_least, at_most: expected two shares, the first below the second"),
        ("between", {"rows": ["A"], "low": 0.0, "high": 1.0, "quantity": "stabillity"}, "quantity: expected one of"),
    ],
)  # fmt: skip
def test_messages(tmp_path, test, parameters, message):
    with pytest.raises(ValueError, match=message):
        judged(tmp_path, made_table(AHEAD), test, **parameters)


# ---- the published statements on the stored panel


@pytest.fixture(scope="module")
def panel():
    return read_panel()


@pytest.fixture(scope="module")
def table(panel):
    return panel_table(panel, pd.read_csv(stored_folder() / CARDS), tagged_trials())


@pytest.fixture(scope="module")
def literature(table):
    return claims_on_panel(CLAIMS, table)


def only(literature, *names):
    """Return the verdicts on some claims by the end of their id."""
    file, evidence = literature
    chosen = [
        claim for claim in file.claims if claim.id.removeprefix("literature.") in names
    ]
    verdicts, _ = judge_files(
        [file.__class__(file.paper, tuple(chosen), evidence=file.evidence)], evidence
    )
    return {
        verdict.claim.id.removeprefix("literature."): verdict for verdict in verdicts
    }


def test_the_statements_say_what_was_asked_and_left_out(literature):
    file, _ = literature
    content = read_content(CLAIMS)
    own = [claim for claim in file.claims if claim.kind in ("paper", "certain")]
    assert len(own) >= 30
    assert len({claim.id.split(".")[1] for claim in own}) >= 12
    for claim in own:
        assert {"theme", "asked", "left out"} <= {*claim.notes}, claim.id
        assert claim.id.split(".")[1] in content.works
        assert claim.text.endswith(".")
        assert "{" not in claim.rule.meaning
        # each with its reason
        assert bool(claim.margin) == (getattr(claim.rule, "margin", 0.0) > 0)
    assert len(content.not_testable) > 10


def by_hand(panel, method, size, column, judge="linear"):
    """Return the mean of a column of the panel over the folds of each data set; all features have the size 0."""
    panel = panel[panel["task"] == "classification"]
    lines = panel[
        (panel["method"] == method)
        & (panel["size"] == size)
        & (panel["model"] == judge)
    ]
    return lines.groupby(["domain", "dataset"])[column].mean()


def difference(panel, first, second, size, column, judge="linear", second_size=None):
    own = by_hand(panel, first, size, column, judge)
    subtracted = by_hand(
        panel, second, size if second_size is None else second_size, column, judge
    )
    return (own - subtracted).dropna()


def p_of(values, shift=0.0, side="two-sided"):
    return wilcoxon(
        np.round(values - shift, 10),
        alternative=side,
        zero_method="zsplit",
        method="exact",
    ).pvalue


TOO_FEW = "needs at least"
"""How the note of a finding begins that had too few sources or domains."""


def check_sample(part, expected, tolerance):
    """Compare what a finding rests on; of too few sources, as of a benchmark that is not computed yet, it has none."""
    if part.note.startswith(TOO_FEW):
        assert len(expected) < 5
        assert part.sample == ()
    else:
        assert dict(part.sample) == pytest.approx(expected, abs=tolerance)


def test_ten_entries_by_hand(panel, literature):
    names = [
        "haury2011.ttest-unbeaten-few", "guyon2002.rfe-better", "guyon2002.rfe-fewer", "yang1997.chi-unharmed",
        "nogueira2018.stabsel-stable", "nogueira2018.stabsel-error", "nogueira2018.chance", "haury2011.ttest-first",
        "gujs2024.uncorrelated", "darst2018.rf-rfe", "haury2011.ttest-stable", "bommert2020.no-winner",
    ]  # fmt: skip
    entries = only(literature, *names)
    assert len(entries) == len(names)
    genes = "genes"

    # differences in error, in points, of one domain: the signed rank over its sources
    points = (
        -100 * difference(panel, "F-test", "RFE", 10, "balanced_accuracy").loc[genes]
    )
    part = entries["haury2011.ttest-unbeaten-few"].finding
    check_sample(part, _by_source(points), 1e-4)
    part = entries["guyon2002.rfe-better"].finding
    check_sample(part, _by_source(-points), 1e-4)
    points = (
        -100
        * difference(
            panel, "RFE", "F-test", 5, "balanced_accuracy", second_size=50
        ).loc[genes]
    )
    part = entries["guyon2002.rfe-fewer"].finding
    check_sample(part, _by_source(points), 1e-4)

    all_features = by_hand(panel, "all features", 0, "balanced_accuracy")
    points = (
        100
        * (all_features - by_hand(panel, "chi-squared", 200, "balanced_accuracy"))
        .dropna()
        .loc["text"]
    )
    check_sample(entries["yang1997.chi-unharmed"].finding, _by_source(points), 1e-4)

    # means of domains
    steps = (
        difference(panel, "stability selection", "least angles", 20, "stability")
        .groupby("domain")
        .mean()
    )
    part = entries["nogueira2018.stabsel-stable"].finding
    check_sample(part, steps.to_dict(), 1e-6)
    points = -100 * difference(
        panel, "stability selection", "least angles", 20, "balanced_accuracy"
    )
    part = entries["nogueira2018.stabsel-error"].finding
    check_sample(part, points.groupby("domain").mean().to_dict(), 1e-4)
    chance = by_hand(panel, "random", 20, "stability").groupby("domain").mean()
    part = entries["nogueira2018.chance"].finding
    assert part.effect == pytest.approx(chance.mean(), abs=1e-6)
    p_values = [
        ttest_1samp(chance, bound, alternative=side).pvalue
        for bound, side in ((-0.05, "greater"), (0.05, "less"))
    ]
    assert part.p_value == pytest.approx(max(p_values), rel=1e-4)

    # ranks and correlations over 23 methods
    supervised = (
        literature[0].claims[_place(literature, "haury2011.ttest-first")].rule.among
    )
    errors = 100 - 100 * pd.DataFrame(
        {name: by_hand(panel, name, 100, "balanced_accuracy") for name in supervised}
    )
    ranks = errors.loc[genes].round(10).rank(axis=1)["F-test"]
    part = entries["haury2011.ttest-first"].finding
    check_sample(part, _by_source((ranks - 1) / 22), 1e-6)
    errors = 100 - 100 * pd.DataFrame(
        {name: by_hand(panel, name, 20, "balanced_accuracy") for name in supervised}
    )
    stable = pd.DataFrame(
        {name: by_hand(panel, name, 20, "stability") for name in supervised}
    )
    correlations = {}
    for place in errors.dropna().index:
        correlations[place] = spearmanr(
            errors.loc[place].round(4), stable.loc[place]
        ).statistic
    mean = pd.Series(correlations).groupby(level=0).mean().mean()
    assert entries["gujs2024.uncorrelated"].finding.effect == pytest.approx(
        mean, abs=5e-3
    )

    # indices on generated data, in the order of better values, and all pairs
    designs = ["correlated", "copies", "chain", "proxies"]
    steps = difference(panel, "extra trees", "forest RFE", 20, "support_f1").loc[
        "generated"
    ]
    steps = steps[steps.index.isin(designs)]
    part = entries["darst2018.rf-rfe"].finding
    if part.sample:
        assert sorted(value for _, value in part.sample) == pytest.approx(
            sorted(steps), abs=1e-6
        )
    else:
        assert len(steps) < len(designs)  # not computed yet
    weakest = 0.0
    for name in ("RFE", "L1-SVM", "least angles", "forward ridge"):
        steps = difference(panel, "F-test", name, 100, "stability").loc[genes]
        weakest = max(weakest, p_of(steps, 0.05, "greater"))
    part = entries["haury2011.ttest-stable"].finding
    if part.verdict == "replicated":
        assert part.p_value == pytest.approx(weakest, rel=0.01)
    else:  # corrected for the four comparisons
        assert part.p_value > weakest > 0.05

    # shares of the data sets
    filters = (
        literature[0].claims[_place(literature, "bommert2020.no-winner")].rule.rows
    )
    errors = (
        100
        - 100
        * pd.DataFrame(
            {name: by_hand(panel, name, 50, "balanced_accuracy") for name in filters}
        ).dropna()
    )
    is_near = errors.sub(errors.min(axis=1), axis=0) < 1
    shares = is_near.groupby("domain").mean()
    n = len(shares)
    # as few cases, if the share were 0.8
    p_values = [beta.cdf(0.2, n - cases, cases + 1) for cases in shares.sum()]
    part = entries["bommert2020.no-winner"].finding
    assert part.p_value == pytest.approx(max(p_values), rel=1e-3)


def _place(literature, name):
    return next(
        k
        for k, claim in enumerate(literature[0].claims)
        if claim.id == f"literature.{name}"
    )


def _by_source(values):
    """Return the means of values of data sets over each source."""
    sources = pd.read_csv(stored_folder() / CARDS).set_index("dataset")["source"]
    return values.groupby(sources.reindex(values.index)).mean().to_dict()


def test_the_exported_panel_gives_the_same_verdicts(tmp_path, table, literature):
    path = tmp_path / "panel.parquet"
    table.to_parquet(path, index=False)
    file, evidence = literature
    content = read_content(CLAIMS)
    exported = TableEvidence(path, content.results, content=content)
    assert exported.layout("panel") == evidence.layout("panel")
    names = {
        "haury2011.ttest-unbeaten", "moran2024.cfs", "gujs2024.uncorrelated", "brown2012.balance",
        "cherepanova2023.random-easy", "varma2006.nested",
    }  # fmt: skip
    chosen = tuple(
        claim for claim in file.claims if claim.id.removeprefix("literature.") in names
    )
    part = file.__class__(file.paper, chosen, evidence=file.evidence)
    frames = [
        verdict_frame(judge_files([part], source)[0]) for source in (evidence, exported)
    ]
    pd.testing.assert_frame_equal(*frames)
    assert set(frames[0]["verdict"]) > {"not run"}


def test_readings_that_come_to_one_question_count_once(literature):
    file, evidence = literature
    chosen = [
        claim for claim in file.claims if claim.id == "literature.guyon2002.rfe-better"
    ]
    universes = judge_on_table(
        Multiverse(paper_readings("literature"), chosen, file.claims), evidence
    )
    assert (
        universes["verdict"].iloc[0]
        == only(literature, "guyon2002.rfe-better")["guyon2002.rfe-better"].verdict
    )
    assert "linear" not in set(universes["judge"])  # which is as stated
    places = [place.id for place in paper_readings("literature").places]
    assert not universes.duplicated(places).any()
    assert set(universes.loc[universes["tier"] == "tuned", "verdict"]) == {"not run"}
    run = universes[universes["verdict"] != "not run"]
    assert set(run.loc[run["size-of-10"] == "20", "judge"]) == {
        "as stated",
        "forest",
        "boosting",
        "neighbours",
    }
    # which others do not judge
    assert set(run.loc[run["size-of-10"] == "10", "judge"]) == {"as stated"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["verify", "--paper", "literature", "protocol.repeats=1"],
            "expected no settings.*got protocol.repeats=1",
        ),
        (
            ["readings", "literature", "--letter"],
            "expected only --claim, --plan and --figures",
        ),
        (
            ["readings", "literature", "--claim", "nobody"],
            "expected claims with nobody in the id, got none",
        ),
        (
            ["export", "--panel", "panel.xlsx"],
            "expected a file ending in .csv or .parquet, got panel.xlsx",
        ),
    ],
)
def test_commands_refuse_what_they_cannot_do(
    capsys, tmp_path, monkeypatch, table, arguments, message
):
    monkeypatch.setattr("provlab.bench.statements.stored_table", lambda: table)
    if arguments[0] != "export":
        arguments = [*arguments, f"results={tmp_path}"]
    assert main(arguments) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert re.search(message, error)


def test_the_example_of_the_page_is_judged(tmp_path, table):
    text = (Path(__file__).parents[2] / "docs/verdicts.md").read_text(encoding="utf-8")
    [_, example] = re.findall(r"```yaml\n(.*?)```", text, re.S)
    path = tmp_path / "claims.yaml"
    path.write_text(example)
    file, evidence = claims_on_panel(path, table)
    verdicts, _ = judge_files([file], evidence)
    assert [verdict.claim.id for verdict in verdicts] == [
        "mine.wide.few-rows",
        "mine.wide.few-rows.beyond",
    ]
    assert all(verdict.state == "complete" for verdict in verdicts)


AUTHOR = papers()["literature"].module("author_wins")


def test_win_rates_of_authors_are_those_of_all_choices():
    places = pd.MultiIndex.from_tuples(
        [(name[0], name, name, 20, "linear") for name in ("a1", "a2", "b1", "b2")],
        names=["domain", "source", "dataset", "size", "model"],
    )
    errors = pd.DataFrame(
        {"new": [1.0, 3, 2, 9], "old": [2.0, 2, 2, 3], "other": [0.0, 4, 5, 8]}, places
    )
    wins = {"old": [1, 0, 0.5, 0], "other": [0, 1, 1, 0]}
    rates = AUTHOR.win_rates(errors, "new", 2, 0)
    by_set = np.mean([wins["old"], wins["other"]], axis=0)
    best = [np.sort(by_set)[-m:].mean() for m in (1, 2, 3, 4)]
    assert rates["any data sets"][0] == pytest.approx(best)
    # both baselines, in any order
    assert (rates["any data sets"] == rates["any data sets"][0]).all()
    of_domains = [max(by_set), max(by_set[:2].mean(), by_set[2:].mean())]
    assert rates["one domain"][0, :2] == pytest.approx(of_domains)
    assert np.isnan(rates["one domain"][0, 2:]).all()
    assert rates["no choice"][:, 3] == pytest.approx(by_set.mean())
    assert rates["no choice"][:, 0].mean() == pytest.approx(by_set.mean(), abs=0.05)
    best_of_one_baseline = AUTHOR.win_rates(errors, "new", 1, 0)["any data sets"][:, 0]
    assert set(best_of_one_baseline) == {1.0}  # each baseline is beaten somewhere


def test_the_stored_table_of_authors_says_where_chance_is_rare():
    lines = pd.read_csv(Path(__file__).parents[2] / "docs/measured/author_wins.csv")
    assert lines["chance"].between(0, 1).all()
    enough = AUTHOR.enough_sets(lines)
    assert enough.loc[("linear", "no choice"), 20] <= 8
    of_linear = lines[
        (lines["judge"] == "linear") & (lines["baselines"] == 10)
    ].set_index(["choice", "data sets"])
    assert (
        of_linear.loc["any data sets", "chance"] >= of_linear.loc["no choice", "chance"]
    ).all()


def test_the_page_of_the_report(tmp_path):
    reference = Path(__file__).parents[2] / "results/reference"
    site = Site(tmp_path, tmp_path, (), "2026-11-28T00:00:00+00:00", 0, (), alone=True)
    [page] = write_field(site, reference)
    text = (tmp_path / page).read_text(encoding="utf-8")
    frame = statement_frame("literature", reference / "literature")
    assert set(frame["own"]) <= {*OUTCOMES}
    assert all(name in text for name in frame["id"])
    assert (tmp_path / "benchmark/literature.svg").is_file()
    counts = frame["own"].value_counts()
    assert summary(frame).startswith(f"{len(frame)} statements of 31 publications")
    assert f"{counts['holds']} hold" in summary(frame)


def test_each_statement_can_be_traced_to_its_samples_and_readings():
    """The pages of claims show them; the verdicts are the stored ones."""
    folder = Path(__file__).parents[2] / "results/reference/literature"
    verdicts, outcome = traced("literature", folder)
    stored = pd.read_csv(folder / "verdicts.csv", keep_default_na=False).set_index(
        "id"
    )["verdict"]
    assert {
        verdict.claim.id: verdict.verdict for verdict in verdicts
    } == stored.to_dict()
    tested = [verdict for verdict in verdicts if verdict.finding.n >= 2]
    assert len(tested) > 40
    for verdict in tested:
        parts = [*verdict.parts, *verdict.beside]
        assert any(part.sample for part in parts) or [part.part for part in parts] == [
            "all pairs"
        ]
    shares = {entry.claim: entry.shares for entry in outcome.robustness if entry.n_run}
    for name, entry in read_robustness(folder).items():
        assert shares[name] == pytest.approx(entry.shares, abs=1e-4)


def test_judge_table_takes_the_file_as_anybody_has_it(tmp_path):
    table = made_table(AHEAD)
    path = tmp_path / "results.csv"
    table.to_csv(path, index=False)
    claim = {
        "id": "made.one", "where": "abstract", "claim": "what is claimed", "artefact": "panel", "test": "each",
        "parameters": {"kind": "better", "columns": ["5"], "over": "domains", **EACH},
    }  # fmt: skip
    claims = tmp_path / "claims.yaml"
    claims.write_text(yaml.safe_dump({**CONTENT, "claims": [claim]}))
    [verdict], _ = judge_table(path, claims, {})
    assert verdict.verdict == "replicated"
    assert verdict.finding.n == 6
