"""The benchmarks run under pytest-benchmark, and what `ratios.py` reads from a stored run."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from small_runs import REPO, load_script

BENCHMARKS = REPO / "experiments" / "benchmarks"
ratios = load_script(BENCHMARKS / "ratios.py")


def run_benchmarks(*arguments):
    pytest.importorskip("pytest_benchmark")
    command = [sys.executable, "-m", "pytest", str(BENCHMARKS), *map(str, arguments)]
    # no xdist worker
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_")
    }
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=REPO, env=environ
    )


def test_every_benchmark_is_found_and_times_contenders():
    output = run_benchmarks("--collect-only", "-m", "")
    assert output.returncode == 0, output.stdout
    names = output.stdout.split()
    for path in BENCHMARKS.glob("bench_*.py"):
        assert any(name.startswith(f"{path.name}::bench_") for name in names), path.name


def test_a_stored_run_has_medians_of_cpu_seconds_by_contender(tmp_path):
    path = tmp_path / "run.json"
    assert (
        run_benchmarks("-k", "bench_product", f"--benchmark-json={path}").returncode
        == 0
    )
    run = json.loads(path.read_text())
    by_contender = {bench["params"]["contender"]: bench for bench in run["benchmarks"]}
    assert {"float64", "float32"} == set(by_contender)
    assert by_contender["float64"]["options"]["timer"] == "process_time"
    assert by_contender["float64"]["stats"]["median"] > 0
    assert (
        by_contender["float64"]["group"]
        == by_contender["float32"]["group"]
        == "product, 1500"
    )
    assert set(run["machine_info"]["environment"]) >= {"blas", "cpu", "numpy"}


def bench(group, contender, seconds, **extra):
    stats = {"median": np.median(seconds), "min": min(seconds), "max": max(seconds)}
    return {
        "group": group,
        "params": {"contender": contender},
        "extra_info": extra,
        "stats": stats,
    }


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (
            "textbook / provsel >= 3",
            {
                "peer": "textbook",
                "goal": "ratio >= 3",
                "ratio": 3,
                "ratio_spread": [2, 4.5],
            },
        ),
        (
            "provsel / basis <= 2",
            {"limit": "basis", "goal": "ratio_to_limit <= 2", "limit_spread": [2, 3]},
        ),
        (
            "provsel / 8 s <= 0.25",
            {"limit": "8 s", "ratio_to_limit": 0.25, "limit_spread": [0.25, 0.375]},
        ),
    ],
)
def test_a_goal_compares_medians_of_a_group(goal, expected):
    """provsel takes 2 s (to 3), the textbook 6 s (to 9), the basis 1 s."""
    contenders = {
        "provsel": [2.0, 2.0, 3.0],
        "textbook": [6.0, 6.0, 9.0],
        "basis": [1.0],
    }
    benchmarks = [
        bench("bss, 300", name, seconds, goal=goal)
        for name, seconds in contenders.items()
    ]
    [result] = ratios.goals_of(
        {"benchmarks": [*benchmarks, bench("other", "provsel", [1.0])]}
    )
    assert result["met"]
    assert result["script"] == "bss"
    assert {name: result[name] for name in expected} == expected
    contenders["provsel"] = [4.0, 4.0, 6.0]
    slower = [
        bench("bss, 300", name, seconds, goal=goal)
        for name, seconds in contenders.items()
    ]
    [result] = ratios.goals_of({"benchmarks": slower})
    assert not result["met"]
