"""Files on this machine: which folder has them, and whether they are the registered ones."""

import gzip
import hashlib
import io
import lzma
import os
import tarfile
import time
import zipfile

import numpy as np
import pytest

from provlab.datasets import DataIntegrityError, MissingDataError, SourceFile, files, locate, read_source
from provlab.datasets.files import content_sha256, file_sha256

CONTENT = b"some content " * 1000
PACKED = gzip.compress(CONTENT, mtime=0)


def sha(content):
    return hashlib.sha256(content).hexdigest()


def plain(**changes):
    known = {"path": "set/a.bin", "format": "bin", "sha256": sha(CONTENT), "size": len(CONTENT), "source": "thing"}
    return SourceFile(**{**known, "urls": ("https://example.org/a.bin",), **changes})


def packed(**changes):
    known = {"path": "set/a.gz", "format": "gz", "sha256": sha(PACKED), "size": len(PACKED)}
    return plain(**{**known, "content_sha256": sha(CONTENT), **changes})


def put(root, content=CONTENT, name="a.bin"):
    path = root / "set" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_mirror_is_searched_first(mirror, data_folder):
    ours = put(data_folder)
    assert locate(plain()) == ours
    theirs = put(mirror)
    assert locate(plain()) == theirs
    assert locate(plain(size=None, max_size=10**6)) == theirs


def test_a_missing_file_says_where_and_how(mirror, data_folder):
    with pytest.raises(MissingDataError, match=r"thing: the file set/a.bin is missing") as caught:
        locate(plain())
    for piece in (str(mirror), str(data_folder), "https://example.org/a.bin", "`provsel fetch thing`"):
        assert piece in str(caught.value)
    with pytest.raises(MissingDataError, match=r"no public address .* set PROVSEL_DATA_MIRROR to a folder that holds"):
        locate(plain(urls=()))
    with pytest.raises(MissingDataError, match=r"is made from the published raw/a and 1 more : run `provsel fetch"):
        locate(plain(urls=(), made_from=("raw/a", "raw/b")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONTENT[:-1], r"expected 13000 bytes .the source registry., found 12999 bytes. .* `provsel fetch thing`"),
        (CONTENT[::-1], f"expected SHA-256 {sha(CONTENT)} .*found SHA-256 {sha(CONTENT[::-1])}"),
    ],
)
def test_damaged_files_are_refused(mirror, content, message):
    path = put(mirror, content)
    with pytest.raises(DataIntegrityError, match=message) as caught:
        locate(plain())
    assert str(caught.value).startswith(str(path))


def test_bytes_or_content_must_be_the_registered_ones(data_folder):
    for content in (PACKED, gzip.compress(CONTENT, 1), gzip.compress(CONTENT, mtime=7)):
        path = put(data_folder, content, "a.gz")
        assert locate(packed()) == locate(packed(sha256=None, size=None)) == path
    assert packed().digest == sha(CONTENT)
    with pytest.raises(DataIntegrityError, match=r"a\.gz: expected SHA-256 \w{64} \(the source registry\), found SHA"):
        locate(packed(content_sha256=None))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(CONTENT[:-1], 1), rf"or the content {sha(CONTENT)} .*found .*the content {sha(CONTENT[:-1])}"),
        (b"no gz", r"found 5 bytes and the content that cannot be read \("),
        (PACKED[:-9], r"the content that cannot be read \("),
    ],
)
def test_neither_bytes_nor_content(data_folder, content, message):
    put(data_folder, content, "a.gz")
    with pytest.raises(DataIntegrityError, match=message):
        locate(packed())


def tar(path, members, *, mode="w:gz", kind=tarfile.REGTYPE):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size, info.type = len(content), kind
            archive.addfile(info, io.BytesIO(content))
    return path


def test_streams_are_known_by_their_content(tmp_path, monkeypatch):
    for kind, pack in (("gz", gzip.compress), ("xz", lzma.compress)):
        (tmp_path / "file").write_bytes(pack(CONTENT))
        assert content_sha256(tmp_path / "file", kind) == sha(CONTENT)
    monkeypatch.setattr(files, "MAX_EXPANDED", len(CONTENT) - 1)
    with pytest.raises(ValueError, match="expands to more than 12999 bytes"):
        content_sha256(tmp_path / "file", "xz")


def test_archives_are_their_members_in_any_order_and_below_any_folder(tmp_path):
    members = [("b/y", b"1"), ("a", b"2"), ("b/x", b"")]
    expected = hashlib.sha256()
    for name, content in sorted(members):
        expected.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    one = tar(tmp_path / "one", members)
    two = tar(tmp_path / "two", [(f"top-1234/{name}", content) for name, content in members[::-1]], mode="w:xz")
    assert {content_sha256(one, "tar.gz"), content_sha256(two, "tar.xz")} == {expected.hexdigest()}
    for other in (members[:2], [*members[1:], ("b/y", b"3")], [("c", b"1"), *members[1:]]):
        assert content_sha256(tar(tmp_path / "other", other), "tar.gz") != expected.hexdigest()


def test_arrays_are_known_by_their_members(tmp_path):
    arrays = {"b": np.arange(1000), "a": np.eye(3)}
    np.savez(tmp_path / "stored.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **dict(reversed(arrays.items())))
    np.savez(tmp_path / "other.npz", **arrays, c=np.eye(1))
    stored, packed, other = (content_sha256(tmp_path / f"{n}.npz", "npz") for n in ("stored", "packed", "other"))
    assert stored == packed != other


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_no_content_names(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="the member 'a' occurs twice"):
        content_sha256(tar(tmp_path / "twice", [("a", b"1"), ("a", b"2")]), "tar.gz")
    with pytest.raises(ValueError, match="the member 'a' is a link or device"):
        content_sha256(tar(tmp_path / "link", [("a", b"")], kind=tarfile.SYMTYPE), "tar.gz")
    monkeypatch.setattr(files, "MAX_EXPANDED", 1999)
    with pytest.raises(ValueError, match="expands to more than 1999 bytes"):
        content_sha256(tar(tmp_path / "large", [("a", bytes(1000)), ("b", bytes(1000))]), "tar.gz")
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1 << 20))
    with pytest.raises(ValueError, match="expands to more than 1999 bytes"):
        content_sha256(tmp_path / "bomb.npz", "npz")


def test_a_file_that_changes_has_another_hash(tmp_path):
    """A hash is remembered, and no memory is older than the file."""
    path, old = tmp_path / "file", time.time() - 100
    seen = []
    for content in (b"one", b"two", b"six"):
        path.write_bytes(content)
        os.utime(path, (old, old))  # the same size and time
        seen.append((file_sha256(path), file_sha256(path)))
    assert seen == [(sha(content),) * 2 for content in (b"one", b"two", b"six")]


def test_the_mirrors_own_packing_of_mnist(real_mirror):
    file = read_source("mnist").find("mnist/train-images-idx3-ubyte.gz")
    assert locate(file).stat().st_size != file.size  # packed again: the publishers' file has other bytes
    assert file.digest == file.content_sha256
