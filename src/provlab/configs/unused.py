"""Settings that nothing takes: an artefact would be computed without them, and nobody would see it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from provlab.messages import nearest
from provlab.project.components import UNSET


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


def check_agreement(name: str, parts: Mapping[str, Sequence[str]]) -> None:
    """Refuse a setting to which two of a data set, a row and a column give different values: one would not show.

    A row leaves a value to the columns by `UNSET`; one that the column does not give is refused as well.

    Parameters
    ----------
    name : str
        Of the artefact, for messages.
    parts : mapping
        Overrides by what gives them, such as "row 'BSS'".

    Raises
    ------
    ValueError
        Names the setting and the places.
    """
    found: dict[str, tuple[str, str]] = {}
    for part, overrides in parts.items():
        for key, text in {setting(text): text for text in overrides if _value(text) != UNSET}.items():
            where, other = found.setdefault(key, (part, text))
            if _value(other) != _value(text):
                raise ValueError(
                    f"{name}: expected {key} from one place, got {other!r:.120} of {where} and {text!r:.120} of "
                    f'{part}; leave one out, or write "+{key}={UNSET}" in the first.'
                )
    for part, text in ((part, text) for part, overrides in parts.items() for text in overrides):
        if setting(text) not in found:
            raise ValueError(
                f"{name}: expected {setting(text)} of {[*parts][-1]}, got {text!r:.120} of {part} only; set it."
            )


def check_sizes(
    name: str, row: str, overrides: Sequence[str], columns: Mapping[str, Sequence[str]], fits: Collection[str]
) -> None:
    """Refuse a row that has another name for a number that columns differ in, and the number of one of them in all.

    Parameters
    ----------
    name, row : str
        Of the artefact and the row, for messages.
    overrides : sequence of str
        The row's.
    columns : mapping
        Overrides of each column.
    fits : collection of str
        Those of them that the row has.

    Raises
    ------
    ValueError
        Names the row's setting and the column's, and what to write.
    """
    followed = {setting(text).split(".")[0] for text in fits}
    given: dict[str, dict[str, str]] = {}
    for column, texts in columns.items():
        for text in texts:
            given.setdefault(setting(text), {}).setdefault(_value(text), column)
    own = {setting(text): text for text in overrides if _value(text).isdecimal() and setting(text).count(".") == 1}
    for (key, text), (other, named) in itertools.product(own.items(), given.items()):
        group, value = key.split(".")[0], _value(text)
        if other.split(".")[0] == group and group not in followed and len(named) > 1 and value in named:
            raise ValueError(
                f"{name}: expected row {row!r:.80} to follow the columns, got {text!r:.120} under each, while column "
                f'{named[value]!r:.80} has {other}={value}, which the row does not take; write "+{key}={UNSET}" '
                f"in the row and {key}={value} in that column. Another number stands in conf/{group}/NAME.yaml."
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


def _value(override: str) -> str:
    """Return the text of the value that an override gives."""
    return override.partition("=")[2].strip()


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
