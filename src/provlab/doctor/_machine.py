"""Packages, processor, memory, disks and BLAS of this machine."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
from threadpoolctl import threadpool_info

from provlab.datasets._paths import data_dir
from provlab.doctor._check import BLAS, MACHINE, OK, PACKAGES, PROBLEM, WARNING, Check, bytes_text, counted
from provlab.trials.environment import PACKAGES as RECORDED
from provlab.trials.environment import git_revision
from provlab.trials.executors import usable_cores
from provsel.kernels.compiled import VARIABLE, compiled_by

OLDEST_PYTHON = (3, 11)
LOW_DISK = 5e9
"""Bytes. The parsed copies of MNIST and CIFAR-10 take about 2 GB, and TechTC's archive may expand to 4 GB."""
LOW_MEMORY = 1e9
"""Bytes. MNIST takes 439 MB in each worker before any of it is copied into a fold."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def package_checks() -> list[Check]:
    """Return the versions that records carry: of Python, of packages and of the source tree."""
    recent = sys.version_info[:2] >= OLDEST_PYTHON
    needed = ".".join(map(str, OLDEST_PYTHON))
    advice = "" if recent else f"provsel needs Python {needed} or newer"
    checks = [Check(PACKAGES, "Python", OK if recent else PROBLEM, platform.python_version(), advice)]
    for name in RECORDED:
        try:
            checks.append(Check(PACKAGES, name, OK, version(name)))
        except PackageNotFoundError:
            checks.append(Check(PACKAGES, name, PROBLEM, "not installed", "make setup"))
    return [*checks, _compiled(), _revision()]


def _compiled() -> Check:
    try:
        made = compiled_by()
    except ValueError as error:
        return Check(PACKAGES, "compiled kernels", PROBLEM, str(error))
    return Check(PACKAGES, "compiled kernels", OK, made or f"off; {VARIABLE}=1 and numba turn them on")


def _revision() -> Check:
    revision = git_revision()
    if not revision:
        return Check(PACKAGES, "git revision", OK, "none: not a checkout", "records carry the version of provsel alone")
    if revision.endswith("+"):
        advice = "new records say so with a + after the revision; commit to make them traceable to a source"
        return Check(PACKAGES, "git revision", WARNING, f"{revision[:12]}, and files that differ from it", advice)
    return Check(PACKAGES, "git revision", OK, revision[:12])


def machine_checks(results: Path) -> list[Check]:
    """Return processor, cores, memory, and the free space of the results folder and of the data folder."""
    usable, cores = usable_cores(), os.cpu_count() or 1
    memory = psutil.virtual_memory()
    low = memory.available < LOW_MEMORY
    free = f"{bytes_text(memory.available)} available of {bytes_text(memory.total)}"
    why = "each worker holds a data set and its folds, MNIST 0.4 GB: fewer of them with executor.n_jobs=1"
    return [
        Check(MACHINE, "system", OK, f"{platform.system()} {platform.release()} {platform.machine()}"),
        Check(MACHINE, "processor", OK, processor()),
        Check(MACHINE, "cores", OK, f"{usable} usable of {cores}", "a run starts one worker on each usable core"),
        Check(MACHINE, "memory", WARNING if low else OK, free, why if low else ""),
        _disk("disk of results", results, "a run stops when it is full; what is stored by then is kept"),
        _disk("disk of data", data_dir(), "downloads and parsed copies go there, those of CIFAR-10 alone up to 1.7 GB"),
    ]


def processor() -> str:
    """Return the model of the processor, or the next best that the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(filter(None, [*models, platform.processor(), platform.machine()]), "not known")


def nearest_folder(path: Path) -> Path:
    """Return the folder itself, or the nearest one above that exists: where it would be made."""
    path = path.absolute()
    return next((folder for folder in (path, *path.parents) if folder.exists()), path)


def _disk(name: str, folder: Path, why: str) -> Check:
    try:
        free = shutil.disk_usage(nearest_folder(folder)).free
    except OSError as error:
        return Check(MACHINE, name, WARNING, f"not known: {error}", why)
    low = free < LOW_DISK
    return Check(MACHINE, name, WARNING if low else OK, f"{bytes_text(free)} free at {folder}", why if low else "")


def blas_checks() -> list[Check]:
    """Return the BLAS libraries that are loaded, and the variables that set their threads."""
    pools = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    checks = [Check(BLAS, owner, OK, library) for owner, library in sorted((_owner(p), _library(p)) for p in pools)]
    if not pools:
        advice = "its threads cannot be limited here: set the variables below to 1 for times that can be compared"
        checks = [Check(BLAS, "library", WARNING, "none that threadpoolctl knows", advice)]
    given = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    value = ", ".join(given) or f"none set of {', '.join(THREADS)}"
    note = "provsel works with one thread a worker whatever is set"
    return [*checks, Check(BLAS, "variables", OK, value, note)]


def _owner(pool: dict[str, object]) -> str:
    """Return the package that a library came with, such as scipy of scipy.libs, else its file name."""
    path = Path(str(pool.get("filepath", "")))
    return f"of {path.parent.name.removesuffix('.libs')}" if path.parent.name.endswith(".libs") else path.name


def _library(pool: dict[str, object]) -> str:
    threads = counted(int(str(pool.get("num_threads") or 0)), "thread")
    known = [pool.get("internal_api"), pool.get("version"), pool.get("architecture"), threads]
    return ", ".join(str(part) for part in known if part)
