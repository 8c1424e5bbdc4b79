"""python experiments/simulations/verdict_rules.py [--samples 10000] [--csv FILE]: how often verdicts are wrong.

Simulated differences of two methods, in points, for which the claim is known to be
wrong, or to be undecided: the share of samples that get a false verdict should be at
most 5 %, and half of that where a rule is two-sided and only one side is false. Beside
it, where there is one, the share by the rule without what it corrects. Then samples of
the size that a pilot of 2,000 said would decide with a power of 0.9: the share that are
decided. Two standard errors of a share are 0.4 points at 5 % and 0.6 at 90 %, with
10,000 samples.

Folds of cross-validation share a component, at the correlation n_test / (n_test +
n_train) that the corrected test is made for. Inverse folds are losses of two methods on
400 rows, which they share. The pairs of categories are TechTC's 80 sets, with half of
the variance from the categories.
"""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import bdtr
from tables import arguments, write_table

from provlab.verdicts.claims.bounds import NEARLY_ALL, runs_needed
from provlab.verdicts.claims.comparison import Better, Comparable, NotWorse
from provlab.verdicts.claims.evidence import FOLD_KEYS, AbstractEvidence
from provlab.verdicts.claims.paired_tests import (
    CorrectedT,
    DisjointT,
    DyadicT,
    SignedRank,
    holm,
)
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    REPLICATED,
    needed,
)
from provlab.verdicts.claims.schema import RULES
from provlab.verdicts.claims.verdicts import verdict_of

ALPHA, MARGIN, N_COLUMNS = 0.05, 1.0, 7
MOST, POWER = f"<= {ALPHA}", ">= 0.9"
DIRECTED = (REPLICATED, CONTRADICTED)
TABLE = (
    Path(__file__).parents[2]
    / "results"
    / "reference"
    / "tables"
    / "paul2016"
    / "figure1.csv"
)
FIELDS = ["what", "rule", "n", "expected", "share", "share without the correction"]


def criteria(rule, margin):
    return rule(
        artefact="", columns=(), row="", than="", over="datasets", margin=margin
    ).criteria


TINY = criteria(Better, 1e-9)
PLAIN = partial(CorrectedT, ratio=0.0)


def simulated(cases, n_samples):
    """Yield a row for each case: what, rule, n, expected, and a function that draws one or two true or false values."""
    for *about, draw in cases:
        shares = np.mean([draw() for _ in range(n_samples)], axis=0)
        yield dict(zip(FIELDS, [*about, *np.atleast_1d(shares).tolist()], strict=False))


# ---- single tests


def decided(test, rule):
    """Return the verdict of `rules.decide` for one comparison, without the sample size, which takes longer."""
    for criterion in rule:
        if criterion.p_value(test) < ALPHA:
            return criterion.verdict
    return INCONCLUSIVE


def both_directed(test, uncorrected):
    """Return whether a rule that should not decide does, and whether the rule without its correction does."""
    return decided(test, TINY) in DIRECTED, decided(uncorrected, TINY) in DIRECTED


def on_folds(rng):
    values = math.sqrt(0.1) * rng.standard_normal() + math.sqrt(
        0.9
    ) * rng.standard_normal(100)
    return both_directed(CorrectedT(values, ratio=1 / 9), PLAIN(values))


def on_inverse_folds(rng):
    """Test ten inverse folds of 400 rows; both methods have an error of 0.2."""
    is_hard = rng.random((2, 400)) < 0.2
    losses = np.where(
        rng.random((2, 10, 400)) < 0.3, rng.random((2, 10, 400)) < 0.2, is_hard[:, None]
    )
    parts = np.array_split(rng.permutation(400), 10)
    errors = np.empty((2, 10))
    for fold, rows in enumerate(parts):
        errors[:, fold] = np.delete(losses[:, fold], rows, axis=1).mean(axis=1)
    means = errors.mean(axis=1)
    shared = 1e4 * (means.sum() - (means[0] - means[1]) ** 2) / 400
    differences = 100 * (errors[0] - errors[1])
    return both_directed(
        DisjointT(differences, n_folds=10, shared=shared), PLAIN(differences)
    )


def techtc_pairs():
    names = sorted(set(pd.read_csv(TABLE)["dataset"]))
    return [tuple(name.split("_")[1:]) for name in names]


