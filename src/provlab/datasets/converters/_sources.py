"""What converters ask of their sources, and those that only pack one."""

from collections.abc import Callable, Sequence
from pathlib import Path

from provlab.datasets._small import read_small
from provsel.files import replacing


def one_source(converter: str, sources: Sequence[Path]) -> Path:
    """Return the only source of a converter."""
    if len(sources) != 1:
        raise ValueError(f"{converter}: expected one file to convert, got {len(sources)}. Correct made_from")
    return sources[0]


def pack(
    converter: str, sources: Sequence[Path], target: Path, *, limit: int, compress: Callable[[bytes], bytes]
) -> None:
    """Write the only source, of at most `limit` bytes, packed."""
    content = read_small(one_source(converter, sources), limit, "a file to pack")
    with replacing(target) as temporary:
        temporary.write_bytes(compress(content))
