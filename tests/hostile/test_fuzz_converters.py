"""Converters on damaged sources: a whole target, or one error that names the source and no target."""

import pytest
from foreign_sources import SOURCES, few
from hostile_bytes import fuzz


@pytest.mark.parametrize("name", SOURCES)
def test_damaged_sources(name, tmp_path, monkeypatch):
    few(monkeypatch)
    fuzz(SOURCES[name], tmp_path)
