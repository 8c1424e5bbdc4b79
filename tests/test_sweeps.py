"""Runs and sweeps: one run over all jobs, on after a failed trial, a table and a list of failures at the end."""

import re
import shlex
import subprocess
from functools import partial

import pytest
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser

from provlab.cli.run import jobs_of
from provlab.core.store import TrialStore
from small_runs import SMALL

TWO = ["selector=uniform", "selector.n_features_to_select=20,30"]
ONE_BAD = ["selector=uniform", "selector.n_features_to_select=20,2000,30"]
SIZE = [*SMALL, "executor=serial"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(call):
    return partial(call, "run")


def commands(text):
    """Return the commands to be pasted, split as a shell does."""
    return [
        shlex.split(line)
        for line in text.splitlines()
        if line.startswith("  provsel run ")
    ]


def n_stored(results="results"):
    return len(TrialStore(f"{results}/store").keys())


def test_goes_on_after_a_failed_job_and_lists_it(run, folder):
    status, out, error = run("-m", *ONE_BAD, *SIZE)
    assert status == 1
    assert n_stored() == 2 * 6
    assert re.findall(r"│ Uniform .*│ (\d+) +│ (\w+) +│[^│]*│$", out, re.M) == [
        ("6", "complete"),
        ("0", "missing"),
        ("6", "complete"),
    ]
    report = error[error.index("sweep: ") :]
    assert report.startswith(
        "sweep: 2 of 3 jobs done, 1 failed\nfailed, 1 job: ValueError: UniformSelector: exp"
    )
    again, whole = commands(report)
    assert again == [
        "provsel",
        "run",
        ONE_BAD[0],
        "selector.n_features_to_select=2000",
        *SIZE,
    ]
    assert whole == ["provsel", "run", "-m", *ONE_BAD, *SIZE]
    assert sorted(path.name for path in (folder / "results").iterdir()) == [
        "runs",
        "store",
    ]
    status, _, error = run(*again[2:])
    assert status == 1
    assert error.startswith(
        "first failed trial: ValueError: UniformSelector: expected n_features_to_select"
    )
    assert "\n6 trials: 0 were stored, 0 computed" in error


def test_trials_that_jobs_share_run_once_and_stored_ones_never_again(run):
    for n_found, n_run in ((0, 6), (6, 0)):  # those of two repeats, not three
        status, _, error = run(
            "-m", "selector=full", "protocol.repeats=1,2", *SMALL[1:], "executor=serial"
        )
        assert status == 0
        assert f"6 trials: {n_found} were stored, {n_run} computed" in error
        assert re.search(
            r"sweep: 2 of 2 jobs done, 0 failed\ntable and figure: results/runs/.*\n$",
            error,
        )


def test_a_method_without_a_setting_of_the_others_stands_once_beside_them(run):
    sizes = "selector.n_features_to_select=5,9"
    status, out, error = run(
        "-m", "selector=full,uniform", sizes, *SMALL[1:], "executor=serial"
    )
    assert status == 0
    assert "sweep: 3 of 3 jobs done, 0 failed" in error
    assert [line.split()[1] for line in out.splitlines() if line.startswith("│")] == [
        "FullData",
        "Uniform",
        "Uniform",
    ]
    status, _, error = run(
        "-m", "selector=full,uniform", "selector.nosuch=5,9", *SMALL[1:]
    )
    assert status == 1
    assert "4 of 4 jobs" in error
    assert "selector.nosuch" in error


def test_many_jobs_that_are_refused_for_one_reason_are_cut(run, folder):
    status, _, error = run(
        "-m", "selector=uniform", "selector.nosuch=range(0,30)", *SIZE
    )
    assert status == 1
    assert error.startswith("sweep refused, and nothing was run: 30 of 30 jobs:\n")
    status, _, error = run(
        "-m", "selector=nosuch", "selector.n_features_to_select=range(0,30)"
    )
    first, reason, *listed = error.splitlines()
    assert first == "sweep refused, and nothing was run: 30 of 30 jobs:"
    assert reason.startswith("failed, 30 jobs: selector: expected one of")
    assert listed[0] == "  provsel run selector=nosuch selector.n_features_to_select=0"
    assert len(listed) == 21
    assert listed[-1] == "  and 10 more"
    assert list(folder.iterdir()) == []


def test_fail_fast_ends_the_sweep_at_the_first_trial(run):
    status, _, error = run(
        "-m",
        "--fail-fast",
        "selector=bss",
        "selector.n_features_to_select=60,2,70",
        *SIZE,
    )
    assert status == 1
    assert n_stored() < 6
    assert re.search(r"sweep: 1 of 3 jobs failed, \d+ trials skipped", error)
    assert commands(error)[-1][2:4] == ["-m", "--fail-fast"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["-m", "results=a,b"],
            "results: all jobs of a sweep need the same value, got several",
        ),
        (
            ["-m", "executor=loky,serial"],
            "executor: all jobs of a sweep need the same value, got several",
        ),
        (["-m", "selector=["], "override 'selector=\\[': expected Hydra's grammar"),
        (
            ["-m", "hydra/launcher=joblib"],
            "override 'hydra/launcher=joblib': .* got a setting of Hydra itself",
        ),
        (
            ["selector=bss,leverage"],
            "expected one value, got several; provsel run -m runs one job for each",
        ),
    ],
)
def test_settings_that_cannot_be_run(run, folder, settings, message):
    status, _, error = run(*settings)
    assert status == 2
    assert re.search(f"^provsel: .*{message}", error)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (
            ["selector=glob(c*,exclude=[cr*,cife,cmim])"],
            [(f"selector={name}",) for name in ("chi_squared", "cur")],
        ),
        ([], [()]),
    ],
)
def test_jobs_are_all_combinations(overrides, expected):
    assert jobs_of(overrides) == expected


