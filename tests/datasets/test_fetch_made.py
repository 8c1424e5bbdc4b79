"""Files that converters make from downloads, and what `provsel fetch` says at the end."""

import hashlib
import lzma
import os
import pickle
import time

import pytest
import yaml
from misbehaving_server import GOOD, SHA

from provlab.cli import main
from provlab.datasets import DataIntegrityError, FetchError, MissingDataError, fetch, locate, read_source
from provlab.datasets import _obtain as obtain_module

TEXTS = dict.fromkeys(("title", "citation", "licence", "homepage"), "x")


@pytest.fixture
def write(tmp_path, server, monkeypatch):
    """Return a function that writes an entry of a registry, which is then the one of the package."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setattr("provlab.datasets._sources.DEFAULT_REGISTRY", folder)
    read_source.cache_clear()

    def entry(name, *files):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({**TEXTS, "name": name, "files": list(files)}))

    yield entry
    read_source.cache_clear()


def raw(url, path="raw/file", content=GOOD, **changes):
    sha256 = hashlib.sha256(content).hexdigest()
    return {"path": path, "sha256": sha256, "size": len(content), "urls": [url], "format": "bin", **changes}


def made(path="set/file.xz", source="raw/file", **changes):
    hashes = {"sha256": None, "content_sha256": SHA, "size": None, "max_size": 10**6}
    return {"path": path, **hashes, "urls": [], "format": "xz", "made_from": [source], "converter": "pack_xz"} | changes


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def run(*names):
    return fetch(*names, retries=0, backoff=0.001)


def test_a_file_is_made_and_its_raw_file_removed(write, server, data_folder):
    write("thing", made(), raw(server.url("/good")))
    (path,) = run("thing")
    assert lzma.decompress(path.read_bytes()) == GOOD
    assert files(data_folder) == ["set/file.xz"]
    assert not (data_folder / "raw").exists()
    assert locate(read_source("thing").files[0]) == path
    assert run("thing") == [path]
    assert server.requests == ["/good"]


def test_raw_files_can_be_kept_and_serve_again(write, server, data_folder):
    write("thing", made(), raw(server.url("/good")))
    (path,) = fetch("thing", keep_raw=True)
    assert files(data_folder) == ["raw/file", "set/file.xz"]
    path.unlink()
    run("thing")
    assert server.requests == ["/good"]
    assert files(data_folder) == ["set/file.xz"]


def test_a_raw_file_stays_until_all_is_made_of_it(write, server, data_folder):
    broken = made("set/other.xz", content_sha256="0" * 64)
    write("thing", made(), broken, raw(server.url("/good")))
    with pytest.raises(DataIntegrityError, match=r"set/other.xz: the converter pack_xz made another file of raw/file"):
        run("thing")
    assert files(data_folder) == ["raw/file", "set/file.xz"]
    write("twice", made("set/one.xz"), made("set/two.xz"), raw(server.url("/good")))
    run("twice")
    assert files(data_folder) == ["set/file.xz", "set/one.xz", "set/two.xz"]


def test_what_a_mirror_has_is_neither_downloaded_nor_removed(write, server, mirror, data_folder):
    write("thing", made(), raw(server.url("/good")))
    (mirror / "raw").mkdir()
    (mirror / "raw" / "file").write_bytes(GOOD)
    assert run("thing") == [data_folder / "set" / "file.xz"]
    (mirror / "set").mkdir()
    (mirror / "set" / "file.xz").write_bytes(lzma.compress(GOOD, preset=0))
    (data_folder / "set" / "file.xz").unlink()
    assert run("thing") == [mirror / "set" / "file.xz"]
    assert server.requests == []
    assert files(mirror) == ["raw/file", "set/file.xz"]
    assert files(data_folder) == []


def test_the_address_comes_before_the_converter(write, server, data_folder):
    server.bodies["/packed"] = lzma.compress(GOOD, preset=1)
    write("thing", made(urls=[server.url("/packed")]), raw(server.url("/good")))
    assert run("thing")[0].read_bytes() == server.bodies["/packed"]
    (data_folder / "set" / "file.xz").unlink()
    write("other", made(urls=[server.url("/page"), server.url("/missing")]), raw(server.url("/good")))
    run("other")
    assert server.requests == ["/packed", "/page", "/missing", "/good"]
    assert files(data_folder) == ["set/file.xz"]


def test_a_damaged_made_file_is_made_again(write, server, data_folder):
    write("thing", made(), raw(server.url("/good")))
    (path,) = run("thing")
    path.write_bytes(b"tampered")
    with pytest.raises(DataIntegrityError, match=r"the content that cannot be read .*`provsel fetch thing`"):
        locate(read_source("thing").files[0])
    run("thing")
    assert lzma.decompress(path.read_bytes()) == GOOD


def test_without_its_raw_file(write, server, data_folder):
    write("thing", made(), raw(server.url("/missing")))
    with pytest.raises(FetchError, match=r"cannot make set/file.xz without raw/file: could not fetch raw/file .* 404 "):
        run("thing")
    write("page", made(), raw(server.url("/page")))
    with pytest.raises(
        DataIntegrityError, match=r"cannot make set/file.xz without raw/file: .*answers with a web page"
    ):
        run("page")
    assert files(data_folder) == []
    message = r"made from the published raw/file : run `provsel fetch thing`, or set PROVSEL_DATA_MIRROR"
    with pytest.raises(MissingDataError, match=message):
        locate(read_source("thing").files[0])


@pytest.mark.parametrize(
    ("hostile", "message"),
    [
        (pickle.dumps(os.getcwd, 0), r"raw/file.*expected.*getcwd"),
        (b"cos\nsystem\n(S'x'\ntR.", r"raw/file.*expected.*system"),
        (b"(lp0\n", r"raw/file.*expected"),
    ],
)
def test_a_hostile_raw_file_leaves_nothing_half_written(write, server, data_folder, hostile, message):
    server.bodies["/hostile"] = hostile
    write("thing", made(converter="techtc_tokens"), raw(server.url("/hostile"), content=hostile, format="pickle"))
    with pytest.raises(ValueError, match=message) as caught:
        run("thing")
    assert str(data_folder / "raw" / "file") in str(caught.value)
    assert files(data_folder) == ["raw/file"]
    assert [path.name for path in data_folder.iterdir()] == ["raw"]


def test_a_converter_that_dies_leaves_nothing_half_written(write, server, data_folder, monkeypatch):
    def dies(name, sources, target):
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    write("thing", made(), raw(server.url("/good")))
    monkeypatch.setattr(obtain_module, "run_converter", dies)
    with pytest.raises(KeyboardInterrupt):
        run("thing")
    assert files(data_folder) == ["raw/file"]


def test_what_a_killed_conversion_has_left_goes_after_a_while(write, server, data_folder):
    for name, age in ((".making-old", 7200), (".making-new", 60)):
        (data_folder / name).mkdir(parents=True)
        (data_folder / name / "file.xz").write_bytes(b"half")
        os.utime(data_folder / name, times=(time.time() - age,) * 2)
    write("thing", made(), raw(server.url("/good")))
    run("thing")
    assert files(data_folder) == [".making-new/file.xz", "set/file.xz"]


def test_the_command_says_what_is_there_and_what_is_not(write, server, data_folder, capsys):
    write("good", made(), raw(server.url("/good")))
    write("bad", *(raw(server.url(url), f"bad/{k}") for k, url in enumerate(["/good", "/missing", "/page"])))
    either = raw(server.url("/good"), "either/yes", forms=["one"])
    write("either", either, raw(server.url("/other"), "either/no", forms=["two"]))
    write("many", *(raw(server.url("/missing"), f"many/{k}") for k in range(8)))
    assert main(["fetch", "all"]) == 1
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "bad     NOT there (1 of 3 files):"
    assert lines[1].startswith("          bad/1: could not fetch bad/1 of bad: http")
    assert "404" in lines[1]
    assert "answers with a web page" in lines[2]
    assert lines[3] == "either  there (1 of 2 files, 0.1 MB); not there, and not needed with these:"
    assert "either/no: could not fetch either/no of either" in lines[4]
    assert lines[5] == "good    there (1 file, 0.0 MB)"
    assert lines[6] == "many    NOT there (0 of 8 files):"
    assert lines[-1] == "          and 3 files more"
    assert shown.err.splitlines()[:2] == ["download bad/0 (0.1 MB)", "download bad/1 (0.1 MB)"]
    assert "make set/file.xz" in shown.err
    assert main(["fetch", "good", "either", "digits", "good", "--quiet"]) == 0
    shown = capsys.readouterr()
    assert [line.split()[0] for line in shown.out.splitlines()] == ["good", "either", "either/no:", "digits"]
    assert shown.err == ""


def test_a_name_that_is_wrong_stops_before_anything_is_fetched(write, server, capsys):
    write("good", raw(server.url("/good"), "good"))
    assert main(["fetch", "good", "nope"]) == 2
    assert "provsel: no source named 'nope'; registered sources are good" in capsys.readouterr().err
    assert server.requests == []
