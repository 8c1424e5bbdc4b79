"""Evidence from a table of results that other programs computed, and the roles of its columns.

Claims can be judged on any CSV, TSV or Parquet file once its columns have roles. The
section `results` of the file of claims assigns them, or `--column ROLE=NAME`, which
takes precedence.

```yaml
results:
  row: classifier          # rows of the claims: one column, or several, whose values are joined by ", "
  column: n_features       # columns of the claims; by default a single one, called `error` or `score`
  artefact: table          # only if the file contains several
  dataset: dataset         # by default all results belong to one data set
  fold: fold               # also repeat and draw; by default one result per data set
  score: accuracy          # or `error: ...`, for which lower is better
  unit: share              # from 0 to 1 (default; reported in points); percent; or the name of another unit
  n_train: 90              # numbers of rows, as a number or a column; tests over folds need both
  n_test: 10
  seconds: fit_time        # also other columns of records by name, for example n_selected
```
If results are side by side, with one column per method or fold, a pattern or a list
names these columns. The role in which the columns differ is `"*"`. Its values are the
text that the star matches, or the names of the columns.

```yaml
results: {row: param_select, fold: "*", score: split*_test_score}      # cv_results_ of scikit-learn
results: {dataset: Name, row: "*", error: [ED, DTW]}                   # one row per data set, one column per classifier
```
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from provlab.core.frames import TIMES
from provlab.core.plan import MAX_COUNT
from provlab.core.records import RANGES, check_range, outside, range_text
from provlab.core.store import SCHEMA
from provlab.project.documents import one_line
from provlab.project.messages import did_you_mean
from provlab.verdicts.claims.evidence import (
    FOLD_KEYS,
    POINTS,
    AbstractEvidence,
    Layout,
    Place,
    remembered,
)
from provlab.verdicts.claims.paired_tests import Floats
from provlab.verdicts.claims.rules import conditions
from provlab.verdicts.claims.schema import Content, load_claims, read_content
from provlab.verdicts.claims.verdicts import Verdict, judge_files
from provsel.streams.sources import DAMAGED

PLACES = ("artefact", "row", "column", "dataset")
LEVELS = ("repeat", "fold", "draw")
MEASURES = ("error", "score")
ROLES = (*PLACES, *LEVELS, *MEASURES, "unit", "n_train", "n_test", "seconds")
STAR = "*"

NUMBER_OR_COLUMN = ("n_train", "n_test")
"""Roles that may be a number instead of a column."""

UNITS = {"share": (100.0, 1.0), "percent": (1.0, 100.0)}
"""Factor that converts to percentage points, and the largest possible value."""

SEPARATORS = {".csv": ",", ".tsv": "\t"}

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""Strings that mean a missing number, ignoring case."""


def judge_table(
    results: Path, claims: Path, roles: Mapping[str, Any]
) -> tuple[list[Verdict], pd.DataFrame]:
    """Judge a file of claims on a table of results from any source.

    Parameters
    ----------
    results : Path
        A CSV, TSV or Parquet file.
    claims : Path
    roles : mapping
        Roles of columns, which take precedence over those in the file of claims; see
        the docstring of this module.

    Raises
    ------
    ValueError
        If one of the files is invalid, or they do not match.
    """
    content = read_content(claims)
    table = TableEvidence(results, {**content.results, **roles}, content=content)
    file = load_claims(claims, table.layout)
    about = {name for claim in file.claims for name in claim.artefacts}
    if len(about) > 1 and "artefact" not in table.roles:
        raise ValueError(
            f"{claims}: {results} has no column artefact, so the claims must be about a single one, got "
            f"{', '.join(sorted(about))}; name one: --column artefact=NAME."
        )
    return judge_files([file], table)


