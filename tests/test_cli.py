"""The command line, as people use it: exit status, what is printed, what is written."""

import csv
import importlib
import io
import json
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from made_paper import CLAIMS, made_paper
from provlab.cli import main
from provlab.cli.commands import COMMANDS, FOR_MAINTAINERS
from provlab.core.frames import COLUMNS
from provlab.core.store import TrialStore
from provlab.project.messages import did_you_mean, nearest
from provsel import __version__
from small_runs import REPO, SMALL, run_python

NAME = "paul2016/table1"


@pytest.fixture(autouse=True)
def folder(outside, no_data, monkeypatch):
    """Work on this project in an empty folder, without any downloaded data."""
    monkeypatch.setenv("PROVSEL_PROJECT", str(REPO))
    return outside


def table1(*argv):
    return ["reproduce", "paul2016/table1", *SMALL, "executor=serial", *argv]


def written(suffix=".csv"):
    return Path(f"results/tables/{NAME}{suffix}").read_text()


# ---- commands, their arguments and help


def test_version_and_help_of_the_installed_command(folder, call):
    assert call("--version") == (0, f"provsel {__version__}\n", "")
    done = run_python(["-m", "provlab.cli", "--version"], folder)
    assert done.stdout == f"provsel {__version__}\n"
    assert done.stderr == ""
    _, printed, _ = call("--help")
    listed = {name for name in COMMANDS if re.search(rf"^ +{name} ", printed, re.M)}
    assert listed == {*COMMANDS} - {*FOR_MAINTAINERS}
    assert all(f"{name} (" in printed for name in FOR_MAINTAINERS)


def test_the_verbose_version_says_what_results_depend_on(call):
    status, printed, _ = call("--version", "--verbose")
    assert status == 0
    first, *lines = printed.splitlines()
    assert first == f"provsel {__version__}"
    versions = dict(line.split(": ", 1) for line in lines)
    assert versions["numpy"] == np.__version__
    assert versions["python"] == platform.python_version()