def on_pairs(rng, pairs):
    categories = sorted({category for pair in pairs for category in pair})
    effects = dict(zip(categories, rng.standard_normal(2 * len(pairs)), strict=False))
    of_categories = np.array(
        [effects[first] + effects[second] for first, second in pairs]
    )
    values = of_categories / 2 + math.sqrt(0.5) * rng.standard_normal(len(pairs))
    return both_directed(DyadicT(values, pairs=pairs), SignedRank(values))


def on_independent(rng, test, n, mean, rule, wrong):
    return decided(test(mean + rng.standard_normal(n)), rule) in wrong


def on_columns(rng, rule, verdict):
    """Return whether some column at the margin gets a verdict that one column suffices for, with and without Holm.

    Their differences are correlated as those of nested selections are.
    """
    common = rng.standard_normal(20)
    columns = [
        MARGIN + (common + rng.standard_normal(20)) / math.sqrt(2)
        for _ in range(N_COLUMNS)
    ]
    [criterion] = [
        criterion
        for criterion in criteria(rule, MARGIN)
        if criterion.verdict == verdict
    ]
    p_values = [criterion.p_value(PLAIN(values)) for values in columns]
    return min(holm(p_values)) < ALPHA, min(p_values) < ALPHA


def false_verdicts(rng):
    pairs = techtc_pairs()
    comparable = criteria(Comparable, MARGIN)
    of_seeds = partial(on_independent, rng, PLAIN, 10)
    of_sets = partial(on_independent, rng, SignedRank, 80)
    tost = "comparable, TOST"
    return [
        ("no difference, 10 x 10 folds", "better, corrected t", 100, MOST, partial(on_folds, rng)),
        ("no difference, inverse folds", "better, t over disjoint training sets", 10, MOST,
         partial(on_inverse_folds, rng)),
        ("no difference, seeds", "better, t", 10, MOST, partial(of_seeds, 0.0, TINY, DIRECTED)),
        ("no difference, data sets", "better, signed rank", 80, MOST, partial(of_sets, 0.0, TINY, DIRECTED)),
        ("no difference, TechTC's pairs", "better, dyadic-robust t", len(pairs), MOST, partial(on_pairs, rng, pairs)),
        ("at the margin, seeds", f"{tost} (t)", 10, MOST, partial(of_seeds, MARGIN, comparable, [REPLICATED])),
        ("at the margin, data sets", f"{tost} (signed rank)", 80, MOST,
         partial(of_sets, MARGIN, comparable, [REPLICATED])),
        ("at the margin, 7 columns", "not worse, t, contradicted in one column", 20, MOST,
         partial(on_columns, rng, NotWorse, CONTRADICTED)),
        ("at the margin, 7 columns", "better, TOST (t), no difference in one column", 20, MOST,
         partial(on_columns, rng, Better, NO_DIFFERENCE)),
    ]  # fmt: skip


def sizes_needed(rng, n_samples):
    """Yield the rows about the number of observations that is promised to decide."""
    for what, name, test, mean, rule in [
        ("a difference of 0.3 sd", "better, t", PLAIN, 0.3, criteria(Better, 0.01)),
        (
            "a difference of 0.3 sd",
            "better, signed rank",
            SignedRank,
            0.3,
            criteria(Better, 0.01),
        ),
        (
            "none, margin of 0.25 sd",
            "comparable, TOST (t)",
            PLAIN,
            0.0,
            criteria(Comparable, 0.25),
        ),
        (
            "none, margin of 0.25 sd",
            "comparable, TOST (signed rank)",
            SignedRank,
            0.0,
            criteria(Comparable, 0.25),
        ),
    ]:
        # as an inconclusive finding says it: the smallest n over the criteria, from a
        # large pilot
        values = rng.standard_normal(2000)
        pilot = test((values - values.mean()) / values.std() + mean)
        n = int(needed(pilot, rule, [ALPHA] * len(rule)))
        decides = partial(
            on_independent, rng, test, n, mean, rule, (*DIRECTED, NO_DIFFERENCE)
        )
        yield from simulated([(what, name, n, "0.9 -+ 0.05", decides)], n_samples)


# ---- rules of whole claims, on trials that are drawn


