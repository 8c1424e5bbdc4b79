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

import io
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from provlab.core.frames import TIMES
from provlab.core.records import RANGES, check_range, outside, range_text
from provlab.core.store import SCHEMA
from provlab.project.documents import one_line, read_record
from provlab.project.messages import did_you_mean
from provlab.verdicts.claims.evidence import LIMIT, POINTS, AbstractEvidence, Floats, Ints, Layout, Place, remembered
from provlab.verdicts.claims.schema import Content, load_claims
from provlab.verdicts.claims.verdicts import Verdict, judge_files
from provsel.streams.sources import DAMAGED

PLACES = ("artefact", "row", "column", "dataset")
LEVELS = ("repeat", "fold", "draw")
MEASURES = ("error", "score")
ROLES = (*PLACES, *LEVELS, *MEASURES, "unit", "n_train", "n_test", "seconds")
STAR = "*"

UNITS = {"share": (100.0, 1.0), "percent": (1.0, 100.0)}
"""Factor to percentage points, and the most that a value can be."""

SEPARATORS = {".csv": ",", ".tsv": "\t"}

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""Texts that stand for no number, in any case of letters."""


def judge_table(results: Path, claims: Path, roles: Mapping[str, Any]) -> tuple[list[Verdict], pd.DataFrame]:
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
    table = TableEvidence(results, {**read_record(claims, Content).results, **roles})
    file = load_claims(claims, table.layout)
    about = {place[0] for claim in file.claims for place in claim.rule.places(claim.rule.columns)}
    if len(about) > 1 and "artefact" not in table.roles:
        raise ValueError(
            f"{claims}: expected claims about one artefact, as {results} has no column artefact, got "
            f"{', '.join(sorted(about))}; name one: --column artefact=NAME."
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
        A result a line: `PLACES`, `LEVELS` and `error`, of which less is better. The index is the line of the file.

    Raises
    ------
    ValueError
        A damaged file, a role or column that is not there, values of the wrong kind, or the same result twice.
    """

    def __init__(self, path: Path, roles: Mapping[str, Any]) -> None:
        unit = str(roles.get("unit", "share"))
        scale, most = UNITS.get(unit, (1.0, math.inf))
        super().__init__(scale=scale, unit=POINTS if unit in UNITS else unit)
        self.path, self.roles = path, dict(roles)
        self._file = self._long(read_table(path))
        [measure] = {*MEASURES} & {*self.roles}
        self.lines = pd.DataFrame(index=self._file.index)
        for role in (*PLACES, *LEVELS):
            names = self.roles.get(role, [])
            texts = [self._texts(name) for name in (names if isinstance(names, list) else [names])]
            blank = measure if role == "column" else "0" if role in LEVELS else ""
            self.lines[role] = [", ".join(each) for each in zip(*texts, strict=True)] if texts else blank
        values = pd.Series(self._numbers(self.roles[measure]), self._file.index)
        if unit in UNITS:
            known = values.dropna()
            low, high = (most * end for end in RANGES["error"])
            beyond = known[outside(known.to_numpy(), low, high)]
            if beyond.size:
                raise ValueError(
                    f"{path}: results: {measure}: expected {range_text(low, high)}, got {beyond.iloc[0]:g}; say its "
                    f"unit: --column unit=percent, or the name of another one."
                )
        self.lines["error"] = values if measure == "error" else (most if unit in UNITS else 0.0) - values
        again = self.lines[self.lines.duplicated([*PLACES, *LEVELS])]
        if not again.empty:  # it would count a fold or data set double
            said = ", ".join(f"{role} {again[role].iloc[0]}" for role in PLACES if again[role].iloc[0])
            unused = [role for role in ("dataset", "fold", "repeat", "draw") if role not in self.roles]
            hint = f"name the column that distinguishes them: --column {unused[0]}=NAME" if unused else "leave one out"
            raise ValueError(
                f"{path}: expected each result once, got another one of {said} in line {again.index[0] + 1}; {hint}."
            )
        for role in LEVELS:
            self.lines[role] = _codes(self.lines[role])

    def layout(self, artefact: str) -> Layout:
        """Return rows, columns and data sets of an artefact."""
        lines = self.lines[self._is_of(artefact)]
        if lines.empty:
            known = ", ".join(self.lines["artefact"].unique())
            raise ValueError(f"artefact: expected one of {known} in {self.path}, got {artefact!r:.80}.")
        datasets = {name: tuple(found.unique()) for name, found in lines.groupby("dataset", sort=False)["column"]}
        return Layout(tuple(lines["row"].unique()), tuple(lines["column"].unique()), datasets)

    @remembered
    def results(self, artefact: str, column: str) -> list[tuple[str, str, Ints]]:
        """See the base class."""
        lines = self.lines.reset_index(drop=True)
        chosen = self._is_of(artefact) & (lines["column"] == column)
        groups = lines[chosen & ((lines["dataset"] == self.dataset) | (self.dataset == ""))].groupby(["row", "dataset"])
        return [(row, dataset, found.index.to_numpy(np.int64)) for (row, dataset), found in groups]

    def values(self, name: str, results: Ints) -> Any:
        """See the base class; a column's role goes before its own name.

        Raises
        ------
        ValueError
            When the table has no such column.
        """
        if name in ("error", *LEVELS):
            return self.lines[name].to_numpy(float)[results]
        has_seconds = name in TIMES and "seconds" in {*self.roles, *self._file}
        name = "seconds" if has_seconds and name == "pass_cpu" else name
        source = self.roles.get(name, name)
        if isinstance(source, int | float):
            check_range(name, np.array([source]), f"{self.path}: {name}")
            return np.full(results.size, float(source))
        if source in self._file:
            is_text = name in SCHEMA.names and pa.types.is_string(SCHEMA.field(name).type)
            if is_text:
                return np.array(self._texts(source), object)[results]
            numbers = self._numbers(source)
            check_range(name, numbers[~np.isnan(numbers)], f"{self.path}: {name}")
            return numbers[results]
        if has_seconds:
            return np.full(results.size, np.nan)
        wanted = "seconds" if name in TIMES else name
        raise ValueError(f"{self.path}: expected a column {wanted}, got none; name it: --column {wanted}=NAME.")

    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many data sets and folds have an error, and how many any row of these columns has."""
        known = [self._common([place])[1] for place in places]
        return sum(int(each.sum()) for each in known), sum(each.size for each in known)

    def _is_of(self, artefact: str) -> Any:
        """Return which lines are of an artefact: all, if the table has no column for the artefact."""
        return (self.lines["artefact"] == artefact).to_numpy() | ("artefact" not in self.roles)

    def _long(self, file: pd.DataFrame) -> pd.DataFrame:
        """Return the table with a result a line, and let `roles` name the columns that it has then.

        Raises
        ------
        ValueError
            When the roles do not fit each other, or the file.
        """
        path, roles = f"{self.path}: results", self.roles
        if wrong := [role for role in roles if role not in (*ROLES, *SCHEMA.names)]:
            hint = did_you_mean(wrong[0], ROLES)
            raise ValueError(f"{path}: expected roles of {', '.join(ROLES)}, got {wrong[0]!r:.80}{hint}.")
        measures = [role for role in MEASURES if role in roles]
        if len(measures) != 1 or "row" not in roles:
            raise ValueError(
                f"{path}: expected row, and one of error and score, got {', '.join(roles) or 'none'}; say what the "
                f"columns are, {', '.join(file)}: such as --column row={next(iter(file))} --column score=accuracy."
            )
        stated = roles[measures[0]]
        stars = [role for role in (*PLACES, *LEVELS) if roles.get(role) == STAR]
        wide = isinstance(stated, list) or STAR in str(stated)
        if len(stars) != wide:
            raise ValueError(
                f"{path}: {measures[0]}: expected one column, or a pattern with * (or a list of columns) and one "
                f"role '*' that says what these columns differ in, got {stated!r:.80} and the roles "
                f"{', '.join(stars) or 'none'} as '*'."
            )
        named = [
            (role, name)
            for role, names in roles.items()
            for name in (names if isinstance(names, list) else [names])
            if role != "unit" and not (role in ("n_train", "n_test") and isinstance(name, int | float))
        ]
        for role, name in named:
            if STAR not in str(name) and name not in file:
                hint = did_you_mean(str(name), file)
                raise ValueError(f"{path}: {role}: expected a column of {', '.join(file)}, got {name!r:.80}{hint}.")
        if not wide:
            return file
        pattern = re.compile(re.escape(str(stated)).replace(re.escape(STAR), "(.+)"))
        free = [name for name in file if name not in {name for _, name in named}]
        labels = {name: fits[1].strip() for name in free if (fits := pattern.fullmatch(name))}
        labels = dict(zip(stated, stated, strict=True)) if isinstance(stated, list) else labels
        if not labels:
            raise ValueError(f"{path}: {measures[0]}: expected columns like {stated!r}, got {', '.join(file)}.")
        star, value = stars[0], f"{measures[0]} of {STAR}"
        self.roles |= {star: STAR, measures[0]: value}
        found = file.melt([name for name in file if name not in labels], [*labels], STAR, value, ignore_index=False)
        return found.replace({STAR: labels}).sort_index(kind="stable")

    def _numbers(self, name: str) -> Floats:
        """Return the values of a column as numbers, shape (n_lines,); NaN where there is none."""
        values = self._file[name].tolist()
        found = np.array([_number(value) for value in values])
        if wrong := np.flatnonzero(np.isinf(found)).tolist():
            raise ValueError(
                f"{self.path}: column {name}: expected a finite number or nothing, got {values[wrong[0]]!r:.80} in "
                f"line {wrong[0] + 1}."
            )
        return found

    def _texts(self, name: str) -> list[str]:
        """Return the values of a column as names, or say which line has none."""
        found = ["" if pd.isna(value) else _name(value) for value in self._file[name].tolist()]
        if "" in found:
            raise ValueError(f"{self.path}: column {name}: expected a name, got none in line {found.index('') + 1}.")
        return found


def read_table(path: Path) -> pd.DataFrame:
    """Return the columns of a CSV, TSV or Parquet file by name; texts stay texts."""
    ending = path.suffix.lower()
    if ending not in (*SEPARATORS, ".parquet"):
        raise ValueError(f"{path}: expected a file ending in .csv, .tsv, .parquet, got {ending or 'none'}; convert it.")
    content, kind = io.BytesIO(path.read_bytes()), "a sound Parquet file"
    try:
        if ending == ".parquet":
            # whole numbers stay such beside nulls
            found = pd.DataFrame(pq.read_table(content).to_pylist(), dtype=object)
        else:
            kind = f"UTF-8 text with cells apart by {SEPARATORS[ending]!r}"
            # the names are read as a line, so that one with more cells is an error, and never an index
            lines = pd.read_csv(content, sep=SEPARATORS[ending], dtype=str, keep_default_na=False, header=None)
            found = lines.iloc[1:].reset_index(drop=True).set_axis(lines.iloc[0].str.removeprefix("\ufeff"), axis=1)
    except (*DAMAGED, ValueError) as error:
        raise ValueError(f"{path}: expected {kind}, got {one_line(str(error)):.200}.") from error
    if found.empty:
        raise ValueError(f"{path}: expected lines of results, got none below the names of the columns.")
    found = found.rename(columns=_name)
    if not found.columns.is_unique:
        twice = found.columns[found.columns.duplicated()][0]
        raise ValueError(f"{path}: expected each column once, got {twice!r:.80} twice; rename one.")
    return found


def _codes(names: pd.Series) -> Ints:
    """Return whole numbers as they are, other names as their places in order."""
    if all(name.isdecimal() and int(name) < LIMIT for name in names.unique()):
        return names.to_numpy(object).astype(np.int64)
    return np.unique(names.to_numpy(str), return_inverse=True)[1].astype(np.int64)


def _number(value: Any) -> float:
    """Return a value as a number: NaN for nothing, infinite for what is none."""
    if str(value).strip().lower() in MISSING:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.inf


def _name(value: Any) -> str:
    """Return a value as a name that a terminal shows and does not obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(value).strip())
