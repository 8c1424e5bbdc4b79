"""python experiments/benchmarks/quick_panel.py [--panel FOLDER] [--csv FILE]: which few data sets rank as all do.

Methods have an average rank on all data sets of the benchmark and one on a few of these, each domain counting the same.
The few are chosen for the largest rank correlation of the two, one after the other and then by exchanges, from as many
domains as can be. As the choice fits the methods that it was made for, it is also made by a half of them, and judged by
the other half: `unseen` is the mean of that over 20 halves, what to expect of a new method. `random` is the mean over
sets drawn from as many domains. The row `panel.yaml` is what `provsel rank` takes.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from timing import report, rules_table

from provlab.bench.panel import panel_protocol
from provlab.bench.stored_panel import read_panel
from provlab.verdicts.panel_ranking import ranks
from provlab.verdicts.panel_scores import Scores, over_sets

BENCH = {"bench": [], "quick": ["--halves", "1"], "left_out": "19 of 20 halves", "seconds": 60}

FIELDS = ["sets", "chosen", "agreement", "unseen", "random"]


class Choice:
    """Sets x methods of average ranks, and the choice of a few of these sets.

    Parameters
    ----------
    found : DataFrame
        See `over_sets`.
    """

    def __init__(self, found):
        self.names = found.index.get_level_values("dataset")
        self.domains = pd.factorize(found.index.get_level_values("domain"))[0]
        self.ranks = found.to_numpy()
        self.whole = self._average(slice(None))

    def agreement(self, chosen, methods=slice(None)):
        """Return Spearman's correlation of the methods' average ranks on some sets with those on all."""
        few = self._average(list(chosen))[methods]
        return float(np.corrcoef(rankdata(few), rankdata(self.whole[methods]))[0, 1])

    def best(self, count, methods=slice(None)):
        """Return the sets with the largest agreement, as far as steps and exchanges of one set find them."""
        chosen = []
        for _ in range(count):
            allowed = self._allowed(chosen)
            chosen.append(max(allowed, key=lambda new: self.agreement([*chosen, new], methods)))
        best, before = self.agreement(chosen, methods), -1.0
        while best > before:
            before = best
            for place in range(count):
                others = [*chosen[:place], *chosen[place + 1 :]]
                new = max(self._allowed(others), key=lambda each: self.agreement([*others, each], methods))
                if self.agreement([*others, new], methods) > best + 1e-12:
                    chosen = [*others, new]
                    best = self.agreement(chosen, methods)
        return sorted(chosen)

    def drawn(self, count, rng):
        """Return sets by chance, of as many domains as can be."""
        chosen = []
        for _ in range(count):
            chosen.append(rng.choice(self._allowed(chosen)))
        return chosen

    def _allowed(self, chosen):
        """Return the sets of domains that are not there yet, or all others once each domain is."""
        there = {*self.domains[chosen]} if chosen else set()
        others = np.setdiff1d(np.arange(len(self.names)), chosen)
        fresh = others[~np.isin(self.domains[others], [*there])]
        return fresh if len(fresh) else others

    def _average(self, rows):
        of_sets, domains = self.ranks[rows], self.domains[rows]
        return np.mean([of_sets[domains == each].mean(axis=0) for each in np.unique(domains)], axis=0)


def unseen(choice, count, halves, rng):
    """Return the mean agreement on the half of the methods that the sets were not chosen by."""
    found = []
    for _ in range(halves):
        first, second = np.array_split(rng.permutation(choice.ranks.shape[1]), 2)
        found.append(choice.agreement(choice.best(count, first), second))
    return np.mean(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--panel", type=Path, help="its folder (default: the one that comes with provsel)")
    parser.add_argument("--halves", type=int, default=20, help="halves of the methods")
    parser.add_argument("--csv", type=Path, help="write the table there too")
    options = parser.parse_args()
    choice, rng = (
        Choice(over_sets(ranks(Scores.of(read_panel(options.panel)).of_slice()))),
        np.random.default_rng(20261126),
    )
    quick = np.flatnonzero(choice.names.isin(panel_protocol().quick))
    counts = [count for count in (5, 8, 10, 15, 20) if count < len(choice.names)]
    rows = []
    for label, chosen in [("panel.yaml", quick), *((str(count), choice.best(count)) for count in counts)]:
        n = len(chosen)
        of_random = np.mean([choice.agreement(choice.drawn(n, rng)) for _ in range(200)])
        of_unseen = np.nan if label == "panel.yaml" else unseen(choice, n, options.halves, rng)
        found = [choice.agreement(chosen), of_unseen, of_random]
        shown = [label, ", ".join(choice.names[chosen]), *("" if np.isnan(each) else f"{each:.3f}" for each in found)]
        rows.append(dict(zip(FIELDS, shown, strict=True)))
    report("quick_panel", rules_table(FIELDS, rows, options.csv), rows=rows, sets=len(choice.names))


if __name__ == "__main__":
    main()
