"""Converters on the published files themselves, against what was registered from them."""

import csv
import lzma
import re
import zipfile

import numpy as np
import pytest

from provsel.datasets import load_dataset
from provsel.datasets._rcv1_parse import parse_topics
from provsel.datasets.converters import run_converter
from small_runs import run_python

# Two empty documents, the longest token, the fewest documents; every tenth beside them.
_ALWAYS = {"Exp_8308_8366", "Exp_85489_90753", "Exp_10341_61792"}


@pytest.fixture
def raw(real_mirror):
    if not (real_mirror / "raw" / "techtc").is_dir():
        pytest.skip("needs real data: the mirror has no folder raw with the published files")
    return real_mirror / "raw"


def unpacked(path, target):
    target.write_bytes(lzma.decompress(path.read_bytes()))
    return target


def pickle_numbers(raw):
    """Return the number of each published pickle by the name of its set: places among the sorted names of the page."""
    page = (raw / "Tech100Categories.html").read_text()
    ids = re.findall(r'">([0-9]+)</a></td>\s*<td[^>]*><a [^>]*>([0-9]+)</a>', page)
    names = sorted(f"Exp_{one}_{two}" for one, two in ids)
    assert len(names) == 100
    return {name: number for number, name in enumerate(names)}


def test_token_lists(raw, real_mirror, tmp_path):
    numbers = pickle_numbers(raw)
    with (real_mirror / "techtc100" / "datasets.tsv").open(newline="") as handle:
        names = [row["dataset"] for row in csv.DictReader(handle, delimiter="\t")]
    chosen = [name for i, name in enumerate(names) if i % 10 == 0 or name in _ALWAYS]
    assert len(chosen) >= 10
    for name in chosen:
        source = unpacked(raw / "techtc" / f"techtcdata{numbers[name]}.pkl.xz", tmp_path / "made.pkl")
        run_converter("techtc_tokens", [source], tmp_path / f"{name}.txt.xz")
        registered = (real_mirror / "techtc100" / "tokens" / f"{name}.txt.xz").read_bytes()
        assert lzma.decompress((tmp_path / f"{name}.txt.xz").read_bytes()) == lzma.decompress(registered)


def test_the_table(raw, real_mirror, tmp_path):
    lists = sorted((real_mirror / "techtc100" / "tokens").glob("*.xz"))
    run_converter("techtc_table", [raw / "Tech100Categories.html", *lists], tmp_path / "datasets.tsv")
    assert (tmp_path / "datasets.tsv").read_bytes() == (real_mirror / "techtc100" / "datasets.tsv").read_bytes()


PEAK = """
import resource, sys
from pathlib import Path
from provsel.datasets.converters import rcv1_subsets
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
*sources, target = map(Path, sys.argv[1:])
rcv1_subsets.convert(sources, target)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def test_samples_of_rcv1(raw, real_mirror, tmp_path):
    """In a process of its own, to see its memory: each of the five files expands to 2.3 GB."""
    target = tmp_path / "rcv1v2_subsets_fixed.npz"
    sources = [raw / "rcv1" / f"rcv1sub{i}.rda" for i in range(1, 6)]
    done = run_python(["-c", PEAK, *sources, target], tmp_path, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) < 220
    # The members, as zlib packs the same content to other bytes in other versions.
    registered = real_mirror / "rcv1_subsets" / "rcv1v2_subsets_fixed.npz"
    with zipfile.ZipFile(target) as found, zipfile.ZipFile(registered) as expected:
        assert found.namelist() == expected.namelist()
        for name in found.namelist():
            assert found.read(name) == expected.read(name), name


def test_topics_of_rcv1(raw, tmp_path):
    plain = unpacked(raw / "rcv1" / "rcv1-v2.topics.qrels.xz", tmp_path / "rcv1-v2.topics.qrels")
    run_converter("pack_gz", [plain], tmp_path / "rcv1-v2.topics.qrels.gz")
    assert len(set(re.findall(rb"^[A-Z0-9]+", plain.read_bytes(), re.MULTILINE))) == 103
    labelled, positive = parse_topics(tmp_path / "rcv1-v2.topics.qrels.gz", "CCAT")
    assert (labelled.size, positive.size) == (804414, 381327)
    last = np.sort(labelled)[23148]  # the training documents have the lowest numbers
    assert (last, (positive <= last).sum()) == (26150, 10786)


def test_stems_of_rcv1(raw, real_mirror, data_folder):
    if not (real_mirror / "rcv1_subsets").is_dir():
        pytest.skip("needs real data: the mirror has no folder rcv1_subsets")
    (data_folder / "rcv1").mkdir(parents=True)
    unpacked(raw / "rcv1" / "stem.termid.idf.map.txt.xz", data_folder / "rcv1" / "stem.termid.idf.map.txt")
    stems = load_dataset("rcv1_ccat", form="subsets", n_train=200, names="stems")
    terms = load_dataset("rcv1_ccat", form="subsets", n_train=200)
    assert stems.feature_names[[0, 1, 47234, 47235]].tolist() == ["_", "_____", "zyuganov", "zywnosciowej"]
    assert terms.feature_names[[0, 1, 47234, 47235]].tolist() == ["1", "2", "47235", "47236"]
    assert (stems.X != terms.X).nnz == 0
    assert stems.content != terms.content
    # A common word of business news stands where it should: in more of the CCAT documents than of the others.
    share = stems.X[:, np.flatnonzero(stems.feature_names == "profit")].toarray().ravel() > 0
    assert share[stems.y == 1].mean() > 2 * share[stems.y == -1].mean()
