"""A published file as it is, packed with xz."""

import lzma
from collections.abc import Sequence
from pathlib import Path

from ._sources import pack

_MAX_BYTES = 1 << 24


def convert(sources: Sequence[Path], target: Path) -> None:
    """Pack one file of at most 16 MiB; the packed bytes depend on the version of liblzma, the content does not.

    Raises
    ------
    ValueError
        Unless there is exactly one source, and for a larger one.
    """
    pack("pack_xz", sources, target, limit=_MAX_BYTES, compress=lambda content: lzma.compress(content, preset=6))
