"""Files of a project of unknown intent: they say nothing to Hydra, and take no time without end."""

import json
import re
import subprocess
import sys

import pytest
from hostile_bytes import bounded

from provlab.cli import main
from provlab.cli.project import listing
from provlab.core.artefact import compose_artefact
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of
from provlab.project.project import current_project
from provlab.verdicts.claims.schema import load_claims
from provlab.verdicts.readings.study import stored_made

SIZES = ["dataset.n_samples=60", "dataset.n_features=120", "dataset.n_relevant=5"]
EVIL = "hydra:\n  callbacks:\n    a: {_target_: evil_module.run}\n"
MINE = "_target_: provsel.selectors.UniformSelector\nn_features_to_select: 5\n"
DEFAULTS = ["cb@hydra.callbacks", "cb@_global_.hydra", "cb@a:hydra", "../../notes/evil", "/../evil",
            "/hydra/callbacks/x", {"/hydra/callbacks": "x"}, {"override /hydra/job_logging": "x"},
            {"override hydra/launcher": "x"}, {"/selector@hydra.callbacks": "cb"},
            {"/model": "../../notes/evil"}, {"/model": ["a", "../b"]},
            "${oc.env:HOME}", {"/model": "${hydra:x}"}, 3]  # fmt: skip
NO_DEFAULT = "defaults: expected (names of files|items such as)"
OF_HYDRA = {
    **{
        f"defaults {item}": (json.dumps({"defaults": [item]}), NO_DEFAULT)
        for item in DEFAULTS
    },
    "defaults of another form": ("defaults: ../x", "defaults: expected names of files"),
    "a node": (MINE + EVIL, "expected arguments among .*, got hydra"),
    "a node below": (
        MINE + "a: [{b: {hydra: 1}}]",
        "expected arguments among .*, got a",
    ),
    "a merged key": (
        MINE + "<<: {hydra: {}}",
        "expected arguments among .*, got hydra",
    ),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project that trusts nothing, beside a module that says when it is imported."""
    (tmp_path / "provsel.toml").write_text("trust = []\n")
    (tmp_path / "evil_module.py").write_text(
        "import pathlib\npathlib.Path('canary').touch()\n"
    )
    (tmp_path / "conf" / "selector").mkdir(parents=True)
    (tmp_path / "conf" / "selector" / "mine.yaml").write_text(MINE)
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", OF_HYDRA)
def test_a_file_of_a_project_says_nothing_to_hydra(case, project):
    content, message = OF_HYDRA[case]
    (project / "conf" / "selector" / "evil.yaml").write_bytes(content.encode())
    with pytest.raises(ValueError, match=message):
        [cell.id for cell in cells_of(compose_config([*SIZES, "selector=evil"]))]
    assert "evil_module" not in sys.modules


def test_a_data_set_of_a_project_chooses_defaults_among_files_of_conf(project):
    (project / "conf" / "dataset").mkdir()
    override = "defaults: [_self_, override /selector@_global_.selector: {}]\n"
    rest = "name: synthetic\nn_samples: 60\n"
    path = project / "conf" / "dataset" / "own.yaml"
    path.write_text(override.format("mine") + rest)
    config = compose_config(["dataset=own"])
    assert config["selector"]["_target_"] == "provsel.selectors.UniformSelector"
    assert config["selector"]["n_features_to_select"] == 5
    path.write_text(override.format("../../notes/evil") + rest)
    with pytest.raises(ValueError, match=NO_DEFAULT):
        compose_config(["dataset=own"])


def test_an_artefact_says_nothing_to_hydra(project):
    room = project / "experiments" / "smith2020"
    room.mkdir(parents=True)
    rest = "artefact: {title: t, rows: {a: [selector=mine]}, columns: {b: []}}\n"
    for number, (content, message) in enumerate(
        [
            (EVIL + rest, "config: expected .*, got 'hydra'"),
            ("defaults: [override /hydra/job_logging: x]\n" + rest, NO_DEFAULT),
            (
                rest.replace(
                    "selector=mine", "+hydra.callbacks.a._target_=evil_module.run"
                ),
                "got 'hydra'",
            ),
            (
                rest.replace("b: []", "b: ['+selector@hydra.callbacks=mine']"),
                "expected GROUP=NAME",
            ),
        ]
    ):
        (room / f"t{number}.yaml").write_text("# @package _global_\n" + content)
        with pytest.raises(ValueError, match=message):
            compose_artefact(f"smith2020/t{number}")
    assert "evil_module" not in sys.modules


def test_of_a_projects_conf_hydra_sees_the_groups_of_cells_alone(project):
    """Not files that have the names of provsel's own: its main config and its loggers."""
    conf = project / "conf"
    evil = "defaults: [_self_]\n" + EVIL
    logs = "version: 1\nhandlers: {f: {class: logging.FileHandler, filename: canary, mode: w}}\nroot: {handlers: [f]}\n"
    for name, text in (("config", evil), ("hydra/job_logging/stdout", logs)):
        (conf / name).parent.mkdir(parents=True, exist_ok=True)
        (conf / f"{name}.yaml").write_text(text)
    run = [
        sys.executable,
        "-m",
        "provlab.cli",
        "run",
        *SIZES,
        "protocol.repeats=1",
        "protocol.n_splits=2",
    ]
    run += ["executor=serial", "selector=mine"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (project / "canary").exists()


@pytest.mark.parametrize("name", ["loky", "serial", "dask"])
def test_a_file_of_an_executors_name_is_that_executor(name, project):
    """Where nothing is chosen, trials run on this machine: not on a stranger's scheduler, nor by shell of a job."""
    (project / "conf" / "executor").mkdir()
    file = project / "conf" / "executor" / f"{name}.yaml"
    file.write_text("name: slurm\njob_script_prologue: [touch canary]\n")
    with pytest.raises(
        ValueError,
        match=rf"{name}\.yaml: name: expected {name}, got 'slurm'; rename the file",
    ):
        compose_config([f"executor={name}"])
    file.write_text(f"name: {name}\nn_jobs: 3\n")
    assert compose_config([f"executor={name}"])["executor"] == {
        "name": name,
        "n_jobs": 3,
    }
    file.rename(file.with_name("mine.yaml"))
    assert compose_config(["executor=mine"])["executor"]["name"] == name


ARGUMENTS = ["+hydra.callbacks.a={_target_:evil_module.run}", "hydra.callbacks.a._target_=evil_module.run",
             "++hydra.callbacks={}", " hydra.callbacks.a=1", "+ hydra.callbacks.a=1", "+selector@hydra.callbacks=mine",
             "+selector@a:hydra=mine", "hydra/job_logging=x", "hydra/launcher=../x", "hydra/launcher=joblib",
             "hydra/launcher@hydra.callbacks=joblib",
             "hydra.searchpath=[file:///tmp]", "hydra.job_logging.root.level=DEBUG", "hydra.job.env_set.A=b",
             "hydra.sweeper.params={a:1}", "+hydra.launcher.x={_target_:evil_module.run}", "hydra.launcher={x:1}",
             "hydra.launcher.x=${executor}", "hydra.launcher.x=${oc.env:A,${executor}}",
             "hydra={a:1}", "~hydra.callbacks",
             "hydra.output_subdir=" + "[" * 5000, "hydra.launcher.x=" + "[" * 5000]  # fmt: skip


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_the_command_line_widens_no_trust(argument, project, capsys):
    for multirun in ([], ["-m"]):
        assert main(["run", *SIZES, *multirun, "selector=mine", argument]) == 2
        error = capsys.readouterr().err
        assert re.match(
            r"provsel: override .*: expected (at most 20 levels|GROUP=NAME)", error
        )
        assert error.count("\n") == 1
    with pytest.raises(
        ValueError, match=r"^(override .*|config): (expected|unknown setting)"
    ):
        cells_of(compose_config([argument]))
    assert "evil_module" not in sys.modules


# ---- files that take time or memory without end

BILLION_LAUGHS = "a0: &a0 lol\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
BOMBS = {
    "aliases": (
        BILLION_LAUGHS,
        "it has more than 10+ values, counting those of its aliases",
    ),
    "to itself": ("a: &a [*a]", r"the alias \*a contains itself"),
    "brackets": (
        "a: " + "[" * 20_000 + "]" * 20_000,
        "it is nested more than 20 levels",
    ),
    "blocks": ("a:\n" + "- " * 20_000 + "x", "it is nested more than 20 levels"),
    "values": (
        "a: [" + "0," * 400_000 + "]",
        "it has more than 10+ values, counting those of its aliases",
    ),
    "base 60": ("a: " + "1:" * 300_000 + "1", "a value of more than 20000 characters"),
    "long": ("a: " + "x" * (1 << 20), "more than 1048576 bytes"),
}


@pytest.mark.parametrize("case", BOMBS)
def test_yaml_takes_no_time_without_end(case, project):
    text, message = BOMBS[case]
    room = project / "experiments" / "smith2020"
    room.mkdir(parents=True)
    for name in (
        room / "t.yaml",
        room / "claims.yaml",
        project / "conf" / "selector" / "bomb.yaml",
    ):
        name.write_text(text)
    for call in (
        lambda: listing("selectors"),
        lambda: compose_config(["selector=bomb"]),
        lambda: listing("artefacts"),
        lambda: compose_config(["+experiment=smith2020/t"]),
        lambda: load_claims(room / "claims.yaml"),
    ):
        with (
            bounded(5),
            pytest.raises(ValueError, match=rf"\.yaml: expected .*{message}"),
        ):
            call()


@pytest.mark.parametrize(
    "text",
    ["trust = " + "[" * 20_000, "trust" + ".a" * 2000 + " = 1", "a = 1\n" * (1 << 18)],
)
def test_a_projects_file_takes_no_time_without_end(text, project):
    (project / "provsel.toml").write_text(text)
    with (
        bounded(5),
        pytest.raises(
            ValueError,
            match=r"expected TOML, got it .*more than (20 levels|1048576 bytes)",
        ),
    ):
        current_project()


def test_json_of_others_is_not_nested_without_end(tmp_path):
    (tmp_path / "made.json").write_text("[" * 100_000)
    with (
        bounded(5),
        pytest.raises(
            ValueError,
            match=r"made\.json: expected JSON, got it is nested more than 20",
        ),
    ):
        stored_made(tmp_path)
