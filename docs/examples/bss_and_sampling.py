"""
BSS against sampling as epsilon falls
=====================================

Both methods preserve the geometry of the rows up to epsilon: BSS always, sampling with
a given probability, here 0.9. The number of features that the theorems require grows
like 1 / epsilon^2. The right panel shows the measured error of both methods at the
number that BSS's theorem requires. For sampling, it shows the median and the range of
ten draws.
"""

import matplotlib.pyplot as plt
import numpy as np

from provsel.certificates import certify
from provsel.selectors import BSSSelector, LeverageScoreSelector

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 8_000))
accuracies = [0.5, 0.4, 0.3, 0.2, 0.15]
asked = [BSSSelector.budget(4, eps) for eps in accuracies]

bss = [certify(BSSSelector(r).fit(X), X).spectral.spectral_error for r in asked]
drawn = [
    [
        certify(LeverageScoreSelector(r, random_state=seed).fit(X), X).spectral.spectral_error
        for seed in range(10)
    ]
    for r in asked
]

figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.6), layout="constrained")
left.loglog(
    accuracies,
    [LeverageScoreSelector.budget(4, eps, 0.1) for eps in accuracies],
    "s-",
    color="#D55E00",
)
left.loglog(accuracies, asked, "o-", color="#0072B2")
left.set(xlabel="epsilon", ylabel="required features")
right.loglog(accuracies, accuracies, "--", color="#000000", label="epsilon")
right.loglog(accuracies, bss, "o-", color="#0072B2", label="BSS")
right.loglog(
    accuracies,
    np.median(drawn, axis=1),
    "s-",
    color="#D55E00",
    label="sampling",
)
right.fill_between(
    accuracies, np.min(drawn, axis=1), np.max(drawn, axis=1), color="#D55E00", alpha=0.2, lw=0
)
right.set(xlabel="epsilon", ylabel="spectral error")
for axes in (left, right):
    axes.invert_xaxis()
    axes.set_xticks(accuracies, [f"{eps:g}" for eps in accuracies])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
_ = right.legend(frameon=False)
