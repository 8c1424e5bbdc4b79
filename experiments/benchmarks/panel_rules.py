"""python experiments/benchmarks/panel_rules.py [--samples 1000] [--csv FILE]: how often the panel's verdicts are wrong.

Simulated panels of 63 sets of 10 domains, as many in each as the panel has, and 35 methods beside all features. The
difference of a method to all features is the sum of an effect of the domain and one of the set, in points, both
correlated at 0.5 between methods; the sd of a domain is 2, and of a set 3. Skewed effects are exponential: a method is
much worse now and then. Family-wise: the share of panels in which any method gets a false verdict, which should be at
most 5 %. The other rules stand beside for what they would do. Two standard errors of a share are 1.4 points at 5 % and
1.9 points at 90 %, with 1,000 samples.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from timing import report, rules_table

from provlab.verdicts.claims.paired_tests import DyadicT, holm
from provlab.verdicts.panel_pairs import MARGIN, pairs
from provlab.verdicts.panel_ranking import interval
from provlab.verdicts.panel_scores import ALL, over_domains

BENCH = {
    "bench": ["--samples", "200"],
    "quick": ["--samples", "20"],
    "left_out": "800 of 1,000 samples",
    "seconds": 120,
}

SIZES = (24, 17, 10, 3, 2, 2, 2, 1, 1, 1)
METHODS, ALPHA = 35, 0.05
INDEX = pd.MultiIndex.from_tuples(
    [(f"d{g}", f"d{g} s{k}", 20, "linear") for g, n in enumerate(SIZES) for k in range(n)],
    names=["domain", "dataset", "size", "model"],
)
DOMAIN = np.repeat(np.arange(len(SIZES)), SIZES)
NAMES = [f"m{k}" for k in range(METHODS)]
RULE, HOLM = "smallest p over signs of domains", "t over domains, Holm"
FIELDS = ["what", "rule", "methods", "expected", "family-wise", "per method"]


def effects(rng, n, shape):
    """Return n effects of each method, of variance 1, with the correlation that methods have on the same data."""
    draw = {
        "normal": rng.standard_normal,
        "heavy tails": lambda size: rng.standard_t(3, size) / np.sqrt(3),
        "skewed": lambda size: rng.standard_exponential(size) - 1,  # much worse now and then
    }[shape]
    return (draw((n, 1)) + draw((n, METHODS))) / np.sqrt(2)


def panel(rng, means, *, domains=2.0, sets=3.0, shape="normal"):
    """Return the differences to all features of a panel, sets x methods."""
    drawn = domains * effects(rng, len(SIZES), shape)[DOMAIN] + sets * effects(rng, len(DOMAIN), shape)
    return pd.DataFrame(means + drawn, INDEX, NAMES)


def compared(differences):
    return pairs(differences.assign(**{ALL: 0.0}))


def by_sets(differences):
    return stats.wilcoxon(differences.to_numpy(), axis=0, alternative="less").pvalue


def by_clusters(differences):
    members = [(f"domain {domain}", name) for domain, name, *_ in INDEX]
    return np.array(
        [DyadicT(column.to_numpy(), pairs=members).p_value(0.0, "less") for _, column in differences.items()]
    )


def by_domains(differences):
    return stats.ttest_1samp(over_domains(differences), 0, alternative="less").pvalue


def bayesian(rng, differences, margin=MARGIN, draws=300):
    """Return whether the signed-rank test of Benavoli et al. (2014) is 95 % sure that the first method is better."""
    values = np.append(0.0, differences.iloc[:, 0].to_numpy())
    below = np.add.outer(values, values) < -2 * margin
    weights = rng.dirichlet(np.append(0.5, np.ones(len(values) - 1)), size=draws)
    return np.mean(np.einsum("si,ij,sj->s", weights, below, weights) > 0.5) > 0.95


def mean_of(n_samples, draw):
    return np.mean([draw() for _ in range(n_samples)], axis=0)


def false_better(n_samples, rng):
    """Return rows: no method differs from all features, and some rule says that one is better."""
    cases = [("no effect of domains", {"domains": 0.0}), ("effects of domains", {}),
             *((f"effects of domains, {shape}", {"shape": shape}) for shape in ("heavy tails", "skewed"))]  # fmt: skip
    for what, settings in cases:

        def draw(settings=settings):
            differences = panel(rng, 0.0, **settings)
            single = [rule(differences) for rule in (by_domains, by_sets, by_clusters)]
            return [
                [(compared(differences)["verdict"] == "better").any(), np.nan],
                *([min(holm(p.tolist())) < ALPHA, (p < ALPHA).mean()] for p in single),
            ]

        rules = [RULE, HOLM, "signed rank over sets, Holm", "cluster-robust t over sets, Holm"]
        for rule, shares in zip(rules, mean_of(n_samples, draw), strict=True):
            yield [
                f"no difference, {what}",
                rule,
                METHODS,
                "<= 0.05" if rule == RULE and "skewed" not in what else "",
                *shares,
            ]


def others(n_samples, rng):
    """Return rows: the margin, the power at the difference that the panel says it can see, and intervals of ranks."""
    at_margin = mean_of(n_samples, lambda: [bayesian(rng, panel(rng, -MARGIN))])
    rule = "Bayesian signed rank over sets, better by more than 1 point"
    yield ["1 point better", rule, 1, "", np.nan, *at_margin]

    same = mean_of(n_samples, lambda: [(compared(panel(rng, MARGIN))["verdict"] == "same").any(), np.nan])
    yield ["1 point worse", f"same within 1 point: {RULE}", METHODS, "<= 0.05", *same]
    worse = np.repeat([0.0, 10.0], [METHODS - METHODS // 2, METHODS // 2])
    falsely = mean_of(n_samples, lambda: [(compared(panel(rng, worse))["verdict"] == "better").any(), np.nan])
    yield ["half of the methods 10 points worse", RULE, METHODS, "<= 0.05", *falsely]
    seen = np.median([compared(panel(rng, worse))["detectable"] for _ in range(max(20, n_samples // 20))])

    def power():
        differences = panel(rng, np.append(-seen, worse[1:]))
        alone = by_domains(differences)
        return [(compared(differences)["verdict"].iloc[0] == "better", np.nan),
                (holm(alone.tolist())[0] < ALPHA, alone[0] < ALPHA)]  # fmt: skip

    what = f"one method {seen:.1f} points better, the smallest difference stated, half 10 points worse"
    for rule, shares in zip((RULE, HOLM), mean_of(n_samples, power), strict=True):
        yield [what, rule, METHODS, "0.9 -+ 0.05" if rule == RULE else "", *shares]
    spread = np.linspace(-3, 3, METHODS)
    true = np.mean([over_domains(panel(rng, spread).rank(axis=1)).mean() for _ in range(400)], axis=0)

    def covered():
        ends = interval(panel(rng, spread).rank(axis=1), seed=int(rng.integers(2**32)))
        return [((ends["low"] <= true) & (true <= ends["high"])).mean()]

    yield ["methods from 3 points better to 3 worse", "95 % interval of a rank holds the true one", METHODS,
           "0.95 -+ 0.05", np.nan, *mean_of(max(20, n_samples // 4), covered)]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--csv", type=Path, help="write the table there too")
    options = parser.parse_args()
    parts = [
        part(options.samples, np.random.default_rng([20261126, k])) for k, part in enumerate((false_better, others))
    ]
    made = [row for part in parts for row in part]
    shown = [[*row[:4], *("" if np.isnan(share) else f"{share:.4f}" for share in row[4:])] for row in made]
    rows = [dict(zip(FIELDS, row, strict=True)) for row in shown]
    report("panel_rules", rules_table(FIELDS, rows, options.csv), rows=rows, samples=options.samples)


if __name__ == "__main__":
    main()
