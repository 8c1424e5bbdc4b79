"""What somebody may have meant by a name that is none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like this one, None where none is; letters' case makes no difference."""
    by_form = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), by_form, n=1)
    return by_form[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about a name that is none: "; did you mean 'leverage'?", or nothing."""
    found = nearest(name, known)
    return f"; did you mean {found!r}?" if found else ""
