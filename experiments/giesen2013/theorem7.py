"""make reproduce-theorem7 | provsel reproduce giesen2013/theorem7 [protocol.draws=3] [executor=serial]."""

from provlab.core.recipe import Recipe, Rendering

from .recovery import COLUMNS, summarise, write_recovery


def render(made: Rendering) -> str:
    how = {"title": made.artefact.title, "note": made.note, "draws": made.artefact.config.protocol.draws}
    return write_recovery(made.trials(COLUMNS), made.tables, made.figures, **how)


RECIPE = Recipe("giesen2013/theorem7", render, summarise=summarise, columns=COLUMNS)
