"""Every test has its own data folder and no mirror; tests of real data ask for `real_mirror`."""

import os
from pathlib import Path

import pytest
import yaml
from misbehaving_server import registry, server  # noqa: F401 - fixtures

from provlab.datasets import read_source
from provlab.datasets._sources import DEFAULT_REGISTRY

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
def without_hashes(tmp_path, monkeypatch):
    """Return a function that leaves one entry of the registry, of which neither hashes nor sizes are known."""

    def forget(name):
        entry = yaml.safe_load((DEFAULT_REGISTRY / f"{name}.yaml").read_text())
        for file in entry["files"]:
            file.pop("content_sha256", None)
            file |= {"sha256": None, "size": None, "max_size": 1 << 30}
        (tmp_path / "registry").mkdir()
        (tmp_path / "registry" / f"{name}.yaml").write_text(yaml.safe_dump(entry))
        monkeypatch.setattr("provlab.datasets._sources.DEFAULT_REGISTRY", tmp_path / "registry")
        read_source.cache_clear()

    yield forget
    read_source.cache_clear()


@pytest.fixture
def real_mirror(monkeypatch):
    if not _REAL_MIRROR or not (Path(_REAL_MIRROR) / "techtc100" / "tokens").is_dir():
        pytest.skip("needs real data: set PROVSEL_DATA_MIRROR to a folder that holds techtc100/tokens")
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", _REAL_MIRROR)
    return Path(_REAL_MIRROR)
