"""A table of results that provsel did not compute: what its columns are, and the evidence that it gives.

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

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.claims.evidence import (
    POINTS,
    AbstractEvidence,
    Floats,
    Ints,
    Place,
    Rows,
    Sample,
    Selections,
    UnavailableError,
)
from provlab.claims.schema import load_claims, stated_results
from provlab.claims.verdicts import RankingResult, Verdict, judge_files
from provlab.frames import TIMES
from provlab.messages import did_you_mean
from provlab.plan import MAX_COUNT, Entry
from provlab.store import SCHEMA
from provsel.streams.sources import DAMAGED

PLACES = ("artefact", "row", "column")
LEVELS = ("repeat", "fold", "draw")
MEASURES = ("error", "score")
ROLES = (*PLACES, "dataset", *LEVELS, *MEASURES, "unit", "n_train", "n_test", "seconds")
STAR = "*"

UNITS = {"share": (100.0, 1.0), "percent": (1.0, 100.0)}
"""Factor to percentage points, and the most that a value can be."""

SEPARATORS = {".csv": ",", ".tsv": "\t"}
FORMATS = (*SEPARATORS, ".parquet")

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""Texts that stand for no number, in any case of letters."""

FIELD_LIMIT = 1_000_000
"""Letters of one cell; more is no table of results."""

Columns = dict[str, list[Any]]


def judge_table(results: Path, claims: Path, roles: Mapping[str, Any]) -> tuple[list[Verdict], list[RankingResult]]:
    """Judge a file of claims on a table of results, of any origin.

    Parameters
    ----------
    results : Path
        CSV, TSV or Parquet.
    claims : Path
    roles : mapping
        What the columns are, beside and before what the file of claims says: see the head of this module.

    Raises
    ------
    ValueError
        When either file is not as it should be, or they do not fit each other.
    """
    table = TableEvidence(results, {**stated_results(claims), **roles})
    file = load_claims(claims, table.layout, table.datasets)
    about = {place[0] for claim in file.claims for place in claim.rule.places(claim.rule.columns)}
    if len(about) > 1 and "artefact" not in table.roles:
        raise ValueError(
            f"{claims}: expected claims about one artefact, as {results} does not tell several apart, got "
            f"{', '.join(sorted(about))}; name the column that does: --column artefact=NAME."
        )
    return judge_files([file], table)


