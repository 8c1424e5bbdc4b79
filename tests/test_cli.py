"""The command line, as people use it: exit status, what is printed, what is written."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from forking import run_forked
from made_paper import CLAIMS, made_paper
from provlab.cli import main
from provlab.cli.commands import COMMANDS
from provlab.frames import COLUMNS
from provlab.store import TrialStore
from provsel import __version__
from small_runs import RUN, SMALL, run_python

NAME = "paul2016/table1"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in an empty folder, without any downloaded data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "no-data"))
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.delenv("PROVSEL_DATA_MIRROR", raising=False)
    return tmp_path


def table1(*argv, small=True):
    return main(["reproduce", "paul2016/table1", *(SMALL if small else ()), *argv])


def written(suffix):
    return Path(f"results/tables/{NAME}{suffix}").read_text()


def status_line(capsys, *argv):
    capsys.readouterr()
    assert main(["status", *argv]) == 0
    return {name: line for line in capsys.readouterr().out.splitlines() for name in re.findall(r"paul2016/\w+", line)}


def assert_one_message(error):
    assert error.startswith("provsel: ")
    assert error.count("\n") == 1
    assert "Traceback" not in error


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"provsel {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["fetch"]])
def test_usage_errors(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 2
    assert "usage: provsel" in capsys.readouterr().err


def test_installed_command(here):
    done = run_python(["-m", "provlab.cli", "--version"], here)
    assert done.stderr == ""


def test_help_lists_all_and_a_command_waits_for_no_other(here, capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    assert all(re.search(rf"^ +{name} ", printed, re.M) for name in COMMANDS)
    script = "import sys; from provlab.cli import main; main(['list']); print('matplotlib' in sys.modules)"
    assert run_python(["-c", script], here).stdout.splitlines()[-1] == "False"


def test_fetch_of_an_unknown_name(capsys, here):
    assert main(["fetch", "nope"]) == 2
    error = capsys.readouterr().err
    assert_one_message(error)
    assert "no source named 'nope'" in error
    assert "techtc" in error
    assert list(here.iterdir()) == []


def test_status_from_nothing_to_complete(capsys):
    overrides = [*SMALL[:3], "--artefact", "table1"]
    lines = status_line(capsys, *overrides)
    assert list(lines) == [NAME]
    line = lines[NAME]
    assert "not run" in line
    assert "provsel reproduce table1" in line
    assert "0 of " in line
    assert table1("executor=serial", "dataset.n_samples=200", "dataset.n_features=1000") == 0
    assert len(TrialStore("results/store").keys()) > 0
    complete = status_line(capsys, *overrides)[NAME]
    assert "complete" in complete
    assert "make" not in complete
    partial = status_line(capsys, *overrides, "protocol.repeats=2")[NAME]
    assert "partial" in partial
    assert "provsel reproduce table1" in partial


def test_status_names_missing_data(capsys):
    line = status_line(capsys, "--artefact", "figure1", "--artefact", NAME)["paul2016/figure1"]
    assert "data missing" in line
    assert "provsel fetch techtc" in line


def test_status_of_an_unknown_artefact(capsys):
    assert main(["status", "--artefact", "table9"]) == 2
    assert re.search(r"artefact: expected one of .*table1, .*, got 'table9'", capsys.readouterr().err)


def test_table_from_start_to_end(capsys):
    assert table1("executor=serial") == 0
    out, error = capsys.readouterr()
    assert "Table 1. Most frequently selected features" in out
    assert "PARTIAL" not in out
    assert re.search(r"(\d+) trials: 0 were stored, \1 computed in .* s, 0 failed", error)
    markdown, latex = written(".md"), written(".tex")
    assert markdown in out
    assert r"\toprule" in latex
    assert r"\label{tab:table1}" in latex
    lines = list(csv.reader(io.StringIO(written(".csv"))))
    assert lines[0] == COLUMNS
    assert {len(line) for line in lines} == {len(COLUMNS)}
    frame = pd.read_csv(io.StringIO(written(".csv")))
    assert set(frame["state"]) == {"complete"}
    assert set(frame["row"]) >= {"BSS", "Lvg"}
    assert set(frame[frame["row"] == "BSS"]["n_trials"]) == {3}
    assert set(frame[frame["row"] == "Lvg"]["n_trials"]) == {6}
    printed = frame[(frame["row"] == "BSS") & (frame["column"] == "r=30, k=40")]["printed_value"].item()
    assert printed.replace(" ", "") == "40,39,34,36,37"


def test_render_of_nothing(capsys):
    assert table1("--render") == 0
    assert "PARTIAL: 24 of 24 numbers wait for trials" in capsys.readouterr().out.replace("\\", "")
    frame = pd.read_csv(io.StringIO(written(".csv")))
    assert list(frame.columns) == COLUMNS
    assert set(frame["state"]) == {"missing"}
    assert set(frame["n_trials"]) == {0}
    assert "nan" not in written(".md") + written(".tex")
    assert "None" not in written(".md")


def test_render_of_a_part(capsys, monkeypatch):
    sweep = ["dataset=synthetic", "selector=bss", "selector.n_features_to_select=30", "dataset.n_relevant=40"]
    done = run_forked([RUN, *sweep, *SMALL, "executor=serial"], ".")
    assert done.returncode == 0, done.stderr
    assert table1("--render", "protocol.repeats=2") == 0
    out, error = capsys.readouterr()
    assert "PARTIAL" in out
    assert "computed" not in error
    assert "nan" not in out
    assert "None" not in out
    frame = pd.read_csv(io.StringIO(written(".csv"))).set_index(["row", "column"])
    assert frame.loc[("BSS", "r=30, k=40"), "state"] == "partial (3 of 6)"
    assert frame.loc[("Lvg", "r=30, k=40"), "state"] == "missing"
    assert (frame["state"] == "missing").sum() == 23
    assert len(TrialStore("results/store").keys()) == 3


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("selector._target_=os.system", r"expected a _target_ among .*BSSSelector"),
        ("protocol.repeats=0", r"protocol\.repeats: expected a positive integer, got 0"),
        ("protocol.setting=both", r"protocol\.setting: expected one of .*supervised"),
        ("executor.name=threads", r"executor: expected one of dask, loky, serial, slurm, got 'threads'"),
        ("dataset.name=nope", r"nope.*synthetic"),
    ],
)
def test_bad_settings_are_one_line(override, message, capsys):
    assert table1("executor=serial", override) == 2
    out, error = capsys.readouterr()
    assert_one_message(error)
    assert re.search(message, error)
    assert out == ""


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("selector=nope", r"selector: expected one of .*bss.*full.*leverage.*uniform, got 'nope'"),
        ("protocol.nope=1", "protocol.nope"),
        ("protocol.repeats=[", "override"),
        ("results/", "override"),
    ],
)
def test_messages_of_hydra_come_without_traceback(override, message, capsys, here):
    assert table1(override) == 2
    error = capsys.readouterr().err
    assert error.startswith("provsel: ")
    assert re.search(message, error)
    assert "Traceback" not in error
    assert list(here.iterdir()) == []


def test_results_that_cannot_be_written(capsys, here):
    (here / "taken").write_text("a file")
    assert table1("executor=serial", "results=taken") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "taken" in error


def test_failing_trials_show_in_the_exit_status(capsys):
    overrides = ["protocol.setting=unsupervised", "dataset.n_samples=90"]  # rank 60 > r = 30, 40: BSS cannot run
    assert table1("executor=serial", *overrides) == 1
    out, error = capsys.readouterr()
    assert "12 failed" in error
    assert "smallest that works is" in error
    assert "PARTIAL: 4 of" in out
    frame = pd.read_csv(io.StringIO(written(".csv")))
    assert set(frame[frame["row"] == "BSS"]["state"]) == {"missing"}
    assert set(frame[frame["row"] == "Lvg"]["state"]) == {"complete"}


def test_missing_data_names_the_command(here):
    done = run_forked([RUN, "dataset=techtc", "executor=serial"], here)
    assert done.returncode == 2
    assert_one_message(done.stderr)
    assert "run provsel fetch techtc" in done.stderr
    assert "PROVSEL_DATA_MIRROR" in done.stderr
    assert not (here / "results").exists()


def test_one_cell(here):
    overrides = [
        "dataset=digits",
        "selector=uniform",
        "selector.n_features_to_select=20",
        *SMALL[:3],
        "executor=serial",
    ]
    first, again = (run_forked([RUN, *overrides], here) for _ in range(2))
    assert first.returncode == again.returncode == 0, first.stderr
    assert re.search(
        r"name=digits UniformSelector n_features_to_select=20 \| error \d+\.\d\d % \(sd .*\), 6 trials", first.stdout
    )
    assert first.stdout == again.stdout
    assert "6 trials: 0 were stored, 6 computed" in first.stderr
    assert "6 trials: 6 were stored, 0 computed" in again.stderr


@pytest.mark.parametrize(
    ("settings", "numbers"),
    [
        (["protocol=clustering", "model=kmeans"], r"error \d+\.\d\d % \(sd .*\), NMI 0\.\d{3}, ARI 0\.\d{3}, 2 trials"),
        (["protocol=selection"], r"20 features in \d.* CPU seconds, 2 trials"),
    ],
)
def test_one_cell_without_folds(here, capsys, settings, numbers):
    cell = ["dataset=digits", "selector=laplacian_score", "selector.n_features_to_select=20", "protocol.repeats=2"]
    assert main(["run", *cell, *settings, "executor=serial"]) == 0
    assert re.search(rf"name=digits LaplacianScoreSelector .* \| {numbers}", capsys.readouterr().out)


def test_sweep_and_artefact_fill_the_same_store(here, capsys):
    shared = [*SMALL, "executor=serial", "dataset.n_relevant=40,50"]
    sizes = "selector.n_features_to_select=30,40"
    n = 0
    for sweep in (
        ["selector=bss,leverage,rfe,rrqr", sizes],
        ["selector=leverage", "selector.strategy=top", sizes],
        ["selector=lpsvm"],
    ):
        done = run_forked([RUN, "-m", "dataset=synthetic", *sweep, *shared], here)
        assert done.returncode == 0, done.stderr
        n += sum(int(k) for k in re.findall(r"0 were stored, (\d+) computed", done.stderr))
    assert table1("executor=serial") == 0
    assert f"{n} trials: {n} were stored, 0 computed" in capsys.readouterr().err


def test_unknown_selector_in_run(here):
    done = run_python([RUN, "selector=nope"], here)
    assert done.returncode != 0
    assert "selector: expected one of " in done.stderr
    assert "leverage" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def paper(here, monkeypatch):
    return made_paper(here, monkeypatch)


def compute(*overrides, status=0):
    arguments = [*SMALL, "executor=serial", *overrides]
    assert main(["reproduce", "made2000/table", *arguments]) == status


def verdicts(*argv):
    assert main(["verify", *argv]) == 0
    return pd.read_csv("results/verdicts.csv").set_index("id")


def test_verify_from_nothing_to_complete(paper, capsys):
    frame = verdicts(*SMALL)
    assert set(frame["verdict"]) == {"not run"}
    assert set(frame["state"]) == {"not run"}
    assert frame.loc["made2000.zero", "detail"].startswith("r=30: not run (nothing stored for BSS)")
    assert (
        "4 claims: 0 replicated, 0 contradicted, 0 no difference, 0 depends on r, 0 inconclusive, 0 vacuous, 4 not run"
        in capsys.readouterr().out
    )
    compute()
    capsys.readouterr()
    frame = verdicts(*SMALL)
    out = capsys.readouterr().out
    columns = "id,paper,verdict,effect,low,high,p_value,n,test,where,claim,unit,detail,state"
    columns += ",needed,detectable,smallest_margin,kind"
    assert Path("results/verdicts.csv").read_text().splitlines()[0] == columns
    assert frame.loc["made2000.zero", "verdict"] == "replicated"
    assert frame.loc["made2000.bound", "verdict"] == "replicated"
    assert frame.loc["made2000.bound", "effect"] == 100
    assert frame.loc["made2000.bound", "n"] == 6
    assert frame.loc["made2000.folds", "n"] == 3
    assert set(frame["state"]) == {f"complete, with {' '.join(SMALL)}", "not run"}
    assert "2 replicated" in out
    assert re.search(r"replicated +│ made2000\.zero +│ \d", out)
    assert "made2000/table, r=30" in out


def test_rankings_are_drawn_where_that_is_asked_for(paper, monkeypatch):
    drawn = []
    monkeypatch.setattr("provlab.claims.verdicts.draw_rankings", lambda *found: drawn.append(found))
    verdicts(*SMALL)
    assert drawn == []
    verdicts("--figures", *SMALL)
    [(rankings, folder)] = drawn
    assert [made.column for made in rankings] == ["r=30"]
    assert folder == Path("results/figures")


def test_verify_by_hand(paper):
    """The numbers of a verdict, from the records of the store alone."""
    hard = "dataset.n_relevant=2"
    compute(hard, status=1)  # there, r = 30 is below the rank: BSS refuses
    finding = verdicts(*SMALL, hard).loc["made2000.folds"]
    assert finding["test"] == "corrected resampled t, below 0, Holm over 1, 95 % interval"
    stored = TrialStore("results/store").query(None, ["selector", "config", "fold", "error"]).to_pandas()
    stored = stored[stored["config"].str.contains('"n_features_to_select":30')]
    means = {
        name: 100 * stored[stored["selector"] == name].groupby("fold")["error"].mean()
        for name in ("LeverageScoreSelector", "UniformSelector")
    }
    differences = (means["LeverageScoreSelector"] - means["UniformSelector"]).to_numpy()
    error = np.sqrt((1 / 3 + 20 / 40) * differences.var(ddof=1))
    assert finding["effect"] == pytest.approx(differences.mean())
    assert finding["p_value"] == pytest.approx(2 * t.sf(abs(differences.mean() / error), 2))


def test_verify_of_a_part(paper, capsys):
    compute()
    frame = verdicts(*SMALL, "protocol.repeats=2")
    assert frame.loc["made2000.bound", "state"].startswith("partial (6 of 12), with protocol.repeats=1 ")
    assert frame.loc["made2000.bound", "verdict"] == "replicated"
    assert "partial (6" in capsys.readouterr().out


def test_verify_says_what_is_missing(paper, capsys):
    assert verdicts().loc["made2000.text", "detail"] == "data missing: provsel fetch techtc"
    assert "provsel fetch techtc" in capsys.readouterr().out
    # the size of the generated data is no setting of text
    assert verdicts(*SMALL).loc["made2000.text", "detail"].startswith("the settings do not fit made2000/text")


def test_verify_with_details_of_one_paper(paper, capsys):
    compute()
    capsys.readouterr()
    assert main(["verify", "--detail", "--paper", "made2000", "--results", "results", *SMALL]) == 0
    out = capsys.readouterr().out
    assert "made2000.zero: BSS makes no errors. [Table 1]" in out
    assert re.search(r"^    r=40: replicated, ", out, flags=re.MULTILINE)


def test_verify_of_a_contradicted_claim_succeeds(paper):
    (paper / "claims.yaml").write_text(CLAIMS.replace("at_most: 100", "at_most: -1"))
    compute()
    assert verdicts(*SMALL).loc["made2000.zero", "verdict"] == "contradicted"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("row: BSS, columns", "row: Bss, columns", r"claim made2000\.zero: expected a row of made2000/table \(BSS; "),
        ("test: zero_error", "test: zero", r"claim made2000\.zero: test: expected one of .*got 'zero'"),
        ("artefact: made2000/text", "artefact: made2000/txt", r"made2000\.text: artefact: .*got 'made2000/txt'"),
        ("id: made2000.bound", "id: made2000.zero", r"claim made2000\.zero: expected each id once"),
        ("where: Lemma 2\n", "\n", r"claim made2000\.bound: .*got no where"),
        ("paper: made2000", "paper: [", r"claims\.yaml: expected YAML"),
    ],
)
def test_verify_of_broken_claims(paper, old, new, message, capsys):
    (paper / "claims.yaml").write_text(CLAIMS.replace(old, new, 1))
    assert main(["verify"]) == 2
    out, error = capsys.readouterr()
    assert_one_message(error)
    assert re.search(message, error)
    assert out == ""
    assert not Path("results").exists()


def test_verify_of_an_unknown_paper(paper, capsys):
    assert main(["verify", "--paper", "made2001"]) == 2
    assert "claims: expected those of made2001 in the project" in capsys.readouterr().err


def test_verify_with_settings_that_fit_nothing(paper, capsys):
    assert main(["verify", "protocol.nope=1"]) == 2
    assert "protocol.nope" in capsys.readouterr().err
    assert not Path("results").exists()
