"""Packed files are known by what they hold, whoever packed them."""

import dataclasses
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
from functools import partial

import numpy as np
import pytest

from provlab.datasets import DataIntegrityError, SourceFile, locate, read_source
from provlab.datasets._content import content_sha256
from provlab.datasets._locate import verify

CONTENT = b"some content " * 1000


def tar(path, members, *, mode="w:gz", kind=tarfile.REGTYPE):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size, info.type = len(content), kind
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("kind", "pack", "other", "message"),
    [
        (
            "gz",
            gzip.compress,
            partial(gzip.compress, compresslevel=1, mtime=7),
            r"file: damaged gz file .*fetch it",
        ),
        ("xz", lzma.compress, partial(lzma.compress, preset=0), r"file: cannot be decompressed .*complete .xz file"),
    ],
)
def test_streams(tmp_path, kind, pack, other, message):
    path = tmp_path / "file"
    path.write_bytes(pack(CONTENT))
    assert content_sha256(path, kind) == hashlib.sha256(CONTENT).hexdigest()
    path.write_bytes(other(CONTENT))
    assert content_sha256(path, kind) == hashlib.sha256(CONTENT).hexdigest()
    path.write_bytes(pack(CONTENT)[:-9])
    with pytest.raises(ValueError, match=message):
        content_sha256(path, kind)
    path.write_bytes(pack(CONTENT))
    with pytest.raises(ValueError, match=r"file: expands to more than 12999 bytes"):
        content_sha256(path, kind, limit=12999)


def test_archives_are_their_members_in_any_order_and_below_any_folder(tmp_path):
    members = [("b/y", b"1"), ("a", b"2"), ("b/x", b"")]
    expected = hashlib.sha256()
    for name, content in sorted(members):
        expected.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    plain = tar(tmp_path / "one", members)
    below = tar(tmp_path / "two", [(f"top-1234/{name}", content) for name, content in members[::-1]], mode="w:xz")
    assert {content_sha256(plain, "tar.gz"), content_sha256(below, "tar.xz")} == {expected.hexdigest()}
    for other in (
        [("b/y", b"1"), ("a", b"2")],
        [("b/y", b"1"), ("a", b"3"), ("b/x", b"")],
        [("a", b"2"), *members[:1]],
    ):
        assert content_sha256(tar(tmp_path / "other", other), "tar.gz") != expected.hexdigest()


def test_arrays_are_known_by_their_members(tmp_path):
    arrays = {"b": np.arange(1000), "a": np.eye(3)}
    np.savez(tmp_path / "stored.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **dict(reversed(arrays.items())))
    np.savez(tmp_path / "other.npz", **arrays, c=np.eye(1))
    stored, packed, other = (content_sha256(tmp_path / f"{n}.npz", "npz") for n in ("stored", "packed", "other"))
    assert stored == packed != other


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_of_unknown_intent(tmp_path):
    with pytest.raises(ValueError, match="a member occurs twice"):
        content_sha256(tar(tmp_path / "twice", [("a", b"1"), ("a", b"2")]), "tar.gz")
    with pytest.raises(ValueError, match="is a link or special file"):
        content_sha256(tar(tmp_path / "link", [("a", b"")], kind=tarfile.SYMTYPE), "tar.gz")
    with pytest.raises(ValueError, match="expands to more than 1999 bytes"):
        content_sha256(tar(tmp_path / "large", [("a", bytes(1000)), ("b", bytes(1000))]), "tar.gz", limit=1999)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1 << 20))
    with pytest.raises(ValueError, match="expands to more than 1000 bytes"):
        content_sha256(tmp_path / "bomb.npz", "npz", limit=1000)


def packed_file(content=CONTENT, **changes):
    values = dict.fromkeys(field.name for field in dataclasses.fields(SourceFile))
    packed = gzip.compress(content, mtime=0)
    known = {"sha256": hashlib.sha256(packed).hexdigest(), "content_sha256": hashlib.sha256(content).hexdigest()}
    return SourceFile(
        **{**values, **known, "path": "a.gz", "format": "gz", "urls": (), "made_from": (), "source": "thing"}
        | {"size": len(packed), **changes}
    )


def test_bytes_or_content_must_be_the_registered_ones(tmp_path):
    path, file = tmp_path / "a.gz", packed_file()
    for compressed in (gzip.compress(CONTENT, mtime=0), gzip.compress(CONTENT, 1), gzip.compress(CONTENT, mtime=7)):
        path.write_bytes(compressed)
        verify(file, path)
        verify(packed_file(sha256=None, size=None, max_size=10**6), path)
    assert file.digest == packed_file(sha256=None).digest == hashlib.sha256(CONTENT).hexdigest()
    path.write_bytes(gzip.compress(CONTENT, 1) + b"\0")
    with pytest.raises(DataIntegrityError, match=r"a.gz: expected \d+ bytes \(the source registry\), found \d+ bytes"):
        verify(packed_file(content_sha256=None), path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(CONTENT[:-1], 1), r"bytes or the content {good} .*found \d+ bytes and the content {cut}"),
        (b"", r"found 0 bytes and the content e3b0c44298fc"),
        (b"no gz", r"found 5 bytes and the content that cannot be read \(.*damaged gz file"),
    ],
)
def test_neither_bytes_nor_content(tmp_path, content, message):
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    hashes = {name: hashlib.sha256(text).hexdigest() for name, text in (("good", CONTENT), ("cut", CONTENT[:-1]))}
    for name, value in hashes.items():
        message = message.replace(f"{{{name}}}", value)
    with pytest.raises(DataIntegrityError, match=message):
        verify(packed_file(), path)


def test_same_size_other_bytes_says_both_hashes(tmp_path):
    path = tmp_path / "a.gz"
    compressed = bytearray(gzip.compress(CONTENT, mtime=0))
    compressed[-1] ^= 1
    path.write_bytes(compressed)
    with pytest.raises(
        DataIntegrityError, match=r"expected SHA-256 \w{64} or the content \w{64} \(the .*found SHA-256 "
    ):
        verify(packed_file(), path)


def test_the_mirrors_own_packing_of_mnist(real_mirror):
    file = read_source("mnist").find("mnist/train-images-idx3-ubyte.gz")
    path = locate(file)
    assert path.stat().st_size != file.size  # packed again: the publishers' file has other bytes
    assert file.digest == file.content_sha256
