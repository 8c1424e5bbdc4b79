"""The hierarchical model of the panel: against closed forms, dense algebra, and what must not matter."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, t

from provlab.verdicts.panel_answers import (
    NEW_DOMAIN,
    SAME_DOMAINS,
    SAME_SETS,
    answers,
    by_covariate,
    detectable,
    sentence,
    without_each_domain,
)
from provlab.verdicts.panel_families import families, overlaps
from provlab.verdicts.panel_model import (
    CHAINS,
    Sampler,
    bent,
    fit,
    folds_of_panel,
    in_points,
    sets_of_folds,
)

SHARES = ["better", "within", "worse"]


def folds(differences, *, domains=4, noise=1.0, seed=0, repeats=2, n_folds=5):
    """Return folds of sets with these differences, of the domains in turn, each of its own source."""
    rng = np.random.default_rng(seed)
    lines = []
    for place, difference in enumerate(differences):
        shared = rng.standard_normal()
        for repeat in range(repeats):
            for fold in range(n_folds):
                own = rng.standard_normal()
                value = difference + noise * (own + shared / np.sqrt(n_folds - 1))
                lines.append(
                    (
                        f"domain {place % domains}",
                        f"s{place:03}",
                        f"s{place:03}",
                        repeat,
                        fold,
                        value,
                    )
                )
    return pd.DataFrame(
        lines, columns=["domain", "source", "dataset", "repeat", "fold", "difference"]
    )


def drawn(n=24, center=0.0, spread=3.0, seed=1):
    return center + spread * np.random.default_rng(seed).standard_normal(n)


def codes(places):
    """Return which domain and which source each set is of."""
    frame = places.to_frame(index=False)
    return pd.factorize(frame["domain"])[0], frame.groupby(
        ["domain", "source"]
    ).ngroup().to_numpy()


def test_folds_of_a_set_are_not_independent():
    sets = sets_of_folds(folds([0.0, 1.0]))
    # Nadeau and Bengio (2003): 1 / J + n_test / n_train
    assert sets["noise"].tolist() == [1 / 10 + 1 / 4] * 2
    assert (
        sets_of_folds(folds([0.0, 1.0], repeats=1, n_folds=10))["noise"].tolist()
        == [1 / 10 + 1 / 9] * 2
    )


def test_folds_are_those_of_the_panel():
    trials = pd.DataFrame({
        "method": ["all features", "a", "a", "b", "a"], "domain": "text", "dataset": "web", "size": [0, 20, 20, 20, 50],
        "model": "linear", "repeat": 0, "fold": 0, "draw": [0, 0, 1, 0, 0], "failure": ["", "", "", "", ""],
        "balanced_accuracy": [0.9, 0.8, 0.6, 0.95, 0.1],
    })  # fmt: skip
    settings = {"size": 20, "model": "linear"}
    line = folds_of_panel(trials, "a", {"web": "one"}, **settings).iloc[0]
    assert line["difference"] == pytest.approx(20)
    assert line["source"] == "one"
    beside = folds_of_panel(trials, "a", {"web": "one"}, reference="b", **settings)
    assert beside["difference"].tolist() == pytest.approx([25])
    failed = trials.assign(
        failure=["", "", "", "time", ""], balanced_accuracy=[0.9, 0.8, 0.6, np.nan, 0.1]
    )
    assert folds_of_panel(failed, "b", {"web": "one"}, **settings)[
        "difference"
    ].tolist() == pytest.approx([30])


def test_effects_integrated_out_are_those_of_dense_algebra():
    """Two sets of one source, two sources of one domain, and a covariate, one set left out."""
    table = folds(drawn(7)).replace({"source": {"s004": "s000", "s005": "s001"}})
    sets = sets_of_folds(table)
    covariate = np.linspace(-1, 1, 7)
    kept = np.repeat(np.arange(7)[None] != 2, CHAINS, axis=0)
    sampler = Sampler(sets, covariate[:, None], kept, 1.0, 0)
    for _ in range(3):
        sampler.sweep()
    domains, sources = codes(sets.index)
    values = bent(sets["mean"].to_numpy(), 1.0)
    differences = []
    for spreads in (np.full((CHAINS, 3), 2.0), np.tile([0.5, 3.0, 1.0], (CHAINS, 1))):
        now = sampler.collapsed(spreads)
        of_source = (
            sampler.domain_scales[0, sampler.tree.domain_of_source]
            * sampler.source_scales[0]
        )[sources]
        design = np.stack([np.ones(7), covariate], axis=1)
        covariance = design @ np.diag([20.0**2, 3.0**2]) @ design.T
        covariance += (
            spreads[0, 0] ** 2
            * sampler.domain_tails[0, domains]
            * (domains[:, None] == domains)
        )
        covariance += spreads[0, 1] ** 2 * of_source * (sources[:, None] == sources)
        covariance += np.diag(
            spreads[0, 2] ** 2 * of_source
            + sampler.noise_factor * sampler.fold_variances[0]
        )
        own = kept[0]
        dense = multivariate_normal(cov=covariance[np.ix_(own, own)]).logpdf(
            values[own]
        )
        differences.append(now.log_likelihood[0] - dense)
    assert differences[0] == pytest.approx(differences[1], abs=1e-8)


def test_one_set_a_source_and_no_noise_is_students_t():
    """Many sets of one domain and small differences: the mean of a normal sample, and its next value."""
    values = drawn(60, center=0.6, spread=0.5)
    model = fit(sets_of_folds(folds(values, domains=1, noise=0.01)))
    line = answers(model).loc["domain 0"]
    error = values.std(ddof=1) / np.sqrt(60)
    expected = values.mean() + error * t.ppf([0.025, 0.975], 59)
    assert [line["low"], line["high"]] == pytest.approx(expected, abs=0.06)
    predicted = t(59, values.mean(), values.std(ddof=1) * np.sqrt(1 + 1 / 60))
    assert line["worse"] == pytest.approx(predicted.sf(1), abs=0.04)
    assert NEW_DOMAIN not in answers(model).index


@pytest.mark.parametrize(
    ("center", "spread", "likeliest"),
    [(-8, 1, "better"), (0, 0.1, "within"), (9, 2, "worse")],
)
def test_what_the_data_show_is_said(center, spread, likeliest):
    table = folds(drawn(24, center, spread), domains=6)
    line = answers(fit(sets_of_folds(table))).loc[NEW_DOMAIN]
    assert line[SHARES].astype(float).idxmax() == likeliest
    assert line[likeliest] > 0.8
    assert line[SHARES].sum() == pytest.approx(1)
    assert line["low"] < center < line["high"] or abs(center) < 0.1


def test_units_and_orders_of_lines_make_no_difference():
    table = folds(drawn())
    result = answers(fit(sets_of_folds(table)))
    shuffled = answers(fit(sets_of_folds(table.sample(frac=1, random_state=0))))
    pd.testing.assert_frame_equal(result, shuffled)
    sets = sets_of_folds(table)
    pd.testing.assert_frame_equal(
        result, answers(fit(sets.sample(frac=1, random_state=0)))
    )
    scaled = answers(
        fit(sets_of_folds(table.assign(difference=4 * table["difference"])), margin=4.0)
    )
    pd.testing.assert_frame_equal(result[SHARES], scaled[SHARES], rtol=1e-6)
    assert scaled["middle"].to_numpy() == pytest.approx(4 * result["middle"].to_numpy())
    other_side = answers(
        fit(sets_of_folds(table.assign(difference=-table["difference"])), seed=1)
    )
    assert other_side["worse"].to_numpy() == pytest.approx(
        result["better"].to_numpy(), abs=0.03
    )


def test_tables_of_one_source_say_less_than_sources():
    """Sixteen tables of one source, all much worse, and four other sources without a difference."""
    table = folds([8.0] * 16 + [0.0] * 4, domains=1)
    of_one = table.assign(
        source=table["source"].where(table["source"] >= "s016", "web")
    )
    apart = answers(fit(sets_of_folds(table))).loc["domain 0"]
    together = answers(fit(sets_of_folds(of_one))).loc["domain 0"]
    assert together["worse"] + 0.1 < apart["worse"]
    assert together[["sources", "sets"]].tolist() == [5, 20]


def test_both_weightings_are_of_the_domains_of_the_panel():
    """Twenty sets of one domain are worse; those of four others, one each, are not."""
    table = folds([6.0, 0.0, 0.0, 0.0, 0.0], domains=5)
    more = folds([6.0] * 19, domains=1, seed=1).replace(
        {"dataset": r"^s"}, {"dataset": "more "}, regex=True
    )
    lines = answers(
        fit(sets_of_folds(pd.concat([table, more.assign(source=more["dataset"])])))
    )
    assert lines.loc[SAME_SETS, "worse"] > lines.loc[SAME_DOMAINS, "worse"] + 0.2
    domains = lines[lines.index.str.startswith("domain")]
    assert lines.loc[SAME_DOMAINS, SHARES].tolist() == pytest.approx(
        domains[SHARES].mean().tolist()
    )


def test_a_domain_that_is_left_out_says_nothing():
    """Sets of domain 0 are much worse: without them, nothing is."""
    values = np.where(np.arange(20) % 5 == 0, 20.0, 0.2)
    sets = sets_of_folds(folds(values, domains=5))
    without = without_each_domain(sets)
    assert without.loc["domain 0", "worse"] < 0.2 < without.loc["domain 1", "worse"]
    changed = sets.assign(
        mean=sets["mean"].where(
            sets.index.get_level_values("domain") != "domain 0", -30.0
        )
    )
    pd.testing.assert_series_equal(
        without.loc["domain 0"], without_each_domain(changed).loc["domain 0"]
    )


def test_a_covariate_says_where():
    columns = np.random.default_rng(2).uniform(1, 5, 30)
    table = folds(4 * (columns - 3), domains=5).assign(rows=2.0)
    table["columns"] = table["source"].str[1:].astype(int).map(pd.Series(columns))
    lines = by_covariate(sets_of_folds(table, ["rows", "columns"]), ["rows", "columns"])
    few, many = (lines.loc["columns"].iloc[place] for place in (0, 1))
    assert few["better"] > 0.6 < many["worse"]
    assert lines.loc["rows"].iloc[0]["better"] == pytest.approx(
        lines.loc["rows"].iloc[-1]["better"]
    )


def test_no_difference_in_any_fold_is_within_the_margin_and_finite():
    model = fit(sets_of_folds(folds([0.0] * 12, noise=0.0)))
    line = answers(model).loc[NEW_DOMAIN]
    assert line["within"] > 0.9
    assert np.isfinite(line[["middle", "low", "high"]].astype(float)).all()
    # ten equal folds of a few rows are no proof that no fold differs
    assert np.median(model.noise) > 1e-4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="source"), "but source is missing; add it"),
        (
            lambda table: table.assign(source=None),
            "needs a domain, a source and a data set, got .*'source': None.*fill",
        ),
        (
            lambda table: table.assign(difference=np.nan),
            "finite difference for each fold, got nan on s000; leave",
        ),
        (
            lambda table: table[table["dataset"] == "s000"],
            "two or more data sets .*, got 1 with at least 5",
        ),
        (
            lambda table: table[table["fold"] == 0],
            "two or more folds each, got 4 with at least 1; add",
        ),
        (lambda table: table.head(0), "got 0 with at least 0; add"),
    ],
)
def test_what_cannot_be_fitted_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        sets_of_folds(change(folds([0.0, 1.0, 2.0, 3.0])))


def test_too_few_domains_are_not_left_out():
    with pytest.raises(
        ValueError,
        match="more than 3 domains, since each is left out in turn, got 3; add",
    ):
        without_each_domain(sets_of_folds(folds(drawn(9), domains=3)))


def test_the_detectable_difference_is_that_of_generalised_least_squares():
    table = folds(drawn(20), domains=5)
    places = sets_of_folds(
        table.assign(source=table["source"].where(table["source"] >= "s008", "web"))
    ).index
    domains, sources = codes(places)
    same_source = sources[:, None] == sources
    spreads = np.array([1.5, 1.0, 0.7])
    # of Student's t with 8 degrees of freedom
    domain_variance, source_variance, set_variance = spreads**2 * 8 / 6
    covariance = source_variance * same_source + (set_variance + 2.0) * np.eye(20)
    for domain, n in ((None, 5), ("domain 0", 3)):
        own = np.arange(20) if domain is None else np.flatnonzero(domains == 0)
        total = covariance + domain_variance * (domains[:, None] == domains) * (
            domain is None
        )
        error = np.linalg.inv(total[np.ix_(own, own)]).sum() ** -0.5
        expected = in_points(error * (t(n - 1).ppf(0.975) + t(n - 1).ppf(0.9)), 1.0)
        assert detectable(places, spreads, 2.0, domain=domain) == pytest.approx(
            expected
        )
    assert np.isnan(detectable(places[:1], spreads, 2.0))
    variances = [
        np.linalg.inv(covariance[np.ix_(domains == g, domains == g)]).sum() ** -1
        for g in range(5)
    ]
    quantiles = t(np.unique(sources).size - 5).ppf([0.975, 0.9])
    expected = in_points(np.sqrt(np.sum(variances)) / 5 * quantiles.sum(), 1.0)
    assert detectable(places, spreads, 2.0, domain=SAME_DOMAINS) == pytest.approx(
        expected
    )


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        (
            (0.01, 0.03, 0.96),
            "mRMR is worse than all features by more than 1 point \\(96 %\\)",
        ),
        (
            (0.004, 0.001, 0.995),
            "mRMR is worse than all features by more than 1 point \\(> 99 %\\)",
        ),
        (
            (0.02, 0.04, 0.94),
            "mRMR is probably worse than all features by more than 1 point \\(94 %\\)",
        ),
        (
            (0.05, 0.85, 0.10),
            "mRMR is probably within 1 point of all features \\(85 %\\)",
        ),
        (
            (0.02, 0.40, 0.58),
            "mRMR is unlikely to be better than all features by more than 1 point; the rest is open",
        ),
        (
            (0.30, 0.20, 0.50),
            "it is open whether mRMR .* \\(better 30 %, within 20 %, worse 50 %\\)",
        ),
    ],
)
def test_words_say_no_more_than_probabilities(shares, words):
    line = pd.Series(dict(zip(SHARES, shares, strict=True)), name=NEW_DOMAIN)
    text = sentence(line, "mRMR", "all features")
    assert text.startswith("On a new data set of a new domain, ")
    assert pd.Series([text]).str.contains(words).all()
    assert "data set of these domains, each as often as here, " in sentence(
        line.rename(SAME_SETS), "a", "b"
    )


def selected(method, features, *, fold=0, d=20):
    place = {"dataset": "data", "size": 4, "repeat": 0, "fold": fold}
    return {"method": method, **place, "features": features, "n_features": d}


def test_methods_of_equal_selections_are_one_family():
    lines = [
        selected("a", [0, 1, 2, 3]),
        selected("b", [3, 2, 1, 0]),
        selected("c", [3, 4, 5, 6]),
        selected("none", []),
    ]
    overlap = overlaps(pd.DataFrame(lines))
    assert overlap.loc["a", "b"] == pytest.approx(1)
    # Kuncheva (2007)
    assert overlap.loc["a", "c"] == pytest.approx((1 - 16 / 20) / (4 - 16 / 20))
    assert np.isnan(overlap.loc["none", "a"])
    assert families(overlap).to_dict() == {"a": "a", "b": "a", "c": "c", "none": "none"}
    with pytest.raises(ValueError, match="got several for a on data"):
        overlaps(pd.DataFrame([*lines, lines[0]]))


def test_random_selections_do_not_overlap():
    rng = np.random.default_rng(0)
    lines = []
    for fold in range(200):
        for name in ("a", "b"):
            lines.append(
                selected(
                    name, rng.choice(20, rng.integers(1, 19), replace=False), fold=fold
                )
            )
    assert overlaps(pd.DataFrame(lines)).loc["a", "b"] == pytest.approx(0, abs=0.05)


def test_the_scale_of_effects_bends_back():
    points = np.array([-30.0, -1.0, 0.0, 0.5, 80.0])
    assert in_points(bent(points, 2.0), 2.0) == pytest.approx(points)
