"""A composed artefact is remembered, and believed only as long as nothing that it rests on has changed."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import provlab.claims
from provlab.cli import main
from provlab.configs import compose_artefact, memory, remembered_artefact
from provlab.project import artefact_names
from small_runs import SMALL, planned_keys, run_python

TABLE1 = "paul2016/table1"
ARTEFACT = """# @package _global_
artefact:
  title: Made
  rows: {BSS: [selector=bss], Random: [selector=uniform]}
  columns: {r=30: [selector.n_features_to_select=30], r=40: [selector.n_features_to_select=40]}
"""


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """Keep what is remembered in a folder of the test."""
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def composed(monkeypatch):
    """Return the list of artefacts that were composed."""
    names = []
    monkeypatch.setattr(memory, "compose_artefact", lambda *args: names.append(args[0]) or compose_artefact(*args))
    return names


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a project of its own, with one artefact."""
    root = tmp_path / "project"
    room = root / "experiments" / "made2000"
    room.mkdir(parents=True)
    (root / "conf" / "selector").mkdir(parents=True)
    (root / "provsel.toml").write_text('trust = ["sklearn"]\n')
    (room / "table.yaml").write_text(ARTEFACT)
    (room / "table.py").write_text("")
    monkeypatch.setenv("PROVSEL_PROJECT", str(root))
    return root


def facts(artefact):
    """Return everything that an artefact says, those of its cells that are computed late included."""
    cells = [(entry.cell.id, entry.cell.n_draws, entry.cell.n_trials, entry.dataset) for entry in artefact.entries]
    return artefact, [type(entry.cell) for entry in artefact.entries], cells, planned_keys(artefact.cells)


def files(data):
    return sorted((data / memory.FOLDER).glob("*.json")) if data.is_dir() else []


@pytest.mark.parametrize("name", artefact_names())
def test_what_is_remembered_is_what_is_composed(name, composed):
    plain = compose_artefact(name)
    first, again = remembered_artefact(name), remembered_artefact(name)
    assert composed == [name]
    assert first == again == plain
    assert [(entry.cell.id, entry.cell.n_draws) for entry in again.entries] == [
        (entry.cell.id, entry.cell.n_draws) for entry in plain.entries
    ]


def test_cells_from_memory_have_the_same_keys_and_run_the_same_checks(composed):
    plain, _, again = compose_artefact(TABLE1), remembered_artefact(TABLE1), remembered_artefact(TABLE1)
    assert facts(again) == facts(plain)
    assert [entry.cell.identity for entry in again.entries] == [entry.cell.identity for entry in plain.entries]
    assert again.config == plain.config
    assert composed == [TABLE1]


def test_settings_are_remembered_apart(composed, data):
    for overrides in ([], SMALL, ["protocol.repeats=2"]):
        for _ in range(2):
            assert facts(remembered_artefact(TABLE1, overrides)) == facts(compose_artefact(TABLE1, overrides))
    assert composed == [TABLE1] * 3
    assert len(files(data)) == 3


def test_settings_that_do_not_fit_are_refused_every_time(composed, data):
    for _ in range(2):
        with pytest.raises(ValueError, match=r"expected artefact\.only to name some of"):
            remembered_artefact(TABLE1, ["+artefact.only=[nothing]"])
    assert files(data) == []


def changed_artefact(project):
    path = project / "experiments" / "made2000" / "table.yaml"
    path.write_text(ARTEFACT.replace("=30]", "=31]"))


def changed_group(project):
    (project / "conf" / "selector" / "bss.yaml").write_text(
        "_target_: provsel.selectors.BSSSelector\nn_features_to_select: 300\nrank: 5\n"
    )


def changed_trust(project):
    (project / "provsel.toml").write_text("trust = []\n")