class TableEvidence(AbstractEvidence):
    """Results of a table: what `provsel verify --results FILE` judges.

    What should be there is what any row of an artefact's column has: each data set and fold.

    Parameters
    ----------
    path : Path
        .csv or .tsv, UTF-8, with names in the first line; or .parquet.
    roles : mapping
        What its columns are, see the head of this module.

    Attributes
    ----------
    lines : DataFrame
        A result a line: `PLACES`, `dataset`, `LEVELS`, `error`, of which less is better, and `line` of the file.

    Raises
    ------
    ValueError
        A damaged file, a role or column that is not there, values of the wrong kind, or the same result twice.
    """

    def __init__(self, path: Path, roles: Mapping[str, Any]) -> None:
        self.path, self.roles = path, dict(roles)
        self._file = _read_columns(path)
        measure = self._checked_measure()
        labels, values = self._measured(measure)
        n, k = values.shape
        line = np.repeat(np.arange(n), k)
        lines = {}
        for role in (*PLACES, "dataset", *LEVELS):
            if roles.get(role) == STAR:
                found = np.array(labels * n, dtype=str)
            elif role in roles:
                names = roles[role] if isinstance(roles[role], list) else [roles[role]]
                parts = zip(*(_texts(path, name, self._file[name]) for name in names), strict=True)
                found = np.array([", ".join(each) for each in parts], dtype=str)[line]
            else:
                found = np.full(line.size, measure if role == "column" else "0" if role in LEVELS else "")
            lines[role] = _codes(found) if role in LEVELS else found.astype(object)
        error, scale, unit = self._as_error(values.ravel(), measure)
        super().__init__(scale=scale, unit=unit)
        self.lines = pd.DataFrame({**lines, "error": error, "line": line})
        self._check_once()
        names, which = np.unique(self.lines["dataset"].to_numpy(str), return_inverse=True)
        self._datasets, self._which = tuple(names.tolist()), which.astype(np.int64)

    def layout(self, artefact: str) -> tuple[Sequence[str], Sequence[str]]:
        """Return rows and columns of an artefact."""
        lines = self.lines[self._of(artefact)]
        if lines.empty:
            known = ", ".join(self.lines["artefact"].unique())
            raise ValueError(f"artefact: expected one of {known} in {self.path}, got {artefact!r:.80}.")
        return tuple(lines["row"].unique()), tuple(lines["column"].unique())

    def datasets(self, artefact: str) -> dict[str, Sequence[str]]:
        """Return the data sets of an artefact, and the columns of each."""
        groups = self.lines[self._of(artefact)].groupby("dataset", sort=False)["column"]
        return {str(name): tuple(columns.unique()) for name, columns in groups}

    def column(self, name: str) -> Floats:
        """See the base class; its role goes before its own name.

        Raises
        ------
        ValueError
            When the table has no such column.
        """
        if name in ("error", *LEVELS):
            return self.lines[name].to_numpy(float)
        if name == "pass_cpu" and self._has("seconds"):
            name = "seconds"
        if self._has(name):
            source = self.roles.get(name, name)
            if isinstance(source, int | float):
                return np.full(len(self.lines), float(source))
            return _numbers(self.path, source, self._file[source])[self.lines["line"]]
        if name in ("n_train", "n_test") or (name in TIMES and self._has("seconds")):
            return np.full(len(self.lines), np.nan)
        wanted = "seconds" if name in TIMES else name
        raise ValueError(f"{self.path}: expected a column {wanted}, got none; name it: --column {wanted}=NAME.")

    def texts(self, name: str, rows: Ints) -> pd.Series | None:
        """See the base class."""
        if name not in SCHEMA.names or not pa.types.is_string(SCHEMA.field(name).type) or not self._has(name):
            return None
        source = self.roles.get(name, name)
        found = np.array(_texts(self.path, source, self._file[source]), dtype=object)
        return pd.Series(found[self.lines["line"].to_numpy()[rows]], dtype=object)

    def find(self, place: Place) -> Rows:
        """See the base class."""
        artefact, row, column = place
        chosen = self._of(artefact) & (self.lines["row"] == row) & (self.lines["column"] == column)
        rows = np.flatnonzero(chosen & self._on_data_set())
        return Rows(rows, self._datasets, self._which[rows])

    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many data sets and folds have an error, and how many any row of these columns has."""
        found = expected = 0
        for place in places:
            found += len(self.folds(place))
            chosen = self.lines[self._of(place[0]) & (self.lines["column"] == place[2]) & self._on_data_set()]
            expected += len(chosen[["dataset", "repeat", "fold"]].drop_duplicates())
        return found, expected

    def overlap(self, folds: Sample) -> float:
        """See the base class; ValueError when the table has no numbers of rows."""
        try:
            return super().overlap(folds)
        except UnavailableError as error:
            raise ValueError(
                "over: expected the numbers of rows n_train and n_test for a test over folds, which overlap, got none; "
                "name both columns, or give both numbers: --column n_train=90 --column n_test=10."
            ) from error

    def inverse_folds(self, place: Place) -> bool:
        """Return False: a table does not say that training sets are disjoint, and overlap is the careful choice."""
        return False

    def entries(self, place: Place) -> list[Entry]:
        """Raise: which features were selected is known of stored trials only."""
        self._refuse()

    def summary(self, artefact: str) -> Mapping[str, Any]:
        """See `entries`."""
        self._refuse()

    def selections(self, places: Sequence[Place]) -> dict[Place, Selections]:
        """See `entries`."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ValueError(
            f"{self.path}: expected claims about numbers, got one about the selected features, which a table of "
            f"results does not have; leave it out, or compute it: provsel reproduce, provsel verify."
        )

    def _of(self, artefact: str) -> pd.Series:
        """Return which lines are of an artefact: all, where the table does not tell artefacts apart."""
        return (self.lines["artefact"] == artefact) | ("artefact" not in self.roles)

    def _on_data_set(self) -> pd.Series:
        return (self.lines["dataset"] == self.dataset) | (self.dataset == "")

    def _has(self, name: str) -> bool:
        return name in self.roles or name in self._file

    def _check_once(self) -> None:
        """Check that no result is there twice, which would count a fold or data set double."""
        keys = [*PLACES, "dataset", *LEVELS]
        again = self.lines[self.lines.duplicated(keys)]
        if again.empty:
            return
        second = again.iloc[0]
        first = self.lines[(self.lines[keys] == second[keys]).all(axis=1)].iloc[0]
        said = ", ".join(f"{role} {second[role]}" for role in (*PLACES, "dataset") if second[role])
        unused = [role for role in ("dataset", "fold", "repeat", "draw") if role not in self.roles]
        hint = f"say which column tells them apart: --column {unused[0]}=NAME" if unused else "leave one out"
        raise ValueError(
            f"{self.path}: expected each result once, got two of {said}, in lines {first['line'] + 1} and "
            f"{second['line'] + 1}; {hint}."
        )

    def _checked_measure(self) -> str:
        """Return the role of the measure, error or score, after checking that roles fit each other and the file."""
        path, roles, file = f"{self.path}: results", self.roles, self._file
        records = [field.name for field in SCHEMA if field.name not in ROLES]
        for role, name in roles.items():
            if role not in ROLES and role not in records:
                raise ValueError(
                    f"{path}: expected roles of {', '.join(ROLES)}, got {role!r:.80}{did_you_mean(role, ROLES)}."
                )
            many = role in MEASURES or role == "row"
            number = role in ("n_train", "n_test") and isinstance(name, int | float)
            if isinstance(name, bool) or not (number or isinstance(name, str | (list if many else str))):
                quote = "; quote it" if isinstance(name, int | float) else ""
                raise ValueError(f"{path}: {role}: expected the name of a column, got {name!r:.80}{quote}.")
            for each in name if isinstance(name, list) else [name]:
                if isinstance(each, str) and STAR not in each and role != "unit" and each not in file:
                    raise ValueError(
                        f"{path}: {role}: expected a column of {', '.join(file)}, got {each!r:.80}"
                        f"{did_you_mean(each, file)}."
                    )
        found = [role for role in MEASURES if role in roles]
        if len(found) != 1 or "row" not in roles:
            raise ValueError(
                f"{path}: expected row, and one of error and score, got {', '.join(roles) or 'none'}; say what the "
                f"columns are, {', '.join(file)}: such as --column row={next(iter(file))} --column score=accuracy."
            )
        stars = [role for role, name in roles.items() if name == STAR and role not in MEASURES]
        wide = isinstance(roles[found[0]], list) or STAR in roles[found[0]]
        if wide != (len(stars) == 1) or any(role not in (*PLACES, "dataset", *LEVELS) for role in stars):
            raise ValueError(
                f"{path}: {found[0]}: expected one column, or a pattern with * (or a list of columns) and one "
                f"role '*' that says what these columns differ in, got {roles[found[0]]!r:.80} and the roles "
                f"{', '.join(stars) or 'none'} as '*'."
            )
        return found[0]

    def _measured(self, measure: str) -> tuple[list[str], Floats]:
        """Return what the columns of the measure differ in, and their values, shape (n_lines, n_columns)."""
        stated = self.roles[measure]
        chosen = {name: name for name in stated} if isinstance(stated, list) else {stated: stated}
        if not isinstance(stated, list) and STAR in stated:
            before, _, after = stated.partition(STAR)
            pattern = re.compile(f"{re.escape(before)}(.+){re.escape(after)}")
            taken = {name for role, name in self.roles.items() if role != measure and isinstance(name, str)}
            fits = {name: pattern.fullmatch(name) for name in self._file if name not in taken}
            chosen = {name: found[1].strip() for name, found in fits.items() if found}
        if not chosen:
            raise ValueError(
                f"{self.path}: results: {measure}: expected columns like {stated!r}, got {', '.join(self._file)}."
            )
        return [*chosen.values()], np.column_stack([_numbers(self.path, name, self._file[name]) for name in chosen])

    def _as_error(self, values: Floats, measure: str) -> tuple[Floats, float, str]:
        """Return values of which less is better, their factor to the unit, and the unit."""
        unit = str(self.roles.get("unit", "share"))
        if unit not in UNITS:
            return (values if measure == "error" else -values), 1.0, unit
        scale, most = UNITS[unit]
        outside = values[(values < 0) | (values > most)]
        if outside.size:
            raise ValueError(
                f"{self.path}: results: {measure}: expected values from 0 to {most:g}, got {outside[0]:g}; say its "
                f"unit: --column unit=percent, or the name of another one."
            )
        return (values if measure == "error" else most - values), scale, POINTS


