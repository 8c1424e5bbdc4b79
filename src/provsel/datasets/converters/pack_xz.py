"""A published file as it is, packed with xz."""

import lzma
from collections.abc import Sequence
from pathlib import Path

from provsel._files import replacing

from ._sources import one_source, read_small

_MAX_BYTES = 1 << 24


def convert(sources: Sequence[Path], target: Path) -> None:
    """Pack one file of at most 16 MiB; the packed bytes depend on the version of liblzma, the content does not.

    Raises
    ------
    ValueError
        Unless there is exactly one source, and for a larger one.
    """
    content = read_small(one_source("pack_xz", sources), _MAX_BYTES, "a file to pack")
    with replacing(target) as temporary:
        temporary.write_bytes(lzma.compress(content, preset=6))
