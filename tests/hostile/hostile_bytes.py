"""Damaged and hostile contents of files, and what reading them may end in: a whole result, or one clear error."""

import contextlib
import io
import os
import resource
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SECONDS = 20
"""After which a read counts as hanging: thousands of times what any of these small files takes."""

HEADROOM = 2 << 30
"""Address space that a read may add: Arrow reserves 1 GiB at once. Only a size that a header claims goes beyond it."""

COMMON = (
    *(b"", b"\0", b"\xff\xff\xff\xff", b"\xc3\x28", b"\n", b"\r", b" ", b"\t", b"#", b":", b"-", b"+", b"*", b"&"),
    *(b"nan", b"inf", b"-1", b"0", b"1e999", b"1_0", b"9" * 25, b"9" * 5000, b"18446744073709551615", b"1099511627776"),
    *(b"\xd9\xa3", b"[" * 200, b"{" * 200, b"../x", b"/x", b"\x1b[31m", b"true", b"null", b"'", b'"', b"\\"),
    *(number.to_bytes(8, order) for order in ("little", "big") for number in (0, 1, 2**31 - 1, 2**32 - 1, 2**40)),
    *(number.to_bytes(4, order) for order in ("little", "big") for number in (0, 1, 2**31 - 1, 2**31, 2**32 - 1)),
)  # fmt: skip
"""What is put in place of some bytes."""


@dataclass(frozen=True)
class Reader:
    """A way to read one file.

    `read(path)` raises AssertionError where what it got is no whole result. `name` is
    what an error must say, by default the name of the file.
    """

    path: str
    wholes: tuple[bytes, ...]
    read: Any
    words: tuple[bytes, ...] = ()
    name: str = ""


def saved(save, *args, **kwargs):
    """Return the bytes that `save` writes to a file."""
    file = io.BytesIO()
    save(file, *args, **kwargs)
    return file.getvalue()


@st.composite
def damaged(draw, wholes, words=()):
    """Draw bytes: mostly a whole file after some damage, sometimes none at all."""
    if draw(st.integers(0, 11)) == 0:
        return draw(st.binary(max_size=200))
    content = draw(st.sampled_from(wholes))
    pieces = st.sampled_from((*COMMON, *words, *words)) | st.binary(max_size=6)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        stop = draw(
            st.one_of(
                st.integers(start, min(start + 8, len(content))),
                st.integers(start, len(content)),
            )
        )
        match draw(
            st.sampled_from(
                ("replace", "replace", "flip", "cut", "end", "insert", "repeat")
            )
        ):
            case "replace":
                piece = draw(pieces)
                content = content[:start] + piece + content[start + len(piece) :]
            case "flip":
                bit = 1 << draw(st.integers(0, 7))
                content = (
                    content[:start]
                    + bytes(b ^ bit for b in content[start : start + 1])
                    + content[start + 1 :]
                )
            case "cut":
                content = content[:start] + content[stop:]
            case "end":
                content = content[:start]
            case "insert":
                content = content[:start] + draw(pieces) + content[start:]
            case "repeat":
                content = (
                    content[:stop]
                    + content[start:stop] * draw(st.integers(1, 3))
                    + content[stop:]
                )
    return content


class Hang(BaseException):
    """No `except Exception` on the way takes it for an error of the file."""


@contextlib.contextmanager
def bounded(seconds=SECONDS, headroom=HEADROOM):
    """Let a block neither hang nor take the memory that a header claims."""

    def stop(*_):
        raise Hang(f"still running after {seconds} s")

    # CPU time, as a busy machine is no hang, and much more time for what only waits
    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, seconds),
        signal.SIGALRM: (signal.ITIMER_REAL, 10 * seconds),
    }
    before = {number: signal.signal(number, stop) for number in timers}
    limits = resource.getrlimit(resource.RLIMIT_AS)
    statm = Path("/proc/self/statm")
    if statm.exists():
        used = int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + headroom, limits[1]))
    for timer, limit in timers.values():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        for number, handler in before.items():
            signal.signal(number, handler)


def tree(folder):
    """Return the files below a folder with their contents."""
    paths = list(folder.rglob("*"))
    return dict.fromkeys(paths) | {
        path: path.read_bytes() for path in paths if path.is_file()
    }


def read_hostile(reader, folder, content):
    """Read a file of some content below `folder`: a whole result, or an error that names it; nothing else changes.

    Returns
    -------
    bool
        Whether it could be read.
    """
    path = folder / reader.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    before = tree(folder)
    error = None
    with bounded():
        try:
            reader.read(path)
        except (ValueError, OSError) as raised:
            error = raised
    after = tree(folder)
    changed = {
        place
        for place in {*before, *after}
        if before.get(place, 0) != after.get(place, 0)
    }
    assert all((folder / "data") in (place, *place.parents) for place in changed), (
        changed
    )
    # a store of thousands of damaged files
    shutil.rmtree(folder / "data", ignore_errors=True)
    if error is not None:
        assert (reader.name or path.name) in str(error), (
            f"{error!r} does not name the file"
        )
        assert len(str(error)) < 5000
    return error is None


def fuzz(reader, folder, examples=120):
    """Read whole files, which must give something, and then damaged ones: the same each time."""

    @settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
        ],
    )
    @given(damaged(reader.wholes, reader.words))
    def read(content):
        read_hostile(reader, folder, content)

    assert all(read_hostile(reader, folder, whole) for whole in reader.wholes)
    read()
