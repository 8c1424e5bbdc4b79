"""Composition of the config of a cell from files of conf/, an artefact's file, and overrides.

The rules are those of Hydra, and a test compares entries of each artefact with Hydra's
own composition. Hydra itself is not used, because it takes a twentieth of a second per
config, and an artefact has hundreds. It also creates any object and writes any file
that a config names. Files of a project may come from an untrusted source, so they are
read here within limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial, reduce
from pathlib import Path
from typing import Any

import yaml

from provlab.core.overrides import (
    CELL_GROUPS,
    ELSEWHERE,
    GROUPS,
    Override,
    check_references,
    parse_override,
)
from provlab.core.vocabulary import advice_on, file_named
from provlab.project.documents import (
    MAX_CONFIG_VALUES,
    MAX_DEPTH,
    SAFE_LOADER,
    file_state,
    parse_yaml,
    read_text,
)
from provlab.project.messages import unknown_setting
from provlab.project.papers import artefact_file
from provlab.project.project import conf_files, package_conf

Parts = dict[str, Any]
"""A config as a plain mapping with unresolved references. Configs share parts, so they must not be changed."""

OWN_FILE = "file"
"""Name of the loader of users' own files."""

_MEMBER = re.compile(r"[\w-][\w.-]*")
_WHOLE_REFERENCE = re.compile(r"\$\{(\w+(?:\.\w+)*)\}")


def compose_config(overrides: Sequence[str] = ()) -> Parts:
    """Return the config with the given overrides, in Hydra's grammar.

    Raises
    ------
    ValueError
        If the config is invalid, or the config of a cell reads the environment.
    """
    return Composer()(overrides)


class Composer:
    """`compose_config` for many overrides; files are read once, and equal sets of files are merged once."""

    def __init__(self) -> None:
        self._of_files = cache(
            partial(_merge_files, cache(_member), cache(artefact_file))
        )

    def __call__(self, overrides: Sequence[str]) -> Parts:
        """Return the config with the given overrides."""
        chosen: dict[str, str] = {}
        changes = []
        for override in map(parse_override, overrides):
            [group, *inside] = override.key
            if inside or override.mark == "~" or group not in (*GROUPS, "experiment"):
                changes.append(override)
            elif override.mark != (
                "+" if group == "experiment" else ""
            ) or not isinstance(override.value, str):
                form = (
                    "+experiment=PAPER/ARTEFACT"
                    if group == "experiment"
                    else f"{group}=NAME"
                )
                raise ValueError(
                    f"override {override.text!r:.80}: expected {form}, a file of conf/ or of a paper."
                )
            elif group == "experiment" and group in chosen:
                raise ValueError(
                    f"override {override.text!r:.80}: expected one artefact, got two; remove one."
                )
            else:
                chosen[group] = override.value
                if group != "experiment":
                    chosen[group] = file_named(
                        group, override.value, [path.stem for path in conf_files(group)]
                    )
        parts = self._of_files(**chosen)
        for override in changes:
            parts = _apply(parts, override, 0)
        return parts


def _merge_files(
    member: Callable[[str, str], Parts],
    file_of: Callable[[str], Path],
    *,
    experiment: str = "",
    **chosen: str,
) -> Parts:
    """Return the main config merged with that of an artefact and the chosen members of groups."""
    files = [read_config("", package_conf() / "config.yaml")]
    if experiment:
        files.append(read_config("", file_of(experiment)))
    first, *others = map(_stated_members, files)
    stated = {
        group: name
        for members_of_file in others
        for group, name in members_of_file.items()
    } | chosen
    # defaults of a data set may differ from those of papers; explicit overrides take
    # precedence
    beside: dict[str, str] = {}
    for file in _member_files("dataset", stated.get("dataset", first["dataset"])):
        beside |= _stated_members(file)
    members = {
        group: name
        for group, name in (first | beside | stated).items()
        if group in GROUPS
    }
    parts: Parts = {group: member(group, name) for group, name in members.items()}
    size = parts["selector"].get("n_features_to_select")
    if isinstance(size, int) and parts["dataset"].get("name") == OWN_FILE:
        # the number in a selector's file suits only the data of papers
        parts["selector"] = {**parts["selector"], "n_features_to_select": 0.5}
    return reduce(_merge, map(_content, files), parts)


