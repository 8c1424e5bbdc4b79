"""What converters ask of their sources."""

from collections.abc import Sequence
from pathlib import Path


def one_source(converter: str, sources: Sequence[Path]) -> Path:
    """Return the only source of a converter."""
    if len(sources) != 1:
        raise ValueError(f"{converter}: expected one file to convert, got {len(sources)}. Correct made_from")
    return sources[0]


def read_small(path: Path, limit: int, what: str) -> bytes:
    """Return the content of a file of at most `limit` bytes."""
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{path}: expected {what} of at most {limit} bytes, got more. It is another file: replace it")
    return content
