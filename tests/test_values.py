"""Records of numbers that can be NaN are equal where their values are, on every Python."""

import importlib
import math
import pkgutil
import sys
from dataclasses import dataclass, fields, is_dataclass, replace

import pytest

import provlab
import provsel
from provlab.verdicts.claims.rules import Finding
from provsel.certificates import (
    THEOREMS,
    Certificate,
    ClusteringRatio,
    FalseSelections,
    OnlineFeatureCount,
    RidgeRegressionCost,
    RidgeRegressionRisk,
    RidgeSparsification,
    SpectralSparsification,
    StreamMemory,
    SubsetApproximation,
    SubsetPromise,
)
from provsel.stability import StabilityReport
from provsel.values import ValuesWithNaN


def nan():
    """Return a NaN that no other object is."""
    return float("nan")


OTHERS = (
    ClusteringRatio,
    FalseSelections,
    OnlineFeatureCount,
    RidgeRegressionCost,
    RidgeRegressionRisk,
    RidgeSparsification,
    StreamMemory,
    SubsetApproximation,
)
MADE = {
    **{theorem: theorem for theorem in (*THEOREMS, *OTHERS)},
    Finding: lambda: Finding(
        "r=300", "not run", sample=(("Exp_1_2", nan()),), margins=(nan(), 1.0)
    ),
    SubsetPromise: lambda: SubsetPromise(3),
    StabilityReport: lambda: StabilityReport(0.5, nan(), (0.5, 0.5), (1, 1)),
}
"""A record of each kind, with other NaN objects each time."""


def with_nan(cls, names):
    return replace(MADE[cls](), **{name: nan() for name in names})


@pytest.mark.parametrize("cls", MADE)
def test_nan_is_no_difference_and_each_number_counts(cls):
    names = [field.name for field in fields(cls) if field.type == "float"]
    first = with_nan(cls, names)
    second = with_nan(cls, names)
    assert first == second
    assert hash(first) == hash(second)
    for name in names:
        with_number = replace(MADE[cls](), **{name: 1.0})
        assert with_number == replace(MADE[cls](), **{name: 1.0})
        assert with_number not in (replace(MADE[cls](), **{name: 2.0}), MADE[cls]())


def test_numbers_in_tuples_and_in_records_within_records_count():
    @dataclass(frozen=True, eq=False)
    class Pair(ValuesWithNaN):
        single: Finding
        more: tuple[Finding, ...]

    def pair(effect):
        return Pair(
            Finding("a", "not run"), (Finding("b", "replicated", effect=effect),)
        )

    assert pair(nan()) == pair(nan())
    assert hash(pair(nan())) == hash(pair(nan()))
    assert pair(nan()) != pair(1.0)
    assert MADE[Finding]() != replace(MADE[Finding](), sample=(("Exp_1_2", 0.5),))
    assert MADE[Finding]() != replace(MADE[Finding](), sample=(("Exp_3_4", nan()),))


def test_another_class_is_another_value():
    spectral = SpectralSparsification()
    assert spectral != tuple(vars(spectral).values())
    assert Certificate((spectral,)) == Certificate(
        (SpectralSparsification(spectral_error=nan()),)
    )
    assert Certificate((spectral,)) != Certificate(
        (SpectralSparsification(spectral_error=1.0),)
    )
    assert len({theorem() for theorem in THEOREMS}) == len(THEOREMS)


def has_nan(cls):
    return any(
        isinstance(field.default, float) and math.isnan(field.default)
        for field in fields(cls)
    )


def test_every_dataclass_whose_numbers_may_be_missing_compares_so():
    for package in (provsel, provlab):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    modules = [
        value
        for name, value in sys.modules.items()
        if name.startswith(("provsel", "provlab"))
    ]
    values = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
    }
    classes = {cls for cls in values if is_dataclass(cls) and has_nan(cls)}
    for cls in classes:
        assert cls.__eq__ is ValuesWithNaN.__eq__, (
            f"{cls}: derive it from ValuesWithNaN, with eq=False"
        )
        assert cls.__hash__ is ValuesWithNaN.__hash__
    assert classes == {*MADE}
