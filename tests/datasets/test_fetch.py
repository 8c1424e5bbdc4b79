"""Fetches from a local server that can misbehave in every way we know: a whole file, or none and the reason."""

import hashlib
import lzma
import os
import pickle
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from misbehaving_server import GOOD, SHA, made, plain

from provlab.cli import main
from provlab.datasets import DataIntegrityError, FetchError, MissingDataError, fetch, locate, read_source, usable


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def run(name, **options):
    """Fetch a data set and return the paths of its files; raise the first reason why it cannot be loaded."""
    [obtained] = fetch([name], **{"retries": 0, "timeout": 5, **options}).values()
    if not usable(obtained):
        raise next(item.error for item in obtained if item.error is not None)
    return [item.path for item in obtained if item.path is not None]


def test_a_file_is_fetched_once(write, server, data_folder):
    write("thing", plain(server.url("/moved")))
    (path,) = run("thing")
    assert path == data_folder / "set" / "file.bin"
    assert path.read_bytes() == GOOD
    assert run("thing") == [path]
    assert server.requests == ["/moved", "/good"]
    path.write_bytes(b"tampered")
    run("thing")
    assert path.read_bytes() == GOOD
    assert everything(data_folder) == ["set/file.bin"]


def test_a_file_in_the_mirror_is_not_downloaded(write, server, mirror, data_folder):
    write("thing", plain(server.url("/good")))
    path = mirror / "set" / "file.bin"
    path.parent.mkdir()
    path.write_bytes(GOOD)
    assert run("thing") == [path]
    path.write_bytes(GOOD[:-1])
    with pytest.raises(DataIntegrityError, match=f"expected {len(GOOD)} bytes"):
        run("thing")
    assert server.requests == []
    assert not data_folder.exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/other", rf"expected SHA-256 {SHA} .*, found SHA-256 {hashlib.sha256(GOOD[::-1]).hexdigest()}\. Nothing"),
        ("/page", f"expected {len(GOOD)} bytes .*which is a web page; probably an error page or a log-in"),
        ("/endless", f"it sends more than the registered {len(GOOD)} bytes of set/file.bin"),
        ("/missing", "404"),
        ("/down", "503"),
        ("/cut", "100000 bytes read"),
        ("/cut_without_length", f"expected {len(GOOD)} bytes .*, found 100000 bytes"),
        ("/empty", "found 0 bytes"),
    ],
)
def test_what_is_not_the_file_leaves_nothing(write, server, data_folder, path, message):
    write("thing", plain(server.url(path)))
    with pytest.raises(FetchError, match=f"could not fetch set/file.bin of thing: .*{message}") as caught:
        run("thing")
    assert server.url(path) in str(caught.value)
    assert "Nothing was kept. Try again later" in str(caught.value)
    assert everything(data_folder) == []


def test_a_transfer_that_breaks_is_tried_again(write, server):
    write("thing", plain(server.url("/flaky")))
    run("thing", retries=1)
    assert server.requests == ["/flaky"] * 2


def test_addresses_are_tried_in_order_and_all_are_named_when_none_works(write, server, data_folder):
    write("thing", plain(*map(server.url, ["/missing", "/page", "/other", "/good", "/never"])))
    assert run("thing")[0].read_bytes() == GOOD
    assert server.requests == ["/missing", "/page", "/other", "/good"]
    with socket.socket() as unused:  # bound, but not listening: connections are refused
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/closed"
        write("closed", plain(closed, server.url("/page"), path="closed"))
        with pytest.raises(FetchError, match=rf"{closed}: .*refused.*/page: expected"):
            run("closed")


def test_size_limit_holds_when_the_size_is_not_known(write, server, data_folder):
    write("thing", plain(server.url("/endless"), size=None, max_size=100_000))
    with pytest.raises(FetchError, match="sends more than the registered 100000 bytes"):
        run("thing")


def test_without_any_address_only_a_mirror_helps(write, data_folder):
    write("thing", plain())
    with pytest.raises(MissingDataError, match=r"thing: the file set/file.bin is missing. It can only be "
                       r"taken from a mirror folder.*set PROVSEL_DATA_MIRROR to a folder"):  # fmt: skip
        run("thing")
    assert not data_folder.exists()


def test_forms_stand_in_for_each_other(write, server):
    good, bad = plain(server.url("/good"), path="a"), plain(server.url("/missing"), path="b")
    write("pair", {**bad, "forms": ["one", "two"]}, {**good, "forms": ["three"]})
    assert [path.name for path in run("pair")] == ["a"]
    write("both", {**bad, "forms": ["one", "two"]}, {**good, "forms": ["two"]})
    with pytest.raises(FetchError, match="could not fetch b of both"):
        run("both")


def test_a_file_is_made_and_its_raw_file_removed(write, server, data_folder):
    write("thing", made(), plain(server.url("/good"), path="raw/file"))
    (path,) = run("thing")
    assert lzma.decompress(path.read_bytes()) == GOOD
    assert everything(data_folder) == ["set/file.xz"]
    assert locate(read_source("thing").files[0]) == path
    assert run("thing") == [path]
    path.write_bytes(b"tampered")
    run("thing", keep_raw=True)
    assert everything(data_folder) == ["raw/file", "set/file.xz"]
    path.unlink()
    run("thing")  # of the raw file that is there
    assert server.requests == ["/good"] * 2
    assert everything(data_folder) == ["raw/file", "set/file.xz"]


