"""Pickles of unknown intent become token lists or one error: nothing is run, looked up or half-written, no memory."""

import ast
import builtins
import importlib
import inspect
import lzma
import os
import pickle
import pickletools
import re
import struct
import sys

import pytest
from hostile_bytes import bounded, tree

import made_sources as made
import provlab
from provlab.datasets import _r_data, _token_pickle, converters
from provlab.datasets._token_pickle import Vector, read_token_pickle
from provlab.datasets.converters import cifar10_jpeg, rcv1_subsets, run_converter, techtc_tokens

SMALL = 60 << 20
WHOLE = made.token_pickle(*made.HALVES)


def refused(folder, content, message, headroom=SMALL):
    """Convert below a folder: an error that names the file, and the tree as before."""
    path = folder / "hostile.pkl"
    path.write_bytes(content)
    (folder / "kept.txt.xz").write_text("kept")
    before = tree(folder)
    for target in ("kept.txt.xz", "new.txt.xz"):
        with bounded(seconds=10, headroom=headroom), pytest.raises(ValueError, match=message) as error:
            run_converter("techtc_tokens", [path], folder / target)
        assert path.name in str(error.value)
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 500
    assert tree(folder) == before


OPCODE = r"expected one of the opcodes \(ltNSILapgcRb\., got"
CALL = "expected the call that makes a vector of int32, got another call"
STATE = "expected the state of a vector of int32, got another state"
NAME = "expected one of the names numpy.core.multiarray _reconstruct, numpy ndarray, numpy dtype, got"


def test_the_made_pickle_is_one(tmp_path):
    """The interpreter that Python has for looking at pickles, which runs nothing, reads it with the same opcodes."""
    names = {opcode.name for opcode, _, _ in pickletools.genops(WHOLE.replace(b"\\xa0", b"\\x20"))}
    assert names == {"MARK", "LIST", "TUPLE", "NONE", "STRING", "INT", "LONG", "APPEND", "PUT", "GET", "GLOBAL",
                     "REDUCE", "BUILD", "STOP"}  # fmt: skip
    assert {opcode.code.encode("latin-1") for opcode in pickletools.opcodes if opcode.name in names} == {
        *_token_pickle._ACTIONS,
        b".",
    }
    (tmp_path / "x.pkl").write_bytes(WHOLE)
    (first, labels), (second, others) = read_token_pickle(tmp_path / "x.pkl")
    assert [first, second] == [[tokens for _, tokens in half] for half in made.HALVES]
    assert [labels, others] == [Vector(tuple(label for label, _ in half)) for half in made.HALVES]


# ---- what runs code, asks others, or belongs to later protocols

EVIL = {
    "GLOBAL": (b"cos\nsystem\n.", f"{NAME} b'os system'"),
    "GLOBAL of numpy": (b"cnumpy\nload\n.", f"{NAME} b'numpy load'"),
    "GLOBAL of a part": (b"cnumpy.core.multiarray\n_reconstruct.__globals__\n.", NAME),
    "GLOBAL in one line": (b"cnumpy dtype\n\n.", f"{NAME} b'numpy dtype '"),
    "REDUCE": (b"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR.", CALL),
    "REDUCE of a true that is 1": (b"cnumpy\ndtype\n(S'i4'\nI0\nI01\ntR.", CALL),
    "REDUCE of ndarray": (b"cnumpy\nndarray\n(I1\ntR.", CALL),
    "REDUCE of a string": (b"S'os.system'\n(S'true'\ntR.", CALL),
    "REDUCE with a list": (b"cnumpy\ndtype\n(lR.", CALL),
    "REDUCE with nothing": (b"cnumpy\ndtype\nR.", "expected something on the stack, got nothing"),
    "BUILD of a list": (b"(l(tb.", STATE),
    "BUILD of a name": (b"cnumpy\ndtype\n(S'x'\ntb.", STATE),
    "BUILD of another state": (b"cnumpy\ndtype\n(S'i4'\nI0\nI1\ntR(I3\nS'>'\nNNNI-1\nI-1\nI0\ntb.", STATE),
    "BUILD with nothing": (b"(tb.", "expected something on the stack, got nothing"),
    "INST": (b"(S'true'\nios\nsystem\n.", rf"{OPCODE} b'i'"),
    "OBJ": (b"(cnumpy\ndtype\no.", rf"{OPCODE} b'o'"),
    "NEWOBJ": (b"cnumpy\ndtype\n(t\x81.", rf"{OPCODE} b'\\x81'"),
    "NEWOBJ_EX": (b"\x92.", rf"{OPCODE} b'\\x92'"),
    "STACK_GLOBAL": (b"S'os'\nS'system'\n\x93.", rf"{OPCODE} b'\\x93'"),
    "PERSID": (b"Phttp://localhost/\n.", rf"{OPCODE} b'P'"),
    "BINPERSID": (b"S'x'\nQ.", rf"{OPCODE} b'Q'"),
    "EXT1": (b"\x82\x01.", rf"{OPCODE} b'\\x82'"),
    "EXT2": (b"\x83\x01\x00.", rf"{OPCODE} b'\\x83'"),
    "EXT4": (b"\x84\x01\x00\x00\x00.", rf"{OPCODE} b'\\x84'"),
    **{f"protocol {n}": (pickle.dumps([1], protocol=n), rf"{OPCODE} b'\\x80'") for n in (2, 3, 4, 5)},
    "protocol 1": (pickle.dumps([1], protocol=1), rf"{OPCODE} b'\]'"),
    "BYTEARRAY8": (b"\x96\xff\xff\xff\xff\xff\xff\xff\x7f.", rf"{OPCODE} b'\\x96'"),
    "UNICODE": (b"Vx\n.", rf"{OPCODE} b'V'"),
    "DICT": (b"(d.", rf"{OPCODE} b'd'"),
    "FLOAT": (b"F1.5\n.", rf"{OPCODE} b'F'"),
    "DUP": (b"(l2.", rf"{OPCODE} b'2'"),
    "NEXT_BUFFER": (b"\x97.", rf"{OPCODE} b'\\x97'"),
}