def _stated_members(file: Parts) -> dict[str, str]:
    """Return the members of groups named in the defaults of a file."""
    items = [item for item in file.get("defaults", []) if isinstance(item, dict)]
    # members write "override /model@_global_.model", because Hydra would look within
    # their own group
    return {
        key.removeprefix("override /").partition("@")[0]: name
        for item in items
        for key, name in item.items()
    }


def _member_files(
    group: str, name: str, based: tuple[str, ...] = ()
) -> Iterator[Parts]:
    """Yield the content of a member of a group and of its bases in the group, in the order of merging."""
    if name in based:
        raise ValueError(
            f"{group}: expected files that do not include themselves, got {name}; fix its defaults."
        )
    paths = {path.stem: path for path in conf_files(group)}
    if name not in paths:
        advice = advice_on(group, name, paths)
        raise ValueError(
            f"{group}: expected one of {', '.join(paths)}, got {name!r:.80}{advice}"
        )
    file = read_config(group, paths[name])
    bases = [base for base in file.get("defaults", []) if not isinstance(base, dict)]
    if "_self_" not in bases:
        bases.append("_self_")
    for base in bases:
        if base == "_self_":
            yield file
        else:
            yield from _member_files(group, base, (*based, name))


def _member(group: str, name: str) -> Parts:
    """Return a member of a group merged over its bases."""
    content: Parts = reduce(_merge, map(_content, _member_files(group, name)))
    own = package_conf() / group / f"{name}.yaml"
    if group == "executor" and own.is_file() and content.get("name") != name:
        # a project's file named like the default executor must not send trials
        # elsewhere
        raise ValueError(
            f"conf/executor/{name}.yaml: name: expected {name}, got {content.get('name')!r:.80}; rename the file, and "
            f"choose it with executor=NAME."
        )
    return content


def _content(file: Parts) -> Parts:
    return {name: value for name, value in file.items() if name != "defaults"}


