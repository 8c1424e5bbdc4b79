"""Each ordered pair of registered selectors and models in a task of two, and all together with every executor.

Minutes: `make test-company` runs it, `make test` a sample of it (test_company.py).
"""

import numpy as np
import pytest

from company import STABLE, alone, everything, run
from provlab.core.store import TrialStore
from small_runs import rows, run_quietly

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SHARDS = 8
SLOW = ("Boruta", "MCP")
"""Seconds a fit: they are in the random orders."""
ORDERS = 10


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    return everything(tmp_path_factory.mktemp("company"))


def cells_of(named):
    return [cell for of_name in named.values() for cell in of_name]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_each_pair_in_both_orders(shard, named):
    quick = {
        name: of_name
        for name, of_name in named.items()
        if not name.startswith((*SLOW, "scorer "))
    }
    company = cells_of(quick)
    expected, failures = alone(company, folds=(0,))
    assert failures == {}
    for first in company[shard::SHARDS]:
        for second in company:
            if first.id != second.id and first.data == second.data:
                records, failures = run([first, second], folds=(0,))
                assert records == {key: expected[key] for key in records}
                assert failures == {}
                assert len(records) == 2


@pytest.mark.parametrize("seed", range(ORDERS))
def test_random_orders(seed, named):
    company = cells_of(named)
    rng = np.random.default_rng(seed)
    arranged = [company[k] for k in rng.permutation(len(company))]
    expected, failures = alone(company, folds=(0,))
    assert run(arranged, folds=(0,)) == (expected, failures)


@pytest.mark.parametrize("executor", ["loky", "dask"])
def test_executors(executor, named, tmp_path):
    company = cells_of(named)
    serial = TrialStore(tmp_path / "serial")
    store = TrialStore(tmp_path / executor)
    for cell in company:
        run_quietly([cell], serial)
    run_quietly(company[::3], store, {"name": executor, "n_jobs": 2})
    run_quietly(company, store, {"name": executor, "n_jobs": 2})  # resumed
    assert rows(store, columns=STABLE) == rows(serial, columns=STABLE)
    assert len(serial.keys()) > 200
