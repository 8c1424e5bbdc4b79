"""A file of unknown intent that has to be in memory."""

from pathlib import Path


def read_small(path: Path, limit: int, what: str) -> bytes:
    """Return the content of a file of at most `limit` bytes; of a larger one no more is read.

    Raises
    ------
    ValueError
        For a larger file; `what` says what it should be.
    """
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{path}: expected {what} of at most {limit} bytes, got more. It is another file: replace it")
    return content