def test_bash_completes_commands_and_their_options(call, folder):
    pytest.importorskip("shtab")
    status, script, _ = call("--completion", "bash")
    assert status == 0
    Path("completion.sh").write_text(script)
    for words, expected in (
        (["sel"], "select"),
        (["select", "--feat"], "--features"),
        (["verify", "--det"], "--detail"),
    ):
        line = shlex.join(["provsel", *words])
        steps = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_provsel; echo ${{COMPREPLY[*]}}"
        done = subprocess.run(
            ["bash", "-c", f"source completion.sh; {steps}"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout.split() == [expected]
    status, _, message = call("--completion", "ksh")
    assert status == 2
    assert re.search(r"--completion: expected one of bash, .*, got 'ksh'", message)


def test_too_little_address_space_is_a_sentence_and_no_hang(folder):
    """Libraries that cannot be mapped, or threads that cannot start, ended in pages of errors, or never."""
    command = f"ulimit -v 700000 && {shlex.quote(sys.executable)} -m provlab.cli list"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(
        r"provsel: expected at least 1\.5 GB of address space .*, got a limit of 0\.7 GB; .*ulimit -v unlimited\.\n",
        done.stderr,
    )


def test_help_and_usage_fit_the_terminal(call, monkeypatch):
    for width in (60, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        for argv in ([], ["run"], ["verify"]):
            _, printed, _ = call(*argv, "--help")
            longest = max(map(len, re.sub(r"Example:\n.*", "", printed).splitlines()))
            assert width - 25 < longest <= width, printed
    assert call("--help")[1].startswith(
        "usage: provsel [-h] [--version [--verbose]] COMMAND ..."
    )


def test_json_has_what_the_tables_have(call):
    def read(*argv):
        status, printed, _ = call(*argv, "--json")
        assert status == 0
        return json.loads(printed, parse_constant=pytest.fail)  # NaN is no JSON

    assert call(*table1("protocol.n_splits=2"))[0] == 0
    small = [*SMALL, "protocol.n_splits=2"]
    [line] = read("status", "--artefact", "table1", *small)
    assert line["artefact"] == NAME
    assert line["state"] == "complete"
    assert line["stored"] == line["planned"]
    assert read("list", "models")["models"].keys() == {
        path.stem for path in (REPO / "conf" / "model").glob("*.yaml")
    }
    judged = read("verify", "--paper", "paul2016", *small)
    written_then = pd.read_csv("results/verdicts.csv")
    assert [
        line_of_claim["claim"] for line_of_claim in judged["claims"]
    ] == written_then["claim"].tolist()
    assert [
        line_of_claim["verdict"] for line_of_claim in judged["claims"]
    ] == written_then["verdict"].tolist()
    names = read("explain", "table1", *small)
    traced = read(
        "explain",
        "table1",
        "--row",
        names["rows"][0],
        "--column",
        names["columns"][0],
        "--trials",
        *small,
    )
    [cell] = traced["cells"]
    assert traced["row"] == "BSS"
    assert len(cell["trials"]) == cell["planned"]
    assert {trial["key"] for trial in cell["trials"]} <= TrialStore(
        Path("results/store")
    ).keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_has_an_example_that_fits(name, call, monkeypatch):
    place, _, example = COMMANDS[name]
    module = importlib.import_module(f"provlab.cli.{place}")
    called = []
    add_arguments, _ = module.COMMANDS[name]
    monkeypatch.setitem(
        module.COMMANDS,
        name,
        (add_arguments, lambda options: called.append(options) or 0),
    )
    assert call(name, *shlex.split(example))[0] == 0
    assert len(called) == 1
    status, printed, _ = call(name, "--help")
    assert status == 0
    assert f"Example:\n  provsel {name} {example}\n" in printed


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("verfy", "verify"),
        ("verify --paper paul2015", "paul2016"),
        ("reproduce tabel1", "table1"),
        ("explain paul2016/tabel1", "paul2016/table1"),
        ("explain table1 --row Bss --column x", "BSS"),
        (
            "readings paul2016 --claim paul2016.table1.bss-zero-eror",
            "paul2016.table1.bss-zero-error",
        ),
        ("reproduce table1 executor=seral", "serial"),
        ("fetch tehctc", "techtc"),
        ("list selectrs", "selectors"),
    ],
)
def test_a_wrong_name_gets_the_nearest(command, meant, call, folder):
    status, _, error = call(*shlex.split(command))
    assert status == 2
    assert error.endswith(f"; did you mean {meant!r}?\n")
    assert "Traceback" not in error
    assert list(folder.iterdir()) == []


def test_nothing_is_near_a_name_that_is_far(call):
    assert nearest("Lvg", ["lvg", "BSS"]) == "lvg"
    assert nearest("xyz", ["lvg", "BSS"]) is None
    assert did_you_mean("xyz", []) == ""
    assert call("reproduce", "qqqqqq")[2].endswith("got 'qqqqqq'.\n")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["status", "--results", "a", "results=b"],
            "results: expected one results folder, got --results a and results=b",
        ),
        (["verify", "protocol.nope=1"], r"protocol\.nope"),
        (
            table1("executor.name=threads"),
            "executor: expected one of auto, dask, loky, serial, slurm, got 'threads'",
        ),
    ],
)
def test_bad_input_is_one_line(argv, message, call, folder):
    status, out, error = call(*argv)
    assert status == 2
    assert out == ""
    assert re.match(f"provsel: .*{message}", error)
    assert error.count("\n") == 1
    assert [path for path in folder.rglob("*") if path.is_file()] == []


# ---- artefacts


def test_table_from_start_to_end(call):
    def status(*argv):
        printed = call("status", "--artefact", "table1", *SMALL, *argv)[1]
        return next(line for line in printed.splitlines() if NAME in line)

    assert re.search("0 of .*not run.*provsel reproduce table1", status())
    code, out, error = call(*table1())
    assert code == 0
    assert "Table 1. Most frequently selected features" in out
    assert "PARTIAL" not in out
    assert re.search(
        r"(\d+) trials: 0 were stored, \1 computed in .* s, 0 failed", error
    )
    assert written(".md") in out
    assert r"\toprule" in written(".tex")
    assert r"\label{tab:table1}" in written(".tex")
    lines = list(csv.reader(io.StringIO(written())))
    assert lines[0] == COLUMNS
    assert {len(line) for line in lines} == {len(COLUMNS)}
    frame = pd.read_csv(io.StringIO(written()))
    assert set(frame["state"]) == {"complete"}
    assert set(frame[frame["row"] == "BSS"]["n_trials"]) == {3}
    assert set(frame[frame["row"] == "Lvg"]["n_trials"]) == {6}
    printed = frame[(frame["row"] == "BSS") & (frame["column"] == "r=30, k=40")][
        "printed_value"
    ].item()
    assert printed.replace(" ", "") == "40,39,34,36,37"
    assert "complete" in status()
    assert "provsel reproduce" not in status()
    assert re.search("partial.*provsel reproduce table1", status("protocol.repeats=2"))


