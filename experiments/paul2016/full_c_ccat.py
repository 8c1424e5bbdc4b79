"""make reproduce-full_c_ccat | provsel reproduce paul2016/full_c_ccat."""

from .full_c import RECIPE as TECHTC
from .full_c import Recipe

RECIPE = Recipe("paul2016/full_c_ccat", TECHTC.render, unit=TECHTC.unit)
