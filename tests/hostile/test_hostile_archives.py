"""Archives made to do harm, beyond those of test_datasets_extract: refused, nothing outside or left, no memory."""

import bz2
import gzip
import io
import os
import stat
import tarfile
import zipfile

import pytest
from foreign_readers import tar_of, zip_of
from hostile_bytes import bounded, tree

from provlab.datasets import _archives
from provlab.datasets._extract import MARKER, extract

LIMIT = 1 << 20
SMALL = 40 << 20
BOMB = 100 << 20


def packed_tar(members, mode="w:gz", form=tarfile.PAX_FORMAT):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode, format=form) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content) if content is not None else None)
    return file.getvalue()


def member(name, size=0, kind=tarfile.REGTYPE, link="", pax=None):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname, info.pax_headers = size, kind, link, pax or {}
    return info


def refused(folder, content, kind, message):
    """Extract below a folder of its own: an error that names the archive, and the tree as before."""
    archive = folder / f"hostile.{kind}"
    archive.write_bytes(content)
    (folder / "out").mkdir(exist_ok=True)
    (folder / "outside").write_text("kept")
    before = tree(folder)
    with bounded(seconds=30, headroom=SMALL), pytest.raises(ValueError, match=message) as error:
        extract(archive, folder / "out" / "set", kind=kind, max_expanded=LIMIT, sha256="0" * 64)
    assert archive.name in str(error.value)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 1000
    assert tree(folder) == before


LEAVES = "would leave its folder. Refused"
LINK = "is a link or special file"
BROKEN = "damaged (zip|tar) archive"


@pytest.mark.parametrize(
    "name",
    ["a/../../outside", "..", "../outside", "/outside", "//outside", "\\outside", "..\\outside", "C:outside", "C:/x",
     "\\\\h\\x", "a\nb", "a\x1b[31mb", "a\x7f", "\r", MARKER, f"{MARKER}/x", f"a/{MARKER}", "a:stream",
     "../" * 40 + "outside"],
)  # fmt: skip
def test_names(name, tmp_path):
    refused(tmp_path, zip_of(**{"good": b"x", name: b"evil"}), "zip", LEAVES)
    refused(tmp_path, packed_tar([(member("good", 1), b"x"), (member(name, 4), b"evil")]), "tar", LEAVES)


def test_names_with_nul(tmp_path):
    content = zip_of(good=b"x", evilX=b"y").replace(b"evilX", b"evil\0")
    refused(tmp_path, content, "zip", LEAVES)
    refused(tmp_path, packed_tar([(member("x", 1, pax={"path": "a\0b"}), b"x")]), "tar", f"{LEAVES}|{BROKEN}")


@pytest.mark.parametrize("path", ["../outside", "/outside", "a/../../outside", "a\nb"])
def test_names_in_extended_headers(path, tmp_path):
    """The name in the header is harmless, that in the extension counts."""
    refused(tmp_path, packed_tar([(member("good", 4, pax={"path": path}), b"evil")]), "tar", LEAVES)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Readme", "README"), ("a/x", "A/X"), ("\u00e9", "e\u0301"), ("\u212b", "\u00c5"),
     ("stra\u00dfe", "strasse"), ("a", "./a"), ("a/b", "a//b")],
)  # fmt: skip
def test_names_that_some_file_systems_take_for_the_same(one, other, tmp_path):
    for first, second in ((one, other), (other, one)):
        refused(tmp_path, zip_of(**{first: b"1", second: b"2"}), "zip", "occurs twice. Refused")
        members = [(member(first, 1), b"1"), (member(second, 1), b"2")]
        refused(tmp_path, packed_tar(members), "tar", "occurs twice. Refused")


def test_very_long_names(tmp_path):
    for name in ("n" * 300, "/".join(["d" * 100] * 60), "n" * 60_000):
        refused(tmp_path, packed_tar([(member(name, 1), b"x")]), "tar", BROKEN)
        refused(tmp_path, zip_of(**{name: b"x"}), "zip", BROKEN)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
@pytest.mark.parametrize("target", ["..", "../outside", "/", "out", "."])
def test_writing_through_links(kind, target, tmp_path):
    members = [(member("link", kind=kind, link=target), None), (member("link/outside", 4), b"evil")]
    refused(tmp_path, packed_tar(members), "tar", LINK)
    refused(tmp_path, packed_tar([(member("good", 1), b"x"), *members]), "tar", LINK)


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.CONTTYPE, b"Z"])
def test_special_files_of_tar(kind, tmp_path):
    refused(tmp_path, packed_tar([(member("good", 1), b"x"), (member("special", kind=kind), None)]), "tar", LINK)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFBLK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_special_files_of_zip(kind, tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo("special\x1b/")
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, b"../outside")
    refused(tmp_path, file.getvalue(), "zip", LINK)


def test_links_that_are_there_already_are_not_followed(tmp_path):
    """A symbolic link in place of the data folder's own: what is extracted takes its place, whole."""
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "out" / "set")
    (tmp_path / "a.zip").write_bytes(zip_of(a=b"x"))
    with pytest.raises(ValueError, match="there already, but not from an earlier fetch"):
        extract(tmp_path / "a.zip", tmp_path / "out" / "set", kind="zip", max_expanded=9, sha256="0" * 64)
    assert list((tmp_path / "elsewhere").iterdir()) == []


# ---- bombs