@pytest.mark.parametrize("case", EVIL)
def test_only_what_a_token_list_needs_is_interpreted(case, tmp_path):
    content, message = EVIL[case]
    refused(tmp_path, content, message)
    for place in (match.start() for match in re.finditer(rb"a(?=S'alpha)|\(l(?=p)", WHOLE)):  # in the midst of it
        refused(tmp_path, WHOLE[:place] + content[:-1] + WHOLE[place:], r"hostile\.pkl.*: expected .*, got ")


def test_a_run_of_strings_is_read_as_its_opcodes_are(tmp_path, monkeypatch):
    """Nearly all of a file are strings in a list; these are read at once, which changes no result and no message."""

    def outcome(content):
        (tmp_path / "x.pkl").write_bytes(content)
        try:
            return str(read_token_pickle(tmp_path / "x.pkl"))
        except ValueError as error:
            return str(error)

    damaged = [
        WHOLE[:place] + put + WHOLE[place + 1 :] for place in range(len(WHOLE)) for put in (b"", b"'", b"a", b"0")
    ]
    contents = [WHOLE, *damaged]
    at_once = [outcome(content) for content in contents]
    monkeypatch.setattr(_token_pickle, "_ITEM", re.compile(b"(?!)"))
    assert at_once == [outcome(content) for content in contents]


@pytest.mark.parametrize("limit", ["_MAX_OPCODES", "_MAX_MEMO", "_MAX_STACK"])
def test_a_run_of_strings_keeps_the_limits(limit, tmp_path, monkeypatch):
    (tmp_path / "x.pkl").write_bytes(b"(lp0\n" + b"".join(b"S'a'\np%d\na" % i for i in range(1, 40)) + b".")
    for most in range(1, 125):
        monkeypatch.setattr(_token_pickle, limit, most)
        found = []
        for pattern in (_token_pickle._ITEM, re.compile(b"(?!)")):
            with monkeypatch.context() as patch:
                patch.setattr(_token_pickle, "_ITEM", pattern)
                try:
                    found.append(str(read_token_pickle(tmp_path / "x.pkl")))
                except ValueError as error:
                    found.append(str(error))
        assert found[0] == found[1]


def test_every_other_opcode_is_refused(tmp_path):
    for code in range(256):
        if bytes([code]) not in {*_token_pickle._ACTIONS, b"."}:
            refused(tmp_path, bytes([code]) + WHOLE, r"byte 1: " + OPCODE)


class Canary:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (os.mkdir, (self.path,))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_canary_does_not_sing(protocol, tmp_path):
    content = pickle.dumps([Canary(tmp_path / "canary")], protocol=protocol)
    refused(tmp_path, content, f"{OPCODE}|{NAME}")
    pickle.loads(content)  # noqa: S301 - the test's own bytes: it is one that would
    assert (tmp_path / "canary").is_dir()


def test_nothing_is_looked_up(tmp_path, monkeypatch):
    (tmp_path / "x.pkl").write_bytes(WHOLE)
    evil = tmp_path / "evil.pkl"
    evil.write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    run_converter("techtc_tokens", [tmp_path / "x.pkl"], tmp_path / "first")  # all that is imported late is there

    def forbidden(*names, **_):
        raise AssertionError(f"looked up {names}")

    modules = set(sys.modules)
    with monkeypatch.context() as patch:
        for owner, name in (
            *((pickle, name) for name in ("load", "loads", "Unpickler", "_Unpickler", "_load", "_loads")),
            *((importlib, name) for name in ("import_module", "reload")),
            *((builtins, name) for name in ("eval", "exec", "compile", "__import__")),
        ):
            patch.setattr(owner, name, forbidden)
        techtc_tokens.convert([tmp_path / "x.pkl"], tmp_path / "second")
        try:
            techtc_tokens.convert([evil], tmp_path / "third")
        except ValueError as error:
            message = error
    assert "expected one of the names" in str(message)
    assert set(sys.modules) == modules
    assert lzma.decompress((tmp_path / "second").read_bytes()) == made.TOKEN_TEXT


