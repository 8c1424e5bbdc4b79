"""Dated releases of the leaderboard, which never change and can therefore be cited."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

import pandas as pd

from provlab.bench.panel_answers import LEADERBOARD
from provlab.bench.stored_panel import read_panel
from provlab.core.tables import write_frame
from provsel import __version__

BOARDS = "boards"
"""Folder of the released leaderboards within the folder of the stored panel."""

RELEASES = "_boards.csv"
"""File in the folder of the stored panel with one row per release and task."""

COLUMNS = ["date", "version", "task", "data sets", "methods", "trials", "digest"]
"""Columns of `RELEASES`; digest is the SHA-256 of the trial files in the order of their names."""


def release_board(folder: Path, day: date) -> Path:
    """Release the leaderboard of a stored panel: copy it under a date, list it, and return the copy.

    Raises
    ------
    ValueError
        If a release with this date or with the same trials exists.
    """
    board = folder / BOARDS / f"{day.isoformat()}.csv"
    if board.exists():
        raise ValueError(
            f"reference: expected a date without a release, got {day.isoformat()}; see {board}."
        )
    path = folder / RELEASES
    releases = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=COLUMNS)
    digest = _digest_of_trials(folder)
    if digest in {*releases["digest"]}:
        raise ValueError(
            f"reference: expected trials that no release has, got those of the release "
            f"{releases.loc[releases['digest'] == digest, 'date'].iloc[0]}; compute further data "
            f"sets with provsel panel first."
        )
    ranks = pd.read_csv(folder / LEADERBOARD)
    for task, trials in read_panel(folder).groupby("task"):
        n_methods = int((ranks["task"] == task).sum())
        counts = [trials["dataset"].nunique(), n_methods, len(trials)]
        releases.loc[len(releases)] = [
            day.isoformat(),
            __version__,
            task,
            *counts,
            digest,
        ]
    board.parent.mkdir(exist_ok=True)
    write_frame(ranks, board)
    write_frame(releases, path)
    return board


def _digest_of_trials(folder: Path) -> str:
    """Return the SHA-256 of the trial files in the order of their names."""
    hashed = hashlib.sha256()
    for path in sorted(folder.glob("*.parquet")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()
