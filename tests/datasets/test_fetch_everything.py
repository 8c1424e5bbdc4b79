"""Everything is fetched into an empty folder from a server that has what the addresses have, and then it is used."""

import gzip
import hashlib
import lzma
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from public_server import serving

from provlab.datasets import dataset_members, fetch, load_dataset, locate, read_source, source_names, usable
from provlab.datasets.converters import rcv1
from provlab.datasets.loaders.rcv1_ccat import _TOPICS
from provlab.plan import cells_of, compose_config, make_tasks
from provlab.run.task import run_task
from small_runs import run_python

MIRROR = Path(os.environ.get("PROVSEL_DATA_MIRROR") or "nowhere")
pytestmark = pytest.mark.skipif(
    not (MIRROR / "raw" / "techtc").is_dir(), reason="needs real data: PROVSEL_DATA_MIRROR with a folder raw/techtc"
)

NOT_SERVED = {
    "cifar10/cifar-10-binary.tar.gz",
    "rcv1/lyrl2004_vectors_train.dat.gz",
    *(f"rcv1/lyrl2004_vectors_test_pt{k}.dat.gz" for k in range(4)),
}
"""Nobody could look at these: they are tried, and nothing rests on them."""

FIELDS = {"cifar10": ["dataset.features=pixels", "dataset.part=train", "protocol=selection"],
          "ar": ["protocol=selection"],  # a hundred classes
    "mnist": ["dataset.part=train", "dataset.classes=[3,8]"], "techtc": ["dataset.set=Exp_10341_10755"],
          "rcv1_ccat": ["dataset.n_train=3000"]}  # fmt: skip
"""Settings that make a trial of a large data set take seconds."""


PEAK = """
import re, sys
from pathlib import Path
from provlab.datasets.converters.rcv1 import rcv1_subsets
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
before = peak()
*sources, target = map(Path, sys.argv[1:])
rcv1_subsets(sources, target)
print((peak() - before) / 1024)
"""
"""Prints the MiB of a conversion; not by getrusage, which begins with those of the process that started this one."""


@contextmanager
def untraced():
    """Measure no coverage: the readers of pickles and R files, which have tests of their own, take thrice as long."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """Return the data folder, what became of each file, the server with its registry, and MiB that RCV1 took."""
    registry, folder = tmp_path_factory.mktemp("registry"), tmp_path_factory.mktemp("fetched") / "data"
    peaks = []

    def in_a_process_of_its_own(sources, target):
        done = run_python(["-c", PEAK, *sources, target], target.parent, timeout=600)
        assert (done.returncode, done.stderr) == (0, "")
        peaks.append(float(done.stdout))

    with pytest.MonkeyPatch.context() as patch, serving(MIRROR, registry) as server:
        patch.delenv("PROVSEL_DATA_MIRROR", raising=False)
        patch.setenv("PROVSEL_DATA", str(folder))
        patch.setattr(rcv1, "rcv1_subsets", in_a_process_of_its_own)
        with untraced():
            outcomes = fetch(source_names(), registry=registry, retries=0, timeout=60)
        yield folder, outcomes, server, registry, peaks


@pytest.fixture
def folder(fetched, monkeypatch):
    """Return the data folder, which is the only one that is searched."""
    monkeypatch.setenv("PROVSEL_DATA", str(fetched[0]))
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    return fetched[0]


def test_every_data_set_is_there(fetched, folder):
    outcomes = fetched[1]
    absent = {item.file.path: str(item.error) for items in outcomes.values() for item in items if item.path is None}
    assert set(absent) == NOT_SERVED, absent
    assert all("404" in reason for reason in absent.values())
    assert [name for name, items in outcomes.items() if not usable(items)] == []
    for items in outcomes.values():
        for item in items:
            if item.path is not None:
                assert item.path == locate(item.file) == folder / item.file.path


def test_nothing_else_is_left(fetched, folder):
    """Neither what files were made from, nor parts of files."""
    expected = {item.file.path for items in fetched[1].values() for item in items if item.path is not None}
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
    assert {path for path in left if not path.startswith("cache/")} == expected
    assert not (folder / "raw").exists()


def test_nothing_is_asked_for_again(fetched, folder):
    _, outcomes, server, registry, _ = fetched
    server.requests.clear()
    names = [name for name, items in outcomes.items() if all(item.path for item in items)]
    assert {"usps", "mnist", "coil20", "ar", "dexter"} <= set(names)
    again = fetch(names, registry=registry, retries=0)
    assert again == {name: outcomes[name] for name in names}
    assert server.requests == []


def test_token_lists_are_the_registered_ones(folder):
    files = [file for file in read_source("techtc").files if file.path.startswith("techtc100/tokens/")]
    for file in files:
        text = lzma.decompress((folder / file.path).read_bytes())
        assert text == lzma.decompress((MIRROR / file.path).read_bytes())
        assert hashlib.sha256(text).hexdigest() == file.digest
    assert len(dataset_members("techtc")) == len(files) == 80
    table = "techtc100/datasets.tsv"
    assert (folder / table).read_bytes() == (MIRROR / table).read_bytes()


def test_arrays_labels_and_topics_are_the_registered_ones(folder):
    path = "rcv1_subsets/rcv1v2_subsets_fixed.npz"
    with np.load(folder / path) as ours, np.load(MIRROR / path) as theirs:
        assert sorted(ours) == sorted(theirs)
        for name in theirs:
            assert ours[name].dtype == theirs[name].dtype
            np.testing.assert_array_equal(ours[name], theirs[name])
    topics = gzip.decompress((folder / _TOPICS).read_bytes())
    assert topics == lzma.decompress((MIRROR / "raw/rcv1/rcv1-v2.topics.qrels.xz").read_bytes())
    assert len(set(re.findall(rb"^[A-Z0-9]+", topics, re.MULTILINE))) == 103
    rows = [line.split() for line in topics.splitlines()]
    labelled = sorted({int(document) for _, document, _ in rows})
    positive = [int(document) for topic, document, _ in rows if topic == b"CCAT"]
    assert (len(labelled), len(positive)) == (804414, 381327)
    # the training documents have the lowest numbers
    assert (labelled[23148], sum(number <= 26150 for number in positive)) == (26150, 10786)
    labels = "cifar10/cifar10_labels.js.xz"
    assert lzma.decompress((folder / labels).read_bytes()) == lzma.decompress((MIRROR / labels).read_bytes())


def test_samples_of_rcv1_are_read_as_a_stream(fetched):
    """Each of the five files expands to 2.3 GB."""
    [peak] = fetched[-1]
    assert 20 < peak < 220


@pytest.mark.parametrize("name", source_names())
def test_a_trial_of_each_data_set(folder, name):
    settings = [f"dataset={name}", "selector=uniform", "selector.n_features_to_select=20", "model=liblinear"]
    config = compose_config([*settings, "protocol.repeats=1", "protocol.draws=1", *FIELDS.get(name, [])])
    task = make_tasks(cells_of(config))[0]
    result = run_task(task)
    assert result.failures == []
    assert len(result.records[0]["features"]) == 20


def test_the_same_data_as_from_the_mirror(folder, monkeypatch):
    """What is packed otherwise here gives the same record."""
    for name, params in (("techtc", {"set": "Exp_10341_14271"}), ("rcv1_ccat", {"n_train": 100}), ("colon", {})):
        monkeypatch.setenv("PROVSEL_DATA", str(folder))
        monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
        ours = load_dataset(name, **params).content
        monkeypatch.setenv("PROVSEL_DATA_MIRROR", str(MIRROR))
        assert load_dataset(name, **params).content == ours
