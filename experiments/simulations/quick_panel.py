"""python experiments/simulations/quick_panel.py [--panel FOLDER] [--csv FILE]: which few data sets rank as all do.

Methods have an average rank on all data sets of the benchmark and one on a few of
these, each domain counting the same. The few are chosen for the largest rank
correlation of the two, one after the other and then by exchanges, from as many domains
as can be. As the choice fits the methods that it was made for, it is also made by a
half of them, and judged by the other half: `unseen` is the mean of that over 20 halves,
what to expect of a new method. `random` is the mean over sets drawn from as many
domains. The rows `quick` are what `provsel rank` takes.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from tables import arguments, write_table

from provlab.bench.methods import TASKS
from provlab.bench.panel import panel_data, panel_datasets
from provlab.bench.stored_panel import read_panel
from provlab.verdicts.panel_ranking import ranks
from provlab.verdicts.panel_scores import Scores, over_sets

FIELDS = ["task", "sets", "chosen", "agreement", "unseen", "random"]
ALL = slice(None)
COUNTS = (5, 8, 10, 12, 15)


class Choice:
    """Sets x methods of average ranks (see `over_sets`), and the choice of a few of these sets."""

    def __init__(self, average_ranks, may_be_chosen):
        self.names = average_ranks.index.get_level_values("dataset")
        self.candidates = np.flatnonzero(self.names.isin(may_be_chosen))
        self.domains = pd.factorize(average_ranks.index.get_level_values("domain"))[0]
        self.ranks = average_ranks.to_numpy()
        self.of_all_sets = self._average(ALL)

    def agreement(self, chosen, methods=ALL):
        """Return Spearman's correlation of the methods' average ranks on some sets with those on all."""
        few = self._average(list(chosen))[methods]
        return float(
            np.corrcoef(rankdata(few), rankdata(self.of_all_sets[methods]))[0, 1]
        )

    def best(self, count, methods=ALL):
        """Return the sets with the largest agreement, as far as steps and exchanges of one set find them."""
        chosen = []
        for _ in range(count):
            chosen.append(self._best_addition(chosen, methods))
        best, before = self.agreement(chosen, methods), -1.0
        while best > before:
            before = best
            for place in range(count):
                rest = [*chosen[:place], *chosen[place + 1 :]]
                exchanged = [*rest, self._best_addition(rest, methods)]
                agreement = self.agreement(exchanged, methods)
                if agreement > best + 1e-12:
                    chosen, best = exchanged, agreement
        return sorted(chosen)

    def drawn(self, count, rng):
        """Return sets by chance, of as many domains as can be."""
        chosen = []
        for _ in range(count):
            chosen.append(rng.choice(self._allowed(chosen)))
        return chosen

    def _best_addition(self, chosen, methods):
        return max(
            self._allowed(chosen),
            key=lambda new: self.agreement([*chosen, new], methods),
        )

    def _allowed(self, chosen):
        """Return the sets of domains that are not yet chosen, or all others once each domain is."""
        rest = np.setdiff1d(self.candidates, chosen)
        fresh = (
            rest[~np.isin(self.domains[rest], self.domains[chosen])] if chosen else rest
        )
        return fresh if len(fresh) else rest

    def _average(self, sets):
        """Return each method's mean over domains of its mean rank there."""
        by_domain = pd.DataFrame(self.ranks[sets]).groupby(self.domains[sets]).mean()
        return by_domain.mean().to_numpy()


def unseen(choice, count, halves, rng):
    """Return the mean agreement on the half of the methods that the sets were not chosen by."""
    agreements = []
    for _ in range(halves):
        first, second = np.array_split(rng.permutation(choice.ranks.shape[1]), 2)
        agreements.append(choice.agreement(choice.best(count, first), second))
    return np.mean(agreements)


def main():
    parser = arguments(__doc__)
    parser.add_argument(
        "--panel",
        type=Path,
        help="its folder (default: the one that comes with provsel)",
    )
    parser.add_argument("--halves", type=int, default=20, help="halves of the methods")
    options = parser.parse_args()
    panel = read_panel(options.panel)
    rows = []
    for task in TASKS:
        rows += rows_of(Scores.of(panel, task), options.halves)
    write_table(rows, options.csv, FIELDS)


def rows_of(scores, halves):
    """Return the rows of a task; methods that are not defined on all data sets are left out."""
    rng = np.random.default_rng(20261126)
    # at most 1,000 rows
    small = {
        name for name, dataset in panel_datasets().items() if dataset.folds == "twice"
    }
    choice = Choice(over_sets(ranks(scores.of_slice())).dropna(axis=1), small)
    choices = {
        "quick": np.flatnonzero(choice.names.isin(panel_data().quick[scores.task]))
    }
    for count in COUNTS:
        if count <= len(choice.candidates):
            choices[str(count)] = choice.best(count)
    rows = []
    for label, chosen in choices.items():
        drawn = [choice.agreement(choice.drawn(len(chosen), rng)) for _ in range(200)]
        agreement = f"{choice.agreement(chosen):.3f}"
        unseen_agreement = (
            ""
            if label == "quick"
            else f"{unseen(choice, len(chosen), halves, rng):.3f}"
        )
        names = ", ".join(choice.names[chosen])
        rows.append(
            (
                scores.task,
                label,
                names,
                agreement,
                unseen_agreement,
                f"{np.mean(drawn):.3f}",
            )
        )
    return rows


if __name__ == "__main__":
    main()
