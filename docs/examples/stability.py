"""
How stable a selection is
=========================

Select on random halves of the rows, and ask how many features two halves share.
Two random sets of the same size are the control.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from provsel.selectors import LeverageScoreSelector, RRQRSelector, SVMRFESelector, UniformSelector

X, y = load_digits(return_X_y=True)
X, y = X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]
rng = np.random.default_rng(0)
halves = [rng.permutation(y.size)[: y.size // 2] for _ in range(8)]
methods = {
    "RFE": lambda seed: SVMRFESelector(12),
    "RRQR": lambda seed: RRQRSelector(12),
    "leverage, largest": lambda seed: LeverageScoreSelector(12, strategy="top", rank=12),
    "random": lambda seed: UniformSelector(12, random_state=seed),
}
shared = {}
for name, made in methods.items():
    chosen = [set(made(seed).fit(X[rows], y[rows]).indices_) for seed, rows in enumerate(halves)]
    shared[name] = [len(one & other) for one, other in combinations(chosen, 2)]

figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
axes.boxplot(list(shared.values()), tick_labels=list(shared), orientation="horizontal")
axes.set_xlabel("of 12 features, shared by two halves")