LOOK_UP = {"pickle", "_pickle", "cPickle", "joblib", "marshal", "shelve", "dill", "cloudpickle", "importlib", "runpy"}
CALLS = {"eval", "exec", "compile", "__import__", "getattr", "globals", "vars", "import_module"}


@pytest.mark.parametrize("module", [_token_pickle, techtc_tokens, _r_data, rcv1_subsets, cifar10_jpeg])
def test_the_sources_import_nothing_that_could(module):
    parsed = ast.parse(inspect.getsource(module))
    imported = {alias.name for node in ast.walk(parsed) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(parsed) if isinstance(node, ast.ImportFrom)}
    assert not {name.partition(".")[0] for name in imported if name} & LOOK_UP
    assert not {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)} & CALLS


def test_only_the_registry_of_converters_imports_by_name():
    folder = os.path.dirname(converters.__file__)
    assert folder.startswith(os.path.dirname(provlab.__file__))
    for name in os.listdir(folder):
        if name.endswith(".py") and name != "__init__.py":
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            assert "pickle.load" not in text
            assert "importlib" not in text


# ---- size and form


@pytest.mark.parametrize(
    "content",
    [
        b"T\xff\xff\xff\xff", b"\x8e" + struct.pack("<Q", 1 << 32), b"X\xff\xff\xff\xff", b"B\xff\xff\xff\xff",
        b"\x8b\xff\xff\xff\x7f", b"\x8d" + struct.pack("<Q", 1 << 62),
    ],
)  # fmt: skip
def test_strings_of_gigabytes_that_are_only_declared(content, tmp_path):
    for tail in (b"", b"x" * 100):
        refused(tmp_path, content + tail, OPCODE, headroom=8 << 20)


BOMBS = {
    "tuples in the memo": (
        b"(tp0\n" + b"".join(b"0(" + b"g%d\n" % i * 10 + b"tp%d\n" % (i + 1) for i in range(30)) + b".",
        OPCODE,
    ),
    "tuples of what is remembered": (
        b"((tp0\n" + b"".join(b"(" + b"g%d\n" % i * 10 + b"tp%d\n" % (i + 1) for i in range(20)) + b"t.",
        "expected a string, name or type from the memo, got tuple",
    ),
    "lists of what is remembered": (b"(l(lp0\ng0\na.", "expected the memo's|expected a string, name or type"),
    "a list in itself": (b"(lp0\ng0\na.", "expected a string, name or type from the memo, got list"),
    "a vector again": (
        b"(cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntRp0\ng0\n.",
        "expected a string, name or type from the memo, got Vector",
    ),
    "deep lists": (b"(l" * 100_000 + b".", "byte 101: expected a stack of at most 50, got a deeper one"),
    "deep tuples": (b"(" * 100_000 + b"t" * 100_000 + b".", "expected a stack of at most 50, got a deeper one"),
    "many items": (b"(" + b"N" * 100_000 + b"t.", "expected a stack of at most 50, got a deeper one"),
}


@pytest.mark.parametrize("case", BOMBS)
def test_a_tree_is_no_larger_than_its_file(case, tmp_path):
    refused(tmp_path, *BOMBS[case])


def test_one_long_token_many_times(tmp_path):
    """A string may come from the memo, so that the text can be larger than the pickle."""
    for times in (500, 600):
        content = made.token_pickle([(1, [b"x" * 9000] * times)], [], shared=True)
        assert len(content) < 20_000
        (tmp_path / "x.pkl").write_bytes(content)
        if times == 500:
            with bounded():
                run_converter("techtc_tokens", [tmp_path / "x.pkl"], tmp_path / "out")
            assert len(lzma.decompress((tmp_path / "out").read_bytes())) == 5 + 9001 * 500
    refused(tmp_path, content, "expected at most 5000000 bytes of text, got more")


LIMITS = {
    "_MAX_BYTES": (100, "expected a pickle of at most 100 bytes, got more"),
    "_MAX_OPCODES": (50, "expected at most 50 opcodes, got more"),
    "_MAX_MEMO": (20, "expected at most 20 entries of the memo, got more"),
    "_MAX_STACK": (5, "expected a stack of at most 5, got a deeper one"),
    "_MAX_ARGUMENT": (12, "expected an argument of at most 12 bytes, got no end of it"),
    "_MAX_LABELS": (2, "expected a vector of at most 2 numbers of 4 bytes, got another shape or length"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name, tmp_path, monkeypatch):
    limit, message = LIMITS[name]
    monkeypatch.setattr(_token_pickle, name, limit)
    refused(tmp_path, WHOLE, message)


@pytest.mark.parametrize(("name", "limit", "message"), [
    ("_MAX_TOKEN", 4, "expected tokens of 1 to 4 bytes without blanks and newlines, got b'alpha'"),
    ("_MAX_TEXT", 30, "expected at most 30 bytes of text, got more"),
])  # fmt: skip
def test_limits_of_the_text(name, limit, message, tmp_path, monkeypatch):
    monkeypatch.setattr(techtc_tokens, name, limit)
    refused(tmp_path, WHOLE, message)
