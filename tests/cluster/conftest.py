"""What the tests of clusters compare with."""

import pytest

from small_runs import reproduce_table1, stable_records, table_files


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """Tables and records of a small Table 1 without a cluster."""
    results = tmp_path_factory.mktemp("serial") / "results"
    assert reproduce_table1(results, "executor=serial") == 0
    return table_files(results), stable_records(results)
