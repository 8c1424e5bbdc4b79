"""The artefact on memory: its configs, numbers and table. `test_artefacts.py` runs its script."""

import numpy as np
import pandas as pd
import pytest

from provlab.core.artefact import Entry, compose_artefact
from provlab.project.papers import papers
from small_runs import small_cell

NAME = "giesen2013/compression-memory"
memory = papers()["giesen2013"].module("compression-memory")
COMPRESSED = {"_target_": "provsel.models.CompressedLinearSVM", "n_components": 50}
LIBLINEAR = {"_target_": "provsel.models.LiblinearSVM"}


def test_a_models_settings_apply_to_the_models_that_have_them():
    artefact = compose_artefact(NAME, ["artefact.only=['n=2,000 m=100,000']"])
    cells = {(entry.row, entry.column): entry.cell for entry in artefact.entries}
    assert len(cells) == 9
    assert "n_components" not in cells["LIBLINEAR", "100"].model
    assert len({cells["LIBLINEAR", column].id for column in ("20", "100", "400")}) == 1
    for row, store in (
        ("compressed, Lambda kept", True),
        ("compressed, Lambda regenerated", False),
    ):
        assert [
            cells[row, column].model["n_components"] for column in ("20", "100", "400")
        ] == [20, 100, 400]
        assert cells[row, "20"].model["store"] is store
    assert {cell.protocol["split"] for cell in artefact.cells} == {"streamed"}
    dense = artefact.config.artefact.datasets["dense n=1,000 m=10,000"]
    assert "dataset.dense=true" in dense.choose
    assert list(dense.columns) == ["100"]


def test_lines():
    # by hand: (3,000 + 7,000) x 50 x 8 bytes = 4 MB; 3,000 x 50 x 8 + 7,000 x 8 bytes =
    # 1.256 MB
    assert memory.line_megabytes(
        {**COMPRESSED, "store": True}, 3000, 7000
    ) == pytest.approx(4.0)
    assert memory.line_megabytes(
        {**COMPRESSED, "store": False}, 3000, 7000
    ) == pytest.approx(1.256)
    assert np.isnan(memory.line_megabytes(LIBLINEAR, 3000, 7000))
    assert memory.paper_megabytes(np.exp(5), 7000) == pytest.approx(
        8e-6 * (np.exp(5) + 7000) * 40
    )


def entries_and_trials():
    models = {
        "kept": {**COMPRESSED, "store": True},
        "regenerated": {**COMPRESSED, "store": False},
        "LIBLINEAR": LIBLINEAR,
    }
    entries = []
    lines = []
    for n, m in ((3000, 7000), (300, 7000), (3000, 700)):
        for row, model in models.items():
            for column in ("50", "60"):
                entries.append(Entry(row, column, small_cell(model=model), f"{n} {m}"))
                trial = {
                    "row": row,
                    "column": column,
                    "dataset": f"{n} {m}",
                    "n_train": n,
                    "n_features": m,
                }
                lines += [
                    {
                        **trial,
                        "peak_memory": 1e6 * k,
                        "file_bytes": 5e6,
                        "error": 0.1 * k,
                    }
                    for k in (1, 3)
                ]
    return entries, pd.DataFrame(lines)


def test_table():
    entries, trials = entries_and_trials()
    rows = memory.memory_rows(memory.memory_points(entries, trials), ["50", "60"])
    assert rows[0] == [
        "3000 7000",
        "5",
        "kept",
        "2.0 (0.5 x, 20.0 %)",
        "2.0 (0.5 x, 20.0 %)",
    ]
    assert rows[1][2:4] == ["regenerated", "2.0 (1.6 x, 20.0 %)"]
    assert rows[2][2:] == ["LIBLINEAR", "2.0 (20.0 %)", ""]
    assert len(rows) == 9
    # a data set without the first column
    points = memory.memory_points(entries, trials[trials["column"] == "60"])
    assert [
        row[3:] for row in memory.memory_rows(points, ["50", "60", "70"])[:3:2]
    ] == [
        ["", "2.0 (0.5 x, 20.0 %)", ""],
        ["", "2.0 (20.0 %)", ""],
    ]
    [summary] = [
        line
        for line in memory.summarise(entries[0], trials[:2])
        if line["column"] == "50"
    ]
    assert summary["value"] == 2.0
    assert summary["sd"] == pytest.approx(np.sqrt(2))
