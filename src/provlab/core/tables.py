"""Tables as Markdown and LaTeX (booktabs), with untrusted text escaped in both."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.project.messages import csv_text, visible_line
from provsel.files import replacing

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$",
}  # fmt: skip


class Traced(str):
    """A number as text, with the row, column and data set ("" for all) of the artefact that its trace explains."""

    __slots__ = ("place",)
    place: tuple[str, str, str]

    def __new__(cls, text: str, row: str, column: str, dataset: str = "") -> Traced:
        """Create the string with its origin."""
        traced = super().__new__(cls, text)
        traced.place = (row, column, dataset)
        return traced


def like(number: str, text: str) -> str:
    """Return a string, such as a number with its sd, with the origin of the number, if any."""
    return Traced(text, *number.place) if isinstance(number, Traced) else text


def cell_text(lines: pd.DataFrame, row: str, column: str, field: str = "value") -> str:
    """Return a number of a frame by row and column as text with two decimals; "" if there is none.

    A computed number carries its origin; a published number has no trace.
    """
    if (row, column) not in lines.index:
        return ""
    value = lines.loc[(row, column), field]
    text = value_text(value)
    if field.startswith("printed") or not text:
        return text
    origin = {
        **dict(zip(lines.index.names, (row, column), strict=True)),
        **lines.loc[(row, column)].to_dict(),
    }
    return Traced(text, origin["of_row"], origin["of_column"], origin["dataset"])


def value_text(value: object) -> str:
    """Return a value of a frame as text, numbers with two decimals; "" if there is none."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.2f}"
    return "" if value is None else str(value)


def mean_and_sd(value: object, sd: object) -> str:
    """Return a mean with any standard deviation in parentheses."""
    mean = value_text(value)
    spread = value_text(sd)
    return f"{mean} ({spread})" if mean and spread else mean


def whole(number: str) -> str:
    """Return the text of a count without its decimals."""
    return like(number, number.removesuffix(".00"))


def escape_latex(text: object) -> str:
    """Return `text` escaped for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in _one_line(text))


def escape_markdown(text: object) -> str:
    """Return `text` escaped for a Markdown table cell; HTML in it has no effect."""
    escaped = re.sub(r"([\\`*_|\[\]~#])", r"\\\1", _one_line(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def table_lines(rows: Sequence[Sequence[str]], least: int = 0) -> list[str]:
    """Return the lines of a Markdown table of escaped texts; the first row is the header."""
    widths = [max(least, *map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = map(str.ljust, row, widths)
        lines.append(f"| {' | '.join(padded)} |")
    rule = "|".join("-" * (width + 2) for width in widths)
    return [lines[0], f"|{rule}|", *lines[1:]]


def aligned_text(frame: pd.DataFrame) -> str:
    """Return a DataFrame of strings as lines for a terminal, with the index on the left and right-aligned columns."""
    lines = [("", *frame.columns), *frame.itertuples(name=None)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    text = ""
    for name, *cells in lines:
        columns = [
            cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)
        ]
        text += "  ".join([name.ljust(widths[0]), *columns]).rstrip() + "\n"
    return text


def markdown_table(
    header: Sequence[object],
    rows: Sequence[Sequence[object]],
    caption: str,
    note: str = "",
) -> str:
    """Return a Markdown table with its caption above and its note below."""
    escaped = [list(map(escape_markdown, row)) for row in [header, *rows]]
    lines = table_lines(escaped, least=3)
    parts = [f"**{escape_markdown(caption)}**", "\n".join(lines)]
    return "\n\n".join(parts + ([escape_markdown(note)] if note else [])) + "\n"


def latex_table(
    header: Sequence[object],
    rows: Sequence[Sequence[object]],
    caption: str,
    note: str = "",
    label: str = "",
) -> str:
    """Return a LaTeX table that needs the package booktabs."""
    body = [_latex_line(row) for row in rows]
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape_latex(caption)}}}",
        *([rf"  \label{{{label}}}"] if label else []),
        rf"  \begin{{tabular}}{{{'l' * len(header)}}}",
        r"    \toprule",
        "    " + _latex_line(header),
        r"    \midrule",
        *("    " + line for line in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        *([rf"  \par\smallskip {escape_latex(note)}"] if note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_line(cells: Sequence[object]) -> str:
    return " & ".join(map(escape_latex, cells)) + r" \\"


def write_tables(
    stem: Path,
    header: Sequence[object],
    rows: Sequence[Sequence[object]],
    *,
    caption: str,
    note: str = "",
) -> str:
    """Write `stem`.md, .tex and .json, and return the Markdown.

    The JSON file has `caption`, `note`, `header` and `rows`. A cell has `text` and, if
    the number is `Traced`, the `row`, `column` and `dataset` of the artefact.
    """
    write_text(
        stem.with_suffix(".tex"),
        latex_table(header, rows, caption, note, f"tab:{stem.name}"),
    )
    layout = {
        "caption": caption,
        "note": note,
        "header": _layout(header),
        "rows": [_layout(row) for row in rows],
    }
    write_text(
        stem.with_suffix(".json"),
        json.dumps(layout, ensure_ascii=False, indent=1) + "\n",
    )
    markdown = markdown_table(header, rows, caption, note)
    write_text(stem.with_suffix(".md"), markdown)
    return markdown


def write_frame(frame: pd.DataFrame, path: Path, numbers: Collection[str] = ()) -> None:
    """Write a long-form frame as CSV, see `messages.csv_text`, compressed if the path ends in .gz."""
    content = csv_text(frame, numbers).encode()
    with replacing(path) as temporary:
        temporary.write_bytes(
            gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
        )


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_changed(texts: Mapping[Path, str]) -> list[Path]:
    """Write the texts that differ from their files, and return the changed paths."""
    changed = [
        path
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path in changed:
        write_text(path, texts[path])
    return changed


def _layout(cells: Sequence[object]) -> list[dict[str, str]]:
    layout = []
    for cell in cells:
        described = {"text": _one_line(cell)}
        if isinstance(cell, Traced):
            described["row"], described["column"], described["dataset"] = cell.place
        layout.append(described)
    return layout


def _one_line(text: object) -> str:
    return visible_line(" ".join(str(text).split()))


def limited(*limits: float) -> bool:
    """Return whether limits exclude anything: with few observations, some tests exclude no value at all."""
    return any(map(math.isfinite, limits))
