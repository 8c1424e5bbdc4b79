"""make reproduce-theorem5 | python experiments/giesen2013/theorem5.py [protocol.draws=3] [executor=serial]."""

import sys

from provlab.cli.scripts import Recipe, Rendering, artefact_main
from provlab.reports.recovery import COLUMNS, summarise, write_recovery


def render(made: Rendering) -> str:
    how = {"title": made.artefact.title, "note": made.note, "draws": made.artefact.config.protocol.draws}
    return write_recovery(made.trials(COLUMNS), made.tables, made.figures, **how)


RECIPE = Recipe("giesen2013/theorem5", render, summarise=summarise, columns=COLUMNS)

if __name__ == "__main__":
    sys.exit(artefact_main(RECIPE))
