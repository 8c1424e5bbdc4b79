"""Files on this machine: which folder has them, and whether they are the registered ones; and the registry itself."""

import gzip
import hashlib
import io
import lzma
import re
import tarfile

import numpy as np
import pytest

from provlab.data import (
    DataIntegrityError,
    MissingDataError,
    SourceFile,
    locate,
    read_source,
    source_names,
)
from provlab.data.download import converter
from provlab.data.files import file_sha256
from provlab.data.registry import RAW

CONTENT = b"some content " * 1000
PACKED = gzip.compress(CONTENT, mtime=0)


def sha(content):
    return hashlib.sha256(content).hexdigest()


def plain(**changes):
    entry = {
        "path": "set/a.bin",
        "format": "bin",
        "sha256": sha(CONTENT),
        "size": len(CONTENT),
        "source": "thing",
    }
    return SourceFile(**{**entry, "urls": ("https://example.org/a.bin",), **changes})


def packed(**changes):
    entry = {
        "path": "set/a.gz",
        "format": "gz",
        "sha256": sha(PACKED),
        "size": len(PACKED),
    }
    return plain(**{**entry, "content_sha256": sha(CONTENT), **changes})


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {},
            r"Searched .*mirror, then .*data\. It is published at https://example.org/a.bin : run `provsel fetch th",
        ),
        (
            {"urls": (), "made_from": ("raw/a", "raw/b")},
            r"is made from the published raw/a : run .* set PROVSEL_DATA_MIRROR to a folder that holds set/a.bin",
        ),
    ],
)
def test_a_missing_file_says_where_and_how(mirror, changes, message):
    with pytest.raises(
        MissingDataError, match=rf"thing: the file set/a.bin is missing\. .*{message}"
    ):
        locate(plain(**changes))


def test_bytes_or_content_must_be_the_registered_ones(data_folder):
    for content in (PACKED, gzip.compress(CONTENT, 1), gzip.compress(CONTENT, mtime=7)):
        path = put(data_folder, content, "a.gz")
        assert locate(packed()) == locate(packed(size=None)) == path
    assert (packed().digest, plain().digest) == (sha(CONTENT), sha(CONTENT))


OTHER = gzip.compress(CONTENT[:-1], 1)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            plain(),
            CONTENT[:-1],
            r"13000 bytes .the source registry., found 12999 bytes\. .*`provsel fetch th",
        ),
        (
            plain(),
            CONTENT[::-1],
            f"SHA-256 {sha(CONTENT)} .*found SHA-256 {sha(CONTENT[::-1])}",
        ),
        (packed(content_sha256=None), gzip.compress(CONTENT, 1), "found"),
        (
            packed(),
            OTHER,
            rf"or the content {sha(CONTENT)} .*found .*the content {sha(CONTENT[:-1])}",
        ),
        (packed(), b"no gz", r"found 5 bytes and the content that cannot be read \("),
        (packed(), PACKED[:-9], r"the content that cannot be read \("),
    ],
)
def test_other_files_are_refused(mirror, file, content, message):
    path = put(mirror, content, file.path[4:])
    with pytest.raises(DataIntegrityError, match=rf"^{path}: expected .*{message}"):
        locate(file)


def tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def test_packed_files_are_known_by_their_content(tmp_path):
    for kind, pack in (("gz", gzip.compress), ("xz", lzma.compress)):
        (tmp_path / "file").write_bytes(pack(CONTENT))
        assert file_sha256(tmp_path / "file", kind) == sha(CONTENT)
    members = [("b/y", b"1"), ("a", b"2"), ("b/x", b"")]
    expected = hashlib.sha256()
    for name, content in sorted(members):
        expected.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    first = tar(tmp_path / "one", members)
    two = tar(
        tmp_path / "two",
        [(f"top-1234/{name}", content) for name, content in members[::-1]],
        mode="w:xz",
    )
    assert {file_sha256(first, "tar.gz"), file_sha256(two, "tar.xz")} == {
        expected.hexdigest()
    }
    for changed in (
        members[:2],
        [*members[1:], ("b/y", b"3")],
        [("c", b"1"), *members[1:]],
    ):
        assert (
            file_sha256(tar(tmp_path / "other", changed), "tar.gz")
            != expected.hexdigest()
        )
    arrays = {"b": np.arange(1000), "a": np.eye(3)}
    np.savez(tmp_path / "stored.npz", **arrays)
    np.savez_compressed(tmp_path / "packed.npz", **dict(reversed(arrays.items())))
    np.savez(tmp_path / "other.npz", **arrays, c=np.eye(1))
    stored, small, changed = (
        file_sha256(tmp_path / f"{n}.npz", "npz") for n in ("stored", "packed", "other")
    )
    assert stored == small != changed


def test_a_file_that_changes_has_another_hash(tmp_path):
    """A hash is remembered, and no memory is older than the file."""
    for content in (b"one", b"two", b"three"):
        (tmp_path / "other").write_bytes(content)
        # a new file, if of the same size
        path = (tmp_path / "other").replace(tmp_path / "file")
        assert file_sha256(path) == file_sha256(path) == sha(content)


# ---- the registry


def pinned(source, file):
    at_commit = any(re.search(r"/[0-9a-f]{40}(/|$)", url) for url in file.urls)
    return at_commit or (
        bool(file.made_from)
        and all(pinned(source, source.find(path)) for path in file.made_from)
    )


@pytest.mark.parametrize("name", source_names())
def test_entries_of_the_registry(name):
    source = read_source(name)
    assert source.name == name
    assert all((source.title, source.citation, source.licence, source.homepage))
    used = {path for file in source.files for path in file.made_from}
    assert len({file.path for file in source.files}) == len(source.files)
    for file in source.files:
        assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+", file.path)
        assert ".." not in file.path
        assert all(
            re.fullmatch("[0-9a-f]{64}", digest)
            for digest in (file.digest, file.sha256)
        )
        assert file.size or file.max_size
        assert file.urls or file.made_from
        assert all(url.startswith(("http://", "https://")) for url in file.urls)
        assert not any(
            "github" in url and not re.search(r"/[0-9a-f]{40}(/|$)", url)
            for url in file.urls
        )
        assert not file.content_sha256 or file.format in (
            "gz",
            "npz",
            "tar.gz",
            "tar.xz",
            "xz",
        )
        assert all(source.find(path) for path in file.made_from)
        assert bool(file.made_from) == (
            file.converter is not None and callable(converter(file.converter))
        )
        assert file.path.startswith(RAW) <= (file.path in used)
    # of a form that suffices, at least one address of each file is pinned: by a commit,
    # or else by hash
    unpinned = {file.path for file in source.files if not pinned(source, file)}
    assert any(
        unpinned.isdisjoint(file.path for file in files)
        for files in source.forms.values()
    )
    assert source.published() == [
        file for file in source.files if file.path not in used
    ]


def test_unknown_sources():
    with pytest.raises(
        ValueError,
        match=r"no source is called 'mnis'; registered sources are allaml, .*mnist",
    ):
        read_source("mnis")
