"""What bounds a computation on this machine: its rate of multiplication, its memory; and what machine it is."""

import os
import platform
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
from scipy.linalg.blas import daxpy

from provlab.run.environment import git_revision
from provlab.run.executors import usable_cores
from timing.measure import median, several

GEMM_SIZE = 1_500
"""Sides of the product: 54 MB in float64, far beyond the cache, and in the plateau of the rate."""

ARRAY = 2**24
"""Entries of an array of 134 MB for the bandwidth."""

BATCH = 5


@cache
def gemm_times(dtype="float64"):
    """Return the CPU seconds of each of a few square products, one BLAS thread."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((GEMM_SIZE, GEMM_SIZE)).astype(dtype) for _ in range(2))
    out = np.empty_like(A)
    np.matmul(A, B, out=out)  # the first call of BLAS takes its buffers
    return several(lambda: np.matmul(A, B, out=out), BATCH)


def gemm_rate(dtype="float64"):
    """Return floating point operations a second."""
    return 2 * GEMM_SIZE**3 / median(gemm_times(dtype))


def gemm_seconds(operations, dtype="float64"):
    """Return (name, seconds) of a limit: what a product of as many operations takes."""
    return "GEMM", operations / gemm_rate(dtype)


@cache
def memory_times(kind="triad"):
    """Return the CPU seconds of copies y = x, or of y = a x + y, of arrays far beyond the cache."""
    x, y = np.ones(ARRAY), np.ones(ARRAY)
    work = {"copy": lambda: np.copyto(y, x), "triad": lambda: daxpy(x, y, a=0.5)}[kind]
    work()
    return several(work, BATCH)


def bandwidth(kind="triad"):
    """Return bytes a second: a copy moves two arrays, a triad in place three."""
    return {"copy": 2, "triad": 3}[kind] * 8 * ARRAY / median(memory_times(kind))


def bandwidth_seconds(moved):
    """Return (name, seconds) of a limit: what reading or writing as many bytes of memory takes."""
    return "memory", moved / bandwidth()


def machine():
    """Return what a stored run says of its place and moment."""
    simd = np.show_config(mode="dicts").get("SIMD Extensions", {})
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cpu_features": sorted({*simd.get("baseline", []), *simd.get("found", [])}),
        "cores": usable_cores(),
        "load_average": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "git_revision": git_revision(),
    }


def processor():
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return " ".join(
        value.strip() for key, value in fields.items() if key.strip() in {"model name", "model", "stepping"}
    )
