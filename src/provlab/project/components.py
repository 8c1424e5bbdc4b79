"""Components from configs: only classes of provsel, of scikit-learn and of trusted modules."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from provlab import FORMER_MODULES
from provlab.project.documents import canonical_json
from provlab.project.estimators import FUNCTION, object_in_hand
from provlab.project.messages import did_you_mean, nearest
from provlab.project.project import FILE, current_project
from provlab.project.scikit_learn import KINDS, function_target, kind_of, listed
from provlab.project.versions import version_of
from provsel.certificates import THEOREMS, Measure

REGISTRIES = {
    "selector": "provsel.selectors",
    "model": "provsel.models",
    "measure": "provsel.certificates",
}
"""Packages of provsel's classes. They and scikit-learn are imported only when a class is needed, because readers of a
store need none and would spend most of their time on these imports.
"""

NAMEABLE = {
    "selector": ("provsel.selectors", "provlab.benchmark.selectors"),
    "model": ("provsel.models", "provlab.bench.judges"),
    "measure": ("provsel.certificates",),
    "preparation": ("provlab.preparation",),
}
"""Our packages whose public classes a config may name, by their names in keys. A config imports no other package of
ours.
"""

KEYED_BY_CLASS = (*REGISTRIES.values(), "provlab.preparation")
"""Packages whose classes appear in keys without the package, under the names of that time; keys depend on this list.
"""

KEY_NAMES = {present: former for former, present in FORMER_MODULES.items()}
"""Names of packages in keys, by their current names."""

UNSET = "???"
"""Placeholder for the class that `selector=any` needs."""

METHODS = {
    "selector": "transform",
    "model": "predict",
    "measure": "measure",
    "preparation": "transform",
    "splitter": "split",
}
"""Requirements on foreign classes."""

LISTED = dict.fromkeys(("model", "selector", "preparation", "component"), "estimator")
"""Name of each kind in the list of scikit-learn names, if it differs."""

PLACES = {"splitter": "protocol.cv", "scorer": "protocol.scoring"}
"""Setting of each kind that is not a group of a config."""

WITHOUT_BASE = ("splitter", "kernel", "scorer")
"""Kinds without a public base class in scikit-learn."""


def base_of(kind: str) -> type:
    """Return the required base class of components from other modules; no other class is ever called."""
    from sklearn.base import BaseEstimator

    if kind in WITHOUT_BASE:
        return object
    return Measure if kind == "measure" else BaseEstimator


@cache  # plans call this tens of thousands of times
def registered(kind: str, package: str = "") -> dict[str, type]:
    """Return the public classes of a kind by name, in one of our packages, by default its registry."""
    from sklearn.base import TransformerMixin

    registry = importlib.import_module(package or REGISTRIES[kind])
    base = TransformerMixin if kind in ("selector", "preparation") else base_of(kind)
    public = {name: getattr(registry, name) for name in registry.__all__}
    return {
        name: component
        for name, component in public.items()
        if isinstance(component, type)
        and issubclass(component, base)
        and not inspect.isabstract(component)
    }


def component_class(kind: str, config: Mapping[str, Any]) -> type:
    """Return the class named by `config["_target_"]`.

    Parameters
    ----------
    kind : {"selector", "model", "measure", "preparation", "splitter", "kernel", "scorer"}
    config : mapping
        `_target_` and arguments. `_target_` is provsel.<kind>s.<Class>,
        provsel.certificates.<Class> for a measure, a public scikit-learn name, see
        `provlab.project.scikit_learn`, or a class of a module that the project trusts.

    Raises
    ------
    ValueError
        If the name is any other. A config cannot run other code, and nothing else is
        imported.
    """
    target = config.get("_target_")
    package, _, name = (
        target.rpartition(".") if isinstance(target, str) else ("", "", "")
    )
    own = (
        registered(kind, package)
        if KEY_NAMES.get(package, package) in NAMEABLE.get(kind, ())
        else {}
    )
    if name in own:
        return own[name]
    in_hand = object_in_hand(target)
    component: type
    if kind_of(target) == LISTED.get(kind, kind):
        component = listed(str(target))
    elif isinstance(in_hand, type) and issubclass(in_hand, base_of(kind)):
        component = in_hand
    elif package and package.split(".")[0] in current_project().trust:
        component = _trusted_class(kind, package, name)
    else:
        places = [REGISTRIES[kind]] if kind in REGISTRIES else []
        if kind != "measure":
            places.append(f"scikit-learn's public {LISTED.get(kind, kind)}s")
        raise ValueError(
            f"config of the {kind}: expected a class of {' or '.join(places)} or of a module that the project trusts "
            f"({', '.join(current_project().trust) or 'none'}), got "
            f"{'none' if target in (None, UNSET) else repr(target)[:82]}; {_advice(kind, str(target))}."
        )
    if kind in METHODS and not hasattr(component, METHODS[kind]):
        name = f"{component.__module__}.{component.__name__}"
        raise ValueError(
            f"config of the {kind}: expected a class with {METHODS[kind]}, got {name}; choose another."
        )
    return component


def _advice(kind: str, target: str) -> str:
    """Return advice on how to trust the module of a refused class, or on the class that was probably meant."""
    module = target.split(".")[0]
    if "." not in target:
        return f"name a class with its module, such as {kind}._target_=my_study.MyClass"
    if module in ("provsel", "provlab"):
        if kind not in REGISTRIES:
            return "correct its name"
        names = registered(kind)
        targets = [f"{REGISTRIES[kind]}.{name}" for name in names]
        return f"name one of {REGISTRIES[kind]}: {', '.join(names)}{did_you_mean(target, targets)}"
    same_name = {
        name.rpartition(".")[2]: name
        for name, stands_for in KINDS.items()
        if stands_for != "function"
    }
    meant = nearest(target.rpartition(".")[2], same_name) if module == "sklearn" else ""
    if meant:
        return f"did you mean {same_name[meant]}"
    place = f"add {module!r} to trust in {FILE}"
    if current_project().papers is None:
        place = f"write trust = [{module!r}] into a new file {FILE}"
    return f"{place} if you trust its code"


def is_own(config: Mapping[str, Any]) -> bool:
    """Return whether a config names one of our classes, which leave their input unchanged."""
    return _key_package(config)[0] in KEYED_BY_CLASS


def _key_package(config: Mapping[str, Any]) -> tuple[str, str]:
    """Return the package, as in keys, and the name of the class in a config."""
    package, _, name = str(config.get("_target_")).rpartition(".")
    return KEY_NAMES.get(package, package), name


def foreign_names(config: Any) -> list[str]:
    """Return the names of foreign classes and functions in a config, at any depth."""
    names: list[str] = []
    if isinstance(config, Mapping):
        if is_component(config) and not is_own(config):
            names.append(str(config["_target_"]))
        if FUNCTION in config:
            names.append(str(config[FUNCTION]))
    for value in _inner_values(config):
        names += foreign_names(value)
    return names


def _inner_values(value: Any) -> Collection[Any]:
    """Return the values of a mapping or the items of a list; empty for a plain value."""
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def component_arguments(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments in `config`, checked against the signature of the class."""
    cls = component_class(kind, config)
    arguments = {name: value for name, value in config.items() if name != "_target_"}
    if kind_of(config["_target_"]):
        arguments = _spelled_as_scikit_learn(kind, config["_target_"], arguments)
    accepted = component_parameters(kind, cls)
    unknown = sorted(set(arguments) - set(accepted))
    # make_scorer passes other arguments to its function
    if unknown and kind != "scorer":
        raise ValueError(
            f"config of the {kind} {cls.__name__}: expected arguments among {', '.join(accepted) or 'none'}, "
            f"got {', '.join(unknown):.200}{did_you_mean(unknown[0], accepted) or '; correct the name or remove it.'}"
        )
    for name, value in () if is_own(config) else _memories(arguments):
        raise ValueError(
            f"config of the {kind} {cls.__name__}: expected no {name:.80}, got {value!r:.80}, a folder of pickles, "
            f"which can run code when they are read; leave it out."
        )
    return arguments


