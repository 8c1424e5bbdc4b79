"""make reproduce-table1_nearest: Table 1 as the authors may have run it."""

from provlab.recipe import Recipe

from .table1 import render, summarise

RECIPE = Recipe("paul2016/table1_nearest", render, summarise=summarise, columns=["error", "features"], prints="table1")
