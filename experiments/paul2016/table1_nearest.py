"""make reproduce-table1_nearest: Table 1 by the readings with most cells as printed (likelihood.py: probable ones)."""

from provlab.core.recipe import Recipe

from .table1 import render, summarise

RECIPE = Recipe("paul2016/table1_nearest", render, summarise=summarise, columns=["error", "features"], prints="table1")
