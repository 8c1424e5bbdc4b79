"""What a record says of the machine that computed it."""

import json

from provlab.run import environment as environment_module


def test_a_blas_is_told_with_its_core_type(monkeypatch):
    pools = [
        {"user_api": "blas", "internal_api": "openblas", "version": "0.3.30", "architecture": "Haswell"},
        {"user_api": "blas", "internal_api": "mkl", "version": "2024.1"},
        {"user_api": "blas", "internal_api": "blis", "version": None, "architecture": "zen3"},
        {"user_api": "openmp", "internal_api": "openmp", "version": None},
    ]
    monkeypatch.setattr(environment_module, "threadpool_info", lambda: pools)
    made = json.loads(environment_module.environment.__wrapped__())
    assert made["blas"] == ["blis zen3", "mkl 2024.1", "openblas 0.3.30 Haswell"]


def test_the_vector_instructions_that_numpy_uses_are_told(monkeypatch):
    from numpy._core import _multiarray_umath as core

    monkeypatch.setattr(core, "__cpu_baseline__", ["SSE3"])
    monkeypatch.setattr(core, "__cpu_dispatch__", ["AVX2", "AVX512_SPR"])
    monkeypatch.setattr(core, "__cpu_features__", {"SSE3": True, "AVX2": True, "AVX512_SPR": False})
    assert environment_module.cpu_features() == ["SSE3", "AVX2"]
    for name in ("__cpu_baseline__", "__cpu_dispatch__", "__cpu_features__"):
        monkeypatch.delattr(core, name)  # names of NumPy's own, which it may change
    assert environment_module.cpu_features() == []
