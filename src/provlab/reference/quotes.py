"""Look numbers up in a folder of reference results, by the words in which a text asks for them.

A query is the name of a table, a colon, and parts between semicolons::

    figure1: BSS; r=300; mean .2f                        the mean over the data sets, with two decimals
    figure1: BSS - RFE; r=300; median .1f                of the differences, paired by data set
    figure1: BSS - Full; r=300; n<0 d                    how many of them are below 0
    ofs-figure1: OFS; 20; ORL; value .1f                 of one data set
    jones2021/ofs-figure1: OFS; [0-9]*; ORL; max .1f      over the columns that match, of another paper
    verdict: smith2020.table4.error-falls-with-t          the verdict on a claim
    verdict: smith2020.table4.error-falls-with-t; effect +.2f
    summary: artefacts, smith2020/figure1, cpu_hours; .1f      a number of summary.json
    summary: verdicts, smith2020; sum d                   the sum of what an object has; count: how many it has
    print: table1; exact d                               of the universes that are nearest to the print
    print: table1; by default; shared .0f                of that of the defaults; shares are in percent
    print: table1; universes d                           how many there are; nearest: how many share the first place
    robustness: smith2020.table4.error-falls-with-t; replicated .0f     in how many percent of the universes
    robustness: smith2020.table4.error-falls-with-t; varied_by          any of its columns; shares are in percent

The last part is a statistic and a format of Python's. `value` is the one number that there is; `min`, `median`, `max`,
`mean` and `sum` are of the values, `n` is their number, and `n<0`, `n>0`, `n=0` count; `sd` is the mean of their
standard deviations, `printed` the one printed number, and `times` the one value over the printed one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from provlab._yaml import read_json
from provlab.claims import VERDICTS
from provlab.readings.schema import DISTANCE
from provlab.reports.tables import aligned

STATISTICS: Mapping[str, Callable[[pd.Series], float]] = {
    "min": pd.Series.min,
    "median": pd.Series.median,
    "max": pd.Series.max,
    "mean": pd.Series.mean,
    "sum": pd.Series.sum,
    "n": len,
    "n<0": lambda values: (values < 0).sum(),
    "n>0": lambda values: (values > 0).sum(),
    "n=0": lambda values: (values == 0).sum(),
}
OPERATIONS = {" - ": pd.Series.sub, " / ": pd.Series.div}


class Quotes:
    """What a reference folder has.

    Parameters
    ----------
    folder : path
        Such as results/reference.
    paper : str, optional
        Whose tables need no prefix.
    """

    def __init__(self, folder: Path, paper: str = "") -> None:
        self.folder, self.paper = folder, paper
        self._frames: dict[str, pd.DataFrame] = {}

    def text(self, query: str) -> str:
        """Return what a query asks for, as text.

        Raises
        ------
        ValueError
            For what cannot be read or found; it says what there is.
        """
        table, colon, rest = query.partition(":")
        parts = [part.strip() for part in rest.split(";")]
        if not colon or not all(parts):
            raise ValueError(f"{query!r}: expected a table, a colon, and parts between semicolons.")
        try:
            if table == "summary":
                return self._of_summary(*parts)
            own: dict[str, Callable[..., str]] = {
                "verdict": self._of_verdict, "print": self._of_print, "robustness": self._of_robustness
            }  # fmt: skip
            return own[table](*parts) if table in own else self._of_table(table, parts)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{query!r}: {error}") from None

    def lines(self, query: str) -> list[str]:
        """Return rows of a Markdown table as lines.

        Parameters
        ----------
        query : str
            A table, then parts: `caption: BEGINNING` chooses among several tables, `keep: A | B` chooses columns, and
            `HEADER: A | B` the rows that have one of these cells.

        Raises
        ------
        ValueError
            As `text`.
        """
        table, *parts = (part.strip() for part in query.split(";"))
        chosen = dict(part.partition(": ")[::2] for part in parts)
        header, rows = self._markdown(table, chosen.pop("caption", ""))
        keep = chosen.pop("keep", " | ".join(header)).split(" | ")
        for name, values in chosen.items():
            at = _place(header, name, f"{query!r}: column")
            found = {row[at] for row in rows}
            for value in values.split(" | "):
                _place(sorted(found), value, f"{query!r}: {name}")
            rows = [row for row in rows if row[at] in values.split(" | ")]
        places = [_place(header, name, f"{query!r}: column") for name in keep]
        return aligned([[line[at] for at in places] for line in [header, *rows]])

    def _of_table(self, table: str, parts: Sequence[str]) -> str:
        rows, columns, *data, statistic = parts
        frame = self._frame(table)
        name, _, spec = statistic.partition(" ")
        for sign, operation in OPERATIONS.items():
            if sign in rows and rows not in set(frame["row"]):
                first, second = (self._cells(frame, row, columns, data)["value"] for row in rows.split(sign))
                if not first.index.equals(second.index):
                    raise ValueError("expected two rows with the same columns and data sets, got others.")
                return format_number(_reduced(operation(_numbers(first), _numbers(second)), name), spec)
        cells = self._cells(frame, rows, columns, data)
        if name == "sd":
            return format_number(_reduced(_numbers(cells["sd"]), "mean"), spec)
        if name in ("printed", "times"):
            printed = _reduced(_numbers(cells["printed_value"]), "value")
            return format_number(
                printed if name == "printed" else _reduced(_numbers(cells["value"]), "value") / printed, spec
            )
        return format_number(_reduced(_numbers(cells["value"]), name), spec)

    def _cells(self, frame: pd.DataFrame, row: str, columns: str, data: Sequence[str]) -> pd.DataFrame:
        found = frame[frame["row"] == frame["row"].unique()[_place(list(frame["row"].unique()), row, "row")]]
        names = list(found["column"].unique())
        kept = [columns] if columns in names else [name for name in names if fnmatchcase(name, columns)]
        if not kept:
            _place(names, columns, "column")
        found = found[found["column"].isin(kept)]
        if data:
            known = list(found["dataset"].unique())
            found = found[found["dataset"] == known[_place(known, data[0], "data set")]]
        return found.set_index(["column", "dataset"]).sort_index()

    def _frame(self, table: str) -> pd.DataFrame:
        if table not in self._frames:
            kinds = {"row": str, "column": str, "dataset": str, "value": str}
            self._frames[table] = pd.read_csv(self._file(table, ".csv"), dtype=kinds, keep_default_na=False)
        return self._frames[table]

    def _file(self, table: str, suffix: str) -> Path:
        if table == "README":
            return self.folder / "README.md"
        name = table if "/" in table else f"{self.paper}/{table}"
        tables = self.folder / "tables"
        known = sorted(path.relative_to(tables).with_suffix("").as_posix() for path in tables.rglob(f"*{suffix}"))
        _place(known, name, "table")
        return tables / f"{name}{suffix}"

    def _markdown(self, table: str, caption: str) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of the first table below a caption that begins so."""
        lines = self._file(table, ".md").read_text(encoding="utf-8").splitlines()
        captions = [k for k, line in enumerate(lines) if line.startswith("**")]
        start = captions[_place([lines[k].strip("*") for k in captions], caption, "caption", begins=True)]
        block: list[str] = []
        for line in lines[start + 1 :]:
            if line.startswith("|"):
                block.append(line)
            elif block:
                break
        cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block]
        return cells[0], cells[2:]

    def _of_verdict(self, claim: str, wanted: str = "verdict") -> str:
        known = list(self._verdicts["id"])
        line = self._verdicts.iloc[_place(known, claim, "claim")]
        name, _, spec = wanted.partition(" ")
        _place([str(column) for column in line.index], name, "column")
        return format_number(float(line[name]), spec) if spec else str(line[name])

    def _of_print(self, artefact: str, *wanted: str) -> str:
        *of, statistic = wanted
        name, _, spec = statistic.partition(" ")
        paper, _, short = (artefact if "/" in artefact else f"{self.paper}/{artefact}").partition("/")
        prints = sorted((self.folder / "readings" / paper).glob("print-*.csv"))
        path = prints[
            _place([path.stem.removeprefix("print-") for path in prints], short, "universes beside the print")
        ]
        frame = pd.read_csv(path)
        best = frame[frame["rank"] == 1]
        counts = {"universes": len(frame), "nearest": len(best)}
        if name in counts:
            return format_number(counts[name], spec)
        chosen = best
        if of:
            _place(["by default"], "; ".join(of), "universe")
            chosen = frame[frame["by_default"]]
        value = float(chosen[DISTANCE[_place(DISTANCE, name, "column")]].iloc[0])
        return format_number(100 * value if name == "shared" else value, spec)

    def _of_robustness(self, claim: str, wanted: str) -> str:
        frame = pd.concat([pd.read_csv(path) for path in sorted(self.folder.glob("readings/*/robustness.csv"))])
        line = frame.iloc[_place(list(frame["claim"]), claim, "claim")]
        if wanted in ("default", "turned_by", "varied_by", "flip", "flip_verdict"):
            return str(line[wanted])
        name, _, spec = wanted.rpartition(" ")
        if name in ("universes", "run"):
            return format_number(float(line[name]), spec)
        if name in ("turns", "variance"):
            return format_number(100 * float(line[name]), spec)
        shares = dict(part.rsplit(" ", 1) for part in str(line["shares"]).split("; "))
        _place(VERDICTS, name, "verdict")
        return format_number(100 * float(shares.get(name, 0)), spec)

    @cached_property
    def _verdicts(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "verdicts.csv", keep_default_na=False)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return dict(read_json(self.folder / "summary.json"))

    def _of_summary(self, path: str, spec: str) -> str:
        found: Any = self._summary
        for key in path.split(", "):
            if not isinstance(found, dict):
                raise ValueError(f"expected no more keys, got {key!r}.")
            found = found[list(found)[_place(list(found), key, "key")]]
        name, _, rest = spec.partition(" ")
        if name in ("sum", "count"):
            found, spec = sum(found.values()) if name == "sum" else len(found), rest
        return format_number(float(found), spec)