def test_render_of_nothing_and_of_a_part(call):
    status, out, _ = call(*table1("--render"))
    assert status == 0
    assert "PARTIAL: 36 of 36 numbers lack trials" in out.replace("\\", "")
    frame = pd.read_csv(io.StringIO(written()))
    assert list(frame.columns) == COLUMNS
    assert set(frame["state"]) == {"missing"}
    assert set(frame["n_trials"]) == {0}
    assert "nan" not in written(".md") + written(".tex")
    cell = [
        "dataset=synthetic",
        "selector=bss",
        "selector.n_features_to_select=30",
        "dataset.n_relevant=40",
    ]
    assert call("run", *cell, *SMALL, "executor=serial")[0] == 0
    status, out, error = call(*table1("--render", "protocol.repeats=2"))
    assert status == 0
    assert "PARTIAL" in out
    assert "computed" not in error
    assert "nan" not in out
    assert "None" not in out
    frame = pd.read_csv(io.StringIO(written())).set_index(["row", "column"])
    assert frame.loc[("BSS", "r=30, k=40"), "state"] == "partial (3 of 6)"
    assert (frame["state"] == "missing").sum() == 35
    assert len(TrialStore("results/store").keys()) == 3


def test_one_cell(call):
    cell = [
        "dataset=digits",
        "selector=uniform",
        "selector.n_features_to_select=20",
        *SMALL[:3],
        "executor=serial",
    ]
    first = call("run", *cell)
    again = call("run", *cell)
    assert re.search(r"│ Uniform │ 20 +│ \d+\.\d\d +│.*│ 6 +│ pixel_", first[1])
    assert first[:2] == again[:2] == (0, first[1])
    assert "6 trials: 0 were stored, 6 computed" in first[2]
    assert "6 trials: 6 were stored, 0 computed" in again[2]


@pytest.mark.parametrize(
    ("settings", "columns"),
    [
        (
            ["protocol=clustering", "model=kmeans"],
            ["method", "features", "error (%)", "sd", "95 % interval", "nmi", "ari"],
        ),
        (
            ["protocol=selection"],
            ["method", "features", "seconds", "sd", "95 % interval", "selected"],
        ),
    ],
)
def test_one_cell_without_folds(call, settings, columns):
    cell = [
        "dataset=digits",
        "selector=laplacian_score",
        "selector.n_features_to_select=20",
        "protocol.repeats=2",
    ]
    status, out, _ = call("run", *cell, *settings, "executor=serial")
    assert status == 0
    assert re.findall(r"[^┃\n]*[^┃\n ](?= *┃)", out.splitlines()[1])[
        : len(columns)
    ] == [f" {name}" for name in columns]
    assert re.search(r"│ LaplacianScore │ 20 +│ \d.*│ 2 +│ pixel_", out)


# ---- claims


@pytest.fixture
def paper(folder, monkeypatch):
    return made_paper(folder, monkeypatch)


def compute(*overrides, status=0):
    assert (
        main(["reproduce", "made2000/table", *SMALL, "executor=serial", *overrides])
        == status
    )


def verdicts(*argv):
    assert main(["verify", *argv]) == 0
    return pd.read_csv("results/verdicts.csv").set_index("id")


def test_verify_keeps_verdicts_whose_trials_are_not_there(paper, capsys):
    compute()
    verdicts(*SMALL)
    judged = Path("results/verdicts.csv").read_bytes()
    shutil.rmtree("results/store")  # as in an exported reference
    assert (verdicts(*SMALL)["verdict"] != "not run").any()
    assert Path("results/verdicts.csv").read_bytes() == judged
    assert (
        "No trials are stored in results, so results/verdicts.csv is left as it is."
        in capsys.readouterr().out
    )


