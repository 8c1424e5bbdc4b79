"""Sweeps: one store whatever the launcher, on after a failed job, a list at the end, nothing left behind."""

import io
import logging
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from time import sleep

import pytest
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from joblib import Parallel, delayed
from omegaconf import OmegaConf
from rich.console import Console

from provlab.cli import INTERRUPTED, _sweep_report, _sweeps, main
from provlab.cli._guard import called, one_line
from provlab.cli._ledger import Ledger, Outcome
from provlab.configs import compose_config
from provlab.datasets import MissingDataError
from provlab.runner import RunReport, run_cells
from provlab.store import TrialStore
from provlab.trials import executors
from provlab.trials.trial import run_task
from small_runs import BSS, REPO, RUN, SMALL, UNIFORM, script_environment, small_cell

JOBLIB = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=1"]
"""One process at a time, which joblib then takes from this one."""

TWO = ["selector=uniform", "selector.n_features_to_select=20,30"]
ONE_BAD = ["selector=uniform", "selector.n_features_to_select=20,2000,30"]
SIZE = [*SMALL, "executor=serial"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in an empty folder, and undo what Hydra does to the loggers of a process."""
    monkeypatch.chdir(tmp_path)
    loggers = [logging.getLogger(name) for name in ("", "hydra", "hydra_plugins")]
    before = [(logger, logger.level, logger.handlers[:]) for logger in loggers]
    yield tmp_path
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that calls experiments/run.py and gives its exit status and what it printed on stderr."""

    def run_script(*arguments):
        monkeypatch.setattr(sys, "argv", [str(RUN), *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            runpy.run_path(str(RUN), run_name="__main__")
        return stop.value.code, capsys.readouterr().err

    return run_script


@pytest.fixture
def jobs(monkeypatch):
    """Replace what a job computes by a look-up: (executor, config) of each job, and the errors that some raise."""

    class Jobs(list):
        def __init__(self):
            super().__init__()
            self.errors = {}

    found = Jobs()

    def fake(config, *, executor=None, **options):
        found.append((OmegaConf.to_container(config.executor) if executor is None else executor, options))
        error = found.errors.get(config.selector.n_features_to_select)
        if error is not None:
            raise error
        return RunReport(n_planned=1, n_found=1)

    monkeypatch.setattr(_sweeps, "run_config", fake)
    return found


def files(folder=Path()):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".parquet")


def commands(text):
    """Return the commands to be pasted, split as a shell does."""
    return [shlex.split(line) for line in text.splitlines() if line.startswith("  ") and "run.py" in line]


def n_stored(results="results"):
    return len(TrialStore(Path(results) / "store").keys())


def test_goes_on_after_a_failed_job_and_lists_it(run, here):
    status, error = run("-m", *ONE_BAD, *SIZE)
    assert status == 1
    assert n_stored() == 2 * 6
    assert [line for line in error.splitlines() if line.startswith("[")] == [
        "[1/3] selector.n_features_to_select=20",
        "[1/3] 6 trials: 0 were stored, 6 computed in" + re.search(r"6 computed in( .*)", error)[1],
        "[2/3] selector.n_features_to_select=2000",
        "[2/3] 6 trials: 0 were stored, 0 computed in" + re.search(r" 0 computed in( .*)", error)[1],
        "[3/3] selector.n_features_to_select=30",
        "[3/3] 6 trials: 0 were stored, 6 computed in" + re.findall(r"6 computed in( .*)", error)[1],
    ]
    report = error[error.index("sweep: ") :]
    assert report.startswith("sweep: 2 of 3 jobs done, 1 failed\nfailed, 1 job: 6 of 6 trials failed: ValueError: Uni")
    again, whole = commands(report)
    assert again[1:] == [str(RUN), *ONE_BAD[:1], "selector.n_features_to_select=2000", *SIZE]
    assert whole[1:] == [str(RUN), "-m", *ONE_BAD, *SIZE]
    [kept] = here.glob("results/sweeps/*/failures.txt")
    assert str(kept.relative_to(here)) in report
    assert kept.read_text().rstrip() == report[: report.index("This list stays in")].rstrip()
    assert files(here) == ["failures.txt"]


def test_the_command_of_a_failed_job_runs_just_that_job(run):
    _, error = run("-m", "selector=uniform", "selector.n_features_to_select=2000", *SIZE)
    again, _ = commands(error[error.index("sweep: ") :])
    status, error = run(*again[2:])
    assert status == 1
    assert error.startswith("the first trial that failed: ValueError: UniformSelector: expected n_features_to_select")
    assert "\n6 trials: 0 were stored, 0 computed" in error
    assert "got 2000" in error


@pytest.mark.parametrize(
    ("script", "began", "said"),
    [
        ("/bin/provsel", ["python"], "/bin/provsel run -m a=1"),
        ("/lib/provlab/cli/__main__.py", ["python"], "python -m provlab.cli run -m a=1"),
        ("experiments/run.py", ["python"], "python experiments/run.py -m a=1"),
    ],
)
def test_commands_to_be_pasted_are_those_of_the_user(script, began, said, monkeypatch):
    monkeypatch.setattr(sys, "argv", [script, "run", "-m", "b=2"])
    monkeypatch.setattr(sys, "orig_argv", began)
    assert called("-m", "a=1") == said


def test_leaves_nothing_but_the_store_and_skips_what_is_done(run, here):
    status, error = run("-m", *TWO, *SIZE)
    assert status == 0
    assert error.endswith("sweep: 2 of 2 jobs done, 0 failed\n")
    assert [path.name for path in here.iterdir()] == ["results"]
    assert [path.name for path in (here / "results").iterdir()] == ["store"]
    before = n_stored()
    status, error = run("-m", *TWO, "selector.n_features_to_select=20,30,40", *SIZE, *JOBLIB)
    assert status == 0
    assert re.findall(r"6 trials: (\d) were stored, (\d) computed", error) == [("6", "0"), ("6", "0"), ("0", "6")]
    assert n_stored() == before + 6
    assert not (here / "results" / "sweeps").exists()


def test_two_sweeps_at_once_fill_one_store(run, here):
    """One here, and one whose jobs are in processes of their own."""
    arguments = ["-m", *ONE_BAD, *SIZE]
    other = subprocess.Popen(
        [sys.executable, str(RUN), *arguments, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
        cwd=here, env=script_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for code, error in (run(*arguments), (other.communicate(timeout=120)[1], other.returncode)[::-1]):
        assert code == 1, error
        assert "sweep: 2 of 3 jobs done, 1 failed" in error
        assert "Traceback" not in error
    table = TrialStore("results/store").query(columns=["fold", "draw", "n_selected"]).to_pylist()
    assert sorted((row["n_selected"], row["fold"], row["draw"]) for row in table) == [
        (n, fold, draw) for n in (20, 30) for fold in range(3) for draw in range(2)
    ]
    assert files(here) == ["failures.txt"] * 2


RAISED = [
    (ValueError("model.C: expected\na number"), "model.C: expected a number", False),
    (MissingDataError("techtc: missing"), "techtc: missing", False),
    (KeyError("fold"), "KeyError: 'fold'", True),
    (SystemExit(0), "SystemExit: 0", True),
]


def test_whatever_a_job_raises_the_others_go_on(run, jobs, here):
    jobs.errors = {number: error for number, (error, *_) in enumerate(RAISED, start=1)}
    status, text = run("-m", f"selector.n_features_to_select=range(1,{len(RAISED) + 2})")
    assert status == 1
    assert len(jobs) == len(RAISED) + 1
    assert "sweep: 1 of 5 jobs done, 4 failed" in text
    assert "Traceback" not in text
    assert "This list, with tracebacks, stays in" in text
    [kept] = here.glob("results/sweeps/*/failures.txt")
    details = kept.read_text()
    for number, (error, reason, surprise) in enumerate(RAISED, start=1):
        assert f"failed, 1 job: {reason}\n" in text
        # what is no mistake in the settings is seen with its stack, in the file
        shown = rf"\nselector.n_features_to_select={number}\nTraceback [^\0]*?\n{type(error).__name__}\b"
        assert bool(re.search(shown, details)) == surprise


def test_one_command_for_all_failed_jobs(run, jobs):
    jobs.errors = {2: ValueError("a"), 3: ValueError("a")}
    fixed, settings = ["selector=uniform", "model.C=1"], ["hydra.verbose=false"]
    _, text = run("-m", *fixed, "selector.n_features_to_select=1,2,3", *settings)
    assert "failed, 2 jobs: a\n" in text
    assert commands(text)[-1][1:] == [str(RUN), "-m", *settings, *fixed, "selector.n_features_to_select=2,3"]
    assert len(commands(text)) == 2 + 2


@pytest.mark.parametrize(
    ("failed", "combined"),
    [
        ([("a", 1), ("a", 2), ("b", 1), ("b", 2)], ["s=a,b", "n=1,2"]),
        ([("a", 2), ("a", 3)], ["s=a", "n=2,3"]),
        ([("a", 1), ("b", 2)], None),
        ([("a", 1), ("a", 2), ("b", 1)], None),
        ([("a", 1)], None),  # its own command is there
    ],
)
def test_failed_jobs_are_one_sweep_where_they_are_all_combinations(failed, combined, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/bin/provsel"])
    outcomes = [Outcome(k, (f"s={s}", f"n={n}"), "x") for k, (s, n) in enumerate(failed)]
    lines = _sweep_report.advice(outcomes, [], "the same")
    assert [shlex.split(text.split(":\n")[1])[2:] for text in lines[1:]] == (
        [] if combined is None else [["-m", *combined]]
    )


def test_commands_survive_the_shell(run, jobs):
    jobs.errors = {1: ValueError("no")}
    folder = "results='it\\'s a; $HOME'"
    odd = ["+artefact.only=[USPS,ORL],['a b']", folder, "selector.n_features_to_select=1"]
    _, text = run("-m", *odd)
    lines = [line for line in text.splitlines() if "run.py" in line and " -m " not in line]
    assert len(lines) == 2
    shown = subprocess.run(["sh", "-c", "printf '%s\\n' " + lines[0]], capture_output=True, text=True, check=True)
    overrides = shown.stdout.splitlines()[2:]
    config = compose_config(overrides)
    assert config.results == "it's a; $HOME"
    assert list(config.artefact.only) == ["USPS", "ORL"]
    assert config.selector.n_features_to_select == 1
    everything = shlex.split(text.splitlines()[-2])
    jobs.clear()
    run(*everything[2:])
    assert len(jobs) == 2


def test_many_failures_are_cut_on_the_terminal_and_kept_in_the_file(run, monkeypatch, jobs, here):
    monkeypatch.setattr(_sweep_report, "LISTED", 1)
    jobs.errors = dict.fromkeys(range(1, 4), ValueError("no"))
    _, text = run("-m", "selector.n_features_to_select=range(1,4)")
    assert "and 2 more" in text
    [kept] = here.glob("results/sweeps/*/failures.txt")
    assert len(commands(text)) == 1 + 2
    assert len(commands(kept.read_text())) == 3 + 2


@pytest.mark.parametrize("launcher", [[], JOBLIB], ids=["basic", "joblib"])
def test_fail_fast_starts_no_more_jobs_and_says_which(run, jobs, launcher):
    jobs.errors = {2: ValueError("no")}
    status, text = run("-m", "selector.n_features_to_select=1,2,3", "--fail-fast", *launcher)
    assert status == 1
    assert len(jobs) == 2
    assert "1 of 3 jobs done, 1 failed, 1 skipped or not finished:\n  selector.n_features_to_select=3\n" in text
    assert "fail_fast=true" not in text


def test_fail_fast_ends_running_jobs_after_their_task(run, monkeypatch, here):
    """A job of three tasks sees after its first one that another job has failed."""

    def task_while_another_fails(task):
        [plan] = here.glob("results/sweeps/*/plan.json")
        Ledger(plan.parent).record(Outcome(1, ("selector.n_features_to_select=30",), "elsewhere"))
        return run_task(task)

    with monkeypatch.context() as patch:
        patch.setattr(executors, "run_task", task_while_another_fails)
        status, text = run("-m", *TWO, *SIZE, *JOBLIB, "--fail-fast")
    assert status == 1
    assert n_stored() == 2  # the draws of one fold
    assert "[1/2] 6 trials: 0 were stored, 2 computed in" in text
    assert "0 failed, 4 skipped" in text
    assert "sweep: 0 of 2 jobs done, 1 failed, 1 skipped or not finished:\n  selector.n_features_to_select=20" in text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ([], {"name": "loky", "n_jobs": -1}),
        (JOBLIB, {"name": "serial"}),
        ([*JOBLIB, "executor=loky"], {"name": "loky", "n_jobs": -1}),
        ([*JOBLIB, "executor.n_jobs=2"], {"name": "loky", "n_jobs": 2}),
    ],
)
def test_jobs_side_by_side_have_no_workers_of_their_own(run, jobs, settings, expected):
    assert run("-m", "selector=uniform", *settings)[0] == 0
    [(executor, options)] = jobs
    assert executor == expected
    # a progress bar of each of several processes would be unreadable
    assert (options.get("console") is None) == (settings == [])


def test_sweep_over_an_unknown_name_is_refused_before_its_first_job(run, jobs, here):
    status, text = run("-m", "selector=uniform,nosuch", "selector.n_features_to_select=1,2")
    assert status == 1
    assert jobs == []
    assert "got 'nosuch'" in text
    assert "Traceback" not in text
    assert text.index("sweep: refused, nothing was run; 2 of 4 jobs:") < text.index(
        "  selector=nosuch selector.n_features_to_select=2: selector: expected one of"
    )
    assert list(here.iterdir()) == []


def test_crash_of_a_launcher_is_one_message(monkeypatch, capsys, here):
    def crash():
        raise RuntimeError("a worker\nwas killed")

    monkeypatch.setattr(sys, "argv", [str(RUN), "-m", *TWO])
    monkeypatch.setattr(_sweeps, "_run_hydra", crash)
    assert _sweeps.sweep_main(["-m", *TWO]) == 1
    text = capsys.readouterr().err
    assert text.startswith("provsel: RuntimeError: a worker was killed\nsweep: 0 of 2 jobs done, 0 failed, 2 skipped")
    assert commands(text)[-1][2:] == ["-m", *TWO]
    assert list(here.iterdir()) == []
    monkeypatch.setattr(sys, "argv", [str(RUN), "-m", *TWO])
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    _sweeps.sweep_main(["-m", *TWO])
    assert "Traceback" in capsys.readouterr().err


def test_help_of_a_sweep(monkeypatch, capsys, here):
    monkeypatch.setattr(sys, "argv", [str(RUN), "-m", "--help"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(RUN), run_name="__main__")
    assert stop.value.code == 0
    out, error = capsys.readouterr()
    assert "--fail-fast ends a run at the first trial that fails" in out
    assert error == ""
    assert list(here.iterdir()) == []


def test_reasons_cannot_command_a_terminal():
    assert one_line(ValueError("name \x1b[2J\nof\tit")) == r"name \x1b[2J of it"


def test_interrupt(run, jobs, here):
    jobs.errors = {20: ValueError("no"), 30: KeyboardInterrupt()}
    status, text = run("-m", *ONE_BAD)
    assert status == INTERRUPTED
    assert "sweep: 1 of 3 jobs done, 1 failed, interrupted, 1 skipped or not finished:\n" in text
    assert "failed, 1 job: no\n" in text
    jobs.errors = {20: KeyboardInterrupt()}
    status, text = run("-m", *TWO, "results=other")
    assert status == INTERRUPTED
    assert "Traceback" not in text
    assert not (here / "other").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["hydra.sweep.dir=x"], r"hydra\.sweep\.dir: expected not to be set, got .*; use results=FOLDER"),
        (["results=a,b"], "Ambiguous value for argument 'results=a,b'"),
        (["selector=["], "no viable alternative at input"),
    ],
)
def test_settings_that_no_sweep_can_have(run, here, settings, message):
    status, text = run("-m", *settings)
    assert status == 2
    assert re.search(f"^provsel: {message}", text)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["a=1,2", "b=x"], [("a=1", "b=x"), ("a=2", "b=x")]),
        (["a=range(1,3)", "b=choice(p,q)"], [(f"a={a}", f"b={b}") for a in (1, 2) for b in "pq"]),
        (["selector=glob(l*,exclude=la*)"], [(f"selector={name}",) for name in ("l1_svm", "leverage", "lpsvm")]),
        (["a=[1,2]", "hydra.x=1,2", "hydra/launcher=joblib", "fail_fast=true"], [("a=[1,2]",)]),
        ([], [()]),
    ],
)
def test_jobs_are_all_combinations(overrides, expected):
    assert _sweeps._jobs(overrides) == expected