def format_number(value: float, spec: str) -> str:
    """Return a number by a format of Python's; one that is whole may be asked for by `d` and `,d`. No `-0.0`."""
    if spec.endswith("d"):
        if value != round(value):
            raise ValueError(f"expected a whole number for the format {spec!r}, got {value}.")
        return format(int(value), spec)
    if not re.fullmatch(r"\+?,?\.\d[fge]", spec):
        raise ValueError(f"expected a format such as .2f, .3g, +.1f or ,d, got {spec!r}.")
    text = format(value, spec)
    return text if float(text.replace(",", "")) else text.replace("-", "")


def _numbers(values: pd.Series) -> pd.Series:
    found = pd.to_numeric(values, errors="raise")
    if found.isna().any():
        raise ValueError("expected numbers, got an empty cell.")
    return found


def _reduced(values: pd.Series, name: str) -> Any:
    if name == "value":
        if len(values) != 1:
            raise ValueError(f"expected one number, got {len(values)}; name a data set, or a statistic.")
        return values.iloc[0]
    return float(STATISTICS[list(STATISTICS)[_place(list(STATISTICS), name, "statistic")]](values))


def _place(known: Sequence[str], name: str, what: str, *, begins: bool = False) -> int:
    """Return where a name stands in a list; with `begins`, the first that begins so."""
    for k, each in enumerate(known):
        if each == name or (begins and each.startswith(name)):
            return k
    raise ValueError(f"{what}: expected one of {', '.join(map(str, known))[:600] or 'none here'}, got {name!r}.")