@pytest.mark.parametrize("change", [changed_artefact, changed_group, changed_trust])
def test_an_edit_of_the_project_is_seen(project, composed, change):
    before = facts(remembered_artefact("made2000/table"))
    remembered_artefact("made2000/table")
    assert composed == ["made2000/table"]
    change(project)
    after = facts(remembered_artefact("made2000/table"))
    assert composed == ["made2000/table"] * 2
    assert after == facts(compose_artefact("made2000/table"))
    assert (after == before) == (change is changed_trust)


def test_another_project_with_the_same_names_has_its_own(project, composed, tmp_path, monkeypatch, data):
    remembered_artefact("made2000/table")
    other = tmp_path / "other"
    other.mkdir()
    for path in [*project.rglob("*")]:
        target = other / path.relative_to(project)
        target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
    monkeypatch.setenv("PROVSEL_PROJECT", str(other))
    remembered_artefact("made2000/table")
    assert composed == ["made2000/table"] * 2
    assert len(files(data)) == 2


def test_an_edit_of_any_file_of_the_program_is_seen(tmp_path, data):
    # in processes of their own, on a copy: versions, defaults and what draws are in the code
    source = Path(memory.__file__).parents[2]
    subprocess.run(["cp", "-r", *map(str, source.iterdir()), str(tmp_path)], check=True)
    subprocess.run(["cp", "-r", str(source.parent / "conf"), str(tmp_path.parent)], check=True)
    script = """
import sys
import provlab.claims
from provlab.configs import memory
original, names = memory.compose_artefact, []
memory.compose_artefact = lambda *args: names.append(args) or original(*args)
found = memory.remembered_artefact("paul2016/table1")
print(len(names), found.entries[0].cell.id)
"""

    def run():
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{script}"
        return run_python(["-c", code], tmp_path).stdout.split()

    first, again = run(), run()
    assert (first[0], again[0], first[1]) == ("1", "0", again[1])
    path = tmp_path / "provsel" / "selectors" / "bss.py"
    path.write_text(path.read_text().replace("algorithm_version = ", "algorithm_version = 1"))
    edited = run()
    assert edited[0] == "1"
    assert edited[1] != first[1]


def test_other_packages_are_seen(composed, monkeypatch):
    remembered_artefact(TABLE1)
    monkeypatch.setattr(memory, "_program", lambda: "scikit-learn of tomorrow")
    remembered_artefact(TABLE1)
    assert composed == [TABLE1] * 2


