"""A small Table 1 as the tests of clusters run it, and what must be the same of it everywhere."""

from provlab.cli.scripts import artefact_main
from small_runs import SMALL, TABLE1, load_script


def reproduce(results, *overrides):
    """Run it, and return the exit status."""
    return artefact_main(load_script(TABLE1).RECIPE, [*SMALL, f"results={results}", *overrides])
