"""The reader of YAML that every reader here is made of."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Plain values only; libyaml's is ten times faster."""


def read_listing(path: Path, of: str, see: str) -> dict[str, Any]:
    """Return a paper's file that lists things of one kind: a mapping with `paper`, and `of` with a list.

    Raises
    ------
    ValueError
        When it is another one, with `see` as the place that says what is expected.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=SAFE_LOADER)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected YAML, got {' '.join(str(error).split())}.") from error
    if not isinstance(content, dict) or not isinstance(content.get(of), list) or not content.get("paper"):
        raise ValueError(f"{path}: expected the keys paper, and {of} with a list, see {see}.")
    return content


def check_keys(subject: str, entry: Any, keys: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Check that an entry of a file is a mapping with some keys, and at most some more."""
    if not isinstance(entry, Mapping):
        raise ValueError(f"{subject}: expected a mapping with {', '.join(keys)}, got {entry!r:.80}.")
    wrong = [f"no {key}" for key in keys if key not in entry]
    wrong += [f"the unknown {key}" for key in entry.keys() - {*keys, *optional}]
    if wrong:
        more = f", and at most {', '.join(optional)}" if optional else ""
        raise ValueError(
            f"{subject}: expected exactly the keys {', '.join(keys)}{more}, got {', '.join(sorted(wrong))}."
        )


def one_line(text: Any) -> str:
    """Return a text without the breaks that YAML's folding leaves."""
    return " ".join(str(text).split())