class TableEvidence(AbstractEvidence):
    """Evidence from a table of results, as `provsel verify --results FILE` uses it.

    The expected results of a column are all data sets and folds for which any row has a
    result.

    Parameters
    ----------
    path : Path
        A UTF-8 file .csv or .tsv with names in the first line, or a file .parquet.
    roles : mapping
        Roles of its columns; see the docstring of this module.
    content : Content, optional
        The content of the file of claims. It names columns that distinguish the rows of
        the table, rows that are means of others, and planned names.
    table : DataFrame, optional
        The table itself, if it is not a file; `path` then describes it.

    Attributes
    ----------
    lines : DataFrame
        One result per row: `PLACES`, `LEVELS`, `error`, for which lower is better, and
        the columns of the file under their roles or names. The index is the line number
        in the file, counted from 1 below the names.

    Raises
    ------
    ValueError
        For a damaged file, a missing role or column, values of the wrong type, or a
        repeated result.
    """

    def __init__(
        self, path: Path, roles: Mapping[str, Any], *, content: Content | None = None,
        table: pd.DataFrame | None = None,
    ) -> None:  # fmt: skip
        unit = str(roles.get("unit", "share"))
        scale, largest = UNITS.get(unit, (1.0, math.inf))
        super().__init__(scale=scale, unit=POINTS if unit in UNITS else unit)
        self.path = path
        self.roles = dict(roles)
        content = content or Content(paper="", claims=())
        self.groups = content.groups
        self.planned = content.planned
        self.conditions = [*content.lines]
        if table is None:
            table = read_table(path)
        measure = self._check_roles(table)
        if self._is_wide(measure):
            table = self._melted(table, measure)
        self.lines = self._with_roles(table, measure)
        values = self._numbers(table[self.roles[measure]], self.roles[measure])
        if unit in UNITS:
            self._check_unit(values, measure, largest)
        perfect = largest if unit in UNITS else 0.0
        self.lines["error"] = values if measure == "error" else perfect - values
        self._check_distinct()
        for role in LEVELS:
            self.lines[role] = _codes(self.lines[role])
        # plain arrays, because thousands of numbers are read from them
        self._keys = {
            name: self.lines[name].to_numpy() for name in (*FOLD_KEYS, "draw")
        }
        self._lines_by_number = (
            self.lines.reset_index(drop=True)
            .groupby(["artefact", "row", "column"])
            .indices
        )

    @remembered
    def layout(self, artefact: str) -> Layout:
        """Return the rows, columns and data sets of an artefact."""
        lines = self.lines[self._is_of(artefact)]
        if lines.empty:
            artefacts = ", ".join(self.lines["artefact"].unique())
            raise ValueError(
                f"artefact: expected one of {artefacts} in {self.path}, got {artefact!r:.80}."
            )
        columns_of = lines.groupby("dataset", sort=False)["column"].unique()
        datasets = {str(name): tuple(columns) for name, columns in columns_of.items()}
        rows = (*lines["row"].unique(), *self.groups, *self.planned.rows)
        return Layout(
            rows, (*lines["column"].unique(), *self.planned.columns), datasets
        )

    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return one row per result behind a number: `FOLD_KEYS`, `draw` and `columns`; errors as in `column`."""
        artefact, row, column = place
        if row in self.groups:
            return self._group_trials(place, columns)
        known_as = artefact if "artefact" in self.roles else ""
        lines = self._lines_by_number.get((known_as, row, column), np.empty(0, int))
        chosen = lines[self._is_asked()[lines]]
        trials = {name: values[chosen] for name, values in self._keys.items()}
        for name in columns:
            trials[name] = self.column(name)[chosen]
        return pd.DataFrame(trials).sort_values(
            "dataset", kind="stable", ignore_index=True
        )

    def _group_trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return the means over the rows of a group, if all its rows have a result."""
        artefact, group, column = place
        keys = [*FOLD_KEYS, "draw"]
        parts = [
            self.trials((artefact, row, column), columns) for row in self.groups[group]
        ]
        by_line = pd.concat(parts).groupby(keys)
        means = by_line[[*columns]].mean()
        is_complete = by_line[[*columns]].count() == len(parts)
        return means.where(is_complete).reset_index()

    @remembered
    def group_of(self, column: str) -> Mapping[str, str]:
        """Return the group of each data set from a column of the table."""
        if column not in self.lines:
            raise ValueError(
                f"{self.path}: expected a column {column} with the groups of data sets, which is missing."
            )
        groups = self.lines.drop_duplicates(["dataset", column])
        repeated = groups.loc[groups["dataset"].duplicated(), "dataset"]
        if len(repeated):
            raise ValueError(
                f"{self.path}: column {column}: expected one {column} for each data set, got two of {repeated.iloc[0]}."
            )
        return groups.set_index("dataset")[column].astype(str).to_dict()

    @remembered
    def column(self, name: str) -> NDArray[Any]:
        """Return a column of the records, shape (n_lines,); roles take precedence over names of columns.

        Raises
        ------
        ValueError
            If the table has no such column, or its values have the wrong type or range.
        """
        if name == "error":
            return self.lines[name].to_numpy()
        has_seconds = name in TIMES and "seconds" in self.lines
        if has_seconds and name == "pass_cpu":
            name = "seconds"
        if name in self.lines:
            source = str(self.roles.get(name, name))
            if name in SCHEMA.names and pa.types.is_string(SCHEMA.field(name).type):
                return np.array(self._texts(self.lines[name], source), object)
            numbers = self._numbers(self.lines[name], source)
            check_range(name, numbers[~np.isnan(numbers)], f"{self.path}: {name}")
            return numbers
        if has_seconds or name in self.planned.quantities:
            return np.full(len(self.lines), np.nan)
        wanted = "seconds" if name in TIMES else name
        raise ValueError(
            f"{self.path}: expected a column {wanted}, which is missing; name it: --column {wanted}=NAME."
        )

    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return the actual and the expected number of data sets and folds with an error."""
        n_present = 0
        n_expected = 0
        for place in places:
            artefact, _, column = place
            n_present += int((~np.isnan(self._line(place, "error").values)).sum())
            n_expected += self._n_expected(artefact, column)
        return n_present, n_expected

    @remembered
    def _n_expected(self, artefact: str, column: str) -> int:
        """Return the number of data sets and folds in a column of an artefact."""
        is_in_column = (
            self._is_of(artefact)
            & (self.lines["column"] == column).to_numpy()
            & self._is_asked()
        )
        return len(self.lines.loc[is_in_column, FOLD_KEYS].drop_duplicates())

    def _is_of(self, artefact: str) -> NDArray[np.bool_]:
        """Return a mask of the rows of an artefact: all rows, if the table has no column for it."""
        return (self.lines["artefact"] == artefact).to_numpy() | (
            "artefact" not in self.roles
        )

    @remembered
    def _is_asked(self) -> NDArray[np.bool_]:
        """Return a mask of the rows for `dataset`, if it is given, that satisfy `only` and `without`."""
        is_asked = np.ones(len(self.lines), bool)
        if self.dataset:
            is_asked &= (self.lines["dataset"] == self.dataset).to_numpy()
        for name, patterns in conditions(self.only).items():
            is_asked &= self._matches(name, patterns)
        for name, patterns in conditions(self.without).items():
            is_asked &= ~self._matches(name, patterns)
        return is_asked

    def _matches(self, name: str, patterns: Sequence[str]) -> NDArray[np.bool_]:
        """Return a mask of the rows whose value in a column matches one of the patterns."""
        if name not in self.lines:
            hint = did_you_mean(name, self.lines) or "."
            raise ValueError(
                f"{self.path}: only, without: expected a column of the table, got {name!r:.80}{hint}"
            )
        values = self.lines[name].astype(str)
        matching = []
        for value in values.unique():
            if any(fnmatchcase(value, pattern) for pattern in patterns):
                matching.append(value)
        return values.isin(matching).to_numpy()

    def _is_wide(self, measure: str) -> bool:
        """Return whether results are side by side, one column per method or fold."""
        stated = self.roles[measure]
        return isinstance(stated, list) or STAR in str(stated)

    def _check_roles(self, table: pd.DataFrame) -> str:
        """Return the role of the results, error or score; raise if the roles are inconsistent or do not fit."""
        subject = f"{self.path}: results"
        for role in self.roles:
            if role not in (*ROLES, *SCHEMA.names):
                hint = did_you_mean(role, ROLES)
                raise ValueError(
                    f"{subject}: expected a role out of {', '.join(ROLES)}, got {role!r:.80}{hint}."
                )
        measures = [role for role in MEASURES if role in self.roles]
        if len(measures) != 1 or "row" not in self.roles:
            raise ValueError(
                f"{subject}: expected a column for row, and one for error or score, got "
                f"{', '.join(self.roles) or 'none'}; assign roles to the columns {', '.join(table)}, for example "
                f"--column row={table.columns[0]} --column score=accuracy."
            )
        [measure] = measures
        stars = [role for role in (*PLACES, *LEVELS) if self.roles.get(role) == STAR]
        if len(stars) != self._is_wide(measure):
            raise ValueError(
                f"{subject}: {measure}: expected one column, or a pattern with * (or a list of columns) and one role "
                f"'*' for what these columns stand for, got {self.roles[measure]!r:.80} and the roles "
                f"{', '.join(stars) or 'none'} as '*'."
            )
        for role, name in self._named_columns():
            if STAR not in str(name) and name not in table:
                hint = did_you_mean(str(name), table)
                raise ValueError(
                    f"{subject}: {role}: expected a column of {', '.join(table)}, got {name!r:.80}{hint}."
                )
        return measure

    def _named_columns(self) -> list[tuple[str, Any]]:
        """Return all pairs of a role and its column."""
        named = []
        for role, stated in self.roles.items():
            is_number = role in NUMBER_OR_COLUMN and isinstance(stated, int | float)
            if role != "unit" and not is_number:
                names = stated if isinstance(stated, list) else [stated]
                named += [(role, name) for name in names]
        return named

    def _melted(self, table: pd.DataFrame, measure: str) -> pd.DataFrame:
        """Return a wide table in long form, with one result per row, and update `roles` accordingly."""
        stated = self.roles[measure]
        labels = {}
        if isinstance(stated, list):
            labels = {name: name for name in stated}
        else:
            pattern = re.compile(re.escape(stated).replace(re.escape(STAR), "(.+)"))
            named = [name for _, name in self._named_columns()]
            for name in table:
                match = pattern.fullmatch(name)
                if match and name not in named:
                    labels[name] = match[1].strip()
        if not labels:
            raise ValueError(
                f"{self.path}: results: {measure}: expected columns like {stated!r}, got {', '.join(table)}."
            )
        self.roles[measure] = f"{measure} of {STAR}"
        shared = [name for name in table if name not in labels]
        long = table.melt(
            shared, [*labels], STAR, self.roles[measure], ignore_index=False
        )
        return long.replace({STAR: labels}).sort_index(kind="stable")

    def _with_roles(self, table: pd.DataFrame, measure: str) -> pd.DataFrame:
        """Return the table with a column for each role except that of the results."""
        lines = table.copy()
        for role, stated in self.roles.items():
            if role not in (*PLACES, *LEVELS, *MEASURES, "unit"):
                lines[role] = (
                    stated if isinstance(stated, int | float) else table[stated]
                )
        for role in (*PLACES, *LEVELS):
            stated = self.roles.get(role, [])
            names = stated if isinstance(stated, list) else [stated]
            if names:
                texts = [self._texts(table[name], name) for name in names]
                lines[role] = [", ".join(parts) for parts in zip(*texts, strict=True)]
            elif role == "column":
                lines[role] = measure
            else:
                lines[role] = "0" if role in LEVELS else ""
        return lines

    def _check_unit(self, values: Floats, measure: str, largest: float) -> None:
        low, high = (largest * end for end in RANGES["error"])
        is_known = ~np.isnan(values)
        beyond = values[is_known][outside(values[is_known], low, high)]
        if beyond.size:
            raise ValueError(
                f"{self.path}: results: {measure}: expected {range_text(low, high)}, got {beyond[0]:g}; name its "
                f"unit, such as --column unit=percent."
            )

    def _check_distinct(self) -> None:
        """Raise if a result is repeated, because it would count a fold or data set twice."""
        told_apart = [name for name in self.conditions if name in self.lines]
        repeated = self.lines[self.lines.duplicated([*PLACES, *LEVELS, *told_apart])]
        if repeated.empty:
            return
        first = repeated.iloc[0]
        place = ", ".join(f"{role} {first[role]}" for role in PLACES if first[role])
        unused = [
            role
            for role in ("dataset", "fold", "repeat", "draw")
            if role not in self.roles
        ]
        hint = (
            f"name the column that distinguishes them: --column {unused[0]}=NAME"
            if unused
            else "leave one out"
        )
        raise ValueError(
            f"{self.path}: expected each result once, got a second result of {place} in line {repeated.index[0]}; "
            f"{hint}."
        )

    def _numbers(self, values: pd.Series, name: str) -> Floats:
        """Return the values of a column as numbers, shape (n_lines,); NaN for empty cells."""
        if pd.api.types.is_float_dtype(values):
            numbers = values.to_numpy(float)
        else:
            numbers = np.array([_number(value) for value in values])
        for place in np.flatnonzero(np.isinf(numbers)).tolist():
            raise ValueError(
                f"{self.path}: column {name}: expected a finite number or an empty cell, got "
                f"{values.iloc[place]!r:.80} in "
                f"line {values.index[place]}."
            )
        return numbers

    def _texts(self, values: pd.Series, name: str) -> list[str]:
        """Return the values of a column as names; the error states a line without a name."""
        cells = values.astype(object).where(values.notna(), "").map(str)
        names = cells.map({cell: _name(cell) for cell in cells.unique()})
        for line in names.index[names == ""]:
            raise ValueError(
                f"{self.path}: column {name}: expected a name, got none in line {line}."
            )
        return names.to_list()


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV, TSV or Parquet file, with lines counted from 1; strings stay strings."""
    ending = path.suffix.lower()
    if ending not in (*SEPARATORS, ".parquet"):
        raise ValueError(
            f"{path}: expected a file ending in .csv, .tsv, .parquet, got {ending or 'none'}; convert it."
        )
    content = io.BytesIO(path.read_bytes())
    kind = "a sound Parquet file"
    if ending != ".parquet":
        kind = f"UTF-8 text with cells separated by {SEPARATORS[ending]!r}"
    try:
        if ending == ".parquet":
            # whole numbers stay integers even if there are nulls
            table = pd.DataFrame(pq.read_table(content).to_pylist(), dtype=object)
            table.index += 1
        else:
            # names are read as a line, so that a longer line is an error instead of
            # creating an index
            lines = pd.read_csv(
                content,
                sep=SEPARATORS[ending],
                dtype=str,
                keep_default_na=False,
                header=None,
            )
            names = lines.iloc[0].str.removeprefix("\ufeff")
            table = lines.iloc[1:].set_axis(names, axis=1)
    except (*DAMAGED, ValueError) as error:
        raise ValueError(
            f"{path}: expected {kind}, got {one_line(str(error)):.200}."
        ) from error
    if table.empty:
        raise ValueError(f"{path}: there are no results below the column names.")
    table = table.rename(columns=_name)
    if not table.columns.is_unique:
        repeated = table.columns[table.columns.duplicated()][0]
        raise ValueError(
            f"{path}: expected each column once, got {repeated!r:.80} twice; rename one."
        )
    return table


def _codes(names: pd.Series) -> NDArray[np.int64]:
    """Return whole numbers unchanged, and other names as their ranks."""
    if all(name.isdecimal() and int(name) <= MAX_COUNT for name in names.unique()):
        return names.to_numpy(object).astype(np.int64)
    return np.unique(names.to_numpy(str), return_inverse=True)[1].astype(np.int64)


def _number(value: Any) -> float:
    """Return a value as a number: NaN for an empty cell, infinite for any other string."""
    if str(value).strip().lower() in MISSING:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.inf


def _name(value: Any) -> str:
    """Return a value as a name, without control characters that would affect a terminal."""
    name = ""
    for letter in str(value).strip():
        name += letter if letter.isprintable() else "?"
    return name
