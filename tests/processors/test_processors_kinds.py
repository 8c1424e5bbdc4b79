"""The emulation itself: each kind is distinct in the records."""

import json
import os
import platform
import subprocess
import sys

import pytest

import kinds

X86_GLIBC = platform.machine() == "x86_64" and "CS_GNU_LIBC_VERSION" in getattr(
    os, "confstr_names", {}
)
ON_X86 = pytest.mark.skipif(
    not X86_GLIBC, reason="needs x86-64 and glibc, whose choices can be steered"
)


@ON_X86
def test_each_kind_takes_effect():
    """Where the processor can do more than a kind, that kind is another one in records."""
    if not kinds.environment_in_records("avx2"):
        pytest.skip("this processor has no AVX2 to begin with")
    native, avx2, baseline = (
        json.loads(kinds.environment_in_records(kind)) for kind in kinds.KINDS
    )
    assert not [
        name
        for name in [*avx2["cpu"], *baseline["cpu"]]
        if "AVX512" in name or name == "X86_V4"
    ]
    assert set(baseline["cpu"]) <= set(avx2["cpu"]) <= set(native["cpu"])
    assert set(baseline["cpu"]) < set(native["cpu"]) or kinds.other_kinds() == []
    for name in (name for name in native if name not in ("blas", "cpu", "libm")):
        assert native[name] == avx2[name] == baseline[name]
    if "baseline" in kinds.other_kinds():
        assert baseline["libm"] != native["libm"]  # no FMA
    if any(name.startswith("openblas") for name in native["blas"]):
        assert all(name.endswith(" Haswell") for name in avx2["blas"])
        # one kernel, two names
        assert all(name.endswith((" Katmai", " Prescott")) for name in baseline["blas"])


@ON_X86
def test_another_exp_alone_is_another_kind():
    """Neither BLAS nor NumPy's instructions say it: only what exp gives does."""
    if "baseline" not in kinds.other_kinds():
        pytest.skip("this processor has no FMA to do without")
    program = "from provlab.run.environment import environment; print(environment())"
    tunables = kinds.environment_of("baseline")["GLIBC_TUNABLES"]
    environment = {**kinds.environment_of("native"), "GLIBC_TUNABLES": tunables}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    steered = json.loads(done.stdout)
    native = json.loads(kinds.environment_in_records("native"))
    assert {name for name in native if native[name] != steered[name]} == {"libm"}
