"""How often each reading of Table 1's methods gives the printed lists: python -m experiments.paul2016.likelihood.

Data sets are drawn as the text says (`dataset.seed` is 0, 1, ...). Each reading of
readings.yaml is run on each by ten times ten folds, the same for all readings, and its
counts are listed by both rules for ties. Readings are one place at a time, all else as
by default. A data set is a piece of work, with a file in `--folder`; the same command
goes on, and at the end writes likelihood_lists.csv.gz, every list, and likelihood.csv,
the shares.

A data set takes about a minute of one core, a third of it for LPSVM. A list that a
reading gives on none of 60 is given on at most 6 % (exact interval of 95 %). `N_SETS`
are stored; 60 more are an hour.
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

LISTS, TABLE = (
    Path(__file__).with_name(name)
    for name in ("likelihood_lists.csv.gz", "likelihood.csv")
)

NOT_VARIED = ("C", "table1-columns")
"""The first is stated; a list of places in a shuffled order says nothing of relevance."""

N_SETS = 60

TIES = "table1-ties"
"""Asked of each reading: it changes how the counts are listed, and no trial."""

KEY = ["method", "reading", "ties", "list"]

KEPT = ["cell", "repeat", "fold", "features", "error"]


def readings():
    """Return {row: options}: a row is a method, and the option that is no default, or all that are."""
    places = [
        place
        for place in paper_readings("paul2016").places
        if place.id not in (*NOT_VARIED, TIES)
    ]
    rows = {}
    for method in dict.fromkeys(RECIPE.printed()["row"]):
        touching = [place for place in places if place.touches_row(RECIPE.name, method)]
        defaults = [place.options[0] for place in touching]
        rows[", ".join([method, *(option.name for option in defaults)])] = defaults
        for k, place in enumerate(touching):
            for option in place.options[1:]:
                rows[f"{method}, {option.name}"] = [
                    *defaults[:k],
                    option,
                    *defaults[k + 1 :],
                ]
    return rows


def tie_rules():
    """Return {option: rule}, as `summarise` calls the rules for ties, the default first."""
    [place] = [place for place in paper_readings("paul2016").places if place.id == TIES]
    rules = {place.options[0].name: compose_artefact(RECIPE.name).summary["ties"]}
    for option in place.options[1:]:
        [override] = option.of_summary
        rules[option.name] = override.partition("=")[2]
    return rules


def compose(options_by_row):
    """Return the entries of Table 1, a row for each reading, without certificates, which no list depends on."""
    rows_of_table = compose_artefact(RECIPE.name).config.artefact.rows
    rows = {}
    for row, options in options_by_row.items():
        method = row.partition(",")[0]
        rows[row] = [
            *rows_of_table[method],
            *(text for option in options for text in option.of_cells),
        ]
    return compose_artefact(RECIPE.name, ["protocol.certify=false"], rows).entries


def trials_of(cells):
    """Compute the trials of some cells, and return them by cell."""
    with warnings.catch_warnings():
        # the published iteration of LPSVM says of each fit that it did not converge
        warnings.simplefilter("ignore")
        results = [run_task(task) for task in make_tasks(cells)]
    if failures := [failure for result in results for failure in result.failures]:
        raise ValueError(
            f"likelihood: expected trials that work, got {len(failures)} that failed: {failures[0]}."
        )
    records = [
        {name: record[name] for name in KEPT}
        for result in results
        for record in result.records
    ]
    return dict(tuple(pd.DataFrame(records).groupby("cell")))


def lists_of(seed, entries):
    """Return one line for each reading, rule for ties and list of Table 1, on the data set with a seed."""
    drawn = [{**entry.cell.dataset, "seed": seed} for entry in entries]
    cells = [
        entry.cell.on(data, identity_of(data))
        for entry, data in zip(entries, drawn, strict=True)
    ]
    trials = trials_of(cells)
    rules = tie_rules()
    lines = []
    for entry, cell in zip(entries, cells, strict=True):
        of_cell = trials[cell.id]
        n_folds = len(of_cell[["repeat", "fold"]].drop_duplicates())
        method, _, reading = entry.row.partition(", ")
        for ties, rule in rules.items():
            listed, _, error = summarise(replace(entry, cell=cell), of_cell, ties=rule)
            lines.append(
                (
                    seed,
                    method,
                    reading,
                    ties,
                    entry.column,
                    n_folds,
                    listed["value"],
                    error["value"],
                )
            )
    return pd.DataFrame(lines, columns=["seed", *KEY, "folds", "features", "error"])


def write_piece(seed, folder, entries):
    """Write the lists of a data set, if they are not there, and return them as they are written."""
    path = folder / f"{seed}.csv"
    if not path.is_file():
        write_frame(lists_of(seed, entries), path)
    return pd.read_csv(path)


def shares(lists):
    """Return one line for each reading, rule for ties and list, see `shares_of_list`."""
    printed = RECIPE.printed().set_index(["row", "column"])["printed_value"].astype(str)
    lines = []
    for key, of_list in lists.groupby(KEY, sort=False):
        method, _, _, name = key
        error_printed = float(printed[method, f"{name}, error (%)"])
        numbers = shares_of_list(
            of_list,
            _features(printed[method, name]),
            int(name.rpartition("=")[2]),
            error_printed,
        )
        lines.append(dict(zip(KEY, key, strict=True)) | numbers)
    return pd.DataFrame(lines).round(4)


def shares_of_list(of_list, printed, k, error_printed):
    """Return what the data sets say of one reading and list of k relevant features.

    Shares of the data sets with the printed list, and with the printed five in any
    order; means of how many of the five are printed, and relevant; shares of lists that
    count down from k (plain), and of others that have relevant features only (gaps);
    mean test error (%). Names with `_low` and `_high` are the ends of exact intervals
    of 95 %. Of Table 1's own data set, seed 0: how many of the two cells, list and
    error, are as printed, and how many features are, as `provsel readings` counts them.
    """
    tops = [_features(text) for text in of_list["features"]]
    plain = [*range(k, k - TOP, -1)]
    exactly = [top == printed for top in tops]
    five = [{*top} == {*printed} for top in tops]
    shared = [len({*top} & {*printed}) for top in tops]
    n_relevant = [sum(feature <= k for feature in top) for top in tops]
    gaps = [top != plain and n == TOP for top, n in zip(tops, n_relevant, strict=True)]
    error = of_list["error"].to_numpy()
    first = int(of_list["seed"].argmin())
    return {
        "sets": len(tops),
        "folds": int(of_list["folds"].min()),
        **_interval("exactly", exactly),
        **_interval("five", five),
        "shared": np.mean(shared),
        "relevant": np.mean(n_relevant),
        "plain": np.mean([top == plain for top in tops]),
        **_interval("gaps", gaps),
        "error": error.mean(),
        "cells_of_set_0": exactly[first] + (round(error[first]) == error_printed),
        "shared_of_set_0": shared[first],
    }


def _features(text):
    return [int(feature) for feature in text.split(", ")]


def _interval(name, hits):
    """Return the share of hits, and the ends of its exact interval of 95 %."""
    interval = binomtest(sum(hits), len(hits)).proportion_ci(method="exact")
    return {
        name: np.mean(hits),
        f"{name}_low": interval.low,
        f"{name}_high": interval.high,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--sets", type=int, default=N_SETS, help=f"number of data sets ({N_SETS})"
    )
    parser.add_argument(
        "--n-jobs", type=int, default=1, help="processes, one BLAS thread each (1)"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("results/likelihood"), help="of the pieces"
    )
    given = parser.parse_args()
    entries = compose(readings())
    pieces = joblib.Parallel(given.n_jobs, verbose=5)(
        joblib.delayed(write_piece)(seed, given.folder, entries)
        for seed in range(given.sets)
    )
    lists = pd.concat(pieces)
    write_frame(lists, LISTS)
    write_frame(shares(lists), TABLE)


if __name__ == "__main__":
    main()
