"""The runner of the benchmarks: it finds every script, runs each alone, stores, compares and flags by ratios."""

import json
import sys

import numpy as np
import pytest

from small_runs import REPO, load_script

BENCHMARKS = REPO / "experiments" / "benchmarks"
sys.path.append(str(BENCHMARKS))  # the scripts find their helpers by their own folder

from timing.cases import FIELDS, case  # noqa: E402
from timing.compare import change, is_certain, is_flagged  # noqa: E402
from timing.exponents import fit_exponent  # noqa: E402
from timing.runs import FORMAT  # noqa: E402
from timing.scripts import FORMS, find_scripts, read_script, run_script  # noqa: E402

run = load_script(BENCHMARKS / "run.py")

TINY = """
import os, pathlib, shutil, sys

BENCH = {"bench": ["--form", "bench"], "quick": [], "left_out": "the rest", "seconds": 60}
assert sys.argv[1:] == ["--form", "bench"]
target = pathlib.Path(os.environ["PROVSEL_BENCHMARKS"])
target.mkdir()
shutil.copy(pathlib.Path(__file__).with_name("made"), target / "tiny.json")
"""


LACKING = "class MissingDataError(Exception): pass\nraise MissingDataError('usps: not here')"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results and scripts of a test: one script, which leaves what `costs` made."""
    monkeypatch.setenv("PROVSEL_BENCHMARKS", str(tmp_path / "results"))
    (tmp_path / "tiny.py").write_text(TINY)
    costs(tmp_path, 2.0, 2.0, 2.1)
    return tmp_path


def costs(folder, *ours):
    """Let the script measure these costs, beside a peer and a limit that are always the same."""
    found = case("size 1", ours, peer=("peer", [6.0] * 3), limit=("limit", [1.0] * 3), goal="ratio >= 2")
    (folder / "made").write_text(json.dumps({"cases": [{**found, "benchmark": "tiny"}]}))


def runs(folder, *arguments):
    return run.main(["--seconds", "60", *arguments], scripts=find_scripts(folder))


def script(folder, text):
    path = folder / "tried.py"
    path.write_text(text)
    return read_script(path)


def a_case(ours, peer=10.0, limit=None):
    found = case("a", ours, peer=("peer", peer), limit=None if limit is None else ("limit", limit))
    return {**found, "benchmark": "b", "script": "b"}


def test_every_script_of_the_folder_is_found_and_declares_its_forms():
    found = {each.name: each for each in find_scripts(BENCHMARKS)}
    assert set(found) == {path.stem for path in BENCHMARKS.glob("*.py")} - {"run"}
    for name, each in found.items():
        assert set(each.arguments) == set(FORMS), name
        assert 0 < each.seconds <= 300, name
        assert "report(" in each.path.read_text(), f"{name} leaves no record"


@pytest.mark.parametrize(
    ("text", "seconds", "status"),
    [
        ("raise SystemExit('bad.py: the indices differ')", 60, "failed: bad.py: the indices differ"),
        ("", 60, "failed: it wrote nothing"),
        ("import time; time.sleep(60)", 0.2, "failed: stopped after 0.2 s"),
        (LACKING, 60, "left out: usps: not here"),
    ],
)
def test_a_script_that_fails_hangs_or_lacks_data_is_reported(tmp_path, text, seconds, status):
    outcome, _ = run_script(script(tmp_path, text), "bench", seconds=seconds)
    assert outcome["status"] == status
    assert outcome["wall"] < 30


def test_a_run_stores_compares_and_flags(folder, capsys):
    (folder / "zbad.py").write_text("raise SystemExit('no')")
    assert runs(folder) == 1  # a benchmark failed, the other ran
    out = capsys.readouterr().out
    for words in ("zbad ...", "FAILED", "No stored run to compare with", "left out: the rest", "Goals: 1 of 1 met."):
        assert words in out
    (folder / "zbad.py").unlink()

    results = folder / "results"
    stored = json.loads((results / "latest.json").read_text())
    assert stored["format"] == FORMAT
    assert {"date", "processor", "cpu_features", "cores", "load_average", "blas"} <= set(stored["environment"])
    assert stored["cases"][0]["ratio"] == pytest.approx(3.0)
    assert set(FIELDS) <= set(stored["cases"][0])
    assert json.loads((results / "tiny.json").read_text())["cases"][0]["benchmark"] == "tiny"

    costs(folder, 2.6, 2.6, 2.61)  # 30 %, beyond the spread of both
    assert runs(folder) == 0
    out = capsys.readouterr().out
    assert "WARNING: worse by more than 20 % than in the stored run: tiny: size 1 (1.30)" in out
    assert ", on this machine." in out
    assert runs(folder) == 0  # the last stored run now is the slow one
    assert "WARNING" not in capsys.readouterr().out

    reference = folder / "reference.json"
    reference.write_text(json.dumps(stored))
    assert runs(folder, "--against", str(reference), "--strict") == 1
    costs(folder, 2.05, 2.6, 2.7)  # as much worse, but the repeats overlap
    assert runs(folder, "--against", str(reference), "--strict") == 0
    out = capsys.readouterr().out
    assert "Worse by more than 20 %, but within the spread of the repeats: tiny: size 1 (1.30)" in out
    assert "WARNING" not in out.rsplit("Compared with", 1)[1]

    (results / "latest.json").write_text("{")  # damaged: nothing is run
    assert runs(folder) == 2
    captured = capsys.readouterr()
    assert "expected a stored run of `make bench`" in captured.err
    assert "tiny ..." not in captured.out


ONES, TENS = [1.0, 1.0, 1.01], [9.0, 10.0, 11.0]


@pytest.mark.parametrize(
    ("now", "before", "flag", "factor"),
    [
        (a_case([1.25, 1.25, 1.26]), a_case(ONES), "WORSE", 1.25),
        (a_case([1.15, 1.15, 1.16]), a_case(ONES), "", 1.15),
        (a_case([0.5, 0.5, 0.5]), a_case(ONES), "", 0.5),
        (a_case([2.0, 2.0, 2.0], peer=20.0), a_case(ONES), "", 1.0),  # the machine became slower, and we with it
        (a_case([1.3] * 3, [13.0] * 3, [0.5, 0.5, 0.51]), a_case([1.0] * 3, TENS, [0.5, 0.5, 0.51]), "WORSE", 1.3),
        (a_case([1.0, 1.3, 1.4]), a_case([0.9, 1.0, 1.1]), "worse (within the spread)", 1.3),
        (a_case(1.3), a_case(1.0), "worse (single run)", 1.3),
    ],
)
def test_a_flag_is_of_a_ratio_that_is_25_percent_worse_and_says_when_repeats_cannot_tell(now, before, flag, factor):
    found = change(now, before)
    assert (found.flag, found.factor) == (flag, pytest.approx(factor))
    assert is_flagged(found) == bool(flag)
    assert is_certain(found) == (flag in ("WORSE", "worse (single run)"))


def test_the_fit_recovers_a_known_exponent():
    sizes = np.array([10, 20, 40, 80, 160, 320])
    fit = fit_exponent(sizes[::-1], (3.0 * sizes**1.5)[::-1])
    assert fit.exponent == pytest.approx(1.5)
    assert fit.error == pytest.approx(0.0, abs=1e-12)
    assert fit.at(640) == pytest.approx(3.0 * 640**1.5)
    assert fit.sizes == [80, 160, 320]
    # a constant cost hides the exponent of small sizes, which are left out
    all_sizes = np.polyfit(np.log(sizes), np.log(1000 + sizes**2.0), 1)[0]
    assert fit_exponent(sizes, 1000.0 + sizes**2.0).exponent > all_sizes
    two = fit_exponent([1, 2], [1.0, 0.5])
    assert (two.exponent, two.error) == (pytest.approx(-1.0), None)


def test_a_real_benchmark_runs_through_the_runner(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PROVSEL_BENCHMARKS", str(tmp_path))
    assert run.main(["--quick", "limits"]) == 0
    assert "eigh, n = 60" in capsys.readouterr().out
    stored = json.loads((tmp_path / "limits.json").read_text())
    assert all(found["ratio_to_limit"] > 0 for found in stored["cases"])
    assert stored["rates"]
