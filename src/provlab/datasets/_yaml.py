"""YAML that somebody else may have written: plain values, and no more of them than the file has."""

from pathlib import Path
from typing import Any

import yaml

from provlab._yaml import SAFE_LOADER

_MAX_BYTES = 1 << 20
_MAX_DEPTH = 20
_MAX_REFERENCES = 8


def read_plain_yaml(path: Path) -> Any:
    """Return the content of a small YAML file.

    Raises
    ------
    ValueError
        With the reason and without the name of the file, which the caller knows how to call: no UTF-8, no YAML, other
        types than those of plain values, more than 8 references or 20 levels, or more than a mebibyte.
    OSError
        When the file cannot be read.
    """
    with path.open("rb") as handle:
        content = handle.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"it has more than {_MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8")
        depth = references = 0
        for event in yaml.parse(text, Loader=SAFE_LOADER):
            references += isinstance(event, yaml.AliasEvent)
            if references > _MAX_REFERENCES:
                # a few lines of them stand for so many values that a message about one would never end
                raise ValueError(f"it has more than {_MAX_REFERENCES} references, write out what they stand for")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:  # libyaml's loader takes a piece of the C stack a level, and crashes at its end
                raise ValueError(f"it is nested in more than {_MAX_DEPTH} levels")
        # A SafeLoader makes plain values only; `yaml.load` without one could build any object.
        return yaml.load(text, Loader=SAFE_LOADER)
    except Exception as error:  # tags with wrong values raise whatever int(), dict lookups and the like do
        raise ValueError(f"{' '.join(str(error).split()) or type(error).__name__:.300}") from error
