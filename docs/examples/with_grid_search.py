"""
Selection inside GridSearchCV
=============================

The number of features is a parameter like any other. The search chooses it on the
training rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from provsel.selectors import SVMRFESelector

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
pipeline = make_pipeline(StandardScaler(), SVMRFESelector(1), LinearSVC())
sizes = [1, 2, 4, 8, 16, 30]
search = GridSearchCV(pipeline, {"svmrfeselector__n_features_to_select": sizes}, cv=5).fit(
    X_train, y_train
)
print(search.best_params_, f"accuracy on the test rows: {search.score(X_test, y_test):.3f}")

found = search.cv_results_
figure, axes = plt.subplots(figsize=(5.5, 3.3), layout="constrained")
axes.errorbar(
    sizes, found["mean_test_score"], found["std_test_score"], fmt="o-", color="#0072B2", capsize=3
)
axes.set(xlabel="features", ylabel="accuracy in cross-validation", xscale="log")
_ = axes.set_xticks(sizes, sizes)
