"""What is distributed: the same bytes in each build, complete, and of use in an environment with nothing else."""

import email
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from provsel import __version__
from small_runs import REPO

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
PYTHONS = ["3.11", "3.12", "3.13"]

needs_backend = pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed")


def build(tree, target):
    """Return sdist and wheel of a source tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(target)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [sdist], [wheel] = target.glob("*.tar.gz"), target.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Return sdist and wheel of this checkout."""
    return build(REPO, tmp_path_factory.mktemp("dist"))


@needs_backend
def test_two_builds_have_the_same_bytes(dist, tmp_path):
    """Built again elsewhere, from the sdist alone, with other times and rights of the files."""
    with tarfile.open(dist[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    [tree] = tmp_path.iterdir()
    for path in tree.rglob("*"):
        if path.is_file():
            os.utime(path, (1_000_000_000, 1_000_000_000))
            path.chmod(0o700 if path.stat().st_mode & 0o100 else 0o600)
    again = build(tree, tmp_path / "dist")
    assert [path.name for path in again] == [path.name for path in dist]
    assert again[1].read_bytes() == dist[1].read_bytes()
    assert again[0].read_bytes() == dist[0].read_bytes()


@needs_backend
def test_the_wheel_is_pure_and_complete(dist):
    assert dist[1].name == f"provsel-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(dist[1]) as archive:
        names = set(archive.namelist())
        [place] = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(place))
    assert {"provsel/py.typed", "provlab/py.typed", place.replace("METADATA", "licenses/LICENSE")} <= names
    sources = {str(path.relative_to(REPO / "src")) for path in (REPO / "src").rglob("*.py")}
    assert sources <= names
    assert not [name for name in names if name.endswith((".so", ".pyd", ".pyc"))]
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert len(metadata["Keywords"].split(",")) >= 5
    classifiers = metadata.get_all("Classifier")
    assert [text.rsplit(" ", 1)[-1] for text in classifiers if re.search(r":: 3\.\d+$", text)] == PYTHONS
    assert {"Typing :: Typed", "Operating System :: OS Independent"} <= {*classifiers}


@needs_backend
def test_the_sdist_has_what_tests_and_pages_need(dist):
    with tarfile.open(dist[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"tests/conftest.py", "docs/conf.py", "Makefile", "CITATION.cff", "CHANGELOG.md", "requirements-dev.lock",
              "Dockerfile", ".github/workflows/checks.yml", "experiments/paul2016/claims.yaml",
              "results/reference/summary.json"}  # fmt: skip
    assert needed <= names
    assert not [
        name for name in names if "__pycache__" in name or name.startswith((".venv", "docs/_build", "results/store"))
    ]


@needs_backend
def test_the_wheel_installs_with_pip_into_an_empty_environment(dist, tmp_path):
    """With pip and nothing else; what provsel depends on is lent by this environment, as tests use no network."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    unset = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PROVSEL", "PIP"))}

    def run(*command, status=0):
        done = subprocess.run(
            [*map(str, command)], cwd=tmp_path, env=unset, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    run(python, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", dist[1])
    missing = run(python, "-m", "pip", "check", status=1)
    assert "provsel 0" in missing.replace("provsel " + __version__, "provsel 0")
    assert "requires numpy" in missing
    assert "expected the packages of the laboratory, got no" in run(home / "bin" / "provsel", "list", status=2)
    [site] = home.glob("lib/python*/site-packages")
    lent = {str(Path(importlib.util.find_spec(name).origin).parents[1]) for name in ("numpy", "hydra")}
    (site / "lent.pth").write_text("\n".join(sorted(lent)) + "\n")
    program = "import provsel, provlab; from provsel.selectors import BSSSelector; print(provsel.__file__)"
    assert run(python, "-c", program).strip().startswith(str(site))
    assert run(home / "bin" / "provsel", "--version").strip() == f"provsel {__version__}"
    run(home / "bin" / "provsel", "new", "birds")
    assert (tmp_path / "birds" / "provsel.toml").is_file()
    assert "LeverageScoreSelector: " in run(home / "bin" / "provsel", "list", "selectors")
    run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "provsel")
    assert not (site / "provsel").exists()
    assert not (home / "bin" / "provsel").exists()


def test_one_version_everywhere():
    assert "version" in PROJECT["dynamic"]
    citation = yaml.safe_load((REPO / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
    releases = re.findall(r"^## (.+)$", (REPO / "CHANGELOG.md").read_text(), re.M)
    # a version that is not released yet is the section at the top
    assert releases[0] == "Unreleased" or releases[0].startswith(__version__)
    released = [tuple(map(int, re.match(r"(\d+)\.(\d+)\.(\d+)", text).groups())) for text in releases[1:]]
    assert released == sorted(released, reverse=True)


def test_the_citation_names_each_paper_of_the_project():
    citation = yaml.safe_load((REPO / "CITATION.cff").read_text())
    papers = {path.parent.name for path in (REPO / "experiments").glob("*/claims.yaml")}
    names = {
        reference["authors"][0]["family-names"].lower() + str(reference["year"]) for reference in citation["references"]
    }
    assert papers <= names
    assert all(author.get("name") or author.get("family-names") for author in citation["authors"])
    assert citation["cff-version"] == "1.2.0"


def test_hosted_checks_run_what_there_is():
    flows = {path.name: yaml.safe_load(path.read_text()) for path in (REPO / ".github" / "workflows").glob("*.yml")}
    targets = set(re.findall(r"^([a-z][\w-]*):", (REPO / "Makefile").read_text(), re.M)) | {"check", "test", "docs"}
    systems, pythons = set(), set()
    for flow in flows.values():
        assert flow["permissions"] == {"contents": "read"}
        for job in flow["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            systems |= {*matrix.get("system", [])}
            pythons |= {*matrix.get("python", [])}
            for step in job["steps"]:
                command = step.get("run", "")
                assert {*re.findall(r"\bmake ([\w-]+)", command)} <= targets
                assert all((REPO / path).exists() for path in re.findall(r"\btests/[\w./]+", command))
                assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/none@v1"))
    assert len(systems) == 3
    assert sorted(pythons) == PYTHONS


def test_issue_forms_have_what_a_host_needs():
    forms = [path for path in (REPO / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert len(forms) >= 3
    for path in forms:
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= form.keys()
        ids = [part["id"] for part in form["body"]]
        assert len(ids) == len(set(ids))
        assert all(part["type"] in ("textarea", "input") and part["attributes"]["label"] for part in form["body"])


def docker_steps():
    text = re.sub(r"\\\n\s*", "", (REPO / "Dockerfile").read_text())
    return [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_is_built_of_what_there_is():
    """No builder is needed: each step names things that exist, and what is copied is not ignored."""
    steps = docker_steps()
    assert {name for name, _ in steps} <= {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "ENTRYPOINT", "CMD"}
    bases = [what.split(" ")[0] for name, what in steps if name == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+-slim", base) for base in bases)
    assert len(set(bases)) == 1  # an environment moves with its Python only
    ignored = (REPO / ".dockerignore").read_text().splitlines()
    for name, what in steps:
        if name == "COPY" and "--from" not in what:
            for source in what.split(" ")[:-1]:
                assert (REPO / source).exists()
                assert f"!{source.removeprefix('./')}" in ignored
        if name == "RUN":
            makefile = (REPO / "Makefile").read_text()
            assert all(re.search(rf"^{target}:", makefile, re.M) for target in re.findall(r"\bmake ([\w-]+)", what))
    assert steps[-2:] == [["ENTRYPOINT", '["provsel"]'], ["CMD", '["--help"]']]
    assert [what for name, what in steps if name == "USER"] == ["1000"]


def has_builder():
    return (
        shutil.which("docker") and not subprocess.run(["docker", "info"], capture_output=True, check=False).returncode
    )


@pytest.mark.skipif(not has_builder(), reason="there is no docker that runs")
def test_the_image_builds_and_runs(tmp_path):
    subprocess.run(["docker", "build", "--tag", "provsel-test", "."], cwd=REPO, check=True, capture_output=True)
    done = subprocess.run(
        ["docker", "run", "--rm", "provsel-test", "--version"], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == f"provsel {__version__}"
