"""What is distributed: the same bytes in each build, complete, and of use in an environment with nothing else."""

import email
import hashlib
import importlib.util
import os
import re
import shlex
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
from small_runs import REPO, load_script

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]

needs_backend = pytest.mark.skipif(
    importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed"
)


def build(tree, target):
    """Return sdist and wheel of a source tree."""
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "sdist",
        "-t",
        "wheel",
        "-d",
        str(target),
    ]
    done = subprocess.run(
        command, cwd=tree, capture_output=True, text=True, check=False
    )
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
def test_wheel_and_sdist_are_complete(dist):
    assert dist[1].name == f"provsel-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(dist[1]) as archive:
        names = set(archive.namelist())
        [place] = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(place))
    assert {
        "provsel/py.typed",
        "provlab/py.typed",
        place.replace("METADATA", "licenses/LICENSE"),
    } <= names
    assert {
        str(path.relative_to(REPO / "src")) for path in (REPO / "src").rglob("*.py")
    } <= names
    assert not [name for name in names if name.endswith((".so", ".pyd", ".pyc"))]
    stated = {
        "Version": __version__,
        "License-Expression": "BSD-3-Clause",
        "Requires-Python": ">=3.11",
    }
    assert stated.items() <= dict(metadata.items()).items()
    classifiers = metadata.get_all("Classifier")
    assert [
        text.rsplit(" ", 1)[-1]
        for text in classifiers
        if re.search(r":: 3\.\d+$", text)
    ] == PYTHONS
    with tarfile.open(dist[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"tests/conftest.py", "docs/conf.py", "Makefile", "CITATION.cff", "CHANGELOG.md", "requirements-dev.lock",
              "Dockerfile", ".github/workflows/checks.yml", "experiments/paul2016/claims.yaml",
              "results/reference/summary.json"}  # fmt: skip
    assert needed <= names
    unwanted = (".venv", "docs/_build", "results/store")
    assert not [
        name for name in names if "__pycache__" in name or name.startswith(unwanted)
    ]


@needs_backend
def test_the_readme_of_an_index_has_no_relative_links(tmp_path):
    module = load_script(REPO / "hatch_build.py")
    (tmp_path / "README.md").write_text(
        (REPO / "README.md").read_text(encoding="utf-8"), encoding="utf-8"
    )
    links = {}
    for address in ("", "https://example.org/provsel/"):
        (tmp_path / "owner.toml").write_text(
            f'repository = "{address}"\ndocumentation = "{address}"'
        )
        metadata = {}
        module.OwnerHook(str(tmp_path), {}).update(metadata)
        assert metadata.get("urls", {}).get("Documentation", "") == address
        assert metadata.get("urls", {}).get("Issues", "") == (
            address and "https://example.org/provsel/issues"
        )
        links[address] = re.findall(r"\]\((?!#)([^)\s]+)\)", metadata["readme"]["text"])
    before, after = links.values()
    assert len(before) == len(after) > 10
    assert all(link.startswith("https://") for link in after)
    assert "https://example.org/provsel/blob/HEAD/CONTRIBUTING.md" in after
    assert (
        "https://example.org/provsel/raw/HEAD/results/screenshots/report.png" in after
    )
    assert {
        path
        for path in before
        if "://" not in path and not (REPO / path.partition("#")[0]).exists()
    } == set()


RECIPE = REPO / "docs" / "release" / "recipe.yaml"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def test_the_recipe_asks_for_what_the_project_does():
    recipe = yaml.safe_load(RECIPE.read_text())
    library, laboratory = recipe["outputs"]
    extras = PROJECT["optional-dependencies"]
    of_laboratory = [
        *extras["lab"],
        *(text for text in extras["report"] if not text.startswith("provsel[")),
    ]
    dependencies = {"provsel": PROJECT["dependencies"], "provsel-lab": of_laboratory}
    for output, first in (
        (library, "python>=${{python_min}}"),
        (laboratory, '${{pin_subpackage("provsel",exact=True)}}'),
    ):
        needed = [first]
        for text in dependencies[output["package"]["name"]]:
            name = re.match(r"[\w-]+", text)[0]
            needed.append(text.replace(name, CONDA_NAMES.get(name, name), 1))
        assert [
            text.replace(" ", "") for text in output["requirements"]["run"]
        ] == needed
        assert output["about"]["license"] == PROJECT["license"]
        assert output["tests"]
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    assert recipe["context"]["version"] == __version__


def test_the_recipe_of_a_release_has_what_its_checkout_lacks(tmp_path):
    """Address and hash of the source, the home page and maintainers: conda-forge's linter refuses a recipe without."""
    module = load_script(REPO / "docs" / "release" / "write_recipe.py")
    sdist = tmp_path / "provsel-9.tar.gz"
    sdist.write_bytes(b"the release")
    owner = {
        "repository": "https://example.org/provsel/",
        "documentation": "",
        "maintainers": ["anna", "ben"],
    }
    recipe = yaml.safe_load(module.release_recipe(RECIPE.read_text(), owner, sdist))
    assert recipe["source"] == {
        "url": "https://example.org/provsel/releases/download/v${{ version }}/provsel-9.tar.gz",
        "sha256": hashlib.sha256(b"the release").hexdigest(),
    }
    assert recipe["about"]["homepage"] == "https://example.org/provsel"
    assert recipe["extra"] == {"recipe-maintainers": ["anna", "ben"]}
    with pytest.raises(ValueError, match=r"expected the source 'path: \.\./\.\.' once"):
        module.release_recipe(
            RECIPE.read_text().replace("path: ../..", "path: ."), owner, sdist
        )


@needs_backend
def test_the_wheel_installs_with_pip_into_an_empty_environment(dist, tmp_path):
    """With pip and nothing else; what provsel depends on is lent by this environment, as tests use no network."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    unset = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PROVSEL", "PIP"))
    }

    def run(*command, status=0, folder=tmp_path):
        done = subprocess.run(
            [*map(str, command)],
            cwd=folder,
            env=unset,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    wheel = Path(shutil.copy(dist[1], tmp_path))
    run(python, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", wheel)
    missing = run(python, "-m", "pip", "check", status=1)
    assert "provsel 0" in missing.replace("provsel " + __version__, "provsel 0")
    assert "requires numpy" in missing
    advice = r"provsel: expected the packages of the laboratory, got no \w+; (.*)\. The library works without them"
    [command] = re.findall(advice, run(home / "bin" / "provsel", "list", status=2))
    assert f"'{wheel}[lab]'" in command
    run(*shlex.split(command), "--no-index", "--no-deps", "--dry-run")
    wheel.unlink()
    assert "'PATH_OF_THE_WHEEL[lab]'" in run(home / "bin" / "provsel", "list", status=2)
    [site] = home.glob("lib/python*/site-packages")
    lent = {
        str(Path(importlib.util.find_spec(name).origin).parents[1])
        for name in ("numpy", "hydra")
    }
    (site / "lent.pth").write_text("\n".join(sorted(lent)) + "\n")
    program = "import provsel, provlab; from provsel.selectors import BSSSelector; print(provsel.__file__)"
    assert run(python, "-c", program).strip().startswith(str(site))
    assert (
        run(home / "bin" / "provsel", "--version").strip() == f"provsel {__version__}"
    )
    # the README installs in the checkout's folder, whose conf is that of a project then
    penguins = ("select", "penguins.csv", "species", "--methods", "f_test")
    assert "Keep " in run(home / "bin" / "provsel", *penguins, folder=REPO)
    run(home / "bin" / "provsel", "new", "birds")
    assert (tmp_path / "birds" / "provsel.toml").is_file()
    assert "LeverageScoreSelector: " in run(
        home / "bin" / "provsel", "list", "selectors"
    )
    run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "provsel")
    assert not (site / "provsel").exists()
    assert not (home / "bin" / "provsel").exists()


def test_one_version_everywhere_and_each_paper_is_cited():
    citation = yaml.safe_load((REPO / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]
    owner = tomllib.loads((REPO / "owner.toml").read_text())
    assert citation.get("repository-code", "") == owner["repository"]
    releases = re.findall(r"^## (.+)$", (REPO / "CHANGELOG.md").read_text(), re.M)
    # a version that is not released yet is the section at the top
    assert releases[0] == "Unreleased" or releases[0].startswith(__version__)
    released = [
        tuple(map(int, re.match(r"(\d+)\.(\d+)\.(\d+)", text).groups()))
        for text in releases[1:]
    ]
    assert released == sorted(released, reverse=True)
    # a folder of one paper is named by its first author and year; that of many papers
    # cites them itself
    papers = {
        path.parent.name for path in (REPO / "experiments").glob("*[0-9]/claims.yaml")
    }
    cited = citation["references"]
    assert papers <= {
        f"{reference['authors'][0]['family-names'].lower()}{reference['year']}"
        for reference in cited
    }


def test_hosted_checks_run_what_there_is():
    flows = {
        path.name: yaml.safe_load(path.read_text())
        for path in (REPO / ".github" / "workflows").glob("*.yml")
    }
    targets = set(
        re.findall(r"^([a-z][\w-]*):", (REPO / "Makefile").read_text(), re.M)
    ) | {
        "check",
        "test",
        "docs",
        "test-lowest",
        "test-newest",
        "release",
    }
    systems = set()
    pythons = set()
    for flow in flows.values():
        assert flow["permissions"] == {"contents": "read"}  # a job can ask for more
        for job in flow["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            systems |= {*matrix.get("system", [])}
            pythons |= {*matrix.get("python", [])}
            for step in job["steps"]:
                command = step.get("run", "")
                assert {*re.findall(r"\bmake ([\w-]+)", command)} <= targets
                assert all(
                    (REPO / path).exists()
                    for path in re.findall(r"\btests/[\w./]+", command)
                )
    assert len(systems) == 3
    assert sorted(pythons) == PYTHONS


def test_actions_of_others_are_commits_beside_which_their_version_stands():
    """A tag can be moved to other code; each action is at one commit in all files."""
    texts = [
        path.read_text() for path in (REPO / ".github" / "workflows").glob("*.yml")
    ]
    actions = [action for text in texts for action in re.findall(r"uses: *(.*)", text)]
    assert len(actions) > 10
    for action in actions:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)
    assert len(set(actions)) == len({action.partition("@")[0] for action in actions})


def test_the_image_is_built_of_what_there_is():
    """No builder is needed: each step names things that exist, and what is copied is not ignored."""
    text = re.sub(r"\\\n\s*", "", (REPO / "Dockerfile").read_text())
    steps = [
        line.split(" ", 1)
        for line in text.splitlines()
        if line and not line.startswith("#")
    ]
    # an environment has one Python
    assert len({what.split(" ")[0] for name, what in steps if name == "FROM"}) == 1
    ignored = (REPO / ".dockerignore").read_text().splitlines()
    makefile = (REPO / "Makefile").read_text()
    for name, what in steps:
        if name == "COPY" and "--from" not in what:
            for source in what.split(" ")[:-1]:
                assert (REPO / source).exists()
                assert f"!{source.removeprefix('./')}" in ignored
        if name == "RUN":
            assert all(
                re.search(rf"^{target}:", makefile, re.M)
                for target in re.findall(r"\bmake ([\w-]+)", what)
            )
    assert steps[-2:] == [["ENTRYPOINT", '["provsel"]'], ["CMD", '["--help"]']]
    assert [what for name, what in steps if name == "USER"] == ["1000"]