def _spelled_as_scikit_learn(
    kind: str, target: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return arguments of a listed class with score functions for names, and `k` for `n_features_to_select`."""
    spelled = dict(arguments)
    score_func = spelled.get("score_func")
    if isinstance(score_func, str):
        if kind == "scorer" and "." in score_func:
            spelled["score_func"] = {FUNCTION: score_func}
        else:
            module = "metrics" if kind == "scorer" else "feature_selection"
            spelled["score_func"] = {
                FUNCTION: function_target(f"{kind}.score_func", score_func, module)
            }
    if (
        target == "sklearn.feature_selection.SelectKBest"
        and "n_features_to_select" in spelled
    ):
        count = spelled.pop("n_features_to_select")
        if count is not None:
            spelled["k"] = count
    return spelled


def _memories(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield arguments named like scikit-learn's caches, at any depth, because grids set nested arguments."""
    if isinstance(value, Mapping):
        for name, setting in value.items():
            if str(name).rpartition("__")[2] == "memory" and setting not in (
                None,
                [None],
            ):
                yield name, setting
    for inner in _inner_values(value):
        yield from _memories(inner)


def build(kind: str, config: Mapping[str, Any]) -> Any:
    """Return an unfitted component built from its config, including nested components.

    For a measure, the result is its function of a trial, with its settings.
    """
    arguments = component_arguments(kind, config)
    build_inner = partial(_build_inner, kind)
    built = {
        name: _replace_components(value, build_inner)
        for name, value in arguments.items()
    }
    cls: Any = component_class(kind, config)
    if kind_of(config["_target_"]):
        built = _with_tuples(cls, built)
    parameters = component_parameters(kind, cls)
    missing = [
        name
        for name, is_needed in parameters.items()
        if is_needed and name not in arguments
    ]
    if missing:
        raise ValueError(
            f"config of the {kind} {cls.__name__}: expected a value for {', '.join(missing)}, got none; the argument "
            f"has no default, so add {', '.join(f'+{PLACES.get(kind, kind)}.{name}=...' for name in missing)}."
        )
    return partial(cls.measure, **built) if kind == "measure" else cls(**built)


def _with_tuples(cls: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with lists as tuples if the default is a tuple, because scikit-learn checks types."""
    parameters = inspect.signature(cls).parameters
    typed = dict(arguments)
    for name, value in arguments.items():
        if (
            isinstance(value, list)
            and name in parameters
            and isinstance(parameters[name].default, tuple)
        ):
            typed[name] = tuple(value)
    return typed


def _build_inner(kind: str, value: Mapping[str, Any]) -> Any:
    """Build an argument of a component that is itself a component or a function."""
    if is_component(value):
        return build(inner_kind(value), value)
    function = function_of(kind, value)
    build_inner = partial(_build_inner, kind)
    args = _replace_components(value.get("args", ()), build_inner)
    keywords = _replace_components(value.get("keywords", {}), build_inner)
    return partial(function, *args, **keywords) if args or keywords else function


def function_of(kind: str, config: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the function named in a config: passed by this program, or a scikit-learn score function.

    A scorer may also be defined in a trusted module.

    Raises
    ------
    ValueError
        If the name is any other.
    """
    name = config[FUNCTION]
    function: Any = object_in_hand(name)
    if function is None and kind_of(name) == "function":
        function = listed(name)
    if function is None and kind == "scorer" and isinstance(name, str):
        function = _trusted_function(name)
    if function is None or isinstance(function, type):
        raise ValueError(
            f"{FUNCTION}: expected a function that was passed in Python, or a score function of scikit-learn, got "
            f"{name!r:.80}; a config may name a function of a trusted module only as a scorer."
        )
    checked: Callable[..., Any] = function
    return checked


def _trusted_function(name: str) -> Any:
    """Return a function defined in a trusted module, otherwise None; scikit-learn functions must be on a list."""
    project = current_project()
    module, _, last = name.rpartition(".")
    top = module.split(".")[0]
    if top not in project.trust or top == "sklearn":
        return None
    try:
        function = getattr(_module(module, project.root), last, None)
    except (ImportError, SyntaxError) as error:
        raise ValueError(
            f"protocol.scoring: expected a function {name}, got {error}; correct it."
        ) from error
    is_defined_there = (
        inspect.isfunction(function) and function.__module__.split(".")[0] == top
    )
    return function if is_defined_there else None


def component_identity(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a component as in keys: its name, version and arguments, including inner components."""
    cls = component_class(kind, config)
    arguments = component_arguments(kind, config)
    package, name = _key_package(config)
    identity_of_inner = partial(_identity, kind)
    return {
        "name": name if package in KEYED_BY_CLASS else f"{package}.{name}",
        "algorithm_version": version_of(cls),
        "arguments": {
            name: _replace_components(value, identity_of_inner)
            for name, value in arguments.items()
        },
    }


def target_of_key(name: str) -> str:
    """Return the `_target_` of the class that a name in keys refers to.

    Raises
    ------
    ValueError
        If there is no longer such a class.
    """
    if "." in name:
        return name
    for package in KEYED_BY_CLASS:
        if name in importlib.import_module(package).__all__:
            return f"{package}.{name}"
    raise ValueError(f"the class {name} no longer exists")


def component_json(kind: str, config: Mapping[str, Any]) -> str:
    """Return a config and its form in keys as JSON, by which results for a component are cached.

    With only the config, an edited and reimported class would be mistaken for the old
    one.
    """
    return canonical_json(
        {"config": config, "identity": component_identity(kind, config)}
    )


def _identity(kind: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the identity of an argument of a component that is itself a component or a function."""
    if is_component(value):
        return component_identity(inner_kind(value), value)
    return function_identity(kind, value)


def function_identity(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function as in keys: its name, version and bound arguments."""
    bound = {
        name: value
        for name, value in config.items()
        if name not in (FUNCTION, "version")
    }
    identity_of_inner = partial(_identity, kind)
    inner = {
        name: _replace_components(value, identity_of_inner)
        for name, value in bound.items()
    }
    return {
        FUNCTION: config[FUNCTION],
        "version": version_of(function_of(kind, config)),
        **inner,
    }


def _replace_components(value: Any, make: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Return a value of a config with `make` applied to each component or function, at any depth of lists."""
    if isinstance(value, Mapping):
        if is_component(value) or FUNCTION in value:
            return make(value)
        return {name: _replace_components(inner, make) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_components(inner, make) for inner in value]
    return value


def is_component(value: Any) -> bool:
    """Return whether an argument in a config stands for a component."""
    return isinstance(value, Mapping) and "_target_" in value


def inner_kind(config: Mapping[str, Any]) -> str:
    """Return the kind of a component that is an argument of another component, from its class."""
    target = str(config["_target_"])
    package, _, name = target.rpartition(".")
    for kind, packages in NAMEABLE.items():
        if KEY_NAMES.get(package, package) in packages:
            return kind
    if kind_of(target) in WITHOUT_BASE:
        return kind_of(target)
    component = (
        listed(target) if kind_of(target) == "estimator" else object_in_hand(target)
    )
    if component is None and package.split(".")[0] in current_project().trust:
        component = _trusted_class("component", package, name)
    # other classes count as models, which are refused with a list of alternatives
    if component is None or hasattr(component, "predict"):
        return "model"
    return (
        "selector"
        if hasattr(component, "transform") or not kind_of(target)
        else "component"
    )


def _trusted_class(kind: str, package: str, name: str) -> type:
    """Return a class of a trusted module after checking its base and its origin."""
    project = current_project()
    subject = f"config of the {kind}: expected"
    try:
        component = getattr(_module(package, project.root), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{subject} a class {package}.{name}, got {error}; correct the name."
        ) from error
    except SyntaxError as error:
        raise ValueError(
            f"{subject} a class {package}.{name}, got a module with an error: {error}."
        ) from error
    base = base_of(kind)
    if not isinstance(component, type) or not issubclass(component, base):
        raise ValueError(
            f"{subject} a subclass of {base.__module__}.{base.__name__}, got {package}.{name}, which is "
            f"{'another class' if isinstance(component, type) else 'no class'}; configs cannot create anything else."
        )
    home = component.__module__.split(".")[0]
    if home not in (*project.trust, "provsel"):
        raise ValueError(
            f"{subject} a class of {', '.join(project.trust)}, got {package}.{name}, which is of {home}; add this "
            f"module to trust in provsel.toml if you trust its code."
        )
    return component


def _module(package: str, root: Path) -> ModuleType:
    """Import a module with the project's folder on the path, after dropping modules of another project."""
    global _root
    if _root not in ("", str(root)):
        sys.path[:] = [folder for folder in sys.path if folder != _root]
        for name in list(sys.modules):
            if _is_of(name.partition(".")[0], _root):
                del sys.modules[name]
    if str(root) not in sys.path:
        # at the end, because modules of the project must not hide others
        sys.path.append(str(root))
    _root = str(root)
    if _OthersFirst not in sys.meta_path:
        sys.meta_path.insert(sys.meta_path.index(PathFinder), _OthersFirst)
    return importlib.import_module(package)


class _OthersFirst:
    """Finder that prefers packages without `__init__.py`, such as `mpl_toolkits`, to modules of the project.

    Python would otherwise prefer a module of the same name, even at the end of its
    path.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module on the path without the project's folder; None for submodules."""
        if path is not None:
            return None
        return PathFinder.find_spec(
            name, [entry for entry in sys.path if entry != _root]
        )


def _is_of(top: str, root: str) -> bool:
    """Return whether an imported top-level module is in a folder."""
    file = getattr(sys.modules.get(top), "__file__", None)
    return file in (
        os.path.join(root, f"{top}.py"),
        os.path.join(root, top, "__init__.py"),
    )


_root = ""
"""Project folder for which a module was last imported."""


@cache
def component_parameters(kind: str, cls: Any) -> Mapping[str, bool]:
    """Return the parameters of a component, and whether each is required; for a measure without the trial."""
    parameters = [
        *inspect.signature(
            cls.measure if kind == "measure" else cls
        ).parameters.values()
    ]
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    own = parameters[1:] if kind == "measure" else parameters
    return {
        parameter.name: parameter.default is parameter.empty
        and parameter.kind not in several
        for parameter in own
    }


def check_columns(measure: type[Measure], other_columns: Collection[str]) -> None:
    """Check the declarations of a class.

    Raises
    ------
    ValueError
        If there are no columns, names are already in use, or types cannot be stored.
    """
    try:
        columns = measure.columns()
    except (AttributeError, NameError, TypeError) as error:
        raise ValueError(
            f"{measure.__name__}: expected fields annotated as float or str, and a name for a theorem, got {error}."
        ) from error
    if not columns:
        raise ValueError(
            f"{measure.__name__}: expected fields annotated as float or str, got none; add one."
        )
    reserved = {
        *other_columns,
        *(theorem.name for theorem in THEOREMS),
    }  # claims and tables name theorems
    for name, kind in columns.items():
        if not str(name).isidentifier() or name in reserved or kind not in (float, str):
            raise ValueError(
                f"{measure.__name__}: expected columns that no other measure has, each of type float or str, got "
                f"{name!r:.80}: {getattr(kind, '__name__', kind)!s:.80}; rename it."
            )


def check_values(measure: type[Measure], record: Any) -> dict[str, float | str | None]:
    """Return the result of a measure as values of its columns.

    Raises
    ------
    ValueError
        If the record is not its own, or values have other types.
    """
    if not isinstance(record, measure):
        raise ValueError(
            f"{measure.__name__}.measure: expected a {measure.__name__}, got {record!r:.80}."
        )
    kinds, values = measure.columns(), record.as_record()
    for column, value in values.items():
        if kinds[column] is float and isinstance(value, int | float | np.number):
            values[column] = float(value)
        elif value is not None and not (
            kinds[column] is str and isinstance(value, str)
        ):
            raise ValueError(
                f"{measure.__name__}: expected {kinds[column].__name__} or None in column {column}, got {value!r:.80}."
            )
    return values
