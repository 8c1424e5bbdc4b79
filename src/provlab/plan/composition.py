"""Compose the config of a cell: files of conf/, an artefact's file, and overrides.

The rules are Hydra's, and a test compares entries of each artefact with what Hydra composes. Hydra itself is not asked:
it takes a twentieth of a second a config, of which an artefact has hundreds, and it makes any object and writes any
file that a config tells it to. Files of a project may be a stranger's, so they are read here, within limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml

from provlab.datasets import dataset_members, keyed_parameters
from provlab.documents import SAFE_LOADER, parse_yaml, read_text
from provlab.identity.cell import Cell
from provlab.messages import did_you_mean
from provlab.plan.overrides import (
    CELL_GROUPS,
    ELSEWHERE,
    GROUPS,
    MAX_DEPTH,
    MAX_VALUES,
    WHOLE_REFERENCE,
    Override,
    check_names,
    check_plain,
    check_references,
    is_of_hydra,
    nearest_setting,
    parse_override,
)
from provlab.plan.plan import identity_of
from provlab.project import artefact_file, conf_files, package_conf
from provlab.protocols import protocol_named

Parts = dict[str, Any]
"""A config as a plain mapping, references not resolved. Configs share what they have in common: nothing is changed."""

MAX_COUNT = 100_000
"""Of repeats, folds or draws: each trial is listed before the first one is run."""

_HEADER = re.compile(r"[\s\ufeff#]*#[\s#]*@\s*package\b[\s:=]*(.*)")
_MEMBER = re.compile(r"[\w-][\w.-]*")
_OVERRIDE = re.compile(rf"override /({'|'.join(GROUPS)})")


def compose_config(overrides: Sequence[str] = ()) -> Parts:
    """Return the config with some overrides, in Hydra's grammar.

    Raises
    ------
    ValueError
        For what is no config, and for one of a cell that asks the environment.
    """
    return Composer()(overrides)


def executor_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the trials of a config run, with the values that references stand for."""
    found: dict[str, Any] = _by_omegaconf(config, config["executor"])
    return found


def results_folder(config: Mapping[str, Any]) -> Path:
    """Return the folder of the store, tables and figures of a config."""
    return Path(str(_by_omegaconf(config, config["results"])))


class Composer:
    """`compose_config` for many overrides: reads each file once, and merges once what the same files give."""

    def __init__(self) -> None:
        self._main = read_config("", package_conf() / "config.yaml")
        self._files = cache(lambda group: {path.stem: path for path in conf_files(group)})
        self._artefact = cache(lambda name: read_config("", artefact_file(name)))
        self._members: dict[tuple[str, str], Parts] = {}
        self._merged: dict[tuple[Any, ...], Parts] = {}

    def __call__(self, overrides: Sequence[str]) -> Parts:
        """Return the config with some overrides."""
        chosen: dict[str, str] = {}
        experiment, values = "", []
        for override in map(parse_override, overrides):
            [group, *inside] = override.key
            if inside or override.mark == "~" or group not in (*GROUPS, "experiment"):
                values.append(override)
            elif override.mark != ("+" if group == "experiment" else "") or not isinstance(override.value, str):
                form = "+experiment=PAPER/ARTEFACT" if group == "experiment" else f"{group}=NAME"
                raise ValueError(f"override {override.text!r:.80}: expected {form}, a file of conf/ or of a paper.")
            elif group == "experiment":
                if experiment:
                    raise ValueError(f"override {override.text!r:.80}: expected one artefact, got two; leave one out.")
                experiment = override.value
            else:
                chosen[group] = override.value
        parts = self._from_files(experiment, chosen)
        for override in values:
            parts = _changed(parts, override, 0)
        return parts

    def _from_files(self, experiment: str, chosen: Mapping[str, str]) -> Parts:
        place = (experiment, *sorted(chosen.items()))
        if place not in self._merged:
            files = [self._main, *([self._artefact(experiment)] if experiment else [])]
            members = {group: name for file in files for group, name in _defaults(file)}
            parts: Parts = {group: self._member(group, name) for group, name in {**members, **chosen}.items()}
            for file in files:
                parts = _merge(parts, _content(file))
            self._merged[place] = parts
        return self._merged[place]

    def _member(self, group: str, name: str, based: tuple[str, ...] = ()) -> Parts:
        """Return a member of a group, merged over the members of its group that it is based on."""
        if name in based:
            raise ValueError(
                f"{group}: expected files that are not based on themselves, got {name}; mend its defaults."
            )
        if (group, name) not in self._members:
            files = self._files(group)
            if name not in files:
                raise ValueError(
                    f"{group}: expected one of {', '.join(files)}, got {name!r:.80}"
                    + (did_you_mean(name, files) or "; provsel list says what they are.")
                )
            file, content = read_config(group, files[name]), Parts()
            bases = file.get("defaults", [])
            for base in bases if "_self_" in bases else [*bases, "_self_"]:
                own = _content(file) if base == "_self_" else self._member(group, base, (*based, name))
                content = _merge(content, own)
            self._members[group, name] = content
        return self._members[group, name]


