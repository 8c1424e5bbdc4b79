"""
Leverage scores in a figure
===========================

A leverage score measures how much a single feature contributes to the geometry of the
rows. Here twenty features carry a signal of rank 5, and the others are weak copies of
it. The scores separate them without labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from provsel.selectors import LeverageScoreSelector

rng = np.random.default_rng(0)
signal = rng.standard_normal((80, 5)) @ rng.standard_normal((5, 300))
strength = np.full(300, 0.2)
strength[:20] = 1.0
X = signal * strength

selector = LeverageScoreSelector(20, strategy="top").fit(X)
print(f"{np.sum(selector.indices_ < 20)} of 20 selected features are among the strong ones")

# %%
# The scores sum to the rank of the rows.

print(f"sum of scores: {selector.scores_.sum():.6f}")
kept = np.isin(np.arange(300), selector.indices_)
figure, axes = plt.subplots(figsize=(5.5, 3.3), layout="constrained")
axes.plot(np.flatnonzero(~kept), selector.scores_[~kept], ".", color="#0072B2", label="left out")
axes.plot(
    np.flatnonzero(kept), selector.scores_[kept], "o", ms=4, color="#D55E00", label="selected"
)
axes.set(xlabel="feature", ylabel="leverage score")
_ = axes.legend(frameon=False)