class Drawn(AbstractEvidence):
    """Trials that were drawn: `numbers` has an array for each row, column and data set; one is a fold of its own.

    `kept` has the numbers of features in the same way, where they count.
    """

    def __init__(self, numbers, quantity, kept=None):
        super().__init__(scale=1.0)
        parts = {}
        for (row, column, dataset), values in numbers.items():
            folds = {
                "dataset": dataset,
                "repeat": 0,
                "fold": np.arange(values.size),
                "draw": 0,
            }
            frame = pd.DataFrame(
                {**folds, quantity: values, "n_train": np.inf, "n_test": 1.0}
            )
            if kept:
                frame["n_selected"] = kept[row, column, dataset]
            parts.setdefault((row, column), []).append(frame)
        self.frames = {
            place: pd.concat(frames, ignore_index=True)
            for place, frames in parts.items()
        }

    def trials(self, place, columns):
        """Return a line for each drawn number: `FOLD_KEYS`, `draw` and `columns`."""
        return self.frames[place[1:]][[*FOLD_KEYS, "draw", *columns]]

    def counts(self, places):
        """Return that all is there."""
        return 1, 1


def judged(test, numbers, drawn="error", kept=None, **parameters):
    """Return the verdict of a rule on drawn trials."""
    columns = list(dict.fromkeys(column for _, column, _ in numbers))
    rule = RULES[test].from_config(
        {"artefact": "drawn/table", "columns": columns, **parameters}
    )
    return verdict_of(rule.findings(columns, Drawn(numbers, drawn, kept), [rule]))


def runs(rng, rate, n):
    """Return numbers that are above 1 in a share `rate` of n runs."""
    return np.where(rng.random(n) < rate, 2.0, 0.5)


def all_within(numbers):
    quantity = "certificate_delta"
    settings = {"row": "A", "quantity": quantity, "bound": 1.0, "at_most": NEARLY_ALL}
    return (
        judged("within", {("A", "c", ""): numbers}, quantity, **settings) == REPLICATED
    )


def share_fails(rng):
    numbers = runs(rng, NEARLY_ALL, 59)
    return all_within(numbers), (numbers > 1).sum() <= NEARLY_ALL * 59


def theorem_fails(rng):
    """Fail on one of two data sets; without the correction both are taken together."""
    states, n_failed = {}, 0
    for name, rate in (("x", NEARLY_ALL), ("y", 0.0)):
        is_failed = runs(rng, rate, 100) > 1
        n_failed += int(is_failed.sum())
        states["A", "c", name] = np.where(is_failed, "violated", "held").astype(object)
    verdict = judged(
        "certificates",
        states,
        "certificate_cost",
        row="A",
        quantity="cost",
        at_most=NEARLY_ALL,
    )
    return verdict == REPLICATED, bdtr(n_failed, 200, NEARLY_ALL) < ALPHA


def trend(rng, slopes, wrong):
    numbers = {}
    for k, slope in enumerate(slopes):
        for place, column in enumerate("abc"):
            numbers["A", column, f"set {k}"] = rng.standard_normal(10) - slope * place
    return judged("falls", numbers, "objective", row="A", quantity="objective") == wrong


def rows_alike(rng, means, wrong):
    numbers = {}
    for k, mean in enumerate(means):
        numbers[f"row {k}", "c", ""] = mean + rng.standard_normal(20)
    criterion = criteria(Comparable, MARGIN)[1]
    least = min(criterion.p_value(PLAIN(values)) for values in numbers.values())
    rows = [row for row, _, _ in numbers]
    numbers["than", "c", ""] = np.zeros(20)
    verdict = judged(
        "all_comparable", numbers, rows=rows, than="than", over="folds", margin=MARGIN
    )
    return (
        (verdict == wrong, least < ALPHA) if wrong == CONTRADICTED else verdict == wrong
    )


