"""Every test has its own data folder and no mirror; tests of real data ask for `real_mirror`."""

import hashlib
import os
from pathlib import Path

import pytest
import yaml
from misbehaving_server import server, write  # noqa: F401 - fixtures

from provlab.datasets import read_source
from provlab.datasets.registry import SOURCES

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
def register(tmp_path, monkeypatch):
    """Return a function that leaves one entry of the registry, with the hashes that the files of a folder have."""

    def as_they_are(name, folder):
        entry = yaml.safe_load((SOURCES / f"{name}.yaml").read_text())
        for file in entry["files"]:
            content = (folder / file["path"]).read_bytes()
            file |= {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
            file.pop("content_sha256", None)
        (tmp_path / "registry").mkdir()
        (tmp_path / "registry" / f"{name}.yaml").write_text(yaml.safe_dump(entry))
        monkeypatch.setattr("provlab.datasets.registry.SOURCES", tmp_path / "registry")
        read_source.cache_clear()

    yield as_they_are
    read_source.cache_clear()


@pytest.fixture
def real_mirror(monkeypatch):
    if not _REAL_MIRROR or not (Path(_REAL_MIRROR) / "techtc100" / "tokens").is_dir():
        pytest.skip("needs real data: set PROVSEL_DATA_MIRROR to a folder that holds techtc100/tokens")
    monkeypatch.setenv("PROVSEL_DATA_MIRROR", _REAL_MIRROR)
    return Path(_REAL_MIRROR)
