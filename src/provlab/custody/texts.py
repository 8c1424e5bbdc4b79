"""Documents that state results: `provsel reference --texts` renders the Jinja template `NAME.md.j2` to `NAME.md`.

A template queries a folder of reference results for its statements, so that a new
reference needs no editing::

    {{ number("smith2020/figure1", "BSS", "r=300", "mean .2f") }}      the mean over the data sets, with two decimals
    {{ number("smith2020/figure1", "BSS", "r=300", "n<0 d", less="Full") }}     in how many of them it is below Full
    {{ number("smith2020/figure2", "OFS", "[0-9]*", "max .1f", data="ORL") }}   over the columns that match
    {{ table("smith2020/table4", keep=["method", "r=2"], rows={"method": ["BSS"]}) }}      of its Markdown table
    {{ verdicts["smith2020.bss-better"].effect | form("+.2f") }}       a column of verdicts.csv
    {{ robustness["smith2020.bss-better"].replicated | percent }}      the share of its readings, or a column
    {{ nearest["smith2020/table1"].best.exact | form("d") }}           of the universe nearest to the printed values
    {{ likelihood["smith2020"]["BSS", "as printed", "first", "r=2"] | share }}  how often a reading gives a printed list
    {{ summary.trials | form(",d") }}                                  an entry of summary.json
    {% for each in lines("benchmark/_cards") %}                        the rows of any CSV file there
    {{ first(lines("benchmark/_leaderboard")) }}                       the first method, or that none is surely first
    {{ lines("a/b") | map(attribute="x") | median(".1f") }}            the median of numeric strings
    {{ answers("classification")[0] }}                                 a sentence on whether selection helps

A query is a statistic and a Python format. `value` is the single number, `printed` the
single printed number, and `times` the first divided by the second. `sd` is the mean
standard deviation. The other statistics are `STATISTICS`.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.bench.panel import FOLDER
from provlab.bench.panel_answers import stored_answers
from provlab.core.tables import escape_markdown, table_lines, write_changed
from provlab.project.documents import read_json
from provlab.project.papers import papers
from provlab.project.project import current_project
from provlab.verdicts.claims.rules import VERDICTS
from provlab.verdicts.readings.robustness import read_shares

STATISTICS: Mapping[str, Callable[[pd.DataFrame], float]] = {
    "value": lambda cells: cells["value"].item(),
    "sd": lambda cells: cells["sd"].mean(skipna=False),
    "printed": lambda cells: cells["printed_value"].item(),
    "times": lambda cells: cells["value"].item() / cells["printed_value"].item(),
    "min": lambda cells: cells["value"].min(skipna=False),
    "median": lambda cells: cells["value"].median(skipna=False),
    "max": lambda cells: cells["value"].max(skipna=False),
    "mean": lambda cells: cells["value"].mean(skipna=False),
    "sum": lambda cells: cells["value"].sum(skipna=False),
    "n": len,
    "n<0": lambda cells: (cells["value"] < 0).sum(),
}

SURELY_FIRST = 0.95
"""Share of resamples in which a method has to be first to be reported as first."""


def templates() -> list[Path]:
    """Return the templates of the project in its folder, in `docs`, and in the folders of its own papers."""
    root = current_project().root
    rooms = [
        root,
        root / "docs",
        *(
            paper.folder
            for paper in papers().values()
            if paper.folder.is_relative_to(root)
        ),
    ]
    return [path for room in rooms for path in sorted(room.glob("*.md.j2"))]


def fill_texts(folder: Path) -> list[Path]:
    """Render the templates of the project from a folder of reference results, and return the changed documents.

    Raises
    ------
    ValueError
        As `fill`, and no document is changed.
    """
    return write_changed(
        {path.with_suffix(""): fill(path, folder) for path in templates()}
    )


def fill(template: Path, folder: Path) -> str:
    """Return the result of a template with a folder of reference results; errors as in `render`."""
    return render(
        template,
        number=partial(_number, folder),
        table=partial(_markdown, folder),
        verdicts={line["id"]: line for line in _lines(folder / "verdicts.csv")},
        robustness=_robustness(folder),
        nearest=_nearest(folder),
        likelihood=likelihoods(),
        summary=read_json(folder / "summary.json"),
        lines=lambda name: _lines(_file(folder, "**/*.csv", name, "lines")),
        measured=lambda name: _lines(
            _file(current_project().root / "docs/measured", "*.csv", name, "measured")
        ),
        first=first_in_words,
        answers=lambda task: stored_answers(folder / FOLDER, task),
    )


def _robustness(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of robustness.csv by claim, with the share of each verdict as a column."""
    robustness: dict[str, dict[str, Any]] = {}
    for path in folder.glob("readings/*/robustness.csv"):
        for line in _lines(path):
            shares: dict[str, Any] = dict.fromkeys(VERDICTS, "0")
            if line["shares"]:
                shares.update(read_shares(line["shares"]))
            robustness[line["claim"]] = line | shares
    return robustness


