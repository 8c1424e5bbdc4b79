"""`provsel run`."""

from __future__ import annotations

from collections.abc import Sequence

HELP = "run one cell, or with -m a sweep over cells"
EXAMPLE = "provsel run -m dataset=digits selector=bss,leverage"


def call(arguments: Sequence[str]) -> int:
    """Run with Hydra's own arguments, see `provsel run --help`."""
    from provlab.cli._sweeps import sweep_main

    return sweep_main(arguments)