def test_jobs_are_those_that_hydra_makes():
    overrides = [
        "a='p,q',r",
        "+b.c=[1,2],{x:1}",
        "d=0.5,1e-3,null",
        "++e=choice('it\\'s',\"a b\")",
        "f=range(1,3)",
    ]
    theirs = BasicSweeper.split_arguments(
        OverridesParser.create().parse_overrides(overrides), None
    )
    assert jobs_of(overrides) == [tuple(job) for job in theirs[0]]
    assert len(theirs[0]) == 2 * 2 * 3 * 2 * 2
    with pytest.raises(ValueError, match="expected at most 100000 jobs, got more"):
        jobs_of(["a=range(0,1000000000)"])


def test_commands_survive_the_shell(run):
    odd = ["+artefact.only=[USPS,ORL]", "results='it\\'s a; $HOME'", "selector=uniform"]
    _, _, error = run("-m", *odd, "selector.n_features_to_select=5000", *SIZE)
    [line] = [
        line
        for line in error.splitlines()
        if line.startswith("  provsel") and " -m " not in line
    ]
    shown = subprocess.run(
        ["sh", "-c", "printf '%s\\n' " + line],
        capture_output=True,
        text=True,
        check=True,
    )
    status, out, _ = run("-c", "job", *shown.stdout.splitlines()[2:])
    assert status == 0
    assert "results: it's a; $HOME\n" in out


def test_the_config_of_a_job(run, folder):
    settings = ["-c", "job", "+artefact.c=0.5", "model.C=${artefact.c}"]
    for more, value in (([], "${artefact.c}"), (["-r"], "0.5")):
        status, out, error = run(*settings, *more)
        assert status == 0
        assert error == ""
        assert f"\nmodel:\n  _target_: provsel.models.LibsvmSVM\n  C: {value}\n" in out
    assert list(folder.iterdir()) == []


# ---- what one run says and does


def test_artefact_with_failures(call, folder):
    # BSS: rank 60 > r = 30, 40
    failing = [
        "protocol.setting=unsupervised",
        "dataset.n_samples=90",
        "executor=serial",
    ]
    table1 = partial(call, "reproduce", "paul2016/table1", *SMALL, *failing)
    status, out, error = table1("--fail-fast")
    assert status == 1
    assert out == ""
    skipped = re.search(
        r"Stopped at the first failure, (\d+) trials skipped, nothing rendered:", error
    )
    n = n_stored()
    assert f"trials: 0 were stored, {n} computed" in error
    assert int(skipped[1]) > 0
    assert not (folder / "results" / "tables").exists()
    status, _, error = table1("fail_fast=true")  # as a setting, too
    assert status == 1
    assert f"{n} were stored" in error
    status, out, error = table1()
    assert status == 1
    assert "PARTIAL" in out
    # the failures stand where they are seen: after the table
    failures = error[error.index("To trace a number") :]
    assert re.search(r"^12 of \d+ trials failed:$", failures, flags=re.MULTILINE)
    assert re.search(
        r"^  \d+ x ValueError: BSSSelector: expected", failures, flags=re.MULTILINE
    )
    command = shlex.split(failures.splitlines()[-1])
    assert command[:4] == ["provsel", "reproduce", "table1", *SMALL[:1]]
    assert command[-1] == "executor=serial"


def test_results_among_the_settings_of_a_command(run, call, folder):
    cell = [
        "dataset=synthetic",
        "selector=leverage",
        "selector.n_features_to_select=30",
        "dataset.n_relevant=40",
    ]
    assert run(*cell, *SIZE, "results='some where'")[0] == 0
    assert n_stored("some where") == 6
    for arguments, n in (([], 0), (["results='some where'"], 6)):
        status, out, _ = call("status", "--artefact", "table1", *SMALL, *arguments)
        assert status == 0
        assert re.search(rf"paul2016/table1 +│ {n} of", out)
    assert not (folder / "results").exists()
