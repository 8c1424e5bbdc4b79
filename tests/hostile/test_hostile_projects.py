"""Files of a project of unknown intent: they say nothing to Hydra, and take no time without end."""

import json
import re
import subprocess
import sys
from itertools import count

import pytest
import yaml
from hostile_bytes import bounded
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from test_fuzz_readers import BILLION_LAUGHS

from provlab.claims import load_claims
from provlab.cli import main
from provlab.cli.project import listing
from provlab.cli.run import check_launcher
from provlab.plan import compose_artefact, compose_config
from provlab.plan.composition import read_config
from provlab.project import current_project
from provlab.readings.stored import stored_made

SIZES = ["dataset.n_samples=60", "dataset.n_features=120", "dataset.n_relevant=5"]
EVIL = "hydra:\n  callbacks:\n    a: {_target_: evil_module.run}\n"
MINE = "_target_: provsel.selectors.UniformSelector\nn_features_to_select: 5\n"
HEADERS = ["# @package _global_", "#@package hydra", "  #  @package   hydra.callbacks", "## @package _global_",
           "\ufeff# @package _global_", "# a\n# @package _global_", "# @package selector\n# @package _global_",
           "# @package _global_\r", "# @package:_global_", "# @package", "# @package hydra.launcher"]  # fmt: skip
DEFAULTS = ["cb@hydra.callbacks", "cb@_global_.hydra", "cb@a:hydra", "../../notes/evil", "/../evil",
            "/hydra/callbacks/x", {"/hydra/callbacks": "x"}, {"override /hydra/job_logging": "x"},
            {"override hydra/launcher": "x"}, {"/selector@hydra.callbacks": "cb"},
            {"/model": "../../notes/evil"}, {"/model": ["a", "../b"]},
            "${oc.env:HOME}", {"/model": "${hydra:x}"}, 3]  # fmt: skip
