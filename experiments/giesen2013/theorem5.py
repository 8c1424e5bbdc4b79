"""make reproduce-theorem5 | provsel reproduce giesen2013/theorem5 [protocol.draws=3] [executor=serial]."""

from provlab.core.recipe import Recipe

from .recovery import COLUMNS, render, summarise

RECIPE = Recipe("giesen2013/theorem5", render, summarise=summarise, columns=COLUMNS)
