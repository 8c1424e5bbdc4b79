"""Archives of unknown intent: nothing leaves the folder, nothing expands beyond the limit, nothing is left."""

import contextlib
import errno
import io
import stat
import tarfile
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provlab.datasets._extract import MARKER, extract

LIMIT = 10_000


def make_zip(path, members, modes=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = ((modes or {}).get(name, stat.S_IFREG | 0o644)) << 16
            archive.writestr(info, content)
    return path


def make_tar(path, members, types=None, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.type = (types or {}).get(name, tarfile.REGTYPE)
            if info.type == tarfile.REGTYPE:
                info.size = len(content)
            else:
                info.linkname = content.decode()
            archive.addfile(info, io.BytesIO(content) if info.size else None)
    return path


def run(archive, target, kind, sha256="0" * 64):
    return extract(archive, target, kind=kind, max_expanded=LIMIT, sha256=sha256)


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != MARKER}


def make(tmp_path, kind, members):
    return (make_zip if kind == "zip" else make_tar)(tmp_path / f"a.{kind}", members)


both = pytest.mark.parametrize("kind", ["zip", "tar"])


@both
def test_good_archive(tmp_path, kind):
    archive = make(
        tmp_path, kind, [("Exp_1_2/vectors.dat", b"v"), ("./Exp_1_2/features.idx", b""), ("top", b"t" * 5000)]
    )
    target = run(archive, tmp_path / "out" / "set", kind)
    assert files(target) == {"Exp_1_2/vectors.dat": b"v", "Exp_1_2/features.idx": b"", "top": b"t" * 5000}
    assert [path.name for path in target.parent.iterdir()] == ["set"]


def test_folder_entries_and_foreign_permissions_are_left_out(tmp_path):
    modes = {"set/": stat.S_IFDIR | 0o755, "set/run": stat.S_IFREG | 0o4777}
    archive = make_zip(tmp_path / "a.zip", [("set/", b""), ("set/run", b"x")], modes)
    assert files(run(archive, tmp_path / "one", "zip")) == {"set/run": b"x"}
    assert not (tmp_path / "one" / "set" / "run").stat().st_mode & 0o7111
    archive = make_tar(tmp_path / "a.tar", [("set", b""), ("set/run", b"x")], {"set": tarfile.DIRTYPE})
    assert files(run(archive, tmp_path / "two", "tar")) == {"set/run": b"x"}


def test_a_full_disk_is_not_called_a_damaged_archive(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("provlab.datasets._extract._write", full)
    with pytest.raises(OSError, match="No space left on device"):
        run(make_zip(tmp_path / "a.zip", [("x", b"")]), tmp_path / "out" / "set", "zip")
    assert list((tmp_path / "out").iterdir()) == []


@both
def test_the_same_archive_is_extracted_once_and_a_new_one_replaces_it(tmp_path, kind):
    target = tmp_path / "set"
    run(make(tmp_path, kind, [("old", b"1")]), target, kind, "a" * 64)
    (target / "old").write_text("touched")
    run(make(tmp_path, kind, [("old", b"1")]), target, kind, "a" * 64)
    assert files(target) == {"old": b"touched"}
    run(make(tmp_path, kind, [("new", b"2")]), target, kind, "b" * 64)
    assert files(target) == {"new": b"2"}


def test_a_folder_of_the_user_is_not_replaced(tmp_path):
    (tmp_path / "set").mkdir()
    with pytest.raises(ValueError, match=r"there already, but not from an earlier fetch. Move it away"):
        run(make_zip(tmp_path / "a.zip", [("x", b"")]), tmp_path / "set", "zip")


def assert_refused(tmp_path, archive, kind, message):
    target = tmp_path / "deep" / "out" / "set"
    with pytest.raises(ValueError, match=message):
        run(archive, target, kind)
    assert list(target.parent.iterdir()) == []
    assert not (tmp_path / "evil").exists()


@both
@pytest.mark.parametrize("name", ["../evil", "../../../evil", "a/../../evil", "/evil", "C:evil", "..\\evil"])
def test_members_that_leave_the_folder(tmp_path, kind, name):
    archive = make(tmp_path, kind, [("good", b"x"), (name, b"evil")])
    assert_refused(tmp_path, archive, kind, "would leave its folder. Refused")


def test_links_and_devices_in_zip(tmp_path):
    for mode in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR):
        archive = make_zip(tmp_path / "a.zip", [("good", b"x"), ("link", b"../evil")], {"link": mode | 0o777})
        assert_refused(tmp_path, archive, "zip", "member 'link' is a link or special file")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_tar(tmp_path, kind):
    archive = make_tar(tmp_path / "a.tar", [("link", b"../evil"), ("link/evil", b"x")], {"link": kind})
    assert_refused(tmp_path, archive, "tar", "member 'link' is a link or special file")


@both
@pytest.mark.parametrize("members", [[("bomb", b"\0" * 200_000)], [(f"part{i}", b"\0" * 3000) for i in range(4)]])
def test_bombs(tmp_path, kind, members):
    archive = make(tmp_path, kind, members)
    assert archive.stat().st_size < 2000
    assert_refused(tmp_path, archive, kind, "expands to more than the registered 10000 bytes. Refused")


def test_a_bomb_that_lies_about_its_size(tmp_path):
    archive = make_zip(tmp_path / "a.zip", [("bomb", b"\0" * 200_000)])
    size = (200_000).to_bytes(4, "little")
    archive.write_bytes(archive.read_bytes().replace(size, (10).to_bytes(4, "little")))
    assert_refused(tmp_path, archive, "zip", "damaged zip archive|expands to more")


@both
@pytest.mark.parametrize("second", ["a", "./a", "a/b"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_overwrite_each_other(tmp_path, kind, second):
    archive = make(tmp_path, kind, [("a", b"1"), (second, b"2")])
    assert_refused(tmp_path, archive, kind, "occurs twice. Refused")


@both
def test_damaged_archives(tmp_path, kind):
    archive = make(tmp_path, kind, [(f"f{i}", bytes(range(256)) * 4) for i in range(5)])
    whole = archive.read_bytes()
    for content in (b"", b"junk" * 300, whole[: len(whole) // 2]):
        archive.write_bytes(content)
        assert_refused(tmp_path, archive, kind, f"damaged {kind} archive .*Delete it and fetch it again")


@both
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 10_000), value=st.integers(0, 255))
def test_a_flipped_byte_gives_a_value_error_or_files_inside(tmp_path, kind, position, value):
    archive = make(tmp_path, kind, [("a/b", b"hello" * 20), ("c", b"world" * 20)])
    content = bytearray(archive.read_bytes())
    content[position % len(content)] = value
    archive.write_bytes(content)
    before = {path for path in tmp_path.rglob("*") if "set" not in path.parts}
    with contextlib.suppress(ValueError):
        run(archive, tmp_path / "set", kind, f"{position}-{value}")
    assert {path for path in tmp_path.rglob("*") if "set" not in path.parts} == before
