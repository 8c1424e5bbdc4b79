"""A published file as it is, packed with gzip."""

import gzip
from collections.abc import Sequence
from pathlib import Path

from provsel._files import replacing

from ._sources import one_source, read_small

_MAX_BYTES = 1 << 26


def convert(sources: Sequence[Path], target: Path) -> None:
    """Pack one file of at most 64 MiB; the packed bytes depend on the version of zlib, the content does not.

    Raises
    ------
    ValueError
        Unless there is exactly one source, and for a larger one.
    """
    content = read_small(one_source("pack_gz", sources), _MAX_BYTES, "a file to pack")
    with replacing(target) as temporary:
        temporary.write_bytes(gzip.compress(content, 6, mtime=0))
