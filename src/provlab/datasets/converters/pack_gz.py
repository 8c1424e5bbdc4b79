"""A published file as it is, packed with gzip."""

import gzip
from collections.abc import Sequence
from pathlib import Path

from ._sources import pack

_MAX_BYTES = 1 << 26


def convert(sources: Sequence[Path], target: Path) -> None:
    """Pack one file of at most 64 MiB; the packed bytes depend on the version of zlib, the content does not.

    Raises
    ------
    ValueError
        Unless there is exactly one source, and for a larger one.
    """
    pack("pack_gz", sources, target, limit=_MAX_BYTES, compress=lambda content: gzip.compress(content, 6, mtime=0))
