"""A small Table 1 as the tests of clusters run it, and what must be the same of it everywhere."""

from provlab.cli import main
from small_runs import SMALL


def reproduce(results, *overrides):
    """Run it, and return the exit status."""
    return main(["reproduce", "paul2016/table1", *SMALL, f"results={results}", *overrides])
