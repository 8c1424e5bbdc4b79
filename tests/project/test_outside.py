"""A project outside of any checkout, made by `provsel new`, with provsel installed from its wheel."""

import json
import os
import re
import subprocess
import sys
import zipfile

import pandas as pd
import pytest

from forking import Forking
from provlab.core.artefact import compose_artefact
from small_runs import PROVSEL, REPO
from small_runs import SMALL as CHECKOUT

SMALL = ["protocol.repeats=1", "protocol.n_splits=3", "protocol.draws=1"]
SERIAL = [*SMALL, "executor=serial"]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """Yield a function that runs provsel of the wheel in a new project, and the project's folder."""
    folder = tmp_path_factory.mktemp("outside")
    build = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run([sys.executable, *build], cwd=REPO, check=True, capture_output=True)
    [wheel] = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    unset = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PROVSEL_PROJECT", "PROVSEL_DATA_MIRROR")
    }
    environment = {
        **unset, "PYTHONPATH": str(folder / "installed"), "PROVSEL_DATA": str(folder / "data"), "COLUMNS": "200",
    }  # fmt: skip

    def alone(*arguments, status=0, cwd=folder / "birds", module=PROVSEL):
        """Run a command as a user does, in a process of its own."""
        done = subprocess.run(
            [sys.executable, *module, *arguments], cwd=cwd, env=environment, timeout=180,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done.stdout, done.stderr

    alone("new", "birds", cwd=folder)
    forking = Forking(environment, folder)

    def provsel(*arguments, status=0, cwd=folder / "birds"):
        done = forking.run([*PROVSEL, *arguments], cwd)
        assert done.returncode == status, done.stderr
        return done.stdout, done.stderr

    provsel.environment = environment
    provsel.alone = alone
    yield provsel, folder / "birds"
    assert forking.close() == 0


def counted(stderr):
    return tuple(
        map(
            int,
            re.search(
                r"trials: (\d+) were stored, (\d+) computed .* (\d+) failed", stderr
            ).groups(),
        )
    )


def test_files_of_a_new_project(outside):
    _, project = outside
    files = {
        path.relative_to(project).as_posix(): path
        for path in project.rglob("*")
        if path.is_file()
    }
    assert {
        "provsel.toml",
        "birds.py",
        "data/example.csv",
        "README.md",
        ".gitignore",
        "pytest.ini",
    } <= set(files)
    assert not [name for name, path in files.items() if "my_study" in path.read_text()]
    room = {
        name.rpartition("/")[2]
        for name in files
        if name.startswith("experiments/first/")
    }
    assert room == {"comparison.yaml", "comparison.py", "claims.yaml", "NOTES.md"}


def test_everything_works_at_once(outside):
    provsel, project = outside
    out, error = provsel.alone("reproduce", "comparison", *SERIAL)
    assert counted(error) == (0, 6 * 3, 0)
    assert "Largest variance" in out
    assert "PARTIAL" not in out
    table = pd.read_csv(project / "results" / "tables" / "first" / "comparison.csv")
    assert set(table["row"]) == {
        "All features",
        "BSS",
        "Leverage scores",
        "Largest variance",
        "F-test",
        "Random",
    }
    assert set(table["column"]) == {
        "8 features",
        "8 features, balanced",
        "8 features, variance kept",
    }
    assert set(table["dataset"]) == {"example"}
    assert table["value"].astype(float).between(0, 100).all()
    out, _ = provsel("verify", *SMALL)
    assert "2 claims: " in out
    assert "not run" not in out
    assert "complete" in out
    out, _ = provsel("status", *SMALL)
    assert "18 of 18" in out
    out, _ = provsel("audit", "--fraction", "1", "executor=serial")
    assert re.search(r"identical +│ 18 ", out)
    assert re.search(r"skipped +│ 0 ", out) or "skipped" not in out
    provsel("report", *SMALL)
    assert (
        "Largest variance"
        in (
            project / "results" / "report" / "artefacts" / "comparison.html"
        ).read_text()
    )
    assert (project / "results" / "report" / "papers" / "first.html").is_file()


def test_own_data_method_and_model_in_a_sweep(outside):
    provsel, project = outside
    rows = "id,kind,a,b,c\n" + "".join(
        f"x{k},{'ab'[k % 2]},{k % 2},{k},{k * k % 7}\n" for k in range(30)
    )
    (project / "mine.csv").write_text(rows)
    data = [
        "dataset=file",
        "dataset.path=mine.csv",
        "dataset.target=kind",
        "dataset.index=id",
        *SERIAL,
    ]
    sweep = "selector._target_=birds.VarianceSelector,sklearn.feature_selection.VarianceThreshold"
    _, error = provsel(
        "run",
        "-m",
        *data,
        "selector=any",
        sweep.partition(",")[0],
        "+selector.n_features_to_select=1,2",
    )
    assert "2 jobs done, 0 failed" in error
    steps = "[[only,{_target_:sklearn.preprocessing.StandardScaler}]]"
    for selector in (
        ["selector._target_=sklearn.feature_selection.SelectKBest", "+selector.k=1"],
        ["selector._target_=sklearn.feature_selection.SequentialFeatureSelector", "+selector.n_features_to_select=1",
         "+selector.estimator={_target_:provsel.models.LibsvmSVM}", "+selector.cv=2"],
        ["selector._target_=sklearn.pipeline.Pipeline", f"+selector.steps={steps}", "protocol.setting=unsupervised"],
    ):  # fmt: skip
        out, error = provsel(
            "run",
            *data,
            "selector=any",
            *selector,
            "model=any",
            "model._target_=sklearn.svm.LinearSVC",
        )
        assert counted(error)[2] == 0
        assert "error" in out
    _, error = provsel(
        "run", *data, "selector=any", "selector._target_=joblib.load", status=2
    )
    assert "project trusts (birds, sklearn), got 'joblib.load'" in error
    (project / "mine.csv").write_text(
        rows.replace("x3,", "x3,,", 1).replace(",b,1,3", ",b,,3")
    )
    _, error = provsel(
        "run", *data, "selector=uniform", "selector.n_features_to_select=1", status=2
    )
    assert error.startswith("provsel: ")
    assert "Traceback" not in error


FROM_WHEEL = """
import sys
from provlab.core.artefact import compose_artefact
from provlab.project.project import conf_dirs, package_conf
assert package_conf() == conf_dirs()[-1]
artefact = compose_artefact("paul2016/table1", sys.argv[1:])
print(package_conf(), len(artefact.entries), artefact.cells[0].id)
"""


def test_a_trial_of_the_wheel_is_that_of_the_checkout(outside):
    provsel, project = outside
    environment = {**provsel.environment, "PROVSEL_PROJECT": str(REPO)}
    command = [sys.executable, "-P", "-c", FROM_WHEEL, *CHECKOUT]
    done = subprocess.run(
        command,
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    of_checkout = compose_artefact("paul2016/table1", CHECKOUT)
    conf = project.parent / "installed" / "provlab" / "conf"
    assert done.stdout.split() == [
        str(conf),
        str(len(of_checkout.entries)),
        of_checkout.cells[0].id,
    ], done.stderr


def test_programs_that_a_repository_names_do_not_run(outside, tmp_path):
    """Data may come with a repository, whose settings name programs that git runs to compare files."""
    provsel, _ = outside
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "d.csv").write_text("a,b\n1,2\n")
    (tmp_path / "data" / ".gitattributes").write_text("*.csv filter=evil\n")

    def git(*arguments):
        command = [
            "git",
            "-C",
            str(tmp_path / "data"),
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            *arguments,
        ]
        return subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.strip()

    def revision():
        checks = json.loads(provsel("doctor", "--json", cwd=tmp_path / "data")[0])
        [state] = [
            (check["value"], check["state"])
            for check in checks
            if check["name"] == "git revision"
        ]
        return state

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "data")
    mark = f"touch {tmp_path / 'ran'}"
    git("config", "core.fsmonitor", f"{mark}; false")
    git("config", "filter.evil.clean", f"sh -c '{mark}; cat'")
    os.utime(tmp_path / "data" / "d.csv", (0, 0))
    commit = git("rev-parse", "HEAD")[:12]
    assert revision() == (commit, "ok")
    (tmp_path / "data" / "d.csv").write_text("a,b\n1,30\n")
    os.utime(tmp_path / "data" / "d.csv", (0, 0))
    assert revision() == (commit, "warning")  # files differ
    assert not (tmp_path / "ran").exists()
    git("status")
    assert (tmp_path / "ran").exists()


def test_its_own_tests_pass(outside):
    """As by the command `pytest`, which has not its folder on the path."""
    provsel, _ = outside
    out, _ = provsel.alone("-q", module=["-Pm", "pytest"])
    assert "2 passed" in out


def test_new_refuses_what_is_there_or_no_name(outside):
    provsel, project = outside
    _, error = provsel("new", "birds", cwd=project.parent, status=2)
    assert "new: expected a folder that does not exist yet, got birds" in error
    _, error = provsel("new", "1 bird", cwd=project.parent, status=2)
    assert "new: expected a name of letters, digits and hyphens, got '1 bird'" in error
    for name in ("sklearn", "json", "class"):
        _, error = provsel("new", name, cwd=project.parent, status=2)
        assert (
            f"new: expected a name that no installed Python module has, got '{name}'"
            in error
        )
        assert not (project.parent / name).exists()
    assert not (project.parent / "1 bird").exists()
