"""
A specification curve
=====================

A paper leaves details open, called places. Each defensible reading of a place is an
option, and each combination of options is a universe. The claim is tested in all
universes, and the marks below the curve show what it depends on. The curve is the
difference in points of error. Its dots are blue if the claim is replicated, orange if
it is contradicted, and grey if it is inconclusive.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

READINGS = """
paper: first
places:
  - {id: SVM, asks: With which C?, where: Section 4 does not say.,
     touches: {first/comparison: all},
     options: {C = 1: [], C = 0.01: [model.C=0.01], C = 100: [model.C=100]}}
  - {id: columns, asks: Are they scaled?, where: Section 4 does not say.,
     touches: {first/comparison: all},
     options: {as they are: [], to the same range: [preparation=range]}}
"""
provsel = [sys.executable, "-m", "provlab.cli"]  # `provsel` in a terminal
with tempfile.TemporaryDirectory() as folder:
    project = Path(folder) / "birds"
    subprocess.run([*provsel, "new", "birds"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (project / "experiments/first/readings.yaml").write_text(READINGS)
    command = [
        *provsel,
        "readings",
        "first",
        "--claim",
        "better",
        "protocol.repeats=2",
        "executor=serial",
    ]
    subprocess.run(command, cwd=project, check=True)
    universes = pd.read_csv(project / "results/readings/first/universes.csv").sort_values("effect")

places = ["SVM", "columns"]
options = [(place, option) for place in places for option in universes[place].unique()]
colours = {"replicated": "#0072B2", "contradicted": "#D55E00"}  # others are grey
figure, (curve, marks) = plt.subplots(2, figsize=(6, 4.2), sharex=True, layout="constrained")
for number, each in enumerate(universes.itertuples()):
    curve.plot([number, number], [each.low, each.high], color="#BBBBBB")
    curve.plot(number, each.effect, "o", color=colours.get(each.verdict, "#777777"))
    chosen = [options.index((place, getattr(each, place))) for place in places]
    marks.plot([number] * len(places), chosen, "s", color="#000000", ms=6)
curve.axhline(0, color="#000000", lw=0.8)
curve.set_ylabel("difference")
marks.set_yticks(range(len(options)), [f"{place}: {option}" for place, option in options])
marks.set(xlabel="universes, by effect", xticks=[], ylim=(-0.5, len(options) - 0.5))