def test_jobs_are_those_that_hydra_makes():
    overrides = ["a='p,q',r", "+b.c=[1,2],{x:1}", "d=0.5,1e-3,null", "++e=choice('it\\'s',\"a b\")", "~f"]
    theirs = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(overrides), None)
    assert _sweeps._jobs(overrides) == [tuple(job) for job in theirs[0]]
    assert len(theirs[0]) == 2 * 2 * 3 * 2


def test_a_job_that_nobody_waits_for_leaves_nothing(tmp_path):
    ledger = Ledger(tmp_path / "results" / "sweeps" / "gone")
    ledger.record(Outcome(0, ("a=1",), "late"))
    assert not (tmp_path / "results").exists()
    assert (ledger.place(3), ledger.title(("a=1",))) == ("[4/?]", "a=1")


def test_logs_of_a_launcher_stay_only_after_failures(tmp_path):
    logs = [".submitit/1/1_log.out", "multirun.yaml"]
    for went_well, expected in ((True, []), (False, ["1_log.out", "failures.txt"])):
        ledger = Ledger(tmp_path / "results" / "sweeps" / "id")
        ledger.begin([("a=1",)])
        for name in logs:
            (ledger.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (ledger.folder / name).write_text("x")
        ledger.end(went_well=went_well, kept="" if went_well else "list")
        assert files(tmp_path) == expected
        assert (tmp_path / "results").exists() == (not went_well)


def test_run_stops_when_asked_and_goes_on_later(tmp_path):
    executor = {"name": "serial"}
    store, console = TrialStore(tmp_path), Console(file=io.StringIO())
    cells = [small_cell({**BSS, "n_features_to_select": 2}, repeats=4), small_cell(UNIFORM, repeats=4)]
    report = run_cells(cells, store, executor, console=console, stop=lambda report: bool(report.failures))
    assert report.stopped
    assert 0 < len(report.failures) < 12
    assert report.n_skipped == 36 - report.n_run - len(report.failures) > 0
    assert report.summary().splitlines()[0].endswith(f"{len(report.failures)} failed, {report.n_skipped} skipped")
    assert len(store.keys()) == report.n_run
    again = run_cells(cells, store, executor, console=console)
    assert (again.stopped, again.n_found, again.n_run, len(again.failures)) == (
        False,
        report.n_run,
        24 - report.n_run,
        12,
    )


@pytest.mark.parametrize("quiet", [True, False])
def test_ending_workers_warns_nobody(quiet):
    results = Parallel(n_jobs=2, backend="loky", return_as="generator_unordered")(delayed(sleep)(0.1) for _ in range(9))
    next(results)
    if quiet:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            executors._end(results)
    else:
        with pytest.warns(UserWarning, match="tasks which were still being processed"):
            results.close()
    with pytest.raises(StopIteration):
        next(results)


def test_summary_of_many_kinds_of_failures_is_short():
    report = RunReport(n_planned=30, failures=[(str(k), f"fold {k}", f"rank {k // 2}") for k in range(30)])
    lines = report.summary().splitlines()
    assert lines[1] == "  2 x rank 0 (last: fold 1)"
    assert lines[-1] == "  10 x 5 other reasons"
    assert len(lines) == 12
    assert report.reason() == "30 of 30 trials failed: rank 0 (and 14 other reasons)"


def table1(*arguments):
    failing = ["protocol.setting=unsupervised", "dataset.n_samples=90", "executor=serial"]  # BSS: rank 60 > r = 30, 40
    return main(["reproduce", "paul2016/table1", *SMALL, *failing, *arguments])


def test_artefact_with_failures(capsys, here):
    assert table1("--fail-fast") == 1
    out, error = capsys.readouterr()
    assert out == ""
    skipped = re.search(r"Stopped at the first failure, (\d+) trials skipped, nothing rendered:", error)
    n = n_stored()
    assert f"trials: 0 were stored, {n} computed" in error
    assert int(skipped[1]) > 0
    assert not (here / "results" / "tables").exists()
    assert table1("fail_fast=true") == 1  # as a setting, too
    assert f"{n} were stored" in capsys.readouterr().err
    assert table1() == 1
    out, error = capsys.readouterr()
    assert "PARTIAL" in out
    assert f"{n} were stored" in error
    # the failures stand where they are seen: after the table
    failures = error[error.index("Where a number comes from") :]
    assert re.search(r"^12 of \d+ trials failed:$", failures, flags=re.MULTILINE)
    assert re.search(r"^  \d+ x ValueError: BSSSelector: expected", failures, flags=re.MULTILINE)
    command = shlex.split(failures.splitlines()[-1])
    assert command[:4] == ["provsel", "reproduce", "table1", *SMALL[:1]]
    assert command[-1] == "executor=serial"


def test_fail_fast_through_make():
    done = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "reproduce-table1", "OVERRIDES=--fail-fast"],
        cwd=REPO, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.endswith("/provsel reproduce table1 --fail-fast\n")


