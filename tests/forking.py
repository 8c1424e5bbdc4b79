"""Commands in forks of one process that has imported what most of them need: that takes seconds, a fork none.

Each command still has a process of its own, with its own arguments, environment, folder
and output. What is about the start of a process (imports, signals, memory, the
environment of BLAS) starts one: `small_runs.run_python`.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

PROGRAM = """
import json, os, runpy, signal, sys
import provlab.custody.audit, provlab.verdicts.claims.verdicts, provlab.cli.artefacts, provlab.cli.run
import provlab.core.recipe
import provlab.custody.site, provlab.run.runner, provsel.certificates, provsel.models, provsel.selectors
import sklearn.feature_selection, sklearn.pipeline, sklearn.svm
for line in sys.stdin:
    arguments, environment, folder, *files = json.loads(line)
    pid = os.fork()
    if not pid:
        for descriptor, file in enumerate(files):
            os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC), descriptor)
        signal.alarm(900)  # ends a command that hangs
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = arguments
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(sys.argv[0], run_name="__main__")
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Forking:
    """Runs `python -m module ...` and `python script ...` in forks of a process with an environment."""

    def __init__(self, environment, folder):
        self.environment = environment
        self._files = [Path(folder) / name for name in ("in", "out", "error")]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, arguments, cwd, environment=None):
        """Return the command completed, with its output as text."""
        arguments = list(map(str, arguments))
        request = [
            arguments,
            environment or self.environment,
            str(Path(cwd).absolute()),
            *map(str, self._files),
        ]
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        out, error = (file.read_text(encoding="utf-8") for file in self._files[1:])
        return subprocess.CompletedProcess(arguments, status, out, error)

    def close(self):
        """End the process, which waits for commands."""
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait(timeout=60)


@cache
def _of_the_checkout():
    folder = tempfile.TemporaryDirectory(prefix="forking-")
    forking = Forking({**os.environ, "OPENBLAS_NUM_THREADS": "1"}, folder.name)
    atexit.register(folder.cleanup)
    atexit.register(forking.close)
    return forking


def run_forked(arguments, cwd, environment=None):
    """Run `python -m module ...` or `python script ...` of the checkout as this process's environment says, or another.

    One process of each test process waits for such commands.
    """
    return _of_the_checkout().run(
        arguments, cwd, environment or {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    )


def run_forked_text(code, folder):
    """Run Python's text as a script, in an empty folder below another."""
    (folder / "empty").mkdir()
    (folder / "snippet.py").write_text(code, encoding="utf-8")
    return run_forked([folder / "snippet.py"], folder / "empty")
