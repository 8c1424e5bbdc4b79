"""python experiments/benchmarks/verdict_rules.py [--samples 10000] [--csv FILE]: how often verdicts are wrong.

Simulated differences of two methods, in points, for which the claim is known to be wrong, or to be undecided: the share
of samples that get a false verdict should be at most 5 %, and half of that where a rule is two-sided and only one side
is false. Beside it, where there is one, the share by the rule without what it corrects. Then samples of the size that a
pilot of 2,000 said would decide with a power of 0.9: the share that are decided. Two standard errors of a share are 0.4
points at 5 % and 0.6 at 90 %, with 10,000 samples.

Folds of cross-validation share a component, at the correlation n_test / (n_test + n_train) that the corrected test is
made for. Inverse folds are losses of two methods on 400 rows, which they share. The pairs of categories are TechTC's 80
sets, with half of the variance from the categories.
"""

import argparse
import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import bdtr
from timing import report, rules_table

from provlab.verdicts.claims.bounds import NEARLY_ALL, runs_needed
from provlab.verdicts.claims.comparison import Better, Comparable, NotWorse
from provlab.verdicts.claims.evidence import FOLD_KEYS, AbstractEvidence
from provlab.verdicts.claims.paired_tests import CorrectedT, DisjointT, DyadicT, SignedRank, holm
from provlab.verdicts.claims.rules import CONTRADICTED, INCONCLUSIVE, NO_DIFFERENCE, REPLICATED, needed
from provlab.verdicts.claims.schema import RULES
from provlab.verdicts.claims.verdicts import verdict_of

BENCH = {
    "bench": ["--samples", "400"],
    "quick": ["--samples", "40"],
    "left_out": "9,600 of 10,000 samples",
    "seconds": 300,
}

ALPHA, MARGIN, N_COLUMNS = 0.05, 1.0, 7
TABLE = Path(__file__).parents[2] / "results" / "reference" / "tables" / "paul2016" / "figure1.csv"
FIELDS = ["what", "rule", "n", "expected", "share", "share without the correction"]


def criteria(rule, margin):
    return rule(artefact="", columns=(), row="", than="", over="datasets", margin=margin).criteria


def plain(values):
    return CorrectedT(values, ratio=0.0)


def folds(rng, mean):
    return mean + math.sqrt(0.1) * rng.standard_normal() + math.sqrt(0.9) * rng.standard_normal(100)


def inverse_folds(rng):
    """Return the test of ten inverse folds of 400 rows, and the differences; both methods have an error of 0.2."""
    hard = rng.random((2, 400)) < 0.2
    losses = np.where(rng.random((2, 10, 400)) < 0.3, rng.random((2, 10, 400)) < 0.2, hard[:, None])
    parts = np.array_split(rng.permutation(400), 10)
    errors = np.array([[np.delete(losses[m, k], parts[k]).mean() for k in range(10)] for m in (0, 1)])
    means = errors.mean(axis=1)
    shared = 1e4 * (means.sum() - (means[0] - means[1]) ** 2) / 400
    differences = 100 * (errors[0] - errors[1])
    return DisjointT(differences, n_folds=10, shared=shared), differences


def techtc_pairs():
    names = sorted(set(pd.read_csv(TABLE)["dataset"]))
    return [tuple(name.split("_")[1:]) for name in names]


def of_pairs(rng, pairs):
    effect = dict(zip(sorted({c for pair in pairs for c in pair}), rng.standard_normal(len(pairs) * 2), strict=False))
    own = np.array([effect[a] + effect[b] for a, b in pairs])
    return own / 2 + math.sqrt(0.5) * rng.standard_normal(len(pairs))


def columns_at(rng, mean, n=20):
    """Return the tests of one claim's columns, whose differences are correlated as those of nested selections are."""
    common = rng.standard_normal(n)
    return [plain(mean + (common + rng.standard_normal(n)) / math.sqrt(2)) for _ in range(N_COLUMNS)]


def wrong_somewhere(tests, rule, verdict, corrected):
    """Return whether some column gets a verdict that one column suffices for, with and without Holm's correction."""
    [criterion] = [criterion for criterion in rule if criterion.verdict == verdict]
    p_values = [criterion.p_value(test) for test in tests]
    return min(holm(p_values) if corrected else p_values) < ALPHA


