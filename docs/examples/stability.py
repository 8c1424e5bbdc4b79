"""
How stable a selection is
=========================

The selectors are fitted on bootstrap samples of the rows, and the stability index
measures how much their selections agree. It is 1 if they are always the same, and 0 if
they agree no more than random ones. Each index has an interval.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from provsel.selectors import LeverageScoreSelector, RRQRSelector, SVMRFESelector, UniformSelector
from provsel.stability import StabilityReport

X, y = load_digits(return_X_y=True)
X, y = X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]
methods = {
    "RFE": SVMRFESelector(12),
    "RRQR": RRQRSelector(12),
    "leverage, largest": LeverageScoreSelector(12, strategy="top", rank=12),
    "random": UniformSelector(12),
}
reports = {
    name: StabilityReport.of(each, X, y, n_resamples=25, random_state=0)
    for name, each in methods.items()
}
print(reports["RFE"])

figure, axes = plt.subplots(figsize=(5.5, 3.3), layout="constrained")
for place, report in enumerate(reports.values()):
    axes.plot(report.interval(), [place, place], color="#0072B2")
    axes.plot(report.index, place, "o", color="#0072B2")
axes.set_yticks(range(len(reports)), list(reports))
axes.invert_yaxis()
axes.set(xlabel="stability, with its 95 % interval", xlim=(-0.1, 1.05))
