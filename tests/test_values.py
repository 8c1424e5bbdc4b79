"""Records of numbers that can be NaN are equal where their values are, on every Python."""

import importlib
import math
import pkgutil
import sys
from dataclasses import dataclass, fields, is_dataclass, replace

import pytest

import provlab
import provsel
from provlab.claims.rules import Finding
from provsel.certificates import (
    THEOREMS,
    Certificate,
    OnlineFeatureCount,
    RidgeSparsification,
    SpectralSparsification,
    SubsetApproximation,
    SubsetPromise,
)
from provsel.values import ValuesWithNaN


def nan():
    """Return a NaN that no other object is."""
    return float("nan")


def numbers_of(cls):
    return [field.name for field in fields(cls) if field.type == "float"]


MADE = {
    **{theorem: theorem for theorem in (*THEOREMS, OnlineFeatureCount, RidgeSparsification, SubsetApproximation)},
    Finding: lambda: Finding("r=300", "not run", sample=(("Exp_1_2", nan()),), margins=(nan(), 1.0)),
    SubsetPromise: lambda: SubsetPromise(3),
}
"""A record of each kind, with other NaN objects each time."""


@pytest.mark.parametrize("cls", MADE)
def test_nan_is_no_difference(cls):
    both = [replace(MADE[cls](), **{name: nan() for name in numbers_of(cls)}) for _ in range(2)]
    assert both[0] == both[1]
    assert hash(both[0]) == hash(both[1])
    assert len({*both}) == 1


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls in MADE for name in numbers_of(cls)])
def test_each_number_counts(cls, name):
    known, other = replace(MADE[cls](), **{name: 1.0}), replace(MADE[cls](), **{name: 2.0})
    assert known == replace(MADE[cls](), **{name: 1.0})
    assert known != other
    assert known != MADE[cls]()
    assert MADE[cls]() != known


def test_numbers_in_tuples_count():
    assert MADE[Finding]() != replace(MADE[Finding](), sample=(("Exp_1_2", 0.5),))
    assert MADE[Finding]() != replace(MADE[Finding](), sample=(("Exp_3_4", nan()),))


def test_another_class_is_another_value():
    spectral = SpectralSparsification()
    assert spectral != tuple(vars(spectral).values())
    assert Certificate((spectral,)) == Certificate((SpectralSparsification(spectral_error=nan()),))
    assert Certificate((spectral,)) != Certificate((SpectralSparsification(spectral_error=1.0),))
    assert len({theorem() for theorem in THEOREMS}) == len(THEOREMS)


def test_records_within_records():
    @dataclass(frozen=True, eq=False)
    class Pair(ValuesWithNaN):
        one: Finding
        more: tuple[Finding, ...]

    def pair(effect):
        return Pair(Finding("a", "not run"), (Finding("b", "replicated", effect=effect),))

    assert pair(nan()) == pair(nan())
    assert hash(pair(nan())) == hash(pair(nan()))
    assert pair(nan()) != pair(1.0)


def test_every_dataclass_whose_numbers_may_be_missing_compares_so():
    for package in (provsel, provlab):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    classes, found = [], set()
    for module in [value for name, value in sorted(sys.modules.items()) if name.startswith(("provsel", "provlab"))]:
        classes += [value for value in vars(module).values() if isinstance(value, type) and is_dataclass(value)]
    for cls in classes:
        if any(isinstance(field.default, float) and math.isnan(field.default) for field in fields(cls)):
            found.add(cls)
            assert cls.__eq__ is ValuesWithNaN.__eq__, f"{cls}: derive it from ValuesWithNaN, with eq=False"
            assert cls.__hash__ is ValuesWithNaN.__hash__
    assert found == {*MADE}