def test_installed_packages_are_part_of_the_program(tmp_path, monkeypatch):
    memory._program.cache_clear()
    before = memory._program()
    (tmp_path / "scikit_learn-99.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    memory._program.cache_clear()
    assert memory._program() != before
    monkeypatch.undo()
    memory._program.cache_clear()
    assert memory._program() == before


def test_other_data_are_seen(project, composed, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("a,b,label\n" + "".join(f"{k},{k * k},{k % 2}\n" for k in range(20)))
    settings = ["dataset=file", f"dataset.path={table}", "dataset.target=label"]
    before = remembered_artefact("made2000/table", settings)
    assert remembered_artefact("made2000/table", settings) == before
    table.write_text("a,b,label\n" + "".join(f"{k},{k * k + 1},{k % 2}\n" for k in range(20)))
    after = remembered_artefact("made2000/table", settings)
    assert composed == ["made2000/table"] * 2
    assert after.entries[0].cell.data != before.entries[0].cell.data


def rewrite(path, change):
    """Change the content of a file, with the checksum that fits."""
    stated = json.loads(path.read_text().partition("\n")[2])
    content = json.dumps(change(stated))
    path.write_text(f"{hashlib.sha256(content.encode()).hexdigest()}\n{content}")


def test_damage_is_composed_again(composed, data):
    plain = facts(remembered_artefact(TABLE1, SMALL))
    [path] = files(data)
    whole = path.read_bytes()
    damages = [b"", whole[:1], whole[:70], whole[:-1], whole + b" ", b"\xff" + whole[1:], b"[" * 100_000]
    damages += [whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :] for k in range(0, len(whole), len(whole) // 40)]
    for damaged in damages:
        path.write_bytes(damaged)
        assert facts(remembered_artefact(TABLE1, SMALL)) == plain
        assert path.read_bytes() == whole
    assert len(composed) == 1 + len(damages)


def foreign_class(stated):
    stated[-1] = stated[-1].replace("provsel.selectors.BSSSelector", "antigravity.BSSSelector")
    return stated


@pytest.mark.parametrize(
    "change",
    [
        foreign_class,
        lambda stated: stated[:3],
        lambda stated: {"entries": stated},
        lambda stated: [*stated[:4], [[1]], stated[5]],
        lambda stated: [*stated[:4], [[*entry[:7], 10**9, *entry[8:]] for entry in stated[4]], stated[5]],
        lambda stated: [*stated[:5], "[" * 100_000],
        lambda stated: [*stated[:4], [[*entry[:6], "2", *entry[7:]] for entry in stated[4]], stated[5]],
        lambda stated: [*stated[:4], [[*entry[:5], None, *entry[6:]] for entry in stated[4]], stated[5]],
        lambda stated: [*stated[:5], stated[5].replace("repeats", "repeat")],
        lambda stated: [*stated[:3], [], *stated[4:]],
        lambda stated: ["0" * 64, *stated[1:]],
    ],
)
def test_what_nobody_here_wrote_is_composed_again(composed, data, change):
    plain = facts(remembered_artefact(TABLE1, SMALL))
    [path] = files(data)
    rewrite(path, change)
    assert facts(remembered_artefact(TABLE1, SMALL)) == plain
    assert composed == [TABLE1] * 2
    assert "antigravity" not in sys.modules


def test_classes_of_other_modules_are_looked_at_every_time(project, composed, data):
    (project / "conf" / "selector" / "kbest.yaml").write_text(
        "_target_: sklearn.feature_selection.SelectKBest\nk: 50\n"
    )
    path = project / "experiments" / "made2000" / "table.yaml"
    path.write_text(ARTEFACT.replace("selector=bss", "selector=kbest"))
    for _ in range(2):
        remembered_artefact("made2000/table")
    assert composed == ["made2000/table"] * 2
    assert files(data) == []
    (project / "provsel.toml").write_text("trust = []\n")
    with pytest.raises(ValueError, match=r"of the modules that the project trusts \(none\)"):
        remembered_artefact("made2000/table")


def test_a_place_that_cannot_be_written_is_no_error(composed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path / "file"))
    assert remembered_artefact(TABLE1) == remembered_artefact(TABLE1)
    assert composed == [TABLE1] * 2


def test_old_settings_are_forgotten(data, monkeypatch):
    monkeypatch.setattr(memory, "_MAX_FILES", 3)
    for repeats in range(1, 7):
        remembered_artefact(TABLE1, [f"protocol.repeats={repeats}"])
    assert len(files(data)) == 3


@pytest.mark.parametrize("command", ["status", "verify"])
def test_the_commands_say_the_same_from_memory(command, tmp_path, capsys, composed):
    arguments = [command, "--results", str(tmp_path / "results")]
    said = []
    for _ in range(2):
        assert main(arguments) == 0
        said.append((capsys.readouterr().out, *(path.read_bytes() for path in (tmp_path / "results").glob("*.csv"))))
    assert said[0] == said[1]
    assert len(composed) == len({*composed})
    script = f"import sys\nfrom provlab.cli import main\nmain({arguments})\nprint('sklearn' in sys.modules)"
    assert run_python(["-c", script], tmp_path).stdout.splitlines()[-1] == "False"


def test_claims_are_judged_without_importing_the_whole_of_scipys_statistics():
    """It takes a second, a third of what `verify` may on a full store; see `provlab.claims.statistics.rank_tests`."""
    for path in Path(provlab.claims.__path__[0]).rglob("*.py"):
        assert "from scipy.stats" not in path.read_text(encoding="utf-8"), path
