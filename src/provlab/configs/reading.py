"""Files of configs, read within limits and before Hydra sees them: what a file says goes to its own group alone.

Hydra makes any object, and writes any file, that the node `hydra` of a config names. A file can reach it by a key,
by a package header, or by its defaults list. So a file of a project has none of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from provlab.configs.plain import ELSEWHERE, MAX_VALUES, check_parts, is_of_hydra
from provlab.documents import SAFE_LOADER, parse_yaml, read_text
from provlab.project import package_conf

_HEADER = re.compile(r"[\s\ufeff#]*#[\s#]*@\s*package\b[\s:=]*(.*)")
_MEMBER = re.compile(r"(?:(?:optional|override) )*/?[\w-][\w.-]*(?:/[\w-][\w.-]*)*")
"""Of a defaults list: a name below conf/, without a package of its own."""


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


def read_config(group: str, path: Path) -> dict[str, Any]:
    """Return the content of a member of a group, or of a config of all groups, where that is "".

    Raises
    ------
    ValueError
        Names the file: no mapping, too large, or a file of a project that changes more than its group.
    """
    return _read_at(group, path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def _read_at(group: str, path: Path, changed: int) -> dict[str, Any]:
    """Return a file's content, read again when it has changed: a process composes thousands of configs."""
    try:
        text = read_text(path)
        content = parse_yaml(text, loader=_Loader, max_values=MAX_VALUES)
    except ValueError as error:
        raise ValueError(f"{path}: expected a config, got one that cannot be read: {error}; correct it.") from error
    content = {} if content is None else content
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected a mapping of names to values, got {content!r:.80}; see conf/.")
    if not path.is_relative_to(package_conf()):
        _check_own(path, group or "_global_", text, content)
    if group not in ELSEWHERE:
        check_parts({group: content} if group else content)
    return content


def _check_own(path: Path, package: str, text: str, content: Mapping[str, Any]) -> None:
    """Refuse what would change other parts of a config than those that a file is for."""
    advice = "only provsel's own configs say what Hydra does; leave it out"
    for header in filter(None, map(_HEADER.match, text.splitlines())):
        if header[1].strip() != package:
            raise ValueError(
                f"{path}: expected no package header but {package}, got {header[0].strip()!r:.80}; {advice}."
            )
    for key in _keys(content):
        if is_of_hydra(key):
            raise ValueError(f"{path}: expected no key hydra, got {key!r:.80}; {advice}.")
    defaults = content.get("defaults", [])
    for name in _members(defaults if isinstance(defaults, list) else [defaults]):
        if not isinstance(name, str) or not _MEMBER.fullmatch(name) or is_of_hydra(name.split(" ")[-1]):
            raise ValueError(
                f"{path}: defaults: expected names of files of conf/ such as /dataset/digits, got {name!r:.80}; "
                f"{advice}."
            )


def _keys(value: Any) -> Iterator[str]:
    """Yield the keys of a value, of inner ones as well, that are texts."""
    if isinstance(value, Mapping):
        yield from (key for key in value if isinstance(key, str))
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for each in inner:
        yield from _keys(each)


def _members(defaults: list[Any]) -> Iterator[Any]:
    """Yield the groups and the members that a defaults list names."""
    for item in defaults:
        for group, chosen in item.items() if isinstance(item, Mapping) else [(item, None)]:
            yield group
            yield from chosen if isinstance(chosen, list) else [chosen] if chosen is not None else []