def _nearest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the number of universes compared with the printed values, the nearest and the default, by artefact."""
    nearest: dict[str, dict[str, Any]] = {}
    for path in folder.glob("readings/*/print-*.csv"):
        lines = _lines(path)
        name = f"{path.parent.name}/{path.stem.removeprefix('print-')}"
        nearest[name] = {
            "universes": len(lines),
            "nearest": sum(line["rank"] == "1" for line in lines),
            "best": lines[0],
            "by_default": next(
                (line for line in lines if line["by_default"] == "True"), {}
            ),
        }
    return nearest


def likelihoods() -> dict[str, dict[tuple[str, ...], dict[str, str]]]:
    """Return the rows of likelihood.csv of each paper that has one, by method, reading, rule for ties and list.

    `exactly` is the share of drawn data sets with the list, `exactly_low` and
    `exactly_high` its interval.
    """
    tables: dict[str, dict[tuple[str, ...], dict[str, str]]] = {}
    for name, paper in papers().items():
        path = paper.folder / "likelihood.csv"
        if path.is_file():
            lines = _lines(path)
            tables[name] = {
                (line["method"], line["reading"], line["ties"], line["list"]): line
                for line in lines
            }
    return tables


def render(template: Path, **names: Any) -> str:
    """Return the result of a Markdown template with the given names; the filter `text` shows a text unchanged.

    Raises
    ------
    ValueError
        If something cannot be read or does not exist; the message names the file and
        the line.
    """
    from jinja2 import StrictUndefined, TemplateError  # from the extra "report"
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        form=_format,
        percent=_percent,
        share=_share,
        median=_median,
        text=escape_markdown,
    )
    try:
        return environment.from_string(
            template.read_text(encoding="utf-8"), names
        ).render()
    except (TemplateError, ValueError, TypeError) as error:
        line = 1
        for part in traceback.extract_tb(error.__traceback__):
            if part.filename == "<template>":
                line = part.lineno or line
        line = getattr(error, "lineno", None) or line
        raise ValueError(f"{template}: line {line}: {error}") from None


def _lines(path: Path) -> list[dict[str, str]]:
    return list(pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records"))


def _number(
    folder: Path,
    table: str,
    row: str,
    column: str,
    query: str,
    *,
    data: str = "",
    less: str = "",
) -> str:
    """Return a statistic of a row of a table, or of its paired difference to another row."""
    path = _file(folder / "tables", "*/*.csv", table, "table")
    frame = pd.read_csv(path, dtype=dict.fromkeys(("row", "column", "dataset"), str))
    name, _, form = query.rpartition(" ")
    cells = _cells(frame, row, column, data)
    if less:
        second = _cells(frame, less, column, data)["value"]
        if not cells.index.equals(second.index):
            raise ValueError(
                f"{table}: expected two rows with the same columns and data sets."
            )
        cells = cells.assign(value=cells["value"] - second)
    if name == "value" and len(cells) != 1:
        raise ValueError(
            f"{table}: expected one number, got {len(cells)}; name a data set, or a statistic."
        )
    return _format(STATISTICS[_one_of(STATISTICS, name, "statistic")](cells), form)


def _cells(frame: pd.DataFrame, row: str, column: str, data: str) -> pd.DataFrame:
    """Return the numbers of a row, for the columns that match a name or pattern, and one data set or all."""
    cells = frame[frame["row"] == _one_of(frame["row"], row, "row")]
    names = [column]
    if column not in set(cells["column"]):
        names = [name for name in set(cells["column"]) if fnmatchcase(name, column)]
    cells = cells[
        cells["column"].isin(names or [_one_of(cells["column"], column, "column")])
    ]
    if data:
        cells = cells[cells["dataset"] == _one_of(cells["dataset"], data, "data set")]
    numbers = {
        name: pd.to_numeric(cells[name]) for name in ("value", "sd", "printed_value")
    }
    return (
        cells.fillna({"dataset": ""})
        .assign(**numbers)
        .set_index(["column", "dataset"])
        .sort_index()
    )


def _markdown(
    folder: Path,
    table: str,
    keep: Sequence[str] = (),
    rows: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the first Markdown table of a file, limited to some columns and to the rows with the given cells."""
    blocks = (
        _file(folder / "tables", "*/*.md", table, "table")
        .read_text(encoding="utf-8")
        .split("\n\n")
    )
    block = next(part for part in blocks if part.startswith("|"))
    header, _, *cells = map(_cells_of_line, block.splitlines())
    for column, values in (rows or {}).items():
        k = header.index(_one_of(header, column, f"{table}: column"))
        column_cells = [line[k] for line in cells]
        chosen = {
            _one_of(column_cells, value, f"{table}: {column}") for value in values
        }
        cells = [line for line in cells if line[k] in chosen]
    lines = [header, *cells]
    if keep:
        places = [
            header.index(_one_of(header, column, f"{table}: column")) for column in keep
        ]
        lines = [_at(line, places) for line in lines]
    return "\n".join(table_lines(lines))


