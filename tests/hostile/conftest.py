"""Every test has its own data folder and mirror."""

import pytest


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(tmp_path / "mirror"))
    return tmp_path