def of_claims(rng):
    """Return cases about rules that judge shares of runs, and several data sets or rows at once.

    Without the correction: at most the share failed, as the rule once had it; all data
    sets together; no Holm.
    """
    pilot = runs_needed(1, 92, NEARLY_ALL, ALPHA)
    falls, alike = partial(trend, rng), partial(rows_alike, rng)
    return [
        ("5 % of the runs fail", "within, replicated (exact binomial)", 59, MOST, partial(share_fails, rng)),
        ("5 % fail on one of two data sets", "certificates, replicated (exact binomial)", 200, MOST,
         partial(theorem_fails, rng)),
        ("no trend on one of two data sets", "falls, replicated", 60, MOST, partial(falls, (2, 0), REPLICATED)),
        ("no trend on eight data sets", "falls, contradicted (Holm)", 240, MOST, partial(falls, [0] * 8, CONTRADICTED)),
        ("one of four rows at the margin", "all comparable, replicated", 20, MOST,
         partial(alike, [0, 0, 0, MARGIN], REPLICATED)),
        ("four rows at the margin", "all comparable, contradicted (Holm)", 20, MOST,
         partial(alike, [MARGIN] * 4, CONTRADICTED)),
        ("no run fails", "within, replicated", 59, "1", lambda: all_within(runs(rng, 0.0, 59))),
        ("1 of 92 runs fails", "within, replicated", pilot, POWER, lambda: all_within(runs(rng, 1 / 92, pilot))),
        ("falls by 1 sd a column", "falls, replicated", 60, POWER, partial(falls, (1, 1), REPLICATED)),
        ("no difference on four rows", "all comparable, replicated", 20, POWER, partial(alike, [0] * 4, REPLICATED)),
    ]  # fmt: skip


SIZES = (20, 100, 180, 260, 340, 420, 500)
NONE, AT_MARGIN, BETTER = [0.0] * 7, [-3.0] * 3 + [MARGIN] + [-3.0] * 3, [-3.0] * 7
# what, rule, verdict, rows, share of the asked number that is kept, shifts in points
AT_KEPT = [
    ("no difference, 30 % more kept", "better_somewhere", REPLICATED, 10, 1.3, NONE),
    ("no difference, 30 % more kept", "better_somewhere", REPLICATED, 40, 1.3, NONE),
    ("no difference, 30 % fewer kept", "better", CONTRADICTED, 40, 0.7, NONE),
    ("at the margin in one of 7 columns", "not_worse", REPLICATED, 40, 1.0, AT_MARGIN),
    ("3 points better, sd of 20 % kept", "better", REPLICATED, 60, 1.0, BETTER),
    (
        "3 points better, 30 % fewer kept",
        "better_somewhere",
        REPLICATED,
        20,
        0.7,
        BETTER,
    ),
]


def at_kept(rng, test, wrong, n, share, shifts):
    """Judge methods that keep other numbers of features than they are asked for.

    The error falls with the number k of features as that of random ones on ORL, 35 + 40
    k^(-1/4) points, with an sd of
    3. One method keeps what it is asked for, the other a normal share of it, with an sd
       of 20 %. Without the
    correction: compared as asked.
    """
    kept, shift = {}, {}
    for row in ("OFS", "than"):
        for size, points in zip(SIZES, shifts, strict=True):
            place = row, str(size), ""
            kept[place], shift[place] = np.full(n, size), 0.0
            if row == "OFS":
                kept[place] = np.maximum(1, (size * rng.normal(share, 0.2, n)).round())
                shift[place] = points
    numbers = {}
    for place, counts in kept.items():
        numbers[place] = (
            35 + 40 * counts**-0.25 + shift[place] + 3 * rng.standard_normal(n)
        )
    settings = {"row": "OFS", "than": "than", "over": "folds", "margin": MARGIN}
    return [
        judged(test, numbers, kept=kept, at=at, **settings) == wrong
        for at in ("kept", "")
    ]


def of_counts(rng):
    cases = []
    for what, test, verdict, n, share, shifts in AT_KEPT:
        rule = f"{test.replace('_', ' ')} at what is kept, {verdict}"
        draw = partial(at_kept, rng, test, verdict, n, share, shifts)
        cases.append((what, rule, n, POWER if shifts is BETTER else MOST, draw))
    return cases


def main():
    options = arguments(__doc__, 10_000).parse_args()
    rng = np.random.default_rng(20261122)
    rows = [
        *simulated(false_verdicts(rng), options.samples),
        *sizes_needed(rng, options.samples),
    ]
    rows += simulated(of_claims(np.random.default_rng(44)), options.samples)
    rows += simulated(of_counts(np.random.default_rng(45)), options.samples)
    write_table(rows, options.csv, FIELDS)


if __name__ == "__main__":
    main()
