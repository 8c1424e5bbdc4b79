"""What the command says: the nearest of a wrong name, an example for each command, no colours outside terminals."""

import importlib
import os
import pty
import shlex
import subprocess
import sys

import pytest
from rich.table import Table

from provlab.cli import main
from provlab.cli.commands import COMMANDS
from provlab.messages import did_you_mean, nearest
from provlab.terminal import PlainConsole
from small_runs import PROVSEL, REPO, run_python


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work on this project from an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROVSEL_PROJECT", str(REPO))
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "missing"), [("readings", "paper"), ("explain", "artefact"), ("reproduce", "name")]
)
def test_settings_are_not_called_required(command, missing, capsys):
    with pytest.raises(SystemExit):
        main([command])
    assert capsys.readouterr().err.endswith(f"the following arguments are required: {missing}\n")


@pytest.mark.parametrize(
    ("command", "meant"),
    [
        ("verfy", "verify"),
        ("Reproduce", "reproduce"),
        ("verify --paper paul2015", "paul2016"),
        ("verify --detial", "--detail"),
        ("reproduce tabel1", "table1"),
        ("reproduce pual2016", "paul2016"),
        ("explain paul2016/tabel1", "paul2016/table1"),
        ("explain table1 --row Bss --column x", "BSS"),
        ("status --artefact figre1", "figure1"),
        ("readings pal2016", "paul2016"),
        ("readings paul2016 --claim paul2016.table1.bss-zero-eror", "paul2016.table1.bss-zero-error"),
        ("run selector=lverage", "leverage"),
        ("reproduce table1 executor=seral", "serial"),
        ("fetch tehctc", "techtc"),
        ("list selectrs", "selectors"),
    ],
)
def test_a_wrong_name_gets_the_nearest(command, meant, capsys, monkeypatch):
    arguments = shlex.split(command)
    monkeypatch.setattr(sys, "argv", ["provsel", *arguments])
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    error = capsys.readouterr().err
    assert error.endswith(f"; did you mean {meant!r}?\n")
    assert "Traceback" not in error


def test_nothing_is_near_a_name_that_is_far(capsys):
    assert nearest("Lvg", ["lvg", "BSS"]) == "lvg"
    assert nearest("xyz", ["lvg", "BSS"]) is None
    assert did_you_mean("xyz", []) == ""
    assert main(["reproduce", "qqqqqq"]) == 2
    assert capsys.readouterr().err.endswith("got 'qqqqqq'.\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_has_an_example_that_fits(name, capsys, monkeypatch):
    module = importlib.import_module(f"provlab.cli.{COMMANDS[name].module}")
    called = []
    monkeypatch.setattr(module, f"call_{name}", lambda options: called.append(options) or 0)
    assert main([name, *shlex.split(COMMANDS[name].example)]) == 0
    assert len(called) == 1
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"Example:\n  provsel {name} {COMMANDS[name].example}\n" in capsys.readouterr().out


def in_terminal(arguments, **environment):
    """Return what a command writes to a terminal."""
    main_end, other_end = pty.openpty()
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=other_end, stderr=other_end, stdin=subprocess.DEVNULL, env=variables
    )
    os.close(other_end)
    found = b""
    while True:
        try:
            part = os.read(main_end, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        found += part
    os.close(main_end)
    assert process.wait(timeout=60) == 0
    return found


COLOUR = (b"\x1b[3", b"\x1b[1;3", b"\x1b[2;3", b"\x1b[9")


def test_colours_stand_on_terminals_only(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    doctor = [*PROVSEL, "doctor"]
    assert any(code in in_terminal(doctor) for code in COLOUR)
    assert not any(code in in_terminal(doctor, NO_COLOR="1") for code in COLOUR)
    piped = run_python(doctor, ".")
    assert "\x1b" not in piped.stdout + piped.stderr


def test_consoles_print_what_looks_like_markup_as_it_is(capsys):
    table = Table("[red]a[/red]", ":x:")
    table.add_row("[b]", "C:/data[1]:warning:")
    console = PlainConsole()
    console.print(table)
    console.print("no [bold] :x: 1.5")
    text = capsys.readouterr().out
    for part in ("[red]a[/red]", ":x:", "[b]", "C:/data[1]:warning:", "no [bold] :x: 1.5"):
        assert part in text
