"""What `provsel fetch` says at the end: what is there, what is not, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provlab.cli._guard import one_line
from provlab.datasets import Obtained, usable

_LISTED = 5


def summary(outcomes: Mapping[str, Sequence[Obtained]]) -> list[str]:
    """Return lines: one a data set, and one for each file that is missing, up to a few.

    Parameters
    ----------
    outcomes : mapping of str to sequence of Obtained
        From `fetch_all`.

    Returns
    -------
    list of str
    """
    width = max(map(len, outcomes), default=0)
    lines = []
    for name, obtained in outcomes.items():
        lines.append(f"{name:{width}}  {_state(obtained)}")
        absent = [item for item in obtained if item.error is not None]
        lines += [
            f"{'':{width}}    {item.file.path}: {one_line(item.error)}" for item in absent[:_LISTED] if item.error
        ]
        if len(absent) > _LISTED:
            lines.append(f"{'':{width}}    and {len(absent) - _LISTED} files more")
    return lines


def complete(outcomes: Mapping[str, Sequence[Obtained]]) -> bool:
    """Tell whether every data set can be loaded."""
    return all(not obtained or usable(obtained) for obtained in outcomes.values())


def _state(obtained: Sequence[Obtained]) -> str:
    if not obtained:
        return "needs no files"
    paths = [item.path for item in obtained if item.path is not None]
    size = f"{sum(path.stat().st_size for path in paths) / 1e6:,.1f} MB"
    if len(paths) == len(obtained):
        return f"there ({_files(len(paths))}, {size})"
    if usable(obtained):
        return f"there ({len(paths)} of {_files(len(obtained))}, {size}); not there, and not needed with these:"
    return f"NOT there ({len(paths)} of {_files(len(obtained))}):"


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
