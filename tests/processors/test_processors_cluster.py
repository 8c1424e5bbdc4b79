"""One run on workers of two kinds; the client may be of a third."""

from collections import Counter

import pytest
from distributed import Client

import kinds
from cluster_processes import LOGGING_WORKER, processes, start_scheduler, start_worker
from provlab.cli import main
from provlab.core.store import TrialStore
from small_runs import SMALL, table_files


@pytest.fixture(scope="module")
def two(others):
    """The kinds of the two workers."""
    return [*others, "native"][:2]


@pytest.fixture(scope="module")
def address(two, tmp_path_factory):
    """A scheduler's, with a worker of each kind; tasks last long enough for both to get some."""
    folder = tmp_path_factory.mktemp("cluster")
    preload = LOGGING_WORKER.format(log=str(folder / "log"), pause="time.sleep(0.1)")
    with processes() as start:
        _, address = start_scheduler(start, folder)
        for kind in two:
            variables = {**dict.fromkeys(kinds.VARIABLES), **kinds.environment_of(kind)}
            start_worker(start, address, folder, preload, **variables)
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address


def counted_by_kind(results, two):
    """Return how many records each kind has made; fails where another machine is named."""
    kind_of = {kinds.environment_in_records(kind): kind for kind in two}
    stored = (
        TrialStore(results / "store")
        .query(columns=["environment"])["environment"]
        .to_pylist()
    )
    return Counter(kind_of[environment] for environment in stored)


def test_table_1(address, two, tmp_path, capsys):
    overrides = [*SMALL, "protocol.repeats=2", f"results={tmp_path / 'mixed'}"]
    where = ["executor=dask", f"executor.address={address}"]
    assert main(["reproduce", "paul2016/table1", *overrides, *where]) == 0
    said = capsys.readouterr().err
    assert "0 were stored, " in said
    assert ", 0 failed" in said
    counts = counted_by_kind(tmp_path / "mixed", two)
    assert set(counts) == set(two)
    # whoever asks for it, on one machine or on the other, has it already
    assert main(["reproduce", "paul2016/table1", *overrides, "executor=serial"]) == 0
    assert f"{counts.total()} were stored, 0 computed" in capsys.readouterr().err
    assert table_files(tmp_path / "mixed")
