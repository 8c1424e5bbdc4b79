"""From configs to registered components, and to nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin

import provsel.models
import provsel.selectors

REGISTRIES: dict[str, ModuleType] = {"selector": provsel.selectors, "model": provsel.models}
BASES: dict[str, type] = {"selector": TransformerMixin, "model": BaseEstimator}
"""What a registered component inherits from. Plain transformers can stand in the place of a selector."""


@cache
def registered(kind: str) -> tuple[str, ...]:
    """Return the names of the classes of `kind`, "selector" (or transformer) or "model", that a config can name."""
    registry, base = REGISTRIES[kind], BASES[kind]
    return tuple(
        name
        for name, value in vars(registry).items()
        if name in registry.__all__
        and isinstance(value, type)
        and issubclass(value, base)
        and not inspect.isabstract(value)
    )


def component_class(kind: str, config: Mapping[str, Any]) -> type:
    """Return the class that `config["_target_"]` names.

    Parameters
    ----------
    kind : {"selector", "model"}
    config : mapping
        `_target_: provsel.<kind>s.<Class>` and the arguments of the class.

    Raises
    ------
    ValueError
        For anything that is not a registered class of that kind: a config cannot run other code.
    """
    registry = REGISTRIES[kind]
    target = config.get("_target_")
    package, _, name = target.rpartition(".") if isinstance(target, str) else ("", "", "")
    if package != registry.__name__ or name not in registered(kind):
        known = [f"{registry.__name__}.{name}" for name in registered(kind)]
        raise ValueError(
            f"config of the {kind}: expected a _target_ among {', '.join(sorted(known))}, got {target!r:.80}; "
            f"only registered components can be named, see CONTRIBUTING for how to add one."
        )
    return getattr(registry, name)


def component_arguments(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in `config`, checked against the signature of the class."""
    cls = component_class(kind, config)
    arguments = {name: value for name, value in config.items() if name != "_target_"}
    accepted = _parameters(cls, vars(cls).get("__init__"))
    unknown = sorted(set(arguments) - set(accepted))
    if unknown:
        raise ValueError(
            f"config of the {kind} {cls.__name__}: expected arguments among {', '.join(accepted) or 'none'}, "
            f"got {', '.join(unknown):.200}; correct the name or remove it."
        )
    return arguments


def build(kind: str, config: Mapping[str, Any]) -> Any:
    """Return an unfitted component from its config; what it takes another component for is built as well."""
    arguments = component_arguments(kind, config)
    built = {name: build(inner_kind(value), value) for name, value in arguments.items() if is_component(value)}
    return component_class(kind, config)(**{**arguments, **built})


def is_component(value: Any) -> bool:
    """Tell whether an argument in a config stands for a component."""
    return isinstance(value, Mapping) and "_target_" in value


def inner_kind(config: Mapping[str, Any]) -> str:
    """Return the kind of a component that is an argument of another one: by where its class stands."""
    return "model" if str(config["_target_"]).startswith(f"{REGISTRIES['model'].__name__}.") else "selector"


@cache
def _parameters(cls: type, init: object) -> tuple[str, ...]:
    return tuple(inspect.signature(cls).parameters)
