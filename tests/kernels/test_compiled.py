"""The compiled form of BSS as an option: what turns it on, what it needs, and that it is the same program."""

import sys

import numba
import numpy as np
import pytest

from provlab.run.environment import environment
from provsel.kernels.compiled import compiled_by, jit
from provsel.selectors import BSSSelector
from small_runs import run_python, script_environment

FIT = """
import sys
import numpy as np
from provsel.models import LiblinearSVM
from provsel.selectors import BSSSelector
rng = np.random.default_rng(0)
X = rng.poisson(rng.pareto(1.5, 120) * 0.3, (10, 120)).astype(float)
selector = BSSSelector(20).fit(X)
LiblinearSVM().fit(X, np.arange(10) % 2)  # whose package would use numba where it is
np.save(sys.argv[1], np.column_stack([selector.indices_, selector.weights_]))
print("numba" in sys.modules)
"""


SOME_FAIL = """
from itertools import count
from provsel.kernels import bss_compiled
number, inverse = count(), bss_compiled.positive_inverse
bss_compiled.positive_inverse = lambda A: next(number) % 3 > 0 and inverse(A)
"""


def fitted(folder, name, before="", **changes):
    done = run_python(["-c", before + FIT, folder / f"{name}.npy"], folder, env=script_environment(**changes))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip() == "True", np.load(folder / f"{name}.npy")


def test_it_is_off_unless_it_is_asked_for(tmp_path, monkeypatch):
    """Who happens to have numba gets the bits of who has not."""
    monkeypatch.delenv("PROVSEL_COMPILED", raising=False)
    assert compiled_by() == ""
    assert "compiled" not in environment.__wrapped__()
    has_numba, selected = fitted(tmp_path, "plain", PROVSEL_COMPILED="")
    assert not has_numba
    # the source is plain Python too, which a debugger and coverage can follow
    interpreted = {"NUMBA_DISABLE_JIT": "1"}
    cases = [("compiled", "", {}), ("interpreted", "", interpreted), ("without some inverses", SOME_FAIL, interpreted)]
    for name, before, changes in cases:
        has_numba, found = fitted(tmp_path, name, before, PROVSEL_COMPILED="1", **changes)
        assert has_numba
        np.testing.assert_array_equal(found[:, 0], selected[:, 0])
        np.testing.assert_allclose(found[:, 1], selected[:, 1], rtol=1e-10)


def test_records_say_so(monkeypatch):
    monkeypatch.setenv("PROVSEL_COMPILED", "1")
    assert compiled_by() == f"numba {numba.__version__}"
    assert f'"compiled":"numba {numba.__version__}"' in environment.__wrapped__()


def test_another_value_is_an_error(monkeypatch):
    monkeypatch.setenv("PROVSEL_COMPILED", "yes")
    with pytest.raises(ValueError, match="PROVSEL_COMPILED: expected 0 or 1, got 'yes'; set one of them"):
        BSSSelector(3).fit(np.random.default_rng(0).standard_normal((2, 9)))


def test_without_numba_it_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PROVSEL_COMPILED", "1")
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(
        ValueError, match=r"PROVSEL_COMPILED: expected 0 without numba, got 1 .*; pip install 'provsel\["
    ):
        BSSSelector(3).fit(np.random.default_rng(0).standard_normal((2, 9)))


def test_where_nothing_can_be_kept_it_is_compiled_each_time(monkeypatch):
    njit = numba.njit

    def without_a_cache(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(numba, "njit", without_a_cache)

    @jit
    def doubled(x):
        return 2.0 * x

    assert doubled(1.5) == 3.0
