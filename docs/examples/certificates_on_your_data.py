"""
Certificates on your data
=========================

``certify_subset`` measures how well the selected columns approximate all of X, and
compares the error with the selector's bound if it has one. ``certify`` does the same
for the theorems on eigenvalues, margin and radius.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from provsel.certificates import certify, certify_subset
from provsel.selectors import (
    BSSSelector,
    SingleSVDSelector,
    StrongRRQRSelector,
    SVMRFESelector,
    UniformSelector,
)

X, y = load_digits(return_X_y=True)  # put your own data here
X, y = X[y < 2], y[y < 2]
for theorem in certify(BSSSelector(60).fit(X, y), X, y):
    print(f"BSS, 60 features: {theorem.name} {theorem.state}")

# %% The figure shows the squared error of the projection on r columns, divided by the
# least possible with any r directions, so no ratio is below 1. Dashed lines are the
# bounds of selectors that have one.

sizes = [2, 4, 8, 16, 24, 32]
methods = {
    "one SVD": ("#0072B2", SingleSVDSelector),
    "strong RRQR": ("#009E73", StrongRRQRSelector),
    "RFE": ("#CC79A7", SVMRFESelector),
    "random": ("#D55E00", lambda r: UniformSelector(r, random_state=0)),
}
figure, axes = plt.subplots(figsize=(5.5, 3.3), layout="constrained")
for name, (colour, made) in methods.items():
    found = [certify_subset(made(r).fit(X, y), X) for r in sizes]
    print(f"{name}: {', '.join(each.state for each in found)}")
    axes.semilogy(sizes, [each.frobenius_ratio for each in found], "o-", color=colour, label=name)
    axes.semilogy(sizes, [each.frobenius_bound for each in found], "--", color=colour)
axes.set(xlabel="columns r", ylabel="error / least possible")
_ = axes.legend(frameon=False)
