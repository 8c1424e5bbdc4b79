"""python experiments/benchmarks/panel_rules.py [--samples 1000] [--csv FILE]: how often the panel's verdicts are wrong.

Simulated panels of 63 sets of 10 domains, as many in each as the panel has, and 35 methods beside all features. The
difference of a method to all features is the sum of an effect of the domain and one of the set, in points, both
correlated at 0.5 between methods; the sd of a domain is 2, and of a set 3. Family-wise: the share of panels in which
any method gets a false verdict, which should be at most 5 %. The other rules stand beside for what they would do. Two
standard errors of a share are 1.4 points at 5 % and 1.9 points at 90 %, with 1,000 samples.
"""

import argparse
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from timing import report, rules_table

from provlab.benchmark.ranking import ALL, MARGIN, interval, over_domains, pairs
from provlab.claims.paired_tests import DyadicT, holm

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
FIELDS = ["what", "rule", "methods", "expected", "family-wise", "per method"]


def effects(rng, n, heavy):
    """Return n effects of each method, of variance 1, with the correlation that methods have on the same data."""
    draw = partial(rng.standard_t, 3) if heavy else rng.standard_normal
    scale = np.sqrt(3) if heavy else 1
    return (draw(size=(n, 1)) + draw(size=(n, METHODS))) / np.sqrt(2) / scale


def panel(rng, means, *, domains=2.0, sets=3.0, heavy=False):
    """Return the differences to all features of a panel, sets x methods."""
    drawn = domains * effects(rng, len(SIZES), heavy)[DOMAIN] + sets * effects(rng, len(DOMAIN), heavy)
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


def by_signs(differences):
    """Return p-values of the largest t over methods, adjusted by all signs of domains (Westfall and Young)."""
    means = over_domains(differences).to_numpy()
    n = len(means)
    flipped = np.array([*product([1, -1], repeat=n)]) @ means / n
    sd = np.sqrt(np.maximum((means**2).sum(axis=0) - n * flipped**2, 1e-12) / (n - 1) / n)
    largest = (-flipped / sd).max(axis=1)
    return np.array([(largest >= own - 1e-9).mean() for own in -flipped[0] / sd[0]])


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
             ("effects of domains, heavy tails", {"heavy": True})]  # fmt: skip
    for what, settings in cases:

        def draw(settings=settings):
            differences = panel(rng, 0.0, **settings)
            found = compared(differences)
            of_sets, of_clusters = by_sets(differences), by_clusters(differences)
            return [
                [(found["verdict"] == "better").any(), (found["p_better"] < ALPHA).mean()],
                [min(holm(of_sets.tolist())) < ALPHA, (of_sets < ALPHA).mean()],
                [min(holm(of_clusters.tolist())) < ALPHA, (of_clusters < ALPHA).mean()],
                [by_signs(differences).min() < ALPHA, np.nan],
            ]

        rules = ["t over domains, Holm", "signed rank over sets, Holm", "cluster-robust t over sets, Holm",
                 "largest t over signs of domains"]  # fmt: skip
        for rule, shares in zip(rules, mean_of(n_samples, draw), strict=True):
            yield [f"no difference, {what}", rule, METHODS, "<= 0.05" if rule == rules[0] else "", *shares]


def others(n_samples, rng):
    """Return rows: the margin, the power at the difference that the panel says it can see, and intervals of ranks."""
    at_margin = mean_of(n_samples, lambda: [bayesian(rng, panel(rng, -MARGIN))])
    rule = "Bayesian signed rank over sets, better by more than 1 point"
    yield ["1 point better", rule, 1, "", np.nan, *at_margin]

    def same():
        found = compared(panel(rng, MARGIN))
        return (found["verdict"] == "same").any(), (found["p_same"] < ALPHA).mean()

    yield ["1 point worse", "same within 1 point: two t over domains, Holm", METHODS, "<= 0.05",
           *mean_of(n_samples, same)]  # fmt: skip
    seen = np.median([compared(panel(rng, 0.0))["detectable"] for _ in range(max(20, n_samples // 20))])
    means = np.append(-seen, np.zeros(METHODS - 1))

    def power():
        differences = panel(rng, means)
        found = compared(differences)
        alone = found["p_better"].iloc[0] < ALPHA
        return (found["verdict"].iloc[0] == "better", alone), (by_signs(differences)[0] < ALPHA, np.nan)

    for rule, shares in zip(("t over domains, Holm", "largest t over signs of domains"), mean_of(n_samples, power),
                            strict=True):  # fmt: skip
        expected = "0.9 -+ 0.05" if "Holm" in rule else ""
        yield [f"one method {seen:.1f} points better, the smallest difference stated", rule, METHODS, expected, *shares]
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
    rng = np.random.default_rng(20261126)
    made = [*false_better(options.samples, rng), *others(options.samples, rng)]
    shown = [[*row[:4], *("" if np.isnan(share) else f"{share:.4f}" for share in row[4:])] for row in made]
    rows = [dict(zip(FIELDS, row, strict=True)) for row in shown]
    report("panel_rules", rules_table(FIELDS, rows, options.csv), rows=rows, samples=options.samples)


if __name__ == "__main__":
    main()