def share(n_samples, draw):
    """Return the shares of true values in the tuples that a function draws."""
    return np.mean([draw() for _ in range(n_samples)], axis=0).tolist()


def verdict(test, rule, alpha=ALPHA):
    """Return what `rules.decide` does for one comparison, without the sample size, which takes longer."""
    return next((criterion.verdict for criterion in rule if criterion.p_value(test) < alpha), INCONCLUSIVE)


def false_verdicts(n_samples, rng):
    """Return the rows of the table about wrong verdicts."""
    directed, pairs = (REPLICATED, CONTRADICTED), techtc_pairs()
    tiny = criteria(Better, 1e-9)

    def on_folds():
        values = folds(rng, 0.0)
        return verdict(CorrectedT(values, ratio=1 / 9), tiny) in directed, verdict(plain(values), tiny) in directed

    def on_inverse():
        test, differences = inverse_folds(rng)
        return verdict(test, tiny) in directed, verdict(plain(differences), tiny) in directed

    def on_pairs():
        values = of_pairs(rng, pairs)
        return verdict(DyadicT(values, pairs=pairs), tiny) in directed, verdict(SignedRank(values), tiny) in directed

    def one(make, n, mean, rule, *wrong):
        return lambda: (verdict(make(mean + rng.standard_normal(n)), rule) in wrong,)

    def on_columns():
        tests = columns_at(rng, MARGIN)
        return tuple(
            wrong_somewhere(tests, criteria(NotWorse, MARGIN), CONTRADICTED, corrected) for corrected in (True, False)
        )

    def same_on_columns():
        tests = columns_at(rng, MARGIN)
        return tuple(
            wrong_somewhere(tests, criteria(Better, MARGIN), NO_DIFFERENCE, corrected) for corrected in (True, False)
        )

    cases = [
        ("no difference, 10 x 10 folds", "better, corrected t", 100, on_folds, ALPHA),
        ("no difference, inverse folds", "better, t over disjoint training sets", 10, on_inverse, ALPHA),
        ("no difference, seeds", "better, t", 10, one(plain, 10, 0.0, tiny, *directed), ALPHA),
        ("no difference, data sets", "better, signed rank", 80, one(SignedRank, 80, 0.0, tiny, *directed), ALPHA),
        ("no difference, TechTC's pairs", "better, dyadic-robust t", len(pairs), on_pairs, ALPHA),
        ("at the margin, seeds", "comparable, TOST (t)", 10,
         one(plain, 10, MARGIN, criteria(Comparable, MARGIN), REPLICATED), ALPHA),
        ("at the margin, data sets", "comparable, TOST (signed rank)", 80,
         one(SignedRank, 80, MARGIN, criteria(Comparable, MARGIN), REPLICATED), ALPHA),
        ("at the margin, 7 columns", "not worse, t, contradicted in one column", 20, on_columns, ALPHA),
        ("at the margin, 7 columns", "better, TOST (t), no difference in one column", 20, same_on_columns, ALPHA),
    ]  # fmt: skip
    for what, rule, n, draw, bound in cases:
        yield dict(zip(FIELDS, [what, rule, n, f"<= {bound}", *share(n_samples, draw)], strict=False))


class Drawn(AbstractEvidence):
    """Trials that were drawn: `numbers` has an array for each row, column and data set; one is a fold of its own.

    `kept` has the numbers of features in the same way, where they count.
    """

    def __init__(self, numbers, quantity, kept=None):
        super().__init__(scale=1.0)
        self.frames = {}
        for (row, column, dataset), values in numbers.items():
            folds = {"dataset": dataset, "repeat": 0, "fold": np.arange(values.size), "draw": 0}
            frame = pd.DataFrame({**folds, quantity: values, "n_train": np.inf, "n_test": 1.0})
            if kept:
                frame["n_selected"] = kept[row, column, dataset]
            beside = self.frames.get((row, column))
            self.frames[row, column] = frame if beside is None else pd.concat([beside, frame], ignore_index=True)

    def trials(self, place, columns):
        """Return a line for each drawn number: `FOLD_KEYS`, `draw` and `columns`."""
        return self.frames[place[1:]][[*FOLD_KEYS, "draw", *columns]]

    def counts(self, places):
        """Return that all is there."""
        return 1, 1