def test_the_address_comes_before_the_converter(write, server, data_folder):
    server.bodies["/packed"] = lzma.compress(GOOD, preset=1)
    raw = plain(server.url("/good"), path="raw/file")
    write("thing", made(urls=[server.url("/packed")]), raw)
    assert run("thing")[0].read_bytes() == server.bodies["/packed"]
    (data_folder / "set" / "file.xz").unlink()
    write("other", made(urls=[server.url("/missing")]), raw)
    run("other")
    assert server.requests == ["/packed", "/missing", "/good"]


def test_a_file_that_cannot_be_made_leaves_nothing(write, server, data_folder):
    raw = plain(server.url("/good"), path="raw/file")
    write("other", made(content_sha256="0" * 64), raw)
    with pytest.raises(FetchError, match=r"set/file.xz: the converter pack_xz made another file of raw/file"):
        run("other")
    write("missing", made(), plain(server.url("/missing"), path="raw/file"))
    with pytest.raises(FetchError, match=r"could not fetch raw/file of missing: .* 404 "):
        run("missing")
    hostile = server.bodies["/hostile"] = pickle.dumps(os.getcwd, 0)
    raw = plain(server.url("/hostile"), path="raw/file", content=hostile)
    write("hostile", made(converter="techtc_tokens"), raw)
    with pytest.raises(ValueError, match="getcwd"):
        run("hostile")
    assert everything(data_folder) == []


def test_two_fetches_at_once_do_no_harm(write, server, data_folder):
    write("thing", made(), plain(server.url("/good"), path="raw/file"), plain(server.url("/good")))
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(run("thing"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [[data_folder / "set" / "file.xz", data_folder / "set" / "file.bin"]] * 4
    assert everything(data_folder) == ["set/file.bin", "set/file.xz"]


def test_a_killed_fetch_leaves_no_half_file(write, server, tmp_path, data_folder):
    server.bodies["/slow"] = GOOD * 10_000
    write("thing", plain(server.url("/slow"), content=GOOD * 10_000))
    registry = str(tmp_path / "registry")
    code = (
        f"from pathlib import Path; from provlab.datasets import fetch; fetch(['thing'], registry=Path({registry!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path / "registry"], stderr=subprocess.DEVNULL)
    begun = time.monotonic()
    while not any(path.stat().st_size for path in data_folder.rglob("*") if path.is_file()):
        assert time.monotonic() - begun < 60
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    [left] = data_folder.iterdir()
    assert left.name.startswith(".fetching-")
    os.utime(left, (time.time() - 2 * 86400,) * 2)
    write("other", plain(server.url("/good")))
    run("other")
    assert everything(data_folder) == ["set/file.bin"]


def test_the_command_says_what_is_there_and_what_is_not(write, server, data_folder, capsys, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # between attempts
    write("good", made(), plain(server.url("/good"), path="raw/file"))
    write("bad", *(plain(server.url(url), path=f"bad/{k}") for k, url in enumerate(["/good", "/missing", "/page"])))
    either = plain(server.url("/good"), path="either/yes", forms=["one"])
    write("either", either, plain(server.url("/other"), path="either/no", forms=["two"]))
    write("many", *(plain(server.url("/missing"), path=f"many/{k}") for k in range(8)))
    assert main(["fetch", "all"]) == 1
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0] == "bad     NOT there (1 of 3 files):"
    assert lines[1].startswith("          bad/1: could not fetch bad/1 of bad: http")
    assert "404" in lines[1]
    assert "which is a web page" in lines[2]
    assert lines[3] == "either  there (1 of 2 files, 0.1 MB); not there, and not needed with these:"
    assert lines[5] == "good    there (1 file, 0.0 MB)"
    assert lines[6] == "many    NOT there (0 of 8 files):"
    assert lines[-1] == "          and 3 files more"
    assert shown.err.splitlines()[:2] == ["download bad/0 (0.1 MB)", "download bad/1 (0.1 MB)"]
    assert "make set/file.xz" in shown.err
    assert main(["fetch", "good", "either", "digits", "good", "--quiet"]) == 0
    shown = capsys.readouterr()
    assert [line.split()[0] for line in shown.out.splitlines()] == ["good", "either", "either/no:", "digits"]
    assert shown.err == ""
    server.requests.clear()
    assert main(["fetch", "many", "nope"]) == 2
    assert "provsel: no source named 'nope'; registered sources are bad, either" in capsys.readouterr().err
    assert server.requests == []


def test_data_dir_takes_the_place_of_the_variable(write, server, tmp_path, data_folder):
    write("thing", plain(server.url("/good")))
    [obtained] = fetch(["thing"], data_dir=tmp_path / "elsewhere")["thing"]
    assert obtained.path == tmp_path / "elsewhere" / "set" / "file.bin"
    assert fetch(["synthetic"]) == {"synthetic": []}
    assert not data_folder.exists()


def test_script(monkeypatch, capsys):
    path = Path(__file__).parents[2] / "data_scripts" / "fetch.py"
    for names, status in ((["synthetic", "--quiet"], 0), (["nothing"], 2), ([], 2)):
        monkeypatch.setattr(sys, "argv", ["fetch.py", *names])
        with pytest.raises(SystemExit) as stop:
            runpy.run_path(str(path), run_name="__main__")
        assert stop.value.code == status
    assert capsys.readouterr().out == "synthetic  needs no files\n"
