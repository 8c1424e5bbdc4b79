"""make reproduce-figure2 | provsel reproduce paul2016/figure2 [protocol.repeats=1] [dataset.set=[A,B]]."""

from provlab.core.recipe import Recipe

from .figure1 import render

RECIPE = Recipe("paul2016/figure2", render, unit="test error (%)")
