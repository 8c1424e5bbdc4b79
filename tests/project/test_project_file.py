"""Which project one is in, and what its file may say."""

import pytest

from provlab.core.composition import compose_config
from provlab.project.project import Project, conf_dirs, current_project, package_conf

pytestmark = pytest.mark.usefixtures("outside")


def test_found_from_the_working_directory_upwards(outside, monkeypatch):
    (outside / "provsel.toml").write_text('papers = "my papers"\ntrust = ["sklearn"]\n')
    inner = outside / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    project = current_project()
    assert project.root == outside
    assert project.papers == outside / "my papers"
    assert project.conf == outside / "conf"
    assert project.trust == ("sklearn",)
    (outside / "a" / "provsel.toml").write_text("")  # the nearest one
    assert Project.find().root == outside / "a"


def test_found_in_pyproject(outside):
    (outside / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert Project.find().papers is None
    (outside / "pyproject.toml").write_text("[tool.provsel]\ntrust = ['mine']\n")
    assert Project.find().trust == ("mine",)


def test_outside_of_any_project_there_are_the_package_s_configs_and_no_papers(outside):
    assert Project.find() == Project(outside)
    assert conf_dirs() == [package_conf()]


def test_named_by_the_environment(outside, monkeypatch, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("other")
    monkeypatch.setenv("PROVSEL_PROJECT", str(elsewhere))
    with pytest.raises(
        ValueError,
        match=r"PROVSEL_PROJECT: expected a folder with provsel\.toml, got .*other",
    ):
        Project.find()
    (elsewhere / "provsel.toml").write_text("")
    assert current_project().root == elsewhere


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trust = [", r"provsel\.toml: expected TOML, got "),
        (
            "paper = 'x'",
            r"a mapping with papers, conf, trust, methods, got the unknown 'paper'; did you mean 'papers'\?",
        ),
        (
            "papers = '/etc'",
            r"papers: expected a folder within the project's, such as 'experiments', got '/etc'",
        ),
        (
            "conf = '../conf'",
            r"conf: expected a folder within the project's, such as .* got '\.\./conf'",
        ),
        ("trust = 'sklearn'", r"trust: expected a list, each a string, got 'sklearn'"),
        ("trust = ['sklearn.svm']", r"trust: expected top-level modules"),
        (
            "trust = ['os']",
            r"trust: expected modules of estimators, got 'os', a module of Python itself",
        ),
        (
            "trust = ['json']",
            r"got 'json', a module of Python itself .* rename your own module if it has this name",
        ),
    ],
)
def test_bad_files_are_one_clear_error(outside, text, message):
    (outside / "provsel.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        Project.find()


def test_groups_of_the_project_stand_before_the_package_s(outside):
    (outside / "provsel.toml").write_text("")
    (outside / "conf" / "selector").mkdir(parents=True)
    mine = outside / "conf" / "selector" / "bss.yaml"
    mine.write_text(
        "_target_: provsel.selectors.BSSSelector\nn_features_to_select: 7\n"
    )
    assert compose_config(["selector=bss"])["selector"]["n_features_to_select"] == 7
    assert compose_config(["selector=leverage"])["selector"]["_target_"].endswith(
        "LeverageScoreSelector"
    )