def _merge(below: Any, above: Any) -> Any:
    """Return the upper value; two mappings are merged with precedence for the upper one."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {
        **below,
        **{name: _merge(below.get(name), value) for name, value in above.items()},
    }


def _apply(node: Any, override: Override, depth: int) -> Parts:
    """Return a copy of a part of a config with one change."""
    mark = override.mark
    key = override.key
    value = override.value
    name = key[depth]
    where = ".".join(key)
    if not isinstance(node, dict):
        above = ".".join(key[:depth])
        raise ValueError(
            f"override {override.text!r:.80}: expected a setting of a group, got {where:.80}, and {above} is the value "
            f"{node!r:.40}; write {above}=VALUE."
        )
    if name not in node and mark in ("", "~"):
        raise ValueError(
            f"override {override.text!r:.80}: {_unknown(override, node, depth)}"
        )
    if depth + 1 < len(key):
        return {**node, name: _apply(node.get(name, {}), override, depth + 1)}
    old = node.get(name)
    if mark == "~":
        if value is not None and value != old:
            raise ValueError(
                f"override {override.text!r:.80}: expected the current value, got {old!r:.80}."
            )
        return {setting: inner for setting, inner in node.items() if setting != name}
    if mark == "+" and old not in (None, "???") and not isinstance(value, dict | list):
        raise ValueError(
            f"override {override.text!r:.80}: expected a new setting, got {where}, which is "
            f"{old!r:.80}; write {override.text.lstrip('+')}."
        )
    return {**node, name: _merge(old, value)}


def _unknown(override: Override, node: Parts, depth: int) -> str:
    """Return why a part of a config lacks a setting, and what to write; + is suggested only if allowed."""
    name = override.key[depth]
    above = ".".join(override.key[:depth]) or "the config"
    settings = _possible_settings(override.key[:depth], node)
    added = f"write +{override.text}" if override.mark == "" else "leave it out"
    if settings is None:
        return f"expected a setting that {above} has, got {name!r:.80}; {added}."
    if name in settings:
        return f"expected a setting that {above} states, got {name!r:.80}, which has its default; {added}."
    inside = [
        f"{part}.{name}"
        for part, inner in node.items()
        if isinstance(inner, dict) and name in inner
    ]
    return unknown_setting(above, name, [*settings, *inside])


def _possible_settings(place: tuple[str, ...], node: Parts) -> list[str] | None:
    """Return the names of the settings that a part of a config can have; None if any name is allowed."""
    # rarely needed, and slower to import than all the rest
    from provlab.core.cell import OPTIONAL
    from provlab.data import dataset_parameters
    from provlab.project.components import (
        component_class,
        component_parameters,
        inner_kind,
        is_component,
    )

    stated = [str(name) for name in node]
    group = place[0] if len(place) == 1 else ""
    if not place:
        return stated
    if group == "preparation" and node.get("_target_") is None:
        return []
    try:
        if group == "dataset":
            return [*dict.fromkeys([*stated, *dataset_parameters(node["name"])])]
        if group == "protocol":
            # preparation is a separate group, and protocols with a limit or a splitter
            # state it
            added = [
                name for name in OPTIONAL if name not in ("preparation", "limit", "cv")
            ]
            return [*dict.fromkeys([*stated, *added])]
        if group == "executor":
            return [*dict.fromkeys([*stated, *executor_file(node["name"])])]
        if is_component(node):
            kind = group or inner_kind(node)
            return [
                "_target_",
                *component_parameters(kind, component_class(kind, node)),
            ]
    except (ValueError, KeyError):  # reported when the class or data set is used
        return None
    return stated if group in GROUPS and node.get("_target_") is None else None


def executor_file(name: str) -> Parts:
    """Return the settings of an executor of provsel, with their defaults."""
    path = package_conf() / "executor" / f"{name}.yaml"
    if not _MEMBER.fullmatch(str(name)) or not path.is_file():
        return {}
    return _content(read_config("executor", path))


# ---- references


def resolve_references(
    parts: Parts, names: Sequence[str] = CELL_GROUPS
) -> dict[str, Any]:
    """Return the parts of a cell with resolved references, which may point only to `KNOWN` parts.

    Raises
    ------
    ValueError
        If a value is not a string, finite number, bool, list or mapping, a reference is
        refused by `check_references`, or there are more than `MAX_CONFIG_VALUES` values
        including resolved references. The message names the key.
    """
    for name in names:
        if not isinstance(parts.get(name), Mapping):
            raise ValueError(
                f"{name}: expected a mapping of names to values, got {parts.get(name)!r:.80}; see conf/{name}."
            )
    return {
        name: _resolve(parts[name], parts, name, 0, iter(range(MAX_CONFIG_VALUES)))
        for name in names
    }


def part_config(part: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return a part of the composed config with resolved references; raises as `resolve_references` does."""
    config: dict[str, Any] = resolve_references(compose_config(overrides), [part])[part]
    return config


def _resolve(
    value: Any, parts: Parts, where: str, depth: int, left: Iterator[int]
) -> Any:
    """Return a value as `resolve_references` does; `left` counts the values still allowed."""
    if depth > MAX_DEPTH:
        raise ValueError(
            f"{where:.80}: expected at most {MAX_DEPTH} levels, got more; flatten it."
        )
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str) and not where.startswith("artefact"):
                raise ValueError(
                    f"{where}: expected strings as keys, got {name!r:.80}; put quotes around it."
                )
        return {
            k: _resolve(inner, parts, f"{where}.{k!s:.80}", depth + 1, left)
            for k, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            _resolve(inner, parts, f"{where}[{k}]", depth + 1, left)
            for k, inner in enumerate(value)
        ]
    if next(left, None) is None:
        raise ValueError(
            f"{where}: expected at most {MAX_CONFIG_VALUES} values, got more; put data into a data set."
        )
    if isinstance(value, str) and "${" in value:
        check_references(value, where)
        reference = _WHOLE_REFERENCE.fullmatch(value)
        if reference and depth < MAX_DEPTH:
            node: Any = parts
            for name in reference[1].split("."):
                if not isinstance(node, dict) or name not in node:
                    break
                node = node[name]
            else:
                return _resolve(node, parts, where, depth + 1, left)
        # OmegaConf interpolates strings, and explains errors
        referable = {
            name: part for name, part in parts.items() if name not in ELSEWHERE
        }
        check_references(referable, "config")
        return _by_omegaconf(referable, value)
    is_finite = not isinstance(value, float) or math.isfinite(value)
    if not is_finite or not isinstance(value, str | int | float | None):
        step = "." if is_finite else "; write 1e300 or -1e300 for an infinite one."
        raise ValueError(
            f"{where}: expected a string, a finite number, true, false or null, got {value!r:.80}{step}"
        )
    return value


