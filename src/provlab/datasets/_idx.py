"""The idx format of MNIST: compressed arrays of unsigned bytes with a big-endian header."""

import gzip
import hashlib
import math
import struct
import zlib
from pathlib import Path

import numpy as np

_UNSIGNED_BYTE = 8


def read_idx(path: Path, shape: tuple[int, ...], sha256: str) -> np.ndarray:
    """Return the array of a gzip-compressed idx file.

    Parameters
    ----------
    path : Path
    shape : tuple of int
        The shape that the file must have; no more than its bytes are ever expanded.
    sha256 : str
        Of the uncompressed content: mirrors compress it differently.

    Returns
    -------
    ndarray of this shape, uint8
        Read-only.

    Raises
    ------
    ValueError
        For a damaged file, another header, another length or other content.
    """
    header = struct.pack(f">HBB{len(shape)}I", 0, _UNSIGNED_BYTE, len(shape), *shape)
    length = len(header) + math.prod(shape)
    try:
        with gzip.open(path) as handle:
            content = handle.read(length + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path}: cannot be decompressed ({error}); expected a complete .gz file. Replace it by an intact copy"
        ) from error
    if content[:4] != header[:4]:
        raise _bad(
            path, f"the magic number {header[:4].hex()} of unsigned bytes in {len(shape)} dimensions", content[:4]
        )
    if content[: len(header)] != header:
        raise _bad(path, f"the dimensions {shape} as {header[4:].hex()}", content[4 : len(header)])
    if len(content) != length:
        found = "more" if len(content) > length else str(len(content))
        raise ValueError(f"{path}: expected {length} bytes of content, got {found}. Replace it by an intact copy")
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path}: expected content with SHA-256 {sha256}, got {found}. The file is damaged or another "
            "version: replace it"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=len(header)).reshape(shape)


def _bad(path: Path, expected: str, got: bytes) -> ValueError:
    """Return the error for a header that is not the expected one."""
    return ValueError(f"{path}: expected {expected}, got {got.hex() or 'nothing'}. It is no such idx file: replace it")
