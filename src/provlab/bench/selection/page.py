"""Page of a selection: the answer, the figure and the tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from provlab.bench.selection.answer import (
    curve_texts,
    frequency_texts,
    how_computed,
    method_texts,
    methods_caption,
)
from provlab.bench.selection.selected import Selected
from provlab.report.templating import Site, write_assets

MAX_LINES = 300
"""Maximum number of columns shown with their folds; the CSV file has all columns."""


def write_page(selected: Selected, folder: Path, files: Sequence[str]) -> Path:
    """Write index.html and its style files into the folder of the other files, and return its path."""
    method = selected.method
    frequencies = frequency_texts(selected)
    caption = "Number of folds that selected each column."
    if len(frequencies) > MAX_LINES:
        caption += f" The first {MAX_LINES} of {len(frequencies):,} are shown; frequency.csv has all."
    tables = [
        (
            "Methods",
            methods_caption(selected),
            _lines("method", method_texts(selected)),
            ("family",),
        ),
        (
            "Number of columns",
            f"{method} on the outer folds.",
            _lines("columns", curve_texts(selected)),
            (),
        ),
        ("Columns", caption, _lines("column", frequencies[:MAX_LINES]), ("selected",)),
    ]
    site = Site(
        folder,
        folder,
        (),
        datetime.now(UTC).isoformat(timespec="seconds"),
        None,
        (),
        alone=True,
    )
    site.write(
        "index.html", "select.html", f"Which columns of {selected.problem.dataset.name}?", "index",
        sentences=selected.answer, curve="curve.svg" if "curve.svg" in files else "", method=method, tables=tables,
        notes=how_computed(selected), code=selected.code, files=[(name, "") for name in files],
    )  # fmt: skip
    write_assets(folder / "assets", plots=False)
    return folder / "index.html"


def _lines(first: str, texts: pd.DataFrame) -> list[dict[str, str]]:
    """Return a DataFrame of strings as rows for a page, with its index as the first column."""
    return texts.rename_axis(first).reset_index().to_dict("records")
