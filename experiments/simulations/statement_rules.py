"""python experiments/simulations/statement_rules.py [--samples 400] [--csv FILE]: how often statements are misjudged.

Simulated results of several methods on the benchmark's data sets, of which a statement
is just not true, or just not false: the share of samples that get that false verdict
should be at most 5 %. Then statements that are true by some distance: the share that
are replicated, which is the power. The error of a method is that of the data set, an
effect of the method in the domain (sd 2 points) and one on the data set (sd 3), both
correlated at 0.5 between methods. Skewed effects are exponential: a method is much
worse now and then. Two standard errors of a share are 2.2 points at 5 % and 3.0 points
at 90 %, with 400 samples.

"all domains" has 63 sets of 10 domains, over the means of domains; "one domain" has 10
sets of other sources.
"""

import zlib
from functools import cache

import numpy as np
import pandas as pd
from tables import arguments, write_table

from provlab.verdicts.claims.evidence import (
    FOLD_KEYS,
    AbstractEvidence,
    FoldLine,
    Folds,
)
from provlab.verdicts.claims.rules import CONTRADICTED, NO_DIFFERENCE, REPLICATED
from provlab.verdicts.claims.schema import RULES
from provlab.verdicts.claims.verdicts import verdict_of

SIZES = {"all domains": (24, 17, 10, 3, 2, 2, 2, 1, 1, 1), "one domain": (10,)}
OVER = {"all domains": "domains", "one domain": "sources"}
NAMES = ["A", "B", "C", "D", "E"]
FIELDS = ["what", "rule", "where", "n", "expected", "share"]
MOST = "<= 0.05"
SHAPES = {
    "": lambda rng, size: rng.standard_normal(size),
    ", skewed": lambda rng, size: rng.standard_exponential(size) - 1,
}


class Results(AbstractEvidence):
    """Measures of methods on data sets: by quantity an array of shape (n_sets, n_methods)."""

    def __init__(self, measures, domain):
        super().__init__(scale=1.0)
        self.plans = False
        self.measures = measures
        self.domain = domain

    def _line(self, place, quantity):
        """Return a measure of a method; `trials` and means over folds would take ten times as long."""
        return FoldLine(
            folds_of(len(self.domain)),
            self.measures[quantity][:, NAMES.index(place[1])],
        )

    def trials(self, place, columns):
        """Return nothing: there are no trials."""
        raise NotImplementedError

    def group_of(self, column):
        """Return the domain of each data set, or a source of its own."""
        groups = self.domain if column == "domain" else range(len(self.domain))
        return {f"set {k:02d}": str(group) for k, group in enumerate(groups)}

    def counts(self, places):
        """Return that all is there."""
        return 1, 1


@cache
def folds_of(n_sets):
    """Return one fold of each of some data sets."""
    names = [f"set {k:02d}" for k in range(n_sets)]
    return Folds(pd.DataFrame({**dict.fromkeys(FOLD_KEYS, 0), "dataset": names}))


def errors(rng, domain, means, shape):
    """Return the errors of five methods, (n_sets, 5)."""

    def effect(n):
        draw = SHAPES[shape]
        return (draw(rng, (n, 1)) + draw(rng, (n, len(NAMES)))) / np.sqrt(2)

    n_sets = len(domain)
    hardness = 30 + 10 * rng.standard_normal((n_sets, 1))
    values = hardness + means + 3 * effect(n_sets)
    if domain.max():  # a statement about one domain is about its methods there
        values += 2 * effect(domain.max() + 1)[domain]
    return values


def says(rng, where, test, verdicts, means=0.0, shape="", **parameters):
    """Return whether a statement gets one of some verdicts on drawn results."""
    domain = np.repeat(np.arange(len(SIZES[where])), SIZES[where])
    drawn = errors(rng, domain, means, shape)
    measures = {"error": drawn, "stability": rng.random(drawn.shape)}
    rule = RULES[test].from_config(
        {"artefact": "", "columns": ["c"], "over": OVER[where], **parameters}
    )
    return (
        verdict_of(rule.findings(["c"], Results(measures, domain), [rule])) in verdicts
    )


