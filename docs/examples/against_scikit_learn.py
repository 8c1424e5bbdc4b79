"""
Comparison with scikit-learn's selectors
========================================

``compare`` cross-validates a linear SVM on the features that each selector chooses, on
the same folds, and tests the differences.
"""

import tempfile

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, mutual_info_classif

from provlab import compare
from provsel.selectors import LeverageScoreSelector, SVMRFESelector, UniformSelector

X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
methods = {
    "F-test": SelectKBest(k=6),
    "mutual information": SelectKBest(mutual_info_classif, k=6),
    "RFE": SVMRFESelector(6),
    "leverage scores": LeverageScoreSelector(6, strategy="top", rank=6),
    "random": UniformSelector(6),
}
with tempfile.TemporaryDirectory() as folder:  # in your own study, keep the results
    found = compare(X, y, methods, repeats=1, n_splits=5, draws=2, results=folder)
print(found[["error", "sd", "p"]].round(2))

figure, axes = plt.subplots(figsize=(5.5, 3.3), layout="constrained")
axes.errorbar(
    found["error"], range(len(found)), xerr=found["sd"], fmt="o", color="#0072B2", capsize=3
)
axes.set_yticks(range(len(found)), found.index)
axes.set_xlabel("test error (%)")
axes.invert_yaxis()