def test_verify_from_nothing_to_complete(paper, capsys, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "provlab.report.figures.ranks.draw_rankings",
        lambda *arguments: drawn.append(arguments),
    )
    frame = verdicts(*SMALL)
    assert set(frame["verdict"]) == set(frame["state"]) == {"not run"}
    assert frame.loc["made2000.zero", "detail"].startswith(
        "r=30: not run (nothing stored for BSS)"
    )
    out = capsys.readouterr().out
    assert "4 claims: 4 not run" in out
    assert "made2000.zero" not in out
    compute()
    capsys.readouterr()
    frame = verdicts("--detail", "--paper", "made2000", *SMALL)
    out = capsys.readouterr().out
    columns = (
        "id,paper,verdict,effect,low,high,p_value,n,test,where,claim,unit,detail,state"
    )
    columns += ",needed,detectable,smallest_margin,kind"
    assert Path("results/verdicts.csv").read_text().splitlines()[0] == columns
    assert frame.loc["made2000.zero", "verdict"] == "replicated"
    assert tuple(frame.loc["made2000.bound", ["verdict", "effect", "n"]]) == (
        "not contradicted",
        100,
        6,
    )
    assert frame.loc["made2000.folds", "n"] == 3
    assert set(frame["state"]) == {f"complete, with {' '.join(SMALL)}", "not run"}
    assert "1 replicated, 1 not contradicted" in out
    assert "decided and not tested under readings" in out
    assert re.search(r"replicated +│ made2000\.zero +│ \d", out)
    assert re.search(r"not run +│ made2000\.text", out)
    assert "made2000/table, r=30" in out
    assert "made2000.zero: BSS makes no errors. [Table 1]" in out
    assert re.search(r"^    r=40: replicated, ", out, flags=re.MULTILINE)
    verdicts(*SMALL)
    out = capsys.readouterr().out
    assert re.search(r"replicated +│ made2000\.zero +│ \d", out)
    assert "made2000.text" not in out
    assert (
        "1 claim was not run, because nothing is stored for it; --detail lists it."
        in out
    )
    assert drawn == []
    frame = verdicts("--figures", *SMALL, "protocol.repeats=2")
    assert frame.loc["made2000.bound", "state"].startswith(
        "partial (6 of 12), with protocol.repeats=1 "
    )
    assert frame.loc["made2000.bound", "verdict"] == "not contradicted"
    assert "partial (6" in capsys.readouterr().out
    [(rankings, figures)] = drawn
    assert {*rankings["column"]} == {"r=30"}
    assert figures == Path("results/figures")
    # a contradicted claim is a result, and no failure of the command
    (paper / "claims.yaml").write_text(CLAIMS.replace("at_most: 100", "at_most: -1"))
    assert verdicts(*SMALL).loc["made2000.zero", "verdict"] == "contradicted"


def test_verify_by_hand(paper):
    """The numbers of a verdict, from the records of the store alone."""
    hard = "dataset.n_relevant=2"
    compute(hard, status=1)  # there, r = 30 is below the rank: BSS refuses
    finding = verdicts(*SMALL, hard).loc["made2000.folds"]
    assert (
        finding["test"] == "corrected resampled t, below 0, Holm over 1, 95 % interval"
    )
    stored = (
        TrialStore("results/store")
        .query(None, ["selector", "config", "fold", "error"])
        .to_pandas()
    )
    stored = stored[stored["config"].str.contains('"n_features_to_select":30')]
    means = {
        name: 100 * stored[stored["selector"] == name].groupby("fold")["error"].mean()
        for name in ("LeverageScoreSelector", "UniformSelector")
    }
    differences = (means["LeverageScoreSelector"] - means["UniformSelector"]).to_numpy()
    error = np.sqrt((1 / 3 + 20 / 40) * differences.var(ddof=1))
    assert finding["effect"] == pytest.approx(differences.mean())
    assert finding["p_value"] == pytest.approx(
        2 * t.sf(abs(differences.mean() / error), 2)
    )


def test_verify_says_what_is_missing(paper):
    assert (
        verdicts().loc["made2000.text", "detail"]
        == "data missing: provsel fetch techtc"
    )
    # the size of the generated data is no setting of text
    assert (
        verdicts(*SMALL)
        .loc["made2000.text", "detail"]
        .startswith("the settings do not fit made2000/text")
    )


def test_verify_of_broken_claims(paper, call):
    (paper / "claims.yaml").write_text(
        CLAIMS.replace("row: BSS, columns", "row: Bss, columns", 1)
    )
    status, out, error = call("verify")
    assert status == 2
    assert out == ""
    assert error.count("\n") == 1
    assert re.match(
        r"provsel: .*claims: made2000\.zero: expected a row of made2000/table \(BSS; ",
        error,
    )
    assert not Path("results").exists()