PAIR = {"row": "A", "than": "B", "margin": 1.0}
ALL_PAIRS = {"rows": ["A"], "than": ["B", "C", "D", "E"], "margin": 1.0}
AHEAD_OF_ALL_BUT_ONE = [0.0, 0.0, 12.0, 12.0, 12.0]
HALF = {**ALL_PAIRS, "kind": "better", "share": 0.75}
RANK = {"rows": ["A"], "among": NAMES, "at_most": 0.5}
BEST = {"rows": ["A"], "than": NAMES, "margin": 1e-9, "at_most": 0.2}
AHEAD = {"rows": ["A"], "than": ["B"], "at_most": 0.5}
CORRELATED = {"among": NAMES, "beside": "stability"}
FALSE = [
    ("no difference", "better", [REPLICATED, CONTRADICTED], {**PAIR, "margin": 1e-9}),
    ("a point better", "better_by", [REPLICATED], {**PAIR, "means": [-1.0, 0, 0, 0, 0]}),
    ("a point better", "better_by", [CONTRADICTED], {**PAIR, "means": [-1.0, 0, 0, 0, 0]}),
    ("a point worse", "not_worse", [REPLICATED], {**PAIR, "means": [1.0, 0, 0, 0, 0]}),
    ("a point worse", "comparable", [REPLICATED], {**PAIR, "means": [1.0, 0, 0, 0, 0]}),
    ("better in 3 of 4 pairs, no difference in one", "each better", [REPLICATED],
     {**ALL_PAIRS, "kind": "better", "means": AHEAD_OF_ALL_BUT_ONE}),
    ("no difference in 4 pairs", "each better", [CONTRADICTED], {**ALL_PAIRS, "kind": "better"}),
    ("a point worse in 4 pairs", "each not_worse", [CONTRADICTED],
     {**ALL_PAIRS, "kind": "not_worse", "means": [1.0, 0, 0, 0, 0]}),
    ("better in 2 of 4 pairs, no difference in 2", "each better, three quarters", [REPLICATED],
     {**HALF, "means": [0.0, 0.0, 0.0, 12.0, 12.0]}),
    ("a rank in the middle", "rank_within", [REPLICATED], RANK),
    ("a rank in the middle", "rank_within", [CONTRADICTED], RANK),
    ("ahead on half of the sets", "share_of_sets", [REPLICATED], AHEAD),
    ("ahead on half of the sets", "share_of_sets", [CONTRADICTED], AHEAD),
    ("best of five on a fifth of the sets", "share_of_sets", [REPLICATED], BEST),
    ("best of five on a fifth of the sets", "share_of_sets", [CONTRADICTED], BEST),
    ("no correlation", "correlated, from 0 to 0.4", [REPLICATED], {**CORRELATED, "low": 0.0, "high": 0.4}),
    ("no correlation", "correlated, from 0 to 0.4", [CONTRADICTED], {**CORRELATED, "low": 0.0, "high": 0.4}),
]  # fmt: skip
SHOWN_SKEWED = ("better", "each better", "rank_within", "share_of_sets")
TRUE = [
    ("3 points better", "better", {**PAIR, "means": [-3.0, 0, 0, 0, 0]}),
    ("5 points better", "better", {**PAIR, "means": [-5.0, 0, 0, 0, 0]}),
    ("5 points better", "better_by", {**PAIR, "means": [-5.0, 0, 0, 0, 0]}),
    ("3 points better", "not_worse", {**PAIR, "means": [-3.0, 0, 0, 0, 0]}),
    ("5 points better in 4 pairs", "each better", {**ALL_PAIRS, "kind": "better", "means": [-5.0, 0, 0, 0, 0]}),
    ("5 points better than four", "rank_within", {**RANK, "means": [-5.0, 0, 0, 0, 0]}),
    ("5 points worse", "share_of_sets", {**AHEAD, "means": [5.0, 0, 0, 0, 0]}),
    ("no correlation", "correlated, from -0.2 to 0.2", {**CORRELATED, "low": -0.2, "high": 0.2}),
]  # fmt: skip


def generator(*names):
    """Return the random numbers of a case, which do not depend on the others."""
    return np.random.default_rng(zlib.crc32(" ".join(names).encode()))


def share_of(n_samples, names, where, rule, verdicts, parameters, shape=""):
    """Return the share of samples in which a statement gets one of some verdicts."""
    rng = generator(where, *names)
    test = rule.partition(",")[0].partition(" ")[0]
    gets_one = [
        says(rng, where, test, verdicts, shape=shape, **parameters)
        for _ in range(n_samples)
    ]
    return f"{np.mean(gets_one):.4f}"


def rows(n_samples):
    """Yield a row for each case."""
    for where in SIZES:
        for shape in SHAPES:
            for what, rule, verdicts, parameters in FALSE:
                if shape and (rule not in SHOWN_SKEWED or where == "one domain"):
                    continue
                names = shape, what, rule, verdicts[0]
                share = share_of(
                    n_samples, names, where, rule, verdicts, parameters, shape
                )
                verdict = verdicts[0] if len(verdicts) == 1 else "any"
                yield (
                    what + shape,
                    f"{rule}: {verdict}",
                    where,
                    10,
                    "" if shape else MOST,
                    share,
                )
    for where in SIZES:
        for what, rule, parameters in TRUE:
            share = share_of(
                n_samples,
                (what, rule),
                where,
                rule,
                [REPLICATED, NO_DIFFERENCE],
                parameters,
            )
            yield what, f"{rule}: replicated", where, 10, "power", share


if __name__ == "__main__":
    options = arguments(__doc__, samples=400).parse_args()
    write_table(rows(options.samples), options.csv, FIELDS)
