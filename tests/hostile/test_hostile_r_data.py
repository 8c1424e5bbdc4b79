"""R data files of unknown intent become plain values or one error: nothing is evaluated, no memory for mere claims."""

import lzma
import struct
import zlib
from collections import Counter

import numpy as np
import pytest
from hostile_bytes import bounded, tree

import made_sources as made
from provlab.datasets import _r_data, _xz
from provlab.datasets._r_data import Doubles, RVector, read_r_data
from provlab.datasets._xz import read_xz
from provlab.datasets.converters import _rcv1_repair, rcv1_subsets, run_converter

SMALL = 40 << 20
word = made.word


def objects():
    """Return an object of each kind that is read, as a file."""
    names = made.Names()
    return made.r_stream(
        names.pairs(
            whole=lambda: names.list(
                [
                    names.doubles([0, 1.5, -0.0, -2, np.nan]),
                    names.integers([1, -(2**31)]),
                    names.vector(10, word(2) + word(1) + word(0)),
                    names.texts([b"one", None, b"\xe9"]),
                    word(254),
                    names.list([], []),
                ],
                [b"doubles", b"integers", b"logicals", b"texts", b"nothing", b"empty"],
            ),
            other=lambda: names.doubles([], names=names.texts([])),
        )
    )


WHOLE = objects()


def read(folder, stream, **xz):
    (folder / "hostile.rda").write_bytes(lzma.compress(stream, **(xz or {"preset": 0})))
    return read_r_data(folder / "hostile.rda")


def refused(folder, stream, message, headroom=SMALL):
    """Read below a folder: an error that names the file, and nothing else there."""
    with bounded(seconds=20, headroom=headroom), pytest.raises(ValueError, match=message) as error:
        read(folder, stream)
    assert "hostile.rda" in str(error.value)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 500
    assert [path.name for path in folder.iterdir()] == ["hostile.rda"]


def test_whole_objects(tmp_path):
    found = read(tmp_path, WHOLE)
    assert [*found] == ["whole", "other"]
    doubles, integers, logicals, texts, nothing, empty = found["whole"].values
    assert found["whole"].attributes["names"].values == [
        *("doubles", "integers", "logicals", "texts", "nothing", "empty"),
    ]
    length, positions, values = doubles.values
    assert (length, positions.tolist(), positions.dtype, values.dtype) == (5, [1, 3, 4], np.int32, np.float64)
    np.testing.assert_array_equal(values, [1.5, -2, np.nan])
    assert (integers.values.tolist(), integers.values.dtype) == ([1, -(2**31)], np.int32)
    assert logicals.values.tolist() == [1, 0]
    assert texts == RVector(["one", None, "\xe9"], {})
    assert nothing is None
    assert empty.values == []
    assert found["other"].values.length == 0
    assert isinstance(found["other"].values, Doubles)


# ---- what is evaluated, calls others, or is something else

