"""A broken transfer resumes where it broke, when that is safe; what comes out is the registered file or nothing."""

import fcntl
import gzip
import hashlib
import random

import pytest
from misbehaving_server import GOOD, KEPT, SHA

from provlab.datasets import DataIntegrityError, FetchError
from provlab.datasets._arriving import arriving
from provlab.datasets._download import _Sink


def part(data_folder, content=None, digest=SHA):
    """Return what is kept of the file, after writing it if that is wanted."""
    path = data_folder / "set" / f".file.bin.{digest[:12]}.part"
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def names(data_folder):
    return sorted(path.name for path in data_folder.rglob("*") if path.is_file())


def test_an_attempt_goes_on_where_the_one_before_broke(registry, server, data_folder):
    (path,) = registry("/range_once")
    assert path.read_bytes() == GOOD
    assert server.ranges == ["", f"bytes={KEPT}-"]
    assert names(data_folder) == ["file.bin"]


def test_a_fetch_goes_on_where_the_one_before_broke(registry, server, data_folder):
    with pytest.raises(FetchError, match=f"The {KEPT} bytes that arrived are kept, the next fetch resumes there"):
        registry("/range_once", retries=0)
    assert part(data_folder).read_bytes() == GOOD[:KEPT]
    (path,) = registry("/range_once")
    assert path.read_bytes() == GOOD
    assert server.ranges == ["", f"bytes={KEPT}-"]


def test_the_next_address_goes_on_with_what_the_first_has_sent(registry, server):
    (path,) = registry("/cut", "/range", retries=0)
    assert path.read_bytes() == GOOD
    assert server.ranges == ["", f"bytes={KEPT}-"]


@pytest.mark.parametrize("path", ["/no_such_thing", "/wrong_range", "/beyond"])
def test_a_server_that_cannot_go_on_sends_the_whole(registry, server, data_folder, path):
    part(data_folder, GOOD[:1000])
    (fetched,) = registry(path, retries=0)
    assert fetched.read_bytes() == GOOD
    assert server.ranges == (["bytes=1000-"] if path == "/no_such_thing" else ["bytes=1000-", ""])
    assert names(data_folder) == ["file.bin"]


@pytest.mark.parametrize("kept", [b"x" * 1000, GOOD + b"x", GOOD[:-1] + b"x"])
def test_what_was_kept_and_is_wrong_is_dropped(registry, server, data_folder, kept):
    part(data_folder, kept)
    (path,) = registry("/range", retries=0)
    assert path.read_bytes() == GOOD
    assert server.ranges == [f"bytes={len(kept)}-", ""]
    assert names(data_folder) == ["file.bin"]


def test_what_was_kept_does_not_make_a_wrong_file_right(registry, server, data_folder):
    part(data_folder, GOOD[:1000])
    with pytest.raises(DataIntegrityError, match=r"found SHA-256 .*Nothing was kept"):
        registry("/other", retries=0)
    assert names(data_folder) == []
    part(data_folder, GOOD[:1000])
    with pytest.raises(DataIntegrityError, match="answers with a web page"):
        registry("/page", retries=0)
    assert names(data_folder) == []


def test_an_address_without_the_file_leaves_what_was_kept(registry, data_folder):
    part(data_folder, GOOD[:1000])
    with pytest.raises(FetchError, match=r"404 .*The 1000 bytes that arrived are kept"):
        registry("/missing", retries=0)
    assert part(data_folder).read_bytes() == GOOD[:1000]


def test_a_file_that_is_not_known_starts_anew(registry, server, data_folder):
    registry("/range_once", sha256=None, size=None, max_size=10**6)
    assert server.ranges == ["", ""]
    assert names(data_folder) == ["file.bin", "sources.lock.yaml"]


def test_packed_otherwise_at_the_next_address(registry, server, data_folder):
    content = GOOD + random.Random(0).randbytes(2 * KEPT)
    one, two = (gzip.compress(content, level, mtime=0) for level in (9, 1))
    server.bodies |= {"/cut_one": one, "/range_two": two}
    known = {"content_sha256": hashlib.sha256(content).hexdigest(), "sha256": hashlib.sha256(one).hexdigest()}
    known |= {"size": len(one), "max_size": 10**6, "format": "gz"}
    (path,) = registry("/cut_one", "/range_two", retries=0, **known)
    assert path.read_bytes() == two  # the rest of it did not fit what the first had sent
    assert server.ranges == ["", f"bytes={KEPT}-", ""]


def test_an_interrupt_keeps_what_arrived(registry, server, data_folder, monkeypatch):
    write = _Sink.write

    def interrupted(sink, chunk):
        write(sink, chunk)
        raise KeyboardInterrupt

    monkeypatch.setattr("provlab.datasets._download._Sink.write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        registry("/range")
    monkeypatch.undo()
    kept = part(data_folder).read_bytes()
    assert kept == GOOD[: len(kept)]
    assert len(kept) > 0


def test_a_full_disk_is_not_tried_again_and_keeps_nothing(registry, server, data_folder, monkeypatch):
    def full(sink, chunk):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("provlab.datasets._download._Sink.write", full)
    with pytest.raises(OSError, match="No space left on device"):
        registry("/good")
    assert server.requests == ["/good"]
    assert names(data_folder) == []


def test_two_processes_do_not_write_to_one_file(registry, server, data_folder):
    path = part(data_folder, GOOD[:1000])
    with path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        (fetched,) = registry("/range")
        assert server.ranges == [""]  # a file of its own, from the start
        assert path.read_bytes() == GOOD[:1000]
    assert fetched.read_bytes() == GOOD


def test_a_part_that_was_moved_to_its_place_meanwhile_is_not_appended_to(tmp_path, monkeypatch):
    target = tmp_path / "file"
    flock = fcntl.flock

    def overtaken(handle, operation):
        (tmp_path / f".file.{SHA[:12]}.part").replace(target)  # by the process that had the lock
        flock(handle, operation)

    monkeypatch.setattr("provlab.datasets._arriving.fcntl.flock", overtaken)
    (tmp_path / f".file.{SHA[:12]}.part").write_bytes(GOOD)
    with arriving(target, SHA, keep_on=(FetchError,)) as handle:
        handle.write(b"another file")
        assert target.read_bytes() == GOOD
    assert target.read_bytes() == b"another file"