def test_fail_fast_of_a_single_run(run):
    status, text = run("selector=bss", "selector.n_features_to_select=2", *SIZE, "--fail-fast")
    assert status == 1
    assert "1 failed, 2 skipped" in text
    assert "sweep" not in text


def test_results_among_the_settings_of_a_command(run, capsys, here, monkeypatch):
    monkeypatch.setattr("provlab.project.some_artefacts", lambda: ["paul2016/table1"])
    cell = ["dataset=synthetic", "selector=leverage", "selector.n_features_to_select=30", "dataset.n_relevant=40"]
    run(*cell, *SIZE, "results='some where'")
    assert n_stored("some where") == 6

    def n_found(*arguments):
        capsys.readouterr()
        assert main(["status", *SMALL, *arguments]) == 0
        return re.search(r"paul2016/table1 +│ (\d+) of", capsys.readouterr().out)[1]

    assert n_found() == "0"
    assert n_found("results='some where'") == "6"
    assert not (here / "results").exists()


def test_two_folders_of_results_are_refused(capsys):
    for command in ("status", "audit"):
        assert main([command, "--results", "a", "results=b"]) == 2
        assert "provsel: results: expected one folder, got --results a and results=b; leave" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["doctor", "results=b"])
    assert "unrecognized arguments: results=b; the folder is given as --results FOLDER" in capsys.readouterr().err


def test_a_sweep_over_an_artefact_s_config(run, here):
    small = ["dataset.n_samples=60", "dataset.n_features=40", "dataset.n_relevant=5", "protocol.n_splits=3"]
    chosen = [
        "+experiment=paul2016/table1",
        "selector=uniform",
        "selector.n_features_to_select=4,5",
        "protocol.draws=1",
    ]
    status, text = run("-m", *chosen, *small, "protocol.repeats=1", "executor=serial", f"results={here / 'other'}")
    assert status == 0, text
    assert "2 jobs done, 0 failed" in text