KINDS = {
    3: "a closure", 4: "an environment", 5: "a promise", 6: "a call", 7: "a special", 8: "a builtin", 15: "complex",
    17: "dots", 20: "an expression", 21: "byte code", 22: "an external pointer", 23: "a weak reference", 24: "raw",
    25: "S4", 238: "an alternative representation", 240: "an attribute list", 241: "attributes",
    242: "the base environment", 243: "byte code", 244: "byte code", 245: "byte code", 246: "byte code",
    247: "an alternative environment", 248: "a namespace", 249: "a namespace by name", 250: "a package",
    251: "a persistent name", 252: "the global environment", 253: "the unbound value", 0: "nil", 100: "nothing known",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_only_vectors_lists_and_names_are_read(kind, tmp_path):
    for flags in (kind, kind | 0x100, kind | 0x200, kind | 0x400):
        message = f"expected a vector, list or symbol, got an R object of type {kind}"
        refused(tmp_path, made.r_stream(made.Names().pairs(x=word(flags) + word(1) * 50)), message)
        listed = word(19) + word(1) + word(flags) + word(1) * 50
        refused(tmp_path, made.r_stream(made.Names().pairs(x=listed)), message)


HEADS = {
    "another form": (b"RDX3\nX\n", "expected the first bytes of an R data file, RDX2 in XDR, got b'RDX3"),
    "text": (b"RDA2\nA\n", "expected the first bytes of an R data file"),
    "little-endian": (b"RDB2\nB\n", "expected the first bytes of an R data file"),
    "a single object": (b"X\n\0\0\0\2\0", "expected the first bytes of an R data file"),
    "nothing": (b"", "expected the first bytes of an R data file, RDX2 in XDR, got b''"),
}


@pytest.mark.parametrize("case", HEADS)
def test_other_files(case, tmp_path):
    head, message = HEADS[case]
    refused(tmp_path, head, message)
    refused(tmp_path, head + WHOLE[7:] if head else b"", message)


FORMS = {
    "version 3": (word(2) + word(0x30303), word(3) + word(0x30303), "expected version 2 of the format, got 3"),
    "no pair list": (made.r_stream(b""), made.r_stream(word(254)), "expected a pair list of objects, got NoneType"),
    "no name": (word(0x402), word(2), "expected pairs with names and without attributes, got flags 0x2"),
    "attributes of a pair": (word(0x402), word(0x602), "expected pairs with names and without attributes, got flags"),
    "another tail": (word(254) * 2, word(254) + word(13), "expected a pair list that ends with NULL, got flags 0xd"),
    "a reference to nothing": (word(255 | 2 << 8), word(255 | 3 << 8), "a reference to one of 2 symbols, got number 3"),
    "a reference to zero": (word(255 | 2 << 8), word(255) + word(0), "a reference to one of 2 symbols, got number 0"),
    "a negative reference": (word(255 | 2 << 8), word(255) + word(-5), "to one of 2 symbols, got number -5"),
    "a name twice": (b"other", b"whole", "expected distinct names in a pair list, got 'whole'"),
    "a name that is missing": (word(9) + word(5) + b"other", word(9) + word(-1), "expected a text as a symbol's name"),
    "a negative length": (word(14) + word(5), word(14) + word(-5), "expected a length from 0 to 100000, got -5"),
    "a length of 2^31": (word(14) + word(5), word(14) + word(2**31 - 1), "a length from 0 to 100000, got 2147483647"),
    "a long vector": (word(14) + word(5), word(14) + word(-1) + word(1), "a length from 0 to 100000, got -1"),
    "integers of gigabytes": (word(13) + word(2), word(13) + word(2**30), "a length from 0 to 100000, got 1073741824"),
    "a list of gigabytes": (word(16) + word(3), word(16) + word(2**30), "a length from 0 to 100000, got 1073741824"),
    "a text of 2 GB": (word(3) + b"one", word(2**31 - 1) + b"one", "a text of at most 4096 bytes, got a length of 214"),
    "a negative text": (word(3) + b"one", word(-2) + b"one", "expected a text of at most 4096 bytes, got a length of"),
    "a number among texts": (word(9) + word(3) + b"one", word(13) + word(0), "expected texts in a vector of texts"),
    "more after the end": (WHOLE, WHOLE + b"\0", "expected the end after the objects, got more bytes"),
}


@pytest.mark.parametrize("case", FORMS)
def test_forms_that_are_not_read(case, tmp_path):
    old, new, message = FORMS[case]
    if case == "no pair list":
        return refused(tmp_path, new, message)
    assert old in WHOLE
    return refused(tmp_path, WHOLE.replace(old, new, 1), message)


def test_attributes_that_are_no_pair_list(tmp_path):
    names = made.Names()
    stream = made.r_stream(names.pairs(x=word(13 | 0x200) + word(0) + word(13) + word(0)))
    refused(tmp_path, stream, "expected a pair list of attributes, got RVector")


# ---- size


def nested(levels, kind):
    names = made.Names()
    inner = word(254)
    for _ in range(levels):
        inner = word(19) + word(1) + inner if kind == "lists" else word(0x402) + word(1) + made.text(b"x") + inner
    return made.r_stream(names.pairs(x=inner))


def test_deep_nesting(tmp_path):
    for levels in (17, 2000):
        refused(tmp_path, nested(levels, "lists"), "expected objects in at most 16 levels, got more")
        refused(tmp_path, nested(levels, "pairs"), "expected objects in at most 16 levels, got more")
    level = word(13 | 0x200) + word(0) + word(0x402) + word(1) + made.text(b"x")
    refused(
        tmp_path, made.r_stream(made.Names().pairs(x=level * 99)), "expected objects in at most 16 levels, got more"
    )
    assert read(tmp_path, nested(15, "lists"))["x"].values


LIMITS = {
    "_MAX_EXPANDED": (100, "expands to more than 100 bytes; expected an R data file"),
    "_MAX_KEPT": (60, "expected at most 60 bytes of numbers and texts, got more"),
    "_MAX_ITEMS": (15, "expected at most 15 objects, got more"),
    "_MAX_LENGTH": (5, "expected a length from 0 to 5, got 6"),
    "_MAX_TEXT": (7, "expected a text of at most 7 bytes, got a length of 8"),
    "_MAX_SYMBOLS": (2, "expected at most 2 symbols, got more"),
    "_MAX_DEPTH": (2, "expected objects in at most 2 levels, got more"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name, tmp_path, monkeypatch):
    limit, message = LIMITS[name]
    monkeypatch.setattr(_r_data, name, limit)
    refused(tmp_path, WHOLE, message)


def test_a_file_that_expands_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(_r_data, "_MAX_EXPANDED", 50 << 20)
    names = made.Names()
    zeros = word(14) + word(100_000) + bytes(800_000)
    stream = made.r_stream(names.pairs(x=word(19) + word(100) + zeros * 100))
    refused(tmp_path, stream, "hostile.rda: expands to more than 52428800 bytes; expected an R data file. Delete it")
    monkeypatch.setattr(_r_data, "_MAX_EXPANDED", 100 << 20)
    with bounded(headroom=SMALL):  # 80 MB of zeros take no memory
        found = read(tmp_path, stream)
    assert [column.values.length for column in found["x"].values] == [100_000] * 100


def test_numbers_that_are_kept_take_no_more_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(_r_data, "_MAX_KEPT", 1 << 20)
    for vector in (
        word(13) + word(100_000) + bytes(400_000),
        word(14) + word(100_000) + struct.pack(">d", 1.0) * 100_000,
    ):
        stream = made.r_stream(made.Names().pairs(x=word(19) + word(100) + vector * 100))
        refused(tmp_path, stream, "expected at most 1048576 bytes of numbers and texts, got more")


# ---- packing


def with_dictionary(packed, code):
    """Return a file of xz whose block asks for another dictionary; its header's checksum is put right."""
    start, size = 12, (packed[12] + 1) * 4
    header = bytearray(packed[start : start + size - 4])
    place = header.index(b"\x21\x01") + 2  # LZMA2, whose properties are one byte
    header[place] = code
    return packed[:start] + header + struct.pack("<I", zlib.crc32(header)) + packed[start + size :]


def test_the_memory_that_the_head_of_xz_asks_for_is_not_given(tmp_path):
    packed = lzma.compress(WHOLE, preset=0)
    path = tmp_path / "hostile.rda"
    path.write_bytes(with_dictionary(packed, 40))  # 4 GiB
    with (
        bounded(headroom=8 << 20),
        pytest.raises(ValueError, match=r"hostile\.rda: cannot be decompressed \(Memory us"),
    ):
        read_r_data(path)
    path.write_bytes(with_dictionary(packed, 28))  # 64 MiB, which the largest preset has
    assert [*read_r_data(path)] == ["whole", "other"]


def test_damaged_packing(tmp_path):
    packed = lzma.compress(WHOLE, preset=0)
    path = tmp_path / "hostile.rda"
    cases = {
        "it ends before its end": [packed[:stop] for stop in range(len(packed))],
        "bytes follow the end": [packed + b"\0", packed + packed, packed + b"\0\0\0\0"],
        "format not supp": [lzma.compress(WHOLE, format=lzma.FORMAT_ALONE), zlib.compress(WHOLE), WHOLE],
    }
    for message, contents in cases.items():
        for content in contents:
            path.write_bytes(content)
            with pytest.raises(ValueError, match=rf"hostile\.rda: cannot be decompressed \(.*{message}") as error:
                read_r_data(path)
            with pytest.raises(ValueError, match="cannot be decompressed"):
                read_xz(path, 1 << 20, "text")
            assert "Replace it by an intact copy" in str(error.value)


def test_blocks_of_any_size_come_out_as_they_went_in(tmp_path, monkeypatch):
    content = np.random.default_rng(0).bytes(5000) + bytes(300_000) + b"end"
    (tmp_path / "x.xz").write_bytes(lzma.compress(content))
    for block in (1, 7, 1 << 16):
        monkeypatch.setattr(_xz, "_BLOCK", block)
        assert read_xz(tmp_path / "x.xz", len(content), "text") == content
        with (tmp_path / "x.xz").open("rb") as file:
            stream = _xz.XzStream(tmp_path / "x.xz", file, max_expanded=1 << 20, what="text")
            parts = [stream.take(size) for size in (0, 1, 4, 4999, 2, 299_000, 4000, 5)]
            assert b"".join(parts) == content
            assert [len(part) for part in parts][:4] == [0, 1, 4, 4999]
            assert stream.taken == len(content)
    with pytest.raises(ValueError, match=r"x\.xz: expands to more than 305002 bytes; expected text\. Delete it"):
        read_xz(tmp_path / "x.xz", len(content) - 1, "text")


# ---- damage


def test_a_file_that_ends_anywhere(tmp_path):
    for stop in range(7, len(WHOLE)):
        refused(tmp_path, WHOLE[:stop], "expected [0-9]+ more bytes, got the end of the file")


def test_any_flipped_bit(tmp_path):
    counts = Counter()
    for place in range(len(WHOLE)):
        for bit in range(8):
            try:
                read(tmp_path, WHOLE[:place] + bytes([WHOLE[place] ^ 1 << bit]) + WHOLE[place + 1 :])
            except ValueError as error:
                counts["named" if "hostile.rda" in str(error) else "not named"] += 1
            else:
                counts["read"] += 1
    assert counts.keys() == {"named", "read"}


def test_nothing_is_half_written(tmp_path, monkeypatch):
    monkeypatch.setattr(_rcv1_repair, "ROWS", 4)
    monkeypatch.setattr(rcv1_subsets, "ROWS", 4)
    for module in (_rcv1_repair, rcv1_subsets):
        monkeypatch.setattr(module, "CODES", made.CODES)
    monkeypatch.setattr(rcv1_subsets, "_SHIFTS", (_rcv1_repair.Shift(**made.SHIFT),) * 2)
    good, target = tmp_path / "good.rda", tmp_path / "kept.npz"
    good.write_bytes(made.packed(made.made_sample()))
    target.write_text("kept")
    stream = made.made_sample()
    for stop in range(0, len(stream), 7):
        (tmp_path / "hostile.rda").write_bytes(made.packed(stream[:stop]))
        before = tree(tmp_path)
        with pytest.raises(ValueError, match=r"hostile\.rda.*: expected"):
            run_converter("rcv1_subsets", [good, tmp_path / "hostile.rda"], target)
        assert tree(tmp_path) == before
