"""Compose the config of a cell from overrides: by Hydra, or, for what rows and columns of artefacts are, without it.

An artefact is hundreds of configs that differ in a few values. Hydra takes a twentieth of a second for each, which made
`provsel status` wait 20 seconds; group files and values put together as plain mappings are the same configs (a test
composes every form of their overrides both ways) in a thousandth of the time. What is not plain, such as another
kind of override or a mistake, goes to Hydra, which does it or says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from provlab.configs.grammar import WHOLE_REFERENCE, NotPlain, Override, parsed_override
from provlab.configs.plain import CELL_GROUPS, MAX_DEPTH, check_overrides, check_parts
from provlab.configs.reading import read_config
from provlab.project import artefact_file, conf_file, package_conf

Parts = dict[str, Any]
"""A config as a plain mapping, references not resolved. Configs share what they have in common: nothing is changed."""


def compose_config(overrides: Sequence[str] = ()) -> DictConfig:
    """Return the config with some overrides, in Hydra's own grammar.

    Raises
    ------
    ValueError, HydraException, OmegaConfBaseException
        For what is no config, and for one that asks the environment for anything but `ELSEWHERE`.
    """
    from hydra import compose, initialize_config_dir  # half a second that plain parts do without

    from provlab.configs.searching import prepare_hydra

    check_overrides(overrides)
    prepare_hydra(overrides)
    with initialize_config_dir(config_dir=str(package_conf()), version_base="1.3"):
        config = compose("config", overrides=list(overrides))
    check_parts(as_parts(config))
    return config


def executor_settings(config: DictConfig) -> dict[str, Any]:
    """Return where the trials of a config run, as plain values."""
    return cast("dict[str, Any]", OmegaConf.to_container(config.executor, resolve=True))


def config_errors() -> tuple[type[Exception], ...]:
    """Return what bad settings raise: to be called where something was raised, as Hydra takes a while to import."""
    from hydra.errors import HydraException

    return ValueError, HydraException, OmegaConfBaseException


def compose_parts(overrides: Sequence[str] = ()) -> Parts:
    """Return what `compose_config` returns, as a plain mapping, and much faster where the overrides are plain."""
    return Composer()(overrides)


def as_parts(config: DictConfig) -> Parts:
    """Return a config as a plain mapping, without Hydra's own part."""
    raw: Any = OmegaConf.to_container(config)  # asking for one part of a config may resolve it
    return {name: part for name, part in raw.items() if name != "hydra"}


def resolved(parts: Parts, names: Sequence[str] = CELL_GROUPS) -> dict[str, Any]:
    """Return some parts, those of a cell, with the values that references stand for."""
    return {name: _resolved(parts[name], parts, 0) for name in names}


def _resolved(value: Any, parts: Parts, depth: int) -> Any:
    if isinstance(value, dict):
        return {name: _resolved(inner, parts, depth) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(inner, parts, depth) for inner in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    reference = WHOLE_REFERENCE.fullmatch(value)
    found: Any = parts
    for name in reference[1].split(".") if reference and depth < MAX_DEPTH else [None]:
        if not isinstance(found, dict) or name not in found:  # OmegaConf puts texts together, and says what is wrong
            whole: Any = OmegaConf.to_container(OmegaConf.create({**parts, "_": value}), resolve=True)
            return whole["_"]
        found = found[name]
    return _resolved(found, parts, depth + 1)


class Composer:
    """`compose_parts` for many overrides: reads each file once, and merges once what the same files give."""

    def __init__(self) -> None:
        self._main = package_conf() / "config.yaml"
        self._files: dict[Path, Parts] = {}
        self._find, self._artefact = cache(conf_file), cache(artefact_file)
        self._merged: dict[tuple[Any, ...], Parts] = {}

    def __call__(self, overrides: Sequence[str]) -> Parts:
        """Return the config with some overrides."""
        check_overrides(overrides)
        try:
            return self._plain(overrides)
        except NotPlain:
            return as_parts(compose_config(overrides))

    def _plain(self, overrides: Sequence[str]) -> Parts:
        chosen, experiment = _defaults(self._read("", self._main)), None
        members, values = {}, []
        for override in map(parsed_override, overrides):
            [group, *inside] = override.key
            if inside or group in ("results", "fail_fast"):
                values.append(override)
            elif group in chosen and not override.adds:
                members[group] = str(override.value)
            elif group == "experiment" and override.adds and experiment is None:
                experiment = str(override.value)
            else:
                raise NotPlain
        parts = self._from_files(chosen, experiment, members)
        for override in values:
            parts = _with(parts, override.key, override)
        return parts

    def _from_files(self, chosen: dict[str, str], experiment: str | None, members: dict[str, str]) -> Parts:
        place = (experiment, *members.items())
        if place not in self._merged:
            above = [self._read("", self._main)]
            if experiment is not None:
                above.append(self._read("", self._artefact(experiment)))
                chosen = {**chosen, **_overridden(above[-1])}
            parts: Parts = {group: self._member(group, name) for group, name in {**chosen, **members}.items()}
            for file in above:
                parts = _merged(parts, _content(file))
            self._merged[place] = parts
        return self._merged[place]

    def _member(self, group: str, name: str) -> Parts:
        """Return a member of a group, merged over the members of its group that it is based on."""
        file = self._read(group, self._find(group, name))
        content: Parts = {}
        for base in file.get("defaults", []):
            if not isinstance(base, str) or base == "_self_":
                raise NotPlain
            content = _merged(content, self._member(group, base))
        return _merged(content, _content(file))

    def _read(self, group: str, path: Path | None) -> Parts:
        if path is None:
            raise NotPlain
        if path not in self._files:
            self._files[path] = read_config(group, path)
        return self._files[path]


def _with(node: Any, path: tuple[str, ...], override: Override) -> Parts:
    """Return a mapping with one value changed, or added where the override adds; what it was stays as it is."""
    name, rest = path[0], path[1:]
    if not isinstance(node, dict):
        raise NotPlain
    if rest and name in node:
        return {**node, name: _with(node[name], rest, override)}
    if rest or (name in node) == override.adds or isinstance(node.get(name), dict):  # Hydra merges mappings
        raise NotPlain
    return {**node, name: override.value}


def _defaults(file: Parts) -> dict[str, str]:
    """Return the member of each group that the main config chooses."""
    return {
        group: option
        for item in file.get("defaults", [])
        if isinstance(item, dict)
        for group, option in item.items()
        if not group.startswith("override ")
    }


def _overridden(file: Parts) -> dict[str, str]:
    """Return the members of groups that an experiment chooses."""
    chosen = {}
    for item in file.get("defaults", []):
        [(key, option)] = item.items() if isinstance(item, dict) else [("", "")]
        if not key.startswith("override /") or "/" in key.removeprefix("override /"):
            raise NotPlain
        chosen[key.removeprefix("override /")] = option
    return chosen


def _content(file: Parts) -> Parts:
    return {name: value for name, value in file.items() if name not in ("defaults", "hydra")}


def _merged(below: Parts, above: Parts) -> Parts:
    both = dict(below)
    for name, value in above.items():
        old = both.get(name)
        both[name] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both
