"""Other processors on this one: NumPy, OpenBLAS and the C library are told what they may use.

`python tests/kinds.py baseline -- command ...` runs a command as a kind;
`make test KIND=baseline` and the tests use the same variables. On a machine that is no
x86-64, or whose libraries choose otherwise, kinds can be the same: `other_kinds` tells
which ones give another environment in records.
"""

import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

KINDS = ("native", "avx2", "baseline")
"""As the machine is; with AVX2 and without AVX-512; plain x86-64-v2, NumPy's baseline, which cannot be switched off."""

# the latter has the oldest kernels of OpenBLAS
CORES = {"avx2": "Haswell", "baseline": "Prescott"}
LIBC = {
    "avx2": ("AVX512F", "AVX512VL", "AVX512BW", "AVX512CD", "AVX512DQ"),
    "baseline": ("AVX2", "FMA"),
}
"""What glibc chooses functions by: exp, log and pow have a variant with FMA and AVX2, none with AVX-512."""

VARIABLES = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "GLIBC_TUNABLES")


def environment_of(kind):
    """Return the variables of a process of that kind, whichever kind this process is."""
    if kind not in KINDS:
        raise SystemExit(f"kinds.py: expected one of {', '.join(KINDS)}, got {kind!r}.")
    variables = {
        name: value for name, value in os.environ.items() if name not in VARIABLES
    }
    return variables if kind == "native" else {**variables, **_changes(kind)}


def _changes(kind):
    core = import_module("numpy._core._multiarray_umath")
    # names depend on NumPy's version, and one that it does not know is a warning
    features = [
        name
        for name in core.__cpu_dispatch__
        if kind == "baseline" or "AVX512" in name or name == "X86_V4"
    ]
    tunable = ",".join(f"-{name}" for name in LIBC[kind])
    values = (CORES[kind], " ".join(features), f"glibc.cpu.hwcaps={tunable}")
    return dict(zip(VARIABLES, values, strict=True))


def run_as(kind, arguments):
    """Run this Python as a kind, and return it completed, with its output as text; it can import what tests can."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **environment_of(kind),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@cache
def environment_in_records(kind):
    """Return what records say of where they were computed, by a process of that kind; "" where it cannot run."""
    done = run_as(
        kind,
        ["-c", "from provlab.run.environment import environment; print(environment())"],
    )
    # a signal: this processor does not have the kind's instructions
    assert done.returncode <= 0, done.stderr
    return done.stdout.strip()


def other_kinds():
    """Return the kinds that are another one than the machine itself, and than each other."""
    by_environment = {environment_in_records(kind): kind for kind in reversed(KINDS)}
    return [
        kind
        for text, kind in reversed(by_environment.items())
        if text and kind != KINDS[0]
    ]


if __name__ == "__main__":
    match sys.argv[1:]:
        case [kind, "--", *command] if command:
            os.execvpe(command[0], command, environment_of(kind))
        case _:
            raise SystemExit(
                f"usage: python tests/kinds.py {'|'.join(KINDS)} -- command ..."
            )
