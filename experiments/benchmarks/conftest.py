"""All benchmarks run on one BLAS thread, and contenders of the same case make a group."""

import json
import warnings

import pytest
from threadpoolctl import threadpool_limits

from provlab.run.environment import environment


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        yield


@pytest.fixture(autouse=True)
def _group(benchmark, request):
    """Name the group by the benchmark and its parameters without `contender`."""
    case = [request.node.originalname.removeprefix("bench_")]
    for name, value in request.node.callspec.params.items():
        if name != "contender":
            case.append(str(value))
    benchmark.group = ", ".join(case)


def pytest_benchmark_update_machine_info(machine_info):
    machine_info["environment"] = json.loads(environment())