def judged(test, numbers, drawn="error", kept=None, **parameters):
    """Return the verdict of a rule on drawn trials."""
    columns = [*dict.fromkeys(column for _, column, _ in numbers)]
    rule = RULES[test].from_config({"artefact": "drawn/table", "columns": columns, **parameters})
    return verdict_of(rule.findings(columns, Drawn(numbers, drawn, kept), [rule]))


def runs(rng, rate, n):
    """Return numbers that are above 1 in a share `rate` of n runs."""
    return np.where(rng.random(n) < rate, 2.0, 0.5)


def within(numbers):
    quantity = "certificate_delta"
    return judged(
        "within", {("A", "c", ""): numbers}, quantity, row="A", quantity=quantity, bound=1.0, at_most=NEARLY_ALL
    )


def of_claims(n_samples, rng):
    """Return the rows of the table about rules that judge shares of runs, and several data sets or rows at once.

    Without the correction: at most the share failed, as the rule once had it; all data sets together; no Holm.
    """

    def shares():
        failed = runs(rng, NEARLY_ALL, 59)
        return within(failed) == REPLICATED, (failed > 1).sum() <= NEARLY_ALL * 59

    def theorem():
        failed = {("A", "c", name): runs(rng, rate, 100) for name, rate in (("x", NEARLY_ALL), ("y", 0.0))}
        states = {place: np.where(each > 1, "violated", "held").astype(object) for place, each in failed.items()}
        found = judged("certificates", states, "certificate_cost", row="A", quantity="cost", at_most=NEARLY_ALL)
        k = sum(int((each > 1).sum()) for each in failed.values())
        return found == REPLICATED, bdtr(k, 200, NEARLY_ALL) < ALPHA

    def trend(slopes, wrong):
        numbers = {
            ("A", column, f"set {k}"): rng.standard_normal(10) - slope * place
            for k, slope in enumerate(slopes)
            for place, column in enumerate("abc")
        }
        found = judged("falls", numbers, "objective", row="A", quantity="objective")
        return (found == wrong,)

    def same(means, wrong):
        numbers = {(f"row {k}", "c", ""): mean + rng.standard_normal(20) for k, mean in enumerate(means)}
        numbers["than", "c", ""] = np.zeros(20)
        shared = {"than": "than", "over": "folds", "margin": MARGIN}
        rows = [f"row {k}" for k in range(len(means))]
        alone = [criteria(Comparable, MARGIN)[1] for _ in rows]
        tests = [plain(numbers[row, "c", ""]) for row in rows]
        uncorrected = min(each.p_value(test) for test, each in zip(tests, alone, strict=True)) < ALPHA
        found = judged("all_comparable", numbers, rows=rows, **shared)
        return (found == wrong, uncorrected) if wrong == CONTRADICTED else (found == wrong,)

    pilot, most = runs_needed(1, 92, NEARLY_ALL, ALPHA), f"<= {ALPHA}"
    cases = [
        ("5 % of the runs fail", "within, replicated (exact binomial)", 59, shares, most),
        ("5 % fail on one of two data sets", "certificates, replicated (exact binomial)", 200, theorem, most),
        ("no trend on one of two data sets", "falls, replicated", 60, partial(trend, (2, 0), REPLICATED), most),
        ("no trend on eight data sets", "falls, contradicted (Holm)", 240, partial(trend, [0] * 8, CONTRADICTED), most),
        ("one of four rows at the margin", "all comparable, replicated", 20,
         partial(same, [0, 0, 0, MARGIN], REPLICATED), most),
        ("four rows at the margin", "all comparable, contradicted (Holm)", 20,
         partial(same, [MARGIN] * 4, CONTRADICTED), most),
        ("no run fails", "within, replicated", 59, lambda: (within(runs(rng, 0.0, 59)) == REPLICATED,), "1"),
        ("1 of 92 runs fails", "within, replicated", pilot,
         lambda: (within(runs(rng, 1 / 92, pilot)) == REPLICATED,), ">= 0.9"),
        ("falls by 1 sd a column", "falls, replicated", 60, partial(trend, (1, 1), REPLICATED), ">= 0.9"),
        ("no difference on four rows", "all comparable, replicated", 20, partial(same, [0] * 4, REPLICATED), ">= 0.9"),
    ]  # fmt: skip
    for what, rule, n, draw, expected in cases:
        yield dict(zip(FIELDS, [what, rule, n, expected, *share(n_samples, draw)], strict=False))


