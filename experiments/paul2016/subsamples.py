"""python -m experiments.paul2016.subsamples --artefact figure1 [--results results] [--samples 200].

Universes of Figures 1 and 2 are computed on a part of the data: half of the sets, one
repeat, one draw. Some of their verdicts are inconclusive for that reason alone. This
judges each claim on random subsamples of the default's trials of the same size, and
writes the shares of verdicts to subsamples.csv of the reference's readings, beside
robustness.csv.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.core.artefact import compose_artefact
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.core.tables import write_frame
from provlab.verdicts.claims.schema import columns_read
from provlab.verdicts.claims.stored import Evidence
from provlab.verdicts.claims.verdicts import judge
from provlab.verdicts.readings.study import multiverse_of

PAPER = "paul2016"
OUTPUT = Path("results/reference/readings") / PAPER / "subsamples.csv"


class SubsampleEvidence(Evidence):
    """Evidence of some data sets of the default, one repeat and one draw of each fold."""

    def __init__(self, store, read, chosen, repeat, draw):
        super().__init__(store)
        self.read = read  # the trials of the default, the same in all subsamples
        self.chosen = chosen
        self.repeat = repeat
        self.draw = draw

    def trials(self, place, columns):
        """Return the trials of the subsample behind a number."""
        key = (self.dataset, place, tuple(columns))
        if key not in self.read:
            self.read[key] = super().trials(place, columns)
        trials = self.read[key]
        return one_repeat(
            trials[trials["dataset"].isin(self.chosen)], self.repeat, self.draw
        )


def one_repeat(trials, repeat, draw):
    """Return the trials of one repeat and one draw; of methods without chance, of their only draw."""
    has_chance = trials.groupby("dataset")["draw"].transform("max") > 0
    is_drawn = (trials["draw"] == draw) | ~has_chance
    return trials[(trials["repeat"] == repeat) & is_drawn]


def subsampled(multiverse, name, store, n_samples):
    """Return a line for each claim about an artefact: the shares of its verdicts on subsamples of the default."""
    claims = [claim for claim in multiverse.claims if claim.artefacts == {name}]
    whole = compose_artefact(name)
    part = compose_artefact(name, multiverse.settings(name))
    datasets = sorted({entry.dataset for entry in whole.entries})
    n_datasets = len({entry.dataset for entry in part.entries})
    n_repeats = whole.config.protocol.repeats
    n_draws = whole.config.protocol.draws
    counts = {claim.id: Counter() for claim in claims}
    rng = np.random.default_rng(0)
    read = {}
    for _ in range(n_samples):
        chosen = set(rng.choice(datasets, n_datasets, replace=False))
        evidence = SubsampleEvidence(
            store, read, chosen, rng.integers(n_repeats), rng.integers(n_draws)
        )
        for verdict in judge(claims, evidence, multiverse.family):
            counts[verdict.claim.id][verdict.verdict] += 1
    lines = []
    for claim, verdicts in counts.items():
        shares = "; ".join(
            f"{verdict} {count / n_samples:.4f}"
            for verdict, count in verdicts.most_common()
        )
        lines.append({"claim": claim, "samples": n_samples, "shares": shares})
    return pd.DataFrame(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--artefact", required=True)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--samples", type=int, default=200)
    options = parser.parse_args()
    name = f"{PAPER}/{options.artefact}"
    multiverse = multiverse_of(PAPER, artefacts=[name])
    store = StoreSnapshot(
        TrialStore(options.results / "store", read_only=True),
        columns_read(multiverse.claims),
    )
    lines = subsampled(multiverse, name, store, options.samples)
    if OUTPUT.is_file():
        before = pd.read_csv(OUTPUT)
        lines = pd.concat([before[~before["claim"].isin(lines["claim"])], lines])
    write_frame(lines.sort_values("claim"), OUTPUT)
    print(lines.to_string())


if __name__ == "__main__":
    main()
