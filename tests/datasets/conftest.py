"""Every test has its own data folder and no mirror; tests of real data ask for `real_mirror`."""

import os
from pathlib import Path

import pytest

_REAL_MIRROR = os.environ.get("PROVSEL_DATA_MIRROR")


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("PROVSEL_DATA", str(folder))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    return folder


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(folder))
    return folder


@pytest.fixture
def real_mirror(monkeypatch):
    if not _REAL_MIRROR or not (Path(_REAL_MIRROR) / "techtc100" / "tokens").is_dir():
        pytest.skip(
            "needs real data: set PROVSEL_DATA_MIRROR to a folder that holds techtc100/tokens"
        )
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", _REAL_MIRROR)
    return Path(_REAL_MIRROR)