SIZES = (20, 100, 180, 260, 340, 420, 500)


def at_kept(n_samples, rng):
    """Return the rows of the table about methods that keep other numbers of features than they are asked for.

    The error falls with the number k of features as that of random ones on ORL, 35 + 40 k^(-1/4) points, with an sd of
    3. One method keeps what it is asked for, the other a normal share of it, with an sd of 20 %. Without the
    correction: compared as asked.
    """

    def case(test, wrong, n, share, shifts):
        asked = {(row, str(size), ""): np.full(n, size) for row in ("OFS", "than") for size in SIZES}
        kept = {
            place: np.maximum(1, (each * rng.normal(share, 0.2, n)).round()) if place[0] == "OFS" else each
            for place, each in asked.items()
        }
        shifted = {("OFS", str(size), ""): shift for size, shift in zip(SIZES, shifts, strict=True)}
        numbers = {
            place: 35 + 40 * each**-0.25 + shifted.get(place, 0) + 3 * rng.standard_normal(n)
            for place, each in kept.items()
        }
        shared = {"row": "OFS", "than": "than", "over": "folds", "margin": MARGIN}
        return tuple(judged(test, numbers, kept=kept, at=at, **shared) == wrong for at in ("kept", ""))

    none, at_margin, better = [0.0] * 7, [-3.0] * 3 + [MARGIN] + [-3.0] * 3, [-3.0] * 7
    cases = [
        ("no difference, 30 % more kept", "better_somewhere", REPLICATED, 10, 1.3, none),
        ("no difference, 30 % more kept", "better_somewhere", REPLICATED, 40, 1.3, none),
        ("no difference, 30 % fewer kept", "better", CONTRADICTED, 40, 0.7, none),
        ("at the margin in one of 7 columns", "not_worse", REPLICATED, 40, 1.0, at_margin),
        ("3 points better, sd of 20 % kept", "better", REPLICATED, 60, 1.0, better),
        ("3 points better, 30 % fewer kept", "better_somewhere", REPLICATED, 20, 0.7, better),
    ]
    for what, test, *how in cases:
        expected = ">= 0.9" if how[-1] is better else f"<= {ALPHA}"
        rule = f"{test.replace('_', ' ')} at what is kept, {how[0]}"
        found = share(n_samples, partial(case, test, *how))
        yield dict(zip(FIELDS, [what, rule, how[1], expected, *found], strict=False))


def is_decided(rng, make, n, mean, rule):
    return (verdict(make(mean + rng.standard_normal(n)), rule) != INCONCLUSIVE,)


def decided(n_samples, rng):
    """Return the rows of the table about the number of observations that is promised to decide."""
    cases = [
        ("a difference of 0.3 sd", "better, t", plain, 0.3, criteria(Better, 0.01)),
        ("a difference of 0.3 sd", "better, signed rank", SignedRank, 0.3, criteria(Better, 0.01)),
        ("none, margin of 0.25 sd", "comparable, TOST (t)", plain, 0.0, criteria(Comparable, 0.25)),
        ("none, margin of 0.25 sd", "comparable, TOST (signed rank)", SignedRank, 0.0, criteria(Comparable, 0.25)),
    ]
    for what, rule_name, make, mean, rule in cases:
        # As an inconclusive finding says it: the smallest n over the criteria, from a large pilot.
        values = rng.standard_normal(2000)
        pilot = make((values - values.mean()) / values.std() + mean)
        n = int(needed(pilot, rule, [ALPHA] * len(rule)))
        found = share(n_samples, partial(is_decided, rng, make, n, mean, rule))
        yield dict(zip(FIELDS, [what, rule_name, n, "0.9 -+ 0.05", *found], strict=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10000)
    parser.add_argument("--csv", type=Path, help="write the table there too")
    options = parser.parse_args()
    rng = np.random.default_rng(20261122)
    rows = [*false_verdicts(options.samples, rng), *decided(options.samples, rng)]
    rows += of_claims(options.samples, np.random.default_rng(44))
    rows += at_kept(options.samples, np.random.default_rng(45))
    report("verdict_rules", rules_table(FIELDS, rows, options.csv), rows=rows, samples=options.samples)


if __name__ == "__main__":
    main()
