"""make reproduce-figure2 | python experiments/paul2016/figure2.py [protocol.repeats=1] [dataset.set=[A,B]]."""

import sys

from figure1 import render

from provlab.cli.scripts import Recipe, artefact_main

RECIPE = Recipe("paul2016/figure2", render, unit="test error (%)")

if __name__ == "__main__":
    sys.exit(artefact_main(RECIPE))