def _codes(names: np.ndarray) -> Ints:
    """Return whole numbers as they are, other names as their places in order."""
    if all(name.isdecimal() and int(name) <= MAX_COUNT for name in set(names.tolist())):
        return names.astype(np.int64)
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _read_columns(path: Path) -> Columns:
    """Return the columns of a file by name, each with one value a line; texts stay texts."""
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{path}: expected a file ending in {', '.join(FORMATS)}, got {ending or 'none'}; convert it.")
    found, lines = _parquet(path) if ending == ".parquet" else _text(path, SEPARATORS[ending])
    names = [_name(name) for name in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: expected each column once, got {twice[0]!r:.80} twice; rename one.")
    if not lines:
        raise ValueError(f"{path}: expected lines of results, got none below the names of the columns.")
    return {name: [line[k] for line in lines] for k, name in enumerate(names)}


def _text(path: Path, separator: str) -> tuple[list[str], list[list[str]]]:
    csv.field_size_limit(FIELD_LIMIT)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file, delimiter=separator, strict=True) if line]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected UTF-8 text with cells apart by {separator!r}, got {error}.") from error
    names = lines[0] if lines else []
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(names):
            raise ValueError(f"{path}: expected {len(names)} cells in each line, got {len(line)} in line {number}.")
    return names, lines[1:]