def _defaults(file: Parts) -> Iterator[tuple[str, str]]:
    """Yield the groups of which a config of all groups chooses a member."""
    for item in file.get("defaults", []):
        for key, name in item.items() if isinstance(item, dict) else ():
            group = key.removeprefix("override /")
            if group in GROUPS:
                yield group, name


def _content(file: Parts) -> Parts:
    return {name: value for name, value in file.items() if name not in ("defaults", "hydra")}


def _merge(below: Parts, above: Parts) -> Parts:
    both = dict(below)
    for name, value in above.items():
        old = both.get(name)
        both[name] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both


def _changed(node: Any, override: Override, depth: int) -> Parts:
    """Return a part of a config with one change; the part itself stays as it is."""
    mark, key, value = override.mark, override.key, override.value
    name, where = key[depth], ".".join(key)
    there = isinstance(node, dict) and name in node
    if not isinstance(node, dict) or (not there and mark in ("", "~")):
        known = [".".join([*key[:depth], str(each)]) for each in node] if isinstance(node, dict) else []
        more = f"; to add it, write +{override.text.lstrip('+~')}" if mark == "" else ""
        raise ValueError(
            f"override {override.text!r:.80}: expected a setting that there is, got {where:.80}; "
            f"{nearest_setting('.'.join(key[: depth + 1]), known)}{more}."
        )
    if depth + 1 < len(key):
        return {**node, name: _changed(node.get(name, {}), override, depth + 1)}
    old = node.get(name)
    if mark == "~":
        if value is not None and value != old:
            raise ValueError(f"override {override.text!r:.80}: expected the value that there is, got {old!r:.80}.")
        return {each: inner for each, inner in node.items() if each != name}
    if mark == "+" and old not in (None, "???") and not isinstance(value, dict | list):
        raise ValueError(
            f"override {override.text!r:.80}: expected a setting that is not there yet, got {where}, which is "
            f"{old!r:.80}; write {override.text.lstrip('+')}."
        )
    return {**node, name: _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value}


def resolved(parts: Parts, names: Sequence[str] = CELL_GROUPS) -> dict[str, Any]:
    """Return some parts, those of a cell, with the values that references stand for; these are of `KNOWN` parts."""
    return {name: _resolved(parts.get(name), parts, name, 0) for name in names}