def executor_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the executor of a config with resolved references."""
    executor: dict[str, Any] = _by_omegaconf(config, config["executor"])
    settings = executor_file(executor.get("name", ""))
    for name in executor:
        if settings and name not in settings:
            raise ValueError(f"executor: {unknown_setting('executor', name, settings)}")
    return executor


def results_folder(config: Mapping[str, Any]) -> Path:
    """Return the folder of the store, tables and figures of a config."""
    return Path(str(_by_omegaconf(config, config["results"])))


def _by_omegaconf(parts: Mapping[str, Any], value: Any) -> Any:
    """Return a value with references resolved by OmegaConf."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        whole: Any = OmegaConf.create({**parts, "_": value})
        plain = whole["_"]
        return (
            OmegaConf.to_container(plain, resolve=True)
            if OmegaConf.is_config(plain)
            else plain
        )
    except OmegaConfBaseException as error:
        raise ValueError(
            f"config: expected references to existing settings, got {value!r:.80}: "
            f"{str(error).splitlines()[0]}; correct it."
        ) from None


# ---- files


class _Loader(SAFE_LOADER):
    """OmegaConf's YAML rules by libyaml, ten times faster: 1e-3 is a number; no dates, no repeated keys."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise yaml.constructor.ConstructorError(
                None, None, f"duplicate key {twice!s:.80}", node.start_mark
            )
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


TIMESTAMP = "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    first: list(filter(lambda resolver: resolver[0] != TIMESTAMP, resolvers))
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?\d+(?:\.\d*)?[eE][-+]?\d+$"),
    [*"-+0123456789"],
)


def read_config(group: str, path: Path) -> Parts:
    """Return the content of a member of a group, or of a main config if `group` is "".

    Raises
    ------
    ValueError
        If a file is not a mapping, is too large, or is based on other files than those
        of conf/. The message names the file.
    """
    return _read_at(group, path, file_state(path))


@lru_cache(maxsize=1024)
def _read_at(group: str, path: Path, state: object) -> Parts:
    """Return the content of a file, which is reread when it has changed."""
    try:
        content = parse_yaml(
            read_text(path), loader=_Loader, max_values=MAX_CONFIG_VALUES
        )
    except ValueError as error:
        raise ValueError(
            f"{path}: expected a readable config, got an error: {error}; correct it."
        ) from error
    content = {} if content is None else content
    if not isinstance(content, dict):
        raise ValueError(
            f"{path}: expected a mapping of names to values, got {content!r:.80}; see conf/."
        )
    if not path.is_relative_to(package_conf()):
        _check_defaults(path, group, content.get("defaults", []))
    return content


def _check_defaults(path: Path, group: str, defaults: Any) -> None:
    """Raise if the defaults of a project's file name anything but files of conf/."""
    package = "@_global_.{}" if group else ""
    own = {f"override /{member}" + package.format(member) for member in GROUPS}
    for item in defaults if isinstance(defaults, list) else [defaults]:
        names = [item] if group or item == "_self_" else [None]
        if isinstance(item, dict) and item.keys() <= own:
            names = [*item.values()]
        if not all(isinstance(name, str) and _MEMBER.fullmatch(name) for name in names):
            form = (
                f"names of files of conf/{group}"
                if group
                else "items such as 'override /selector: leverage'"
            )
            raise ValueError(
                f"{path}: defaults: expected {form}, got {item!r:.80}; correct it."
            )
