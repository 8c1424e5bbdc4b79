"""A file is hashed once, and again as soon as it may have changed."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from provlab.datasets import _hashes
from provlab.datasets._hashes import file_content_sha256, file_sha256


@pytest.fixture
def computed(monkeypatch):
    """Return the list of files that were hashed."""
    hashed, original = [], _hashes._sha256
    monkeypatch.setattr(_hashes, "_sha256", lambda path: hashed.append(path.name) or original(path))
    return hashed


@pytest.fixture
def later(monkeypatch):
    """Let the clock advance by a minute: what was written before the test is old then."""
    now = time.time
    monkeypatch.setattr(_hashes.time, "time", lambda: now() + 60)


def forget():
    _hashes._memories.clear()


def sha(content):
    return hashlib.sha256(content).hexdigest()


def put(path, content=b"one"):
    path.write_bytes(content)
    return path


def test_once_in_a_process_and_once_on_a_machine(tmp_path, computed, later, data_folder):
    path = put(tmp_path / "file")
    for _ in range(3):
        assert file_sha256(path) == sha(b"one")
    forget()
    assert file_sha256(path) == sha(b"one")
    assert computed == ["file"]
    assert [file.name for file in (data_folder / "cache").iterdir()] == ["hashes.json"]
    assert file_sha256(put(tmp_path / "other", b"two"), data=tmp_path / "elsewhere") == sha(b"two")
    assert (tmp_path / "elsewhere" / "cache" / "hashes.json").is_file()


def test_kinds_of_hashes_are_kept_apart(tmp_path, later, data_folder):
    path = put(tmp_path / "file.gz", gzip.compress(b"one"))
    first = file_sha256(path), file_content_sha256(path, "gz")
    forget()
    assert (file_sha256(path), file_content_sha256(path, "gz")) == first == (sha(path.read_bytes()), sha(b"one"))
    ((state, hashes),) = json.loads((data_folder / "cache" / "hashes.json").read_bytes()).values()
    assert sorted(hashes) == ["gz", "sha256"]
    assert state[0] == path.stat().st_size


def test_a_change_is_noticed_even_with_the_old_times(tmp_path, computed, later):
    path = put(tmp_path / "file")
    file_sha256(path)
    before = path.stat()
    put(path, b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert file_sha256(path) == sha(b"two")
    put(tmp_path / "new", b"six")
    os.replace(tmp_path / "new", path)
    assert file_sha256(path) == sha(b"six")
    assert computed == ["file"] * 3


def test_what_was_written_just_now_is_not_remembered(tmp_path, computed, data_folder):
    path = put(tmp_path / "file")
    assert [file_sha256(path) for _ in range(2)] == [sha(b"one")] * 2
    assert computed == ["file"] * 2
    assert not data_folder.exists()


def test_what_changes_while_it_is_read_is_not_remembered(tmp_path, later, data_folder, monkeypatch):
    path, original = put(tmp_path / "file"), _hashes._sha256

    def slow(path):
        found = original(path)
        put(path, b"longer")
        return found

    monkeypatch.setattr(_hashes, "_sha256", slow)
    assert file_sha256(path) == sha(b"one")
    assert file_sha256(path) == sha(b"longer")


@pytest.mark.parametrize(
    "damage",
    [b"", b"no json", b"[1]", b"{", b'{"FILE": 3}', b'{"FILE": [[1, 2, 3], {}]}', b"[" * 100_000, b"\xff\xfe",
     b'{"FILE": [[STATE], {"sha256": "short"}]}', b'{"FILE": [[STATE], ["sha256"]]}', b'{"FILE": [[true,1,1,1], {}]}'],
)  # fmt: skip
def test_a_damaged_memory_is_ignored_and_written_anew(tmp_path, computed, later, data_folder, damage):
    path, memory = put(tmp_path / "file"), data_folder / "cache" / "hashes.json"
    memory.parent.mkdir(parents=True)
    state = ",".join(map(str, _hashes._state(path))).encode()
    memory.write_bytes(damage.replace(b"FILE", str(path).encode()).replace(b"STATE", state))
    assert file_sha256(path) == sha(b"one")
    forget()
    assert file_sha256(path) == sha(b"one")
    assert computed == ["file"]


@pytest.mark.parametrize("parts", [("data",), ("data", "cache"), ("data", "cache", "hashes.json")])
def test_without_a_place_to_write_to(tmp_path, computed, later, data_folder, parts):
    path, place = put(tmp_path / "file"), tmp_path.joinpath(*parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    if parts[-1] == "hashes.json":
        place.mkdir()  # a folder in the way of the file
    else:
        place.write_bytes(b"")  # a file in the way of the folder
    assert [file_sha256(path) for _ in range(2)] == [sha(b"one")] * 2
    assert computed == ["file"]
    assert not list(tmp_path.rglob("*.part"))


def test_its_size_is_bounded(tmp_path, later, data_folder, monkeypatch):
    monkeypatch.setattr(_hashes, "_MAX_ENTRIES", 3)
    for i in range(5):
        file_sha256(put(tmp_path / str(i)))
    file_sha256(tmp_path / "3")
    memory = data_folder / "cache" / "hashes.json"
    assert [os.path.basename(name) for name in json.loads(memory.read_bytes())] == ["2", "3", "4"]
    monkeypatch.setattr(_hashes, "_MAX_BYTES", memory.stat().st_size - 1)
    assert _hashes._read(memory) == {}


def test_processes_side_by_side_leave_a_sound_memory(tmp_path, later, data_folder):
    files = [put(tmp_path / str(i), bytes([i])) for i in range(20)]
    program = (
        "import sys, time; from pathlib import Path; from provlab.datasets import _hashes\n"
        "now = time.time; _hashes.time.time = lambda: now() + 60\n"
        "for name in sys.argv[1:]: _hashes.file_sha256(Path(name))"
    )
    command = [sys.executable, "-c", program]
    running = [subprocess.Popen([*command, *map(str, files[i::2] + files[:5])]) for i in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    remembered = _hashes._read(data_folder / "cache" / "hashes.json")
    assert remembered  # a lost entry is computed again, a wrong one would never be noticed
    for name, (_, hashes) in remembered.items():
        assert hashes == {"sha256": sha(Path(name).read_bytes())}
    assert [path.name for path in (data_folder / "cache").iterdir()] == ["hashes.json"]
