"""How often each reading of Table 1's methods gives the printed lists: python -m experiments.paul2016.likelihood.

Data sets are drawn as the text says (`dataset.seed` is 0, 1, ...), and each reading of readings.yaml is run on each by
ten-fold cross-validation, ten times where a printed list is rare (`RARE`), once otherwise. Readings are one place at a
time, all else as by default. A data set is a piece of work, with a file in `--folder`; the same command goes on, and at
the end writes likelihood_lists.csv.gz, every list, and likelihood.csv, the shares. 200 data sets take about an hour on
one core.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from scipy.stats import binomtest

from provlab.core.artefact import compose_artefact
from provlab.core.plan import identity_of, make_tasks
from provlab.core.tables import write_frame
from provlab.run.task import run_task
from provlab.verdicts.readings.schema import paper_readings

from .table1 import RECIPE, TOP, summarise

LISTS, TABLE = (Path(__file__).with_name(name) for name in ("likelihood_lists.csv.gz", "likelihood.csv"))

NOT_VARIED = ("C", "table1-columns")
"""The first is stated; a list of places in a shuffled order says nothing of relevance."""

RARE = {
    "BSS, section 4.1, the step is skipped",
    "BSS, section 4.1 in L only, the step is skipped",
    "BSS, section 4.1 in U only, the step is skipped",
    "Lvg, with replacement, new in each fold",
}

SHARES = [
    "exactly", "exactly_low", "exactly_high", "five", "five_low", "five_high", "shared", "relevant", "plain", "gaps",
    "error", "cells_of_set_0", "shared_of_set_0",
]  # fmt: skip
"""Shares of the data sets with the printed list, and with the printed five in any order, and their exact intervals of
95 %; means of how many of the five are printed, and relevant; shares of lists that count down from k (plain), and of
others that have relevant features only (gaps); mean test error (%). Of Table 1's own data set, seed 0: how many of the
two cells, list and error, are as printed, and how many features are, as `readings` counts them."""

KEPT = ["cell", "repeat", "fold", "features", "error"]


def readings():
    """Return {row: options}: a row is a method, and the option that is no default, or all that are."""
    places = [place for place in paper_readings("paul2016").places if place.id not in NOT_VARIED]
    found = {}
    for method in dict.fromkeys(RECIPE.printed()["row"]):
        touching = [place for place in places if place.touches_row(RECIPE.name, method)]
        defaults = [place.options[0] for place in touching]
        shown = [place.options[0].name for place in touching if place.id != "table1-ties"]
        found[", ".join([method, *shown])] = defaults
        for k, place in enumerate(touching):
            for option in place.options[1:]:
                found[f"{method}, {option.name}"] = [*defaults[:k], option, *defaults[k + 1 :]]
    return found


def compose(found):
    """Return the entries of Table 1, a row for each reading, without certificates, which no list depends on."""
    own = compose_artefact(RECIPE.name).config.artefact.rows
    rows = {
        row: [
            *own[row.partition(",")[0]],
            *(text for option in options for text in option.of_cells),
            *([] if row in RARE else ["protocol.repeats=1"]),
        ]
        for row, options in found.items()
    }
    return compose_artefact(RECIPE.name, ["protocol.certify=false"], rows).entries


def trials_of(cells):
    """Compute the trials of some cells, and return them by cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the published iteration of LPSVM says of each fit that it did not converge
        results = [run_task(task) for task in make_tasks(cells)]
    if failures := [failure for result in results for failure in result.failures]:
        raise ValueError(f"likelihood: expected trials that work, got {len(failures)} that failed: {failures[0]}.")
    records = [{name: record[name] for name in KEPT} for result in results for record in result.records]
    return dict(tuple(pd.DataFrame(records).groupby("cell")))


def lists_of(seed, found, entries):
    """Return one line for each reading and list of Table 1, on the data set with a seed."""
    drawn = [{**entry.cell.dataset, "seed": seed} for entry in entries]
    cells = [entry.cell.on(data, identity_of(data)) for entry, data in zip(entries, drawn, strict=True)]
    trials, lines = trials_of(cells), []
    for entry, cell in zip(entries, cells, strict=True):
        [ties] = [text for option in found[entry.row] for text in option.of_summary] or ["=higher_index"]
        of_cell = trials[cell.id]
        listed, _, error = summarise(replace(entry, cell=cell), of_cell, ties=ties.partition("=")[2])
        n_folds = len(of_cell[["repeat", "fold"]].drop_duplicates())
        method, _, reading = entry.row.partition(", ")
        lines.append((seed, method, reading, entry.column, n_folds, listed["value"], error["value"]))
    return pd.DataFrame(lines, columns=["seed", "method", "reading", "list", "folds", "features", "error"])


def write_piece(seed, folder, found, entries):
    """Write the lists of a data set, if they are not there, and return them as they are written."""
    path = folder / f"{seed}.csv"
    if not path.is_file():
        write_frame(lists_of(seed, found, entries), path)
    return pd.read_csv(path)


def shares(lists):
    """Return one line for each reading and list, with `SHARES` over the data sets, from one line for each data set."""
    printed = RECIPE.printed().set_index(["row", "column"])["printed_value"].astype(str)
    lines = []
    for (method, reading, name), of_list in lists.groupby(["method", "reading", "list"], sort=False):
        tops = [[int(feature) for feature in text.split(", ")] for text in of_list["features"]]
        wanted, k = [int(feature) for feature in printed[method, name].split(", ")], int(name.rpartition("=")[2])
        plain = [*range(k, k - TOP, -1)]
        exactly, five = ([made(top) == made(wanted) for top in tops] for made in (list, set))
        relevant, shared = (np.array([len({*top} & {*those}) for top in tops]) for those in (range(1, k + 1), wanted))
        gaps = [top != plain and n == TOP for top, n in zip(tops, relevant, strict=True)]
        is_plain, error = [top == plain for top in tops], of_list["error"].to_numpy()
        first = int(of_list["seed"].argmin())
        equal = exactly[first] + (round(error[first]) == float(printed[method, f"{name}, error (%)"]))
        lines.append(
            (
                method, reading, name, len(tops), int(of_list["folds"].min()), *_share(exactly), *_share(five),
                shared.mean(), relevant.mean(), np.mean(is_plain), np.mean(gaps), error.mean(), equal, shared[first],
            )
        )  # fmt: skip
    return pd.DataFrame(lines, columns=["method", "reading", "list", "sets", "folds", *SHARES]).round(4)


def _share(hits):
    found = binomtest(sum(hits), len(hits)).proportion_ci(method="exact")
    return np.mean(hits), found.low, found.high


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=200, help="number of data sets (200)")
    parser.add_argument("--n-jobs", type=int, default=1, help="processes, one BLAS thread each (1)")
    parser.add_argument("--folder", type=Path, default=Path("results/likelihood"), help="of the pieces")
    given = parser.parse_args()
    found = readings()
    entries = compose(found)
    pieces = joblib.Parallel(given.n_jobs, verbose=5)(
        joblib.delayed(write_piece)(seed, given.folder, found, entries) for seed in range(given.sets)
    )
    lists = pd.concat(pieces)
    write_frame(lists, LISTS)
    write_frame(shares(lists), TABLE)


if __name__ == "__main__":
    main()
