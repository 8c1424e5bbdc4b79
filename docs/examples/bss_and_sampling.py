"""
BSS against sampling
====================

Both promise that the geometry of the rows is kept. BSS promises it surely, sampling with high probability. Measured
here is the spectral error as more features are kept, with the bound of BSS above it.
"""

import matplotlib.pyplot as plt
import numpy as np

from provsel.certificates import certify
from provsel.selectors import BSSSelector, LeverageScoreSelector

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 8)) @ rng.standard_normal((8, 3000))
sizes = [40, 80, 160, 320, 640, 1280]

bss = [certify(BSSSelector(r).fit(X), X).spectral for r in sizes]
sampled = [
    [certify(LeverageScoreSelector(r, random_state=seed).fit(X), X).spectral.spectral_error for seed in range(10)]
    for r in sizes
]

figure, axes = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
axes.loglog(sizes, [each.spectral_bound for each in bss], "--", color="#000000", label="bound of BSS")
axes.loglog(sizes, [each.spectral_error for each in bss], "o-", color="#0072B2", label="BSS")
axes.loglog(sizes, np.median(sampled, axis=1), "s-", color="#D55E00", label="sampling, median of 10 draws")
axes.fill_between(sizes, np.min(sampled, axis=1), np.max(sampled, axis=1), color="#D55E00", alpha=0.2, lw=0)
axes.set(xlabel="features r", ylabel="spectral error")
_ = axes.legend(frameon=False)