def _parquet(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(path.read_bytes()))
        columns = [column.to_pylist() for column in table.columns]
    except DAMAGED as error:
        if getattr(error, "errno", None):
            raise
        raise ValueError(f"{path}: expected a sound Parquet file, got {error!s:.200}.") from error
    return table.column_names, [*zip(*columns, strict=True)]


def _numbers(path: Path, name: str, values: Sequence[Any]) -> Floats:
    """Return the values of a column as numbers, shape (n_lines,); NaN where there is none."""
    found = np.empty(len(values))
    for k, value in enumerate(values):
        if value is None or (isinstance(value, str) and value.strip().lower() in MISSING):
            found[k] = math.nan
            continue
        try:
            found[k] = float(value)
        except (TypeError, ValueError):
            found[k] = math.inf
        if math.isinf(found[k]):
            raise ValueError(
                f"{path}: column {name}: expected a finite number or nothing, got {value!r:.80} in line {k + 1}."
            )
    return found


def _texts(path: Path, name: str, values: Sequence[Any]) -> list[str]:
    """Return the values of a column as names, or say which line has none."""
    found = ["" if value is None else _name(value) for value in values]
    if "" in found:
        raise ValueError(f"{path}: column {name}: expected a name, got none in line {found.index('') + 1}.")
    return found


def _name(value: Any) -> str:
    """Return a value as a name that a terminal shows and does not obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(value).strip())
