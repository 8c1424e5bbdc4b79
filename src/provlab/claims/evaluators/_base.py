"""What all tests of claims have in common: their parameters, and the numbers of artefacts that they look at."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, get_type_hints

from provlab.claims.outcome import Finding
from provlab.claims.pairing import AbstractEvidence, Place

ALPHA = 0.05
"""Level of every test, unless a claim names another."""


@dataclass(frozen=True, kw_only=True)
class AbstractEvaluator(ABC):
    """A test of a claim, with its parameters as fields.

    Parameters
    ----------
    artefact : str
    columns : tuple of str
        Columns that the verdict is about: all of them.
    also : tuple of str
        Columns that are tested and reported beside, without a say in the verdict.
    dataset : str
        The only data set that the claim is about; "" for all of the artefact.
    """

    artefact: str
    columns: tuple[str, ...]
    also: tuple[str, ...] = ()
    dataset: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Return the test from parameters as YAML gives them.

        Raises
        ------
        ValueError
            For a missing, unknown or wrong parameter.
        """
        fields = {field.name: field for field in dataclasses.fields(cls)}
        missing = [name for name, field in fields.items() if field.default is dataclasses.MISSING]
        wrong = [f"no {name}" for name in missing if name not in config]
        wrong += [f"the unknown {name}" for name in config if name not in fields]
        if wrong:
            raise ValueError(f"parameters: expected {', '.join(fields)}, got {', '.join(wrong)}.")
        hints = _hints(cls)
        return cls(**{name: _typed(name, value, hints[name]) for name, value in config.items()})

    def changed(self, parameters: Mapping[str, Any]) -> Self:
        """Return the test with other values of those parameters that it has; errors as `from_config`."""
        hints = _hints(type(self))
        return dataclasses.replace(
            self, **{name: _typed(name, value, hints[name]) for name, value in parameters.items() if name in hints}
        )

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the test reads, beside those of every test (`FOLD_COLUMNS`)."""
        return ()

    @abstractmethod
    def places(self, columns: Sequence[str]) -> list[Place]:
        """Return the numbers that the test reads in some columns."""

    @abstractmethod
    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """Return what the evidence says, part by part.

        Parameters
        ----------
        columns : sequence of str
        evidence : Evidence
        peers : sequence of evaluators
            All tests of the paper of the same class, for corrections over a family.
        """


@dataclass(frozen=True, kw_only=True)
class AbstractRowEvaluator(AbstractEvaluator):
    """A test of one row of the artefact.

    Parameters
    ----------
    row : str
    """

    row: str

    def places(self, columns: Sequence[str]) -> list[Place]:
        """See the base class."""
        return [(self.artefact, self.row, column) for column in columns]


def check_dependence(dependence: str, over: str) -> None:
    """Check what the data sets of a sample share."""
    if dependence not in ("", "dyadic") or (dependence and over != "datasets"):
        raise ValueError(f"dependence: expected dyadic, over datasets, or nothing, got {dependence!r}, over {over!r}.")


@cache
def _hints(cls: type) -> Mapping[str, Any]:
    """Return the types of a test's fields: they are texts to be evaluated, and universes ask thousands of times."""
    return get_type_hints(cls)


def _typed(name: str, value: Any, hint: Any) -> Any:
    if hint == tuple[str, ...]:
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise ValueError(f"{name}: expected a list of names, got {value!r}.")
    if hint == tuple[float, ...]:
        if isinstance(value, list) and value and all(type(item) in (int, float) for item in value):
            return tuple(map(float, value))
        raise ValueError(f"{name}: expected a list of numbers, got {value!r}.")
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint in (int, str) and isinstance(value, hint) and not isinstance(value, bool):
        return value
    raise ValueError(f"{name}: expected {getattr(hint, '__name__', hint)}, got {value!r}.")