def _at(cells: Sequence[str], places: Sequence[int]) -> list[str]:
    return [cells[k] for k in places]


def _cells_of_line(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def _file(folder: Path, pattern: str, name: str, subject: str) -> Path:
    """Return the file below a folder whose name, without its ending, is given."""
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path
        for path in sorted(folder.glob(pattern))
    }
    return files[_one_of(files, name, subject)]


def _format(value: float | str, form: str) -> str:
    """Format a number as Python does, but never as "-0.0"; `d` is only for whole numbers."""
    value = float(value)
    if value != value or (form.endswith("d") and value != round(value)):
        raise ValueError(f"expected a number that {form!r} can show, got {value}.")
    text = format(int(value) if form.endswith("d") else value, form)
    return text if float(text.replace(",", "")) else text.replace("-", "")


def _percent(share: float | str, form: str = ".0f") -> str:
    return _format(100 * float(share), form)


def _median(values: Iterable[str], form: str) -> str:
    return _format(float(pd.to_numeric(pd.Series(list(values))).median()), form)


def first_in_words(board: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on the first method of a leaderboard, or the two most frequent ones if none is surely first."""
    shares = {
        line["method"]: float(line["first"])
        for line in board
        if line["first"] not in ("", None)
    }
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    name, share = ordered[0]
    if share >= SURELY_FIRST:
        return f"{name} has the best mean rank, in {100 * share:.0f} % of resamples"
    often = ", ".join(f"{name} in {100 * share:.0f} %" for name, share in ordered[:2])
    return f"No method has the best mean rank in {100 * SURELY_FIRST:.0f} % of resamples: {often}"


def _share(line: Mapping[str, str], name: str = "exactly") -> str:
    """Return a share with its interval from a likelihood.csv, such as how often a reading gives a list."""
    low = _percent(line[f"{name}_low"], ".1f")
    high = _percent(line[f"{name}_high"], ".1f")
    return f"{_percent(line[name], '.1f')} % [{low}, {high}]"


def _one_of(names: Iterable[str], name: str, subject: str) -> str:
    names = list(dict.fromkeys(map(str, names)))
    if name not in names:
        raise ValueError(
            f"{subject}: expected one of {', '.join(names)[:600] or 'none'}, got {name!r}."
        )
    return name
