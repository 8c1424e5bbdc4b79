"""Find the benchmarks, and run one in a process of its own."""

import ast
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from timing.cases import FOLDER_VARIABLE

FORMS = ("bench", "quick", "full")
FULL_SECONDS = 3_600
POLL = 0.02
RUNNER = "run.py"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Script:
    """A benchmark and the constant BENCH that it declares.

    Attributes
    ----------
    path : Path
    arguments : dict
        Command line of each form: "bench", some minutes for all benchmarks; "quick", to see it run; "full".
    left_out : str
        What the form "bench" has not.
    seconds : int
        It is stopped after so many, in the forms "bench" and "quick".
    """

    path: Path
    arguments: dict = field(default_factory=lambda: {form: [] for form in FORMS})
    left_out: str = ""
    seconds: int = 300

    @property
    def name(self):
        """Name of the file without its suffix."""
        return self.path.stem

    def limit(self, form):
        """Return the seconds that a form may take."""
        return FULL_SECONDS if form == "full" else self.seconds


def find_scripts(folder):
    """Return the `Script` of each .py of a folder, by name; reads them without running them."""
    return [read_script(path) for path in sorted(Path(folder).glob("*.py")) if path.name != RUNNER]


def read_script(path):
    """Return what a file declares: BENCH, a literal; or the defaults of `Script` where it has none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["BENCH"]:
            try:
                declared = ast.literal_eval(node.value)  # literals only: a file is listed without running it
                arguments = {form: list(declared.get(form, [])) for form in FORMS}
                return Script(path, arguments, declared["left_out"], declared["seconds"])
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ValueError(
                    f'{path.name}: expected BENCH = {{"bench": [...], "quick": [...], "left_out": "...", '
                    f'"seconds": ...}} with literals only, got {type(error).__name__}: {error}; see bss.py.'
                ) from error
    return Script(path)


def run_script(script, form, extra=(), seconds=None):
    """Run a benchmark and return (outcome, files).

    Returns
    -------
    outcome : dict
        "status", which is "ok" or begins with "failed" or "left out"; "cpu" and "wall" seconds; "peak_megabytes" of
        the largest process, where that is more than our own; "arguments".
    files : dict of str to bytes
        What it wrote, by name.
    """
    arguments = [*script.arguments[form], *extra]
    seconds = seconds or script.limit(form)
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        out = Path(folder) / "out"
        environment = {**os.environ, **dict.fromkeys(THREADS, "1"), FOLDER_VARIABLE: str(out)}
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, str(script.path), *arguments], stdout=subprocess.DEVNULL, stderr=log, env=environment,
            start_new_session=True,  # so that its own processes can be stopped with it
        )  # fmt: skip
        code, usage = finished(process, start + seconds)
        outcome = {"status": "ok", "wall": time.perf_counter() - start, "arguments": arguments}
        if usage is not None:
            outcome["cpu"] = usage.ru_utime + usage.ru_stime
            if usage.ru_maxrss > inherited():
                outcome["peak_megabytes"] = usage.ru_maxrss * 1024e-6
        files = {path.name: path.read_bytes() for path in sorted(out.glob("*.*"))} if out.exists() else {}
        log.seek(0)
        outcome["status"] = status(code, files, log.read(), seconds)
    return outcome, files


def inherited():
    """Return the least ru_maxrss of a new process: the system counts what its parent had before it began."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def finished(process, deadline):
    """Wait for a process and return (exit code, resources); stop it and its group at the deadline: (None, None)."""
    try:
        while time.perf_counter() < deadline:
            done, code, usage = os.wait4(process.pid, os.WNOHANG)  # unlike wait(), says what it and its own took
            if done:
                process.returncode = os.waitstatus_to_exitcode(code)
                return process.returncode, usage
            time.sleep(POLL)
        return None, None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def status(code, files, log, seconds):
    """Return how a benchmark ended, in one line."""
    if code is None:
        return f"failed: stopped after {seconds:g} s"
    lines = log.strip().splitlines() or ["no message"]
    missing = [line for line in lines if "MissingDataError: " in line]
    if code != 0 and missing:
        return "left out: " + missing[-1].split("MissingDataError: ", 1)[1]
    if code != 0:
        return f"failed: {lines[-1]}"
    try:
        for name, content in files.items():
            if name.endswith(".json"):
                json.loads(content)
    except ValueError as error:
        return f"failed: {name} is no JSON: {error}"
    return "ok" if files else "failed: it wrote nothing"
