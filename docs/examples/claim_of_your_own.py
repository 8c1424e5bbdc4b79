"""
Test your own claim
===================

A claim is a test with a margin within which a difference does not count. It is fixed
before the numbers are seen, and ``provsel verify`` gives its verdict. Here the table of
``provsel new`` is computed on other data, with four claims. In the figure, differences
in the grey band lie within the margin.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer

CLAIM = """
  - id: first.claim{number}
    where: example
    claim: "{row} better than {than}"
    artefact: first/comparison
    test: better
    parameters: {{row: {row}, than: {than}, columns: [8 features], over: folds, margin: small}}
"""
PAIRS = [
    ("F-test", "Random"),
    ("BSS", "Random"),
    ("Leverage scores", "F-test"),
    ("All features", "F-test"),
]
DATA = [
    "dataset.path=cells.csv",
    "dataset.target=target",
    "dataset.index_col=null",
    "preparation=range",
]
WHY = "Fewer than 2 of 100 cells do not matter here."
HEAD = f"paper: first\nmargins: {{small: {{points: 2.0, why: {WHY}}}}}\nclaims:"
provsel = [sys.executable, "-m", "provlab.cli"]  # `provsel` in a terminal

with tempfile.TemporaryDirectory() as folder:
    project = Path(folder) / "cells"
    subprocess.run([*provsel, "new", "cells"], cwd=folder, check=True)
    load_breast_cancer(as_frame=True).frame.to_csv(project / "cells.csv", index=False)
    claims = [CLAIM.format(number=k, row=row, than=than) for k, (row, than) in enumerate(PAIRS)]
    (project / "experiments/first/claims.yaml").write_text(HEAD + "".join(claims))
    for command in ("reproduce comparison", "verify"):
        settings = [*DATA, "protocol.repeats=2", "executor=serial"]
        subprocess.run([*provsel, *command.split(), *settings], cwd=project, check=True)
    verdicts = pd.read_csv(project / "results/verdicts.csv")

figure, axes = plt.subplots(figsize=(6.5, 3.9), layout="constrained")
axes.axvspan(-2, 2, color="#DDDDDD")
for place, each in enumerate(verdicts.itertuples()):
    axes.plot([each.low, each.high], [place, place], color="#0072B2")
    axes.plot(each.effect, place, "o", color="#0072B2")
axes.set_yticks(
    range(len(verdicts)), [f"{each.claim}:\n{each.verdict}" for each in verdicts.itertuples()]
)
axes.set(xlabel="difference (points of error)", ylim=(len(verdicts) - 0.5, -0.5))
