"""Settings that nothing takes: an artefact would be computed without them, and nobody would see it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from provlab.nearest import nearest


def check_columns(
    name: str,
    columns: Mapping[str, Sequence[str]],
    rows: Sequence[Mapping[str, Any]],
    applies: Callable[[str, Any], bool],
) -> None:
    """Refuse a setting of a column that no row has.

    Parameters
    ----------
    name : str
        Of the artefact, for messages.
    columns : mapping
        Overrides of each column.
    rows : sequence of mapping
        Each row composed without a column.
    applies : callable
        Tells of an override and a row whether the row has it.

    Raises
    ------
    ValueError
        Names the override and the nearest setting.
    """
    for column, overrides in columns.items():
        chosen = chosen_groups(overrides)  # what the column brings itself is Hydra's to check
        for text in overrides:
            key = setting(text)
            group = key.split(".")[0]
            if group not in chosen and not any(applies(text, row) for row in rows):
                known = sorted({path for row in rows for path in _settings(row[group], group)})
                raise ValueError(
                    f"{name}: expected a setting that some row has, of {', '.join(known) or 'none'}, got {text!r:.120} "
                    f"in column {column!r:.80}, which no row takes; {_nearest(key, known)}."
                )


def check_users(name: str, overrides: Sequence[str], taken: Collection[str]) -> None:
    """Refuse a setting of the user that rows and columns replace wherever it would stand.

    Parameters
    ----------
    name : str
        Of the artefact, for messages.
    overrides : sequence of str
        The user's.
    taken : collection of str
        Those of them that some entry takes, see `kept`.

    Raises
    ------
    ValueError
        Names the override and how to change what replaces it.
    """
    lost = [text for text in overrides if text not in taken]
    if lost:
        raise ValueError(
            f"{name}: expected settings that some entry takes, got {lost[0]!r:.120}, but the data set, row or column "
            f"of each sets {setting(lost[0])} itself; leave it out, or change artefact.rows or artefact.columns."
        )


def kept(overrides: Iterable[str], later: Sequence[str]) -> set[str]:
    """Return the overrides that those which come later do not replace, or by the same: that is what the user wanted."""
    replaced = {*map(setting, later)}
    return {text for text in overrides if text in later or setting(text) not in replaced}


def check_names(where: str, found: Iterable[Any], known: Sequence[str]) -> None:
    """Refuse names that nothing reads.

    Raises
    ------
    ValueError
        Names the first, and the nearest known one.
    """
    for name in map(str, found):
        if name not in known:
            raise ValueError(f"{where}: expected {', '.join(known)}, got {name!r:.80}; {_nearest(name, known)}.")


def chosen_groups(overrides: Iterable[str]) -> set[str]:
    """Return the groups of which some overrides choose another member."""
    return {key for key in map(setting, overrides) if "." not in key}


def setting(override: str) -> str:
    """Return the key that an override changes."""
    return override.split("=", 1)[0].lstrip("+~")


def _settings(part: Any, where: str) -> Iterator[str]:
    """Yield the keys of all settings of a part of a config, nested ones as well."""
    if isinstance(part, Mapping):
        for name in part:
            if name != "_target_":
                yield f"{where}.{name!s}"
                yield from _settings(part[name], f"{where}.{name!s}")


def _nearest(name: str, known: Iterable[str]) -> str:
    by_end = {path.split(".", 1)[-1]: path for path in known}  # a group in common makes nothing near
    found = nearest(name.split(".", 1)[-1], by_end)
    return f"the nearest is {by_end[found]}" if found else "leave it out"