ZEROS = bytes(1 << 20)


def long_header(kind, size, opener=gzip.compress):
    """Return a tar archive whose first header announces a name, or an extension, of `size` bytes."""
    header = member("././@LongLink", size, kind).tobuf(tarfile.GNU_FORMAT)
    return opener(header + bytes(size) + member("x").tobuf() + bytes(1024))


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_headers_that_are_as_long_as_memory(kind, tmp_path):
    refused(tmp_path, long_header(kind, 60 << 20), "tar", f"{BROKEN}.*a header of 62914560 bytes")


def test_blocks_that_expand_without_end(tmp_path):
    """Of bzip2 and LZMA, a block of a few kilobytes has hundreds of megabytes."""
    info = member("x", BOMB)
    raw = info.tobuf() + bytes(BOMB) + bytes(1024)
    content = bz2.compress(raw)
    assert len(content) < 1000
    refused(tmp_path, content, "tar", "expands to more than the registered 1048576 bytes")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_of_zip_that_expand_without_end(method, tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, archive.open("x", "w") as target:
        for _ in range(30):
            target.write(ZEROS)
    refused(tmp_path, file.getvalue(), "zip", f"is packed by method {method}, expected deflate or none. Refused")


def test_members_that_share_their_bytes(tmp_path):
    """All entries of the directory point at one packed block."""
    content = zip_of(**{f"{i:02}": ZEROS[: 200 << 10] for i in range(10)})
    directory = content.index(b"PK\x01\x02")
    entries = content[directory:].replace(b"PK\x01\x02", b"\0PK\x01\x02").split(b"\0PK\x01\x02")
    assert len(entries) == 11
    same = bytearray(content)
    place = directory
    for entry in entries[1:]:
        same[place + 42 : place + 46] = bytes(4)
        place += 4 + len(entry)
    refused(tmp_path, bytes(same), "zip", f"{BROKEN}|expands to more")


def test_archives_within_archives_stay_packed(tmp_path):
    inner = zip_of(bomb=ZEROS * 20)
    (tmp_path / "a.zip").write_bytes(zip_of(inner=inner))
    target = extract(tmp_path / "a.zip", tmp_path / "set", kind="zip", max_expanded=LIMIT, sha256="0" * 64)
    assert (target / "inner").read_bytes() == inner


SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}


@pytest.mark.parametrize("pax", [{**SPARSE, "GNU.sparse.realsize": str(1 << 50), "GNU.sparse.name": "x"},
                                 {"GNU.sparse.map": f"0,1,{1 << 49},1", "GNU.sparse.size": str(1 << 50)},
                                 {**SPARSE, "GNU.sparse.name": "../outside"},
                                 {"size": str(1 << 60)}, {"size": "-1"}, {"GNU.sparse.map": "x"}])  # fmt: skip
def test_sparse_and_huge_members(pax, tmp_path):
    content = b"1\n0\n1\n".ljust(512, b"\0") + b"x" * 512
    message = f"{LINK}|{BROKEN}|expands to more than|{LEAVES}"
    refused(tmp_path, packed_tar([(member("x", len(content), pax=pax), content)]), "tar", message)


def test_sparse_members_are_refused_even_where_they_are_small(tmp_path):
    content = b"1\n0\n1\n".ljust(512, b"\0") + b"x"
    pax = {**SPARSE, "GNU.sparse.realsize": "600", "GNU.sparse.name": "x"}
    refused(tmp_path, packed_tar([(member("x", len(content), pax=pax), content)]), "tar", LINK)


def test_old_sparse_members(tmp_path):
    refused(
        tmp_path,
        packed_tar([(member("x", 1, tarfile.GNUTYPE_SPARSE), b"x")], form=tarfile.GNU_FORMAT),
        "tar",
        f"{LINK}|{BROKEN}",
    )


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.DIRTYPE])
def test_more_members_than_any_archive_has(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(_archives, "MAX_MEMBERS", 50)
    members = [(member(f"d{i}", kind=kind), None) for i in range(51)]
    refused(tmp_path, packed_tar(members), "tar", "has more than 50 members. Refused")
    refused(tmp_path, zip_of(**{info.name: b"" for info, _ in members}), "zip", "has more than 50 members. Refused")
    (tmp_path / "a.zip").write_bytes(zip_of(**{info.name: b"" for info, _ in members[:50]}))
    target = extract(tmp_path / "a.zip", tmp_path / "set", kind="zip", max_expanded=LIMIT, sha256="0" * 64)
    assert len(list(target.iterdir())) == 51


# ---- damage that must not pass for the end


def test_a_cut_or_damaged_tar_is_not_taken_for_a_short_one(tmp_path):
    whole = tar_of(**{f"m{i}": b"x" * 700 for i in range(4)})
    second = 512 * 3
    for content in (whole[:second], whole[: second + 100], whole[:second] + b"junk" * 128 + whole[second + 512 :]):
        refused(tmp_path, content, "tar", BROKEN)


def test_an_encrypted_member(tmp_path):
    content = bytearray(zip_of(a=b"x"))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    refused(tmp_path, bytes(content), "zip", f"{BROKEN}.*encrypted")


def test_names_that_are_no_text(tmp_path):
    content = zip_of(éé=b"x").replace("\u00e9\u00e9".encode(), b"\xff\xfe\xff\xfe")
    refused(tmp_path, content, "zip", BROKEN)
