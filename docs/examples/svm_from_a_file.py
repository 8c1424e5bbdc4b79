"""
An SVM from a file
==================

The rows are read in passes over a file, and the solver works on l random combinations
of the features. The optimum of the full problem is never computed, but it is bounded
from both sides.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import dump_svmlight_file, load_digits

from provsel.models import CompressedLinearSVM
from provsel.streams import row_chunks

X, y = load_digits(return_X_y=True)
rows = (y == 3) | (y == 8)
steps = range(9)
fits = {}
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "digits.svm"
    dump_svmlight_file(X[rows] / 16, y[rows], str(path))
    for size in (5, 20):
        fits[size] = [
            CompressedLinearSVM(
                size, c=1e-3, variance="1/l", refinements=each, random_state=0
            ).fit_stream(row_chunks(path, n_features=64, chunk_rows=100))
            for each in steps
        ]
best = fits[20][-1]
print(
    f"{best.n_passes_} passes: {best.lower_bound_:.4f} <= optimum <= {best.scaled_objective_:.4f}"
)

figure, axes = plt.subplots(figsize=(5.5, 3.3), layout="constrained")
for (size, models), colour in zip(fits.items(), ["#D55E00", "#0072B2"], strict=True):
    axes.fill_between(
        steps,
        [m.lower_bound_ for m in models],
        [m.scaled_objective_ for m in models],
        color=colour,
        alpha=0.3,
        lw=0,
    )
    axes.plot(steps, [m.scaled_objective_ for m in models], "o-", color=colour, label=f"l = {size}")
axes.set(xlabel="refinements", ylabel="objective and lower bound", yscale="log")
_ = axes.legend(frameon=False)
