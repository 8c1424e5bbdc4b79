"""The arguments of the simulations, and the table that each leaves."""

import argparse
from pathlib import Path

import pandas as pd


def arguments(description, samples=None):
    """Return a parser with --csv and, where there is a default, --samples."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", type=Path, help="write the table there too")
    if samples:
        parser.add_argument("--samples", type=int, default=samples)
    return parser


def write_table(rows, path, fields=None):
    """Print rows, which are dicts, or tuples in the order of `fields`, and write them to a file if there is one."""
    table = pd.DataFrame(rows, columns=fields)
    print(table.to_string(index=False, na_rep=""))
    if path:
        table.to_csv(path, index=False)
