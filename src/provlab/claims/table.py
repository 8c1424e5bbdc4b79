"""A table of results that provsel did not compute, and what its columns are.

Claims are checked on any CSV, TSV or Parquet file once somebody says which column is what: in the section `results` of
the file of claims, or by `--column ROLE=NAME`, which goes before.

```yaml
results:
  row: classifier          # what the claims call rows: a column, or several, whose values are joined by ", "
  column: n_features       # what they call columns; without it there is one, called `error` or `score`
  artefact: table          # only where the file holds several
  dataset: dataset         # without it all results are of one data set
  fold: fold               # also repeat and draw; without them, one line a data set
  score: accuracy          # or `error: ...`, where less is better
  unit: share              # from 0 to 1 (default; reported in points); percent; or the name of another unit
  n_train: 90              # rows, a number or a column: tests over folds need both
  n_test: 10
  seconds: fit_time        # and columns of records by their names, such as n_selected
```
Results that stand beside each other, one column a method or fold, are named by a pattern or a list, and the role that
these columns differ in is `"*"`: what the star stands for, or the columns' names.

```yaml
results: {row: param_select, fold: "*", score: split*_test_score}      # cv_results_ of scikit-learn
results: {dataset: Name, row: "*", error: [ED, DTW]}                   # a data set a line, a classifier a column
```
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provlab.claims.decisions import POINTS
from provlab.claims.table_file import Columns, numbers, read_columns, texts
from provlab.messages import did_you_mean
from provlab.plan.composition import MAX_COUNT
from provlab.store import SCHEMA

PLACES = ("artefact", "row", "column")
LEVELS = ("repeat", "fold", "draw")
MEASURES = ("error", "score")
ROLES = (*PLACES, "dataset", *LEVELS, *MEASURES, "unit", "n_train", "n_test", "seconds")

STAR = "*"
UNITS = {"share": (100.0, 1.0), "percent": (1.0, 100.0)}
"""Factor to percentage points, and the most that a value can be."""


@dataclass(frozen=True)
class ResultTable:
    """Results of methods, a line each.

    Attributes
    ----------
    path : Path
    places : dict
        Of `PLACES` and dataset: a name a line.
    levels : dict
        Of `LEVELS`: a number a line, shape (n_lines,).
    error : ndarray of shape (n_lines,)
        Less is better; NaN where there is none.
    scale : float
        From `error` to `unit`.
    unit : str
    named : tuple of str
        Roles that the user gave.
    """

    path: Path
    places: dict[str, NDArray[np.str_]]
    levels: dict[str, NDArray[np.int64]]
    error: NDArray[np.float64]
    scale: float
    unit: str
    named: tuple[str, ...]
    _file: Columns
    _roles: Mapping[str, Any]
    _line: NDArray[np.int64]

    @classmethod
    def read(cls, path: Path, roles: Mapping[str, Any]) -> ResultTable:
        """Read a table.

        Parameters
        ----------
        path : Path
            See `read_columns`.
        roles : mapping
            What its columns are, see the head of this module.

        Raises
        ------
        ValueError
            A role or column that is not there, values of the wrong kind, or the same result twice.
        """
        file = read_columns(path)
        measure = _checked(path, roles, file)
        labels, values = _measured(path, file, roles, measure)
        n, k = values.shape
        line = np.repeat(np.arange(n), k)
        starred = {role: np.array(labels * n, dtype=str) for role, name in roles.items() if name == STAR}
        places = {}
        for role in (*PLACES, "dataset"):
            if role in starred:
                places[role] = starred[role]
            elif role in roles:
                places[role] = _joined(path, file, role, roles[role])[line]
            else:
                places[role] = np.full(line.size, measure if role == "column" else "")
        levels = {role: starred[role] if role in starred else _level(path, file, role, roles)[line] for role in LEVELS}
        counted = {role: _codes(found) for role, found in levels.items()}
        error, scale, unit = _as_error(path, values.ravel(), measure, str(roles.get("unit", "share")))
        made = cls(path, places, counted, error, scale, unit, tuple(roles), file, roles, line)
        made._check_once()
        return made

    def names(self, artefact: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return rows and columns of an artefact: see `provlab.claims.schema.Layout`."""
        lines = self.of(artefact)
        if not lines.any():
            known = dict.fromkeys(self.places["artefact"].tolist())
            raise ValueError(f"artefact: expected one of {', '.join(known)} in {self.path}, got {artefact!r:.80}.")
        return tuple(dict.fromkeys(self.places["row"][lines].tolist())), tuple(
            dict.fromkeys(self.places["column"][lines].tolist())
        )

    def datasets(self, artefact: str) -> dict[str, Sequence[str]]:
        """Return the data sets of an artefact, and the columns of each."""
        lines = self.of(artefact)
        names, columns = (self.places[role][lines] for role in ("dataset", "column"))
        return {name: tuple(dict.fromkeys(columns[names == name].tolist())) for name in dict.fromkeys(names.tolist())}

    def of(self, artefact: str) -> NDArray[np.bool_]:
        """Return which lines are of an artefact: all, where the table does not tell artefacts apart."""
        return self.places["artefact"] == artefact if "artefact" in self.named else np.ones(self.error.size, dtype=bool)

    def has(self, name: str) -> bool:
        """Return whether there is such a column of records, by role or by its own name."""
        return name in self.named or name in self._file

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers by its role or its own name, or the number that was given for it."""
        source = self._roles.get(name, name)
        if isinstance(source, int | float):
            return np.full(self.error.size, float(source))
        return numbers(self.path, source, self._file[source])[self._line]

    def texts(self, name: str) -> list[str]:
        """Return a column of names by its role or its own name."""
        source = self._roles.get(name, name)
        found = texts(self.path, source, self._file[source])
        return [found[k] for k in self._line.tolist()]

    def _check_once(self) -> None:
        """Check that no result is there twice, which would count a fold or data set double."""
        seen: dict[tuple[Any, ...], int] = {}
        parts = [found.tolist() for found in (*self.places.values(), *self.levels.values())]
        for place, line in zip(zip(*parts, strict=True), self._line.tolist(), strict=True):
            first = seen.setdefault(place, line)
            if first != line:
                said = ", ".join(f"{role} {name}" for role, name in zip(self.places, place, strict=False) if name)
                open_roles = [role for role in ("dataset", "fold", "repeat", "draw") if role not in self.named]
                hint = (
                    f"say which column tells them apart: --column {open_roles[0]}=NAME"
                    if open_roles
                    else "leave one out"
                )
                raise ValueError(
                    f"{self.path}: expected each result once, got two of {said}, in lines {first + 1} and {line + 1}; "
                    f"{hint}."
                )


def _checked(path: Path, roles: Mapping[str, Any], file: Columns) -> str:
    """Return the role of the measure, error or score, after checking that the roles fit each other and the file."""
    records = [field.name for field in SCHEMA if field.name not in ROLES]
    for role, name in roles.items():
        if role not in ROLES and role not in records:
            raise ValueError(
                f"{path}: results: expected roles of {', '.join(ROLES)}, got {role!r:.80}{did_you_mean(role, ROLES)}."
            )
        many = role in MEASURES or role == "row"
        if isinstance(name, bool) or not isinstance(name, str | int | float | (list if many else str)):
            raise ValueError(f"{path}: results: {role}: expected the name of a column, got {name!r:.80}.")
        if isinstance(name, int | float) and role not in ("n_train", "n_test"):
            raise ValueError(f"{path}: results: {role}: expected the name of a column, got {name!r:.80}; quote it.")
        for each in name if isinstance(name, list) else [name]:
            if isinstance(each, str) and STAR not in each and role != "unit" and each not in file:
                raise ValueError(
                    f"{path}: results: {role}: expected a column of {', '.join(file)}, got {each!r:.80}"
                    f"{did_you_mean(each, file)}."
                )
    found = [role for role in MEASURES if role in roles]
    if len(found) != 1 or "row" not in roles:
        raise ValueError(
            f"{path}: results: expected row, and one of error and score, got {', '.join(roles) or 'none'}; say what "
            f"the columns are, {', '.join(file)}: such as --column row={next(iter(file))} --column score=accuracy."
        )
    stars = [role for role, name in roles.items() if name == STAR and role not in MEASURES]
    wide = isinstance(roles[found[0]], list) or STAR in roles[found[0]]
    if wide != (len(stars) == 1) or any(role not in (*PLACES, "dataset", *LEVELS) for role in stars):
        raise ValueError(
            f"{path}: results: {found[0]}: expected one column, or a pattern with * (or a list of columns) and one "
            f"role '*' that says what these columns differ in, got {roles[found[0]]!r:.80} and the roles "
            f"{', '.join(stars) or 'none'} as '*'."
        )
    return found[0]


def _measured(
    path: Path, file: Columns, roles: Mapping[str, Any], measure: str
) -> tuple[list[str], NDArray[np.float64]]:
    """Return what the columns of the measure differ in, and their values, shape (n_lines, n_columns)."""
    stated = roles[measure]
    if isinstance(stated, list):
        chosen = {name: name for name in stated}
    elif STAR in stated:
        before, _, after = stated.partition(STAR)
        pattern = re.compile(f"{re.escape(before)}(.+){re.escape(after)}")
        taken = {name for role, name in roles.items() if role != measure and isinstance(name, str)}
        fits = {name: pattern.fullmatch(name) for name in file if name not in taken}
        chosen = {name: found[1].strip() for name, found in fits.items() if found}
    else:
        chosen = {stated: stated}
    if not chosen:
        raise ValueError(f"{path}: results: {measure}: expected columns like {stated!r}, got {', '.join(file)}.")
    values = [numbers(path, name, file[name]) for name in chosen]
    return [*chosen.values()], np.column_stack(values)


def _joined(path: Path, file: Columns, role: str, names: str | list[str]) -> NDArray[np.str_]:
    parts = [texts(path, name, file[name]) for name in (names if isinstance(names, list) else [names])]
    return np.array([", ".join(each) for each in zip(*parts, strict=True)], dtype=str)


def _level(path: Path, file: Columns, role: str, roles: Mapping[str, Any]) -> NDArray[np.str_]:
    if role not in roles:
        return np.full(len(next(iter(file.values()))), "0")
    return np.array(texts(path, roles[role], file[roles[role]]), dtype=str)


def _codes(names: NDArray[np.str_]) -> NDArray[np.int64]:
    """Return whole numbers as they are, other names as their places in order."""
    if all(name.isdecimal() and int(name) <= MAX_COUNT for name in set(names.tolist())):
        return names.astype(np.int64)
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _as_error(
    path: Path, values: NDArray[np.float64], measure: str, unit: str
) -> tuple[NDArray[np.float64], float, str]:
    """Return values of which less is better, their factor to the unit, and the unit."""
    sign = 1.0 if measure == "error" else -1.0
    if unit not in UNITS:
        return sign * values, 1.0, unit
    scale, most = UNITS[unit]
    outside = values[(values < 0) | (values > most)]
    if outside.size:
        raise ValueError(
            f"{path}: results: {measure}: expected values from 0 to {most:g}, got {outside[0]:g}; say its unit: "
            f"--column unit=percent, or the name of another one."
        )
    return (values if measure == "error" else most - values), scale, POINTS
