"""What a record says of the place it was computed in."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from provsel.evaluation.keys import canonical_json

PACKAGES = ("provsel", "numpy", "scipy", "scikit-learn", "liblinear-official")


@cache
def environment() -> str:
    """Return versions of Python and packages, machine kind, BLAS and processor features, as canonical JSON.

    A BLAS is its name, version and core type, as in "openblas 0.3.30 SkylakeX": OpenBLAS has other kernels for other
    processors, and their last digits differ. So do NumPy's sums, whose vector instructions are `cpu`.
    """
    blas = sorted({_blas_text(pool) for pool in threadpool_info() if pool["user_api"] == "blas"})
    return canonical_json(
        {
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            "blas": blas,
            "cpu": cpu_features(),
            **{name: version(name) for name in PACKAGES},
        }
    )


def _blas_text(pool: dict[str, Any]) -> str:
    parts = (pool["internal_api"], pool["version"], pool.get("architecture"))  # only some libraries tell the last
    return " ".join(str(part) for part in parts if part)


def cpu_features() -> list[str]:
    """Return the sets of vector instructions that NumPy uses on this processor, as in ["X86_V2", "X86_V3"]."""
    core = import_module("numpy._core._multiarray_umath")  # what numpy.show_runtime prints; there is no public form
    found, names = getattr(core, "__cpu_features__", {}), ("__cpu_baseline__", "__cpu_dispatch__")
    return [feature for name in names for feature in getattr(core, name, ()) if found.get(feature)]


@cache
def git_revision() -> str:
    """Return the revision of the source tree, with "+" after it when files differ; "" outside a checkout."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return ""
    try:
        revision = _git(root, "rev-parse", "HEAD")
        return revision + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()
