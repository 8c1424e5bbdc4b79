"""Real files that a test needs."""

import pytest


def needs(mirror, *paths):
    missing = [path for path in paths if not (mirror / path).is_file()]
    if missing:
        pytest.skip(f"needs real data: the mirror has no {missing[0]}")
