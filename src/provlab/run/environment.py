"""The environment of a computation as stated in a record."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import subprocess
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from provlab.project.documents import canonical_json
from provlab.project.project import current_project, package_conf
from provsel.models._liblinear_library import IS_OFFICIAL

PACKAGES = ("provsel", "numpy", "scipy", "scikit-learn")

LIBLINEAR = "liblinear-official"


@cache
def environment() -> str:
    """Return versions of Python and packages, machine kind, BLAS, processor features and libm, as canonical JSON.

    Records with the same string come from the same kind of machine and should agree bit
    by bit. A BLAS is described by name, version and core type, as in "openblas 0.3.30
    SkylakeX", because OpenBLAS has different kernels for different processors, whose
    last digits differ. The same holds for NumPy's loops, whose vector instructions are
    `cpu`, and for the functions of `libm`.
    """
    # SciPy has its own BLAS, which is reported even if it is unused
    import_module("scipy.linalg")
    blas = sorted(
        {_blas_text(pool) for pool in threadpool_info() if pool["user_api"] == "blas"}
    )
    return canonical_json(
        {
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            "blas": blas,
            "cpu": cpu_features(),
            "libm": mathematics(),
            **{name: version(name) for name in PACKAGES},
            LIBLINEAR: version(LIBLINEAR)
            if IS_OFFICIAL
            else "none, scikit-learn's LIBLINEAR serves",
        }
    )


def _blas_text(pool: dict[str, Any]) -> str:
    # some libraries lack the last
    parts = (pool["internal_api"], pool["version"], pool.get("architecture"))
    return " ".join(str(part) for part in parts if part)


def cpu_features() -> list[str]:
    """Return the vector instruction sets that NumPy uses on this processor, such as ["X86_V2", "X86_V3"]."""
    # source of numpy.show_runtime; there is no public interface
    core = import_module("numpy._core._multiarray_umath")
    features, names = (
        getattr(core, "__cpu_features__", {}),
        ("__cpu_baseline__", "__cpu_dispatch__"),
    )
    return [
        feature
        for name in names
        for feature in getattr(core, name, ())
        if features.get(feature)
    ]


def mathematics() -> str:
    """Return the C library and a digest of its results for exp, log and pow, such as "glibc 2.36 0f3a61c2b9d4".

    The C library chooses variants of these functions by processor and GLIBC_TUNABLES
    without reporting its choice. The variants differ in one value in a thousand or
    fewer (glibc 2.36 without FMA: exp in 9 of 16,384), hence the many values.
    """
    grid = np.arange(1, 16385) / 1024  # exact on all machines
    functions = (math.exp, math.log, lambda x: math.pow(x, 1.7))
    scalars = [list(map(function, grid.tolist())) for function in functions]
    # NumPy has its own loops for exp and log
    values = np.array([*scalars, np.exp(grid), np.log(grid)], dtype="<f8")
    library = (
        os.confstr("CS_GNU_LIBC_VERSION")
        if "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {})
        else None
    )
    return f"{library or 'unnamed'} {hashlib.sha256(values.tobytes()).hexdigest()[:12]}"


def git_revision() -> str:
    """Return the revision of the source tree, or of the project if provsel is installed; "+" marks changed files.

    The result is "" if neither is a checkout.
    """
    roots = package_conf().parent, current_project().root
    return next((_revision(root) for root in roots if (root / ".git").exists()), "")


@cache
def _revision(root: Path) -> str:
    """Return the commit of a working tree, with "+" if files have changed; "" if git cannot determine it.

    Settings of a repository can name programs that git runs, such as filters. They are
    not read here, because an empty repository uses the index and the objects of the
    folder's repository.
    """
    parts = ["HEAD", "--git-path", "index", "--git-path", "objects"]
    try:
        commit, index, objects = _git("-C", str(root), "rev-parse", *parts).splitlines()
        with TemporaryDirectory(prefix="provsel-") as empty:
            _git("init", "--quiet", "--bare", "--template=", empty)
            changed = _git(
                *(
                    "--git-dir",
                    empty,
                    "--work-tree",
                    str(root),
                    "-c",
                    "core.fileMode=false",
                ),
                *(
                    "diff",
                    "--name-only",
                    "--no-ext-diff",
                    "--ignore-submodules",
                    commit,
                ),
                GIT_INDEX_FILE=str(root / index),
                GIT_OBJECT_DIRECTORY=str(root / objects),
                GIT_OPTIONAL_LOCKS="0",
            )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{commit}+" if changed else commit


def _git(*arguments: str, **variables: str) -> str:
    """Return the output of git."""
    environment = {**os.environ, **variables}
    done = subprocess.run(
        ["git", *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