def _resolved(value: Any, parts: Parts, where: str, depth: int) -> Any:
    if isinstance(value, dict):
        return {name: _resolved(inner, parts, f"{where}.{name}", depth) for name, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(inner, parts, where, depth) for inner in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    check_references(value, where)
    reference = WHOLE_REFERENCE.fullmatch(value)
    found: Any = parts
    for name in reference[1].split(".") if reference and depth < MAX_DEPTH else [None]:
        if not isinstance(found, dict) or name not in found:  # OmegaConf puts texts together, and says what is wrong
            known = {name: part for name, part in parts.items() if name not in ELSEWHERE}
            check_references(known, "config")
            return _by_omegaconf(known, value)
        found = found[name]
    return _resolved(found, parts, where, depth + 1)


def _by_omegaconf(parts: Mapping[str, Any], value: Any) -> Any:
    """Return a value with what OmegaConf puts in the place of references, to any place."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        whole: Any = OmegaConf.create({**parts, "_": value})
        plain = whole["_"]
        return OmegaConf.to_container(plain, resolve=True) if OmegaConf.is_config(plain) else plain
    except OmegaConfBaseException as error:
        raise ValueError(
            f"config: expected references to settings that there are, got {value!r:.80}: {error}"
        ) from None


# ---- cells


def cells_of(config: Parts, identify: Callable[[Mapping[str, Any]], str] = identity_of) -> list[Cell]:
    """Return the cells of a composed config: one, or one for each member of a collection of data sets.

    Parameters
    ----------
    config : mapping
    identify : callable, optional
        Gives the identity of a data set's config; no data are loaded.
    """
    check_names("config", config, [*CELL_GROUPS, *ELSEWHERE, "fail_fast", "artefact"])
    parts = resolved(config)
    for group, part in parts.items():
        check_plain(part, group)
    _check_cell_parts(parts)
    parts["protocol"] = protocol_named(parts["protocol"].get("split")).completed(parts["protocol"])
    first, *others = map(_keyed, _datasets(parts.pop("dataset")))
    cell = Cell(dataset=first, data=identify(first), **parts)
    return [cell, *(cell.on(dataset, identify(dataset)) for dataset in others)]


def _keyed(dataset: dict[str, Any]) -> dict[str, Any]:
    name = dataset.pop("name")
    return {"name": name, **keyed_parameters(name, **dataset)}


def _check_cell_parts(parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Check what is needed to make cells of the parts; `Cell` and the loader check the rest."""
    dataset, protocol = parts["dataset"], parts["protocol"]
    if not isinstance(dataset.get("name"), str):
        raise ValueError(f"dataset.name: expected a text, got {dataset.get('name')!r:.80}; choose with dataset=....")
    chosen = dataset.get("set", "all")
    if not isinstance(chosen, str) and not (isinstance(chosen, list) and all(isinstance(name, str) for name in chosen)):
        raise ValueError(f"dataset.set: expected a name, all, or a list of names, got {chosen!r:.80}.")
    for name in ("repeats", "n_splits", "draws"):
        number = protocol.get(name)
        if isinstance(number, int | float) and number > MAX_COUNT:
            raise ValueError(f"protocol.{name}: expected at most {MAX_COUNT}, got {number!r:.80}; lower it.")


def _datasets(dataset: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the data sets of a config: itself, or the members of a collection that it names."""
    chosen: Any = dataset.get("set")
    if "set" not in dataset or (isinstance(chosen, str) and chosen != "all"):
        yield dict(dataset)
        return
    names = dataset_members(dataset["name"]) if chosen == "all" else list(chosen)
    if not names:  # the loader says what it takes
        yield dict(dataset)
    for name in names:
        yield {**dataset, "set": name}


# ---- files


class _Loader(SAFE_LOADER):
    """OmegaConf's reader, ten times faster: libyaml's, with 1e-3 as a number, no dates, and each key once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise yaml.constructor.ConstructorError(None, None, f"duplicate key {twice!s:.80}", node.start_mark)
        found: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return found


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag != "tag:yaml.org,2002:timestamp"]
    for first, forms in _Loader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(?:\.\d*)?[eE][-+]?\d+$"), [*"-+0123456789"]
)


def read_config(group: str, path: Path) -> Parts:
    """Return the content of a member of a group, or of a config of all groups, where that is "".

    Raises
    ------
    ValueError
        Names the file: no mapping, too large, or it speaks to Hydra, by a key, a package header or its defaults.
    """
    return _read_at(group, path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def _read_at(group: str, path: Path, changed: int) -> Parts:
    """Return a file's content, read again when it has changed."""
    try:
        text = read_text(path)
        content = parse_yaml(text, loader=_Loader, max_values=MAX_VALUES)
    except ValueError as error:
        raise ValueError(f"{path}: expected a config, got one that cannot be read: {error}; correct it.") from error
    content = {} if content is None else content
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected a mapping of names to values, got {content!r:.80}; see conf/.")
    if not path.is_relative_to(package_conf()):
        _check_own(path, group, text, content)
    for name, part in content.items() if group not in ELSEWHERE else ():
        if group or name not in (*ELSEWHERE, "hydra"):
            check_references(part, f"{group}.{name}".lstrip("."))
    return content


def _check_own(path: Path, group: str, text: str, content: Parts) -> None:
    """Refuse a file of a project that would mean something else, or more, to Hydra."""
    advice = "only provsel's own configs say what Hydra does; leave it out"
    package = group or "_global_"
    for header in filter(None, map(_HEADER.match, text.splitlines())):
        if header[1].strip() != package:
            raise ValueError(
                f"{path}: expected no package header but {package}, got {header[0].strip()!r:.80}; {advice}."
            )
    for key in _keys(content):
        if is_of_hydra(key):
            raise ValueError(f"{path}: expected no key hydra, got {key!r:.80}; {advice}.")
    defaults = content.get("defaults", [])
    for item in defaults if isinstance(defaults, list) else [defaults]:
        of_groups = not group and isinstance(item, dict) and all(_OVERRIDE.fullmatch(str(key)) for key in item)
        names = [*item.values()] if of_groups else [item] if group or item == "_self_" else [None]
        if not all(isinstance(name, str) and _MEMBER.fullmatch(name) for name in names):
            form = f"names of files of conf/{group}" if group else "items such as 'override /selector: leverage'"
            raise ValueError(f"{path}: defaults: expected {form}, got {item!r:.80}; {advice}.")


def _keys(value: Any) -> Iterator[str]:
    """Yield the keys of a value, of inner ones as well, that are texts."""
    if isinstance(value, Mapping):
        yield from (key for key in value if isinstance(key, str))
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for each in inner:
        yield from _keys(each)
