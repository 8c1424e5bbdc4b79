"""Helper modules in tests/ can be imported by every test; BLAS runs on one thread, as in the experiments."""

import os
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# tests start processes elsewhere
os.environ.setdefault("PROVSEL_PROJECT", str(Path(__file__).resolve().parents[1]))

sys.path.insert(0, str(Path(__file__).parent))

# How fast a busy machine draws examples says nothing about the code.
settings.register_profile(
    "provsel", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("provsel")


@pytest.fixture
def peak_memory():
    """Return a function of `run`: the largest memory of Python and NumPy while `run()` works, in bytes."""

    def peak(run):
        tracemalloc.start()
        try:
            run()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return peak


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Work in an empty folder outside of any project, and return it."""
    monkeypatch.delenv("PROVSEL_PROJECT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """Have no downloaded data, and return the folder in whose `data` they would be."""
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    return tmp_path


@pytest.fixture
def call(capsys):
    """Return a function that calls a command, and gives its exit status and what it printed."""
    from provlab.cli import main

    def run(*argv):
        capsys.readouterr()
        try:
            status = main([*argv])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture(scope="session")
def serial_table1(tmp_path_factory):
    """Tables and records of a small Table 1, computed in this process: those that every executor gives."""
    from small_runs import outcome, reproduce_table1

    results = tmp_path_factory.mktemp("serial") / "results"
    assert reproduce_table1(results, "executor=serial") == 0
    return outcome(results)
