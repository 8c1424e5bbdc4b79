"""`provsel completion`."""

from __future__ import annotations

import argparse
import re
import shlex

HELP = "print a script that completes commands, options and names in bash or zsh"
EXAMPLE = "provsel completion bash"

SHELLS = ("bash", "zsh")

SCRIPT = """# Completion of provsel, by `provsel completion {shell}`: write it again after new papers or selectors.
_provsel() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words="{commands}"
    if [ "$COMP_CWORD" -gt 1 ]; then
        case ${{COMP_WORDS[1]}} in
{cases}
            *) words="" ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o nosort -F _provsel provsel
"""
"""No Python runs while somebody types: names are those of the project at hand when the script is written."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which shell."""
    parser.epilog = (
        "bash: provsel completion bash > ~/.local/share/bash-completion/completions/provsel; zsh: the same into a file "
        "that .zshrc reads by source."
    )
    parser.add_argument("shell", choices=SHELLS, help="%(choices)s")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    print(completion_script(options.shell), end="")
    return 0


def completion_script(shell: str) -> str:
    """Return the script for a shell; zsh reads bash's where it is told to."""
    from provlab.cli.commands import command_modules, command_names

    names = command_names()
    cases = []
    for name, module in command_modules(names).items():
        words = _names(name)
        if hasattr(module, "add_arguments"):
            parser = argparse.ArgumentParser(prog=name)
            module.add_arguments(parser)
            words = sorted({*re.findall(r"(?<!\w)--[a-z][a-z-]*", parser.format_help())}) + words
        cases.append(f"            {name}) words={shlex.quote(' '.join(words))} ;;")
    script = SCRIPT.format(shell=shell, commands=" ".join(names), cases="\n".join(cases))
    if shell == "zsh":
        script = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + script
    return script


def _names(command: str) -> list[str]:
    """Return what a command's arguments can name; names that a shell would not take as one word are left out."""
    from provlab.datasets import source_names
    from provlab.listing import KINDS
    from provlab.project import artefact_names, conf_files, papers, short_name

    artefacts = [short_name(name) for name in artefact_names()]
    known = {
        "reproduce": ["all", *papers(), *artefacts],
        "explain": artefacts,
        "status": artefacts,
        "verify": [*papers()],
        "readings": [*papers(), *artefacts],
        "fetch": ["all", *source_names()],
        "list": [*KINDS],
        "completion": [*SHELLS],
        "run": [f"{group}={path.stem}" for group in ("dataset", "selector", "model", "protocol", "executor")
                for path in conf_files(group)],
    }  # fmt: skip
    return [name for name in known.get(command, []) if re.fullmatch(r"[\w./=-]+", name)]
