"""A small Table 1 as the tests of clusters run it, and what must be the same of it everywhere."""

from provsel.cli import artefact_main
from provsel.store import SCHEMA, VOLATILE, TrialStore
from small_runs import SMALL, TABLE1, load_script

STABLE = [name for name in SCHEMA.names if name not in VOLATILE]


def reproduce(results, *overrides):
    """Run it, and return the exit status."""
    return artefact_main(load_script(TABLE1).RECIPE, [*SMALL, f"results={results}", *overrides])


def stable_records(results):
    return repr(TrialStore(results / "store").query(columns=STABLE).to_pylist())
