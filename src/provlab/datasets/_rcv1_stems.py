"""The dictionary of LYRL2004: which stem each term number stands for."""

import re
from pathlib import Path

from ._errors import bad_line
from ._rcv1_parse import N_TERMS
from ._small import read_small

_MAX_BYTES = 1 << 22  # the published file has 1,411,031
# stem, number, inverse document frequency
_LINE = re.compile(rb"([!-~]{1,100}) ([1-9][0-9]{0,5}) [0-9]{1,3}(?:\.[0-9]{1,20})?")


def read_stems(path: Path) -> list[str]:
    """Return the stems by term number, counted from 0 as columns are.

    Parameters
    ----------
    path : Path
        stem.termid.idf.map.txt.

    Returns
    -------
    list of str, 47,236 distinct ones

    Raises
    ------
    ValueError
        For a malformed line, and unless each number and each stem occurs once.
    """
    content = read_small(path, _MAX_BYTES, "a dictionary")
    stems: dict[int, str] = {}
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise bad_line(path, number, "a stem, its number and its weight", line)
        stems[int(match[2])] = match[1].decode("ascii")
        if len(stems) != number:
            raise ValueError(
                f"{path}, line {number}: expected each number once, got {match[2].decode()} again. Replace it"
            )
    if stems.keys() != set(range(1, N_TERMS + 1)) or len({*stems.values()}) != N_TERMS:
        raise ValueError(
            f"{path}: expected {N_TERMS} distinct stems numbered from 1, got {len({*stems.values()})} with numbers up "
            f"to {max(stems)}. It is another file or cut: fetch it again"
        )
    return [stems[term] for term in range(1, N_TERMS + 1)]