NO_DEFAULT = "(defaults: expected (names of files|items such as)|expected no key hydra)"
OF_HYDRA = {
    **{f"header {text!r}": (f"{text}\n{MINE}", "expected no package header but selector, got") for text in HEADERS},
    **{f"defaults {item}": (json.dumps({"defaults": [item]}), NO_DEFAULT) for item in DEFAULTS},
    "defaults of another form": ("defaults: ../x", "defaults: expected names of files"),
    "a node": (MINE + EVIL, "expected no key hydra, got 'hydra'"),
    "a node below": (MINE + "a: [{b: {hydra: 1}}]", "expected no key hydra, got 'hydra'"),
    "an escaped key": (MINE + '"\\x68ydra": {}', "expected no key hydra, got 'hydra'"),
    "a dotted key": (MINE + "hydra.callbacks: {}", "expected no key hydra, got 'hydra.callbacks'"),
    "a merged key": (MINE + "<<: {hydra: {}}", "expected no key hydra, got 'hydra'"),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project that trusts nothing, beside a module that says when it is imported."""
    (tmp_path / "provsel.toml").write_text("trust = []\n")
    (tmp_path / "evil_module.py").write_text("import pathlib\npathlib.Path('canary').touch()\n")
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
    whole = f"evil.yaml: {message}"
    for call in (
        lambda: compose_config([*SIZES, "selector=evil"]),
        lambda: listing("selectors"),
    ):
        with pytest.raises(ValueError, match=whole):
            call()
    assert "evil_module" not in sys.modules


def test_an_artefact_says_nothing_to_hydra(project):
    room = project / "experiments" / "smith2020"
    room.mkdir(parents=True)
    rest = "artefact: {title: t, rows: {a: [selector=mine]}, columns: {b: []}}\n"
    for number, (content, message) in enumerate(
        [
            (EVIL + rest, "expected no key hydra"),
            ("# @package hydra\n" + rest, "expected no package header but _global_"),
            ("defaults: [override /hydra/job_logging: x]\n" + rest, NO_DEFAULT),
            (rest.replace("selector=mine", "+hydra.callbacks.a._target_=evil_module.run"), "one of Hydra's"),
            (rest.replace("b: []", "b: ['+selector@hydra.callbacks=mine']"), "one of Hydra's"),
        ]
    ):
        (room / f"t{number}.yaml").write_text("# @package _global_\n" + content)
        with pytest.raises(ValueError, match=message):
            compose_artefact(f"smith2020/t{number}")
    assert "evil_module" not in sys.modules


def test_of_a_projects_conf_hydra_sees_the_groups_of_cells_alone(project):
    """Not files that have the names of provsel's own: its main config, its loggers and launchers."""
    conf, evil = project / "conf", "defaults: [_self_]\n" + EVIL
    logs = "version: 1\nhandlers: {f: {class: logging.FileHandler, filename: canary, mode: w}}\nroot: {handlers: [f]}\n"
    launcher = "_target_: hydra._internal.core_plugins.basic_launcher.BasicLauncher\nx: {_target_: evil_module.run}\n"
    for name, text in (("config", evil), ("hydra/job_logging/stdout", logs), ("hydra/launcher/mine", launcher)):
        (conf / name).parent.mkdir(parents=True, exist_ok=True)
        (conf / f"{name}.yaml").write_text(text)
    run = [sys.executable, "-m", "provlab.cli", "run", *SIZES, "protocol.repeats=1", "protocol.n_splits=2"]
    run += ["executor=serial", "selector=mine"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([*run, "-m", "hydra/launcher=mine"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Could not find 'hydra/launcher/mine'" in done.stderr
    assert not (project / "canary").exists()


ARGUMENTS = ["+hydra.callbacks.a={_target_:evil_module.run}", "hydra.callbacks.a._target_=evil_module.run",
             "++hydra.callbacks={}", " hydra.callbacks.a=1", "+ hydra.callbacks.a=1", "+selector@hydra.callbacks=mine",
             "+selector@a:hydra=mine", "hydra/job_logging=x", "hydra/launcher=../x",
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
        assert re.match(r"provsel: override .*: expected (hydra/launcher=NAME|at most 20 levels|GROUP=NAME)", error)
        assert error.count("\n") == 1
    with pytest.raises(ValueError, match=r"^override .*: expected (a setting of a cell|at most 20 levels)"):
        compose_config([argument])
    assert "evil_module" not in sys.modules


def test_settings_of_launchers_are_left_to_the_command_line():
    check_launcher(
        ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "+hydra.launcher.additional_parameters.qos=long",
         "hydra.launcher.account=${oc.env:ACCOUNT}", "hydra.verbose=true", "hydra.job.name=run",
         "hydra.launcher.setup=[export A=b]"]
    )  # fmt: skip


TEXTS = st.text(st.characters(codec="utf-8", categories=["L", "N", "Z"]), max_size=8).filter(
    lambda text: "hydra" not in text
)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
NUMBERS = count()


@given(st.dictionaries(TEXTS, TREES, max_size=4), st.data())
@settings(max_examples=150, deadline=None)
def test_no_tree_with_a_key_of_hydra_or_a_package_is_read(tmp_path_factory, tree, data):
    """At any place of any tree; without it, the same tree is read as it was written."""
    tree.pop("defaults", None)
    folder = tmp_path_factory.getbasetemp() / "trees"
    folder.mkdir(exist_ok=True)

    def read(text):
        path = folder / f"{next(NUMBERS)}.yaml"
        path.write_bytes(text.encode())
        return read_config("executor", path)

    # OmegaConf's dumper quotes what its reader takes for a number, as 0E0, which is a text to PyYAML's.
    assert read(OmegaConf.to_yaml(OmegaConf.create(tree))) == tree
    header = data.draw(st.sampled_from(["_global_", "hydra", "hydra.callbacks", "selector", "executor.hydra"]))
    before, after = data.draw(st.text(" #", max_size=3)), data.draw(st.text(" \t#", max_size=3))
    with pytest.raises(ValueError, match="expected no package header but executor"):
        read(f"{before}#{after}@package {header}\n{yaml.safe_dump(tree)}")
    nodes = [tree]
    for node in nodes:
        nodes += [each for each in (node.values() if isinstance(node, dict) else node) if isinstance(each, dict | list)]
    chosen = data.draw(st.sampled_from(nodes))
    evil = {"callbacks": {"a": {"_target_": "evil_module.run"}}}
    chosen.update(hydra=evil) if isinstance(chosen, dict) else chosen.append({"hydra": evil})
    with pytest.raises(ValueError, match="expected no key hydra"):
        read(yaml.safe_dump(tree, default_flow_style=data.draw(st.booleans())))
    assert "evil_module" not in sys.modules


# ---- files that take time or memory without end

BOMBS = {
    "aliases": (BILLION_LAUGHS, "stands for more than 10+ values"),
    "to itself": ("a: &a [*a]", r"the alias \*a stands for what it is part of"),
    "brackets": ("a: " + "[" * 20_000 + "]" * 20_000, "nested in more than 20 levels"),
    "blocks": ("a:\n" + "- " * 20_000 + "x", "nested in more than 20 levels"),
    "values": ("a: [" + "0," * 400_000 + "]", "stands for more than 10+ values"),
    "base 60": ("a: " + "1:" * 300_000 + "1", "a value of more than 20000 characters"),
    "long": ("a: " + "x" * (1 << 20), "more than 1048576 bytes"),
}


@pytest.mark.parametrize("case", BOMBS)
def test_yaml_takes_no_time_without_end(case, project):
    text, message = BOMBS[case]
    room = project / "experiments" / "smith2020"
    room.mkdir(parents=True)
    for name in (room / "t.yaml", room / "claims.yaml", project / "conf" / "selector" / "bomb.yaml"):
        name.write_text(text)
    for call in (
        lambda: listing("selectors"),
        lambda: compose_config(["selector=bomb"]),
        lambda: listing("artefacts"),
        lambda: compose_config(["+experiment=smith2020/t"]),
        lambda: load_claims(room / "claims.yaml"),
    ):
        with bounded(5), pytest.raises(ValueError, match=rf"\.yaml: expected .*{message}"):
            call()


@pytest.mark.parametrize("text", ["trust = " + "[" * 20_000, "trust" + ".a" * 2000 + " = 1", "a = 1\n" * (1 << 18)])
def test_a_projects_file_takes_no_time_without_end(text, project):
    (project / "provsel.toml").write_text(text)
    with bounded(5), pytest.raises(ValueError, match=r"expected TOML, got it .*more than (20 levels|1048576 bytes)"):
        current_project()


def test_json_of_others_is_not_nested_without_end(tmp_path):
    (tmp_path / "made.json").write_text("[" * 100_000)
    with bounded(5), pytest.raises(ValueError, match=r"made\.json: expected JSON, got it is nested in more than 20"):
        stored_made(tmp_path)
