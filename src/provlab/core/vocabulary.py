"""Vocabulary of methods: names of files in conf/selector, families, costs and other spellings.

Spellings are resolved before composition, so they never enter keys.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from provlab.project.messages import nearest


class Described(NamedTuple):
    """Description of a method.

    Attributes
    ----------
    family : str
        A filter uses only the data, an embedded method uses a model that it trains, and
        a wrapper trains many models. A column subset represents the other columns
        without labels. A compression mixes columns and selects none. A control is a
        baseline that other methods must beat.
    cost : str
        Growth of the time with n rows, d columns and r selected columns, or the
        dominant work.
    spellings : tuple of str
        Further spellings; case, spaces and punctuation are ignored.
    """

    family: str
    cost: str
    spellings: tuple[str, ...] = ()


_SVD = "n d min(n, d)"

SELECTORS: Mapping[str, Described] = {
    "f_test": Described("filter", "n d", ("f_classif", "f_regression", "anova", "F")),
    "select_k_best": Described("filter", "that of its function", ("KBest",)),
    "rank_test": Described("filter", "n log n d", ("kruskal_wallis", "kruskal")),
    "mutual_information": Described(
        "filter",
        "n log n d",
        ("mutual_info_classif", "mutual_info_regression", "mutual_info", "mi"),
    ),
    "chi_squared": Described("filter", "n d", ("chi2", "chi_square", "chi-square")),
    "bagged_f_test": Described("filter", "20 times n d", ("ensemble_f_test",)),
    "shrunken_centroids": Described(
        "filter", "n d", ("pam", "nearest_shrunken_centroids")
    ),
    "mrmr": Described(
        "filter", "n d r", ("mrmr-selection", "mrmr_classif", "mrmr_regression")
    ),
    "jmi": Described("filter", "n d r", ("joint_mutual_information",)),
    "jmim": Described("filter", "n d r", ("joint_mutual_information_maximisation",)),
    "cmim": Described(
        "filter", "n d r", ("conditional_mutual_information_maximisation",)
    ),
    "disr": Described("filter", "n d r", ("double_input_symmetrical_relevance",)),
    "cife": Described("filter", "n d r", ("conditional_infomax",)),
    "mifs": Described("filter", "n d r", ("mutual_information_feature_selection",)),
    "relieff": Described("filter", "n^2 d", ("relief", "rrelieff")),
    "multisurf": Described("filter", "n^2 d", ("multi_surf", "surf")),
    "hsic_lasso": Described("filter", "n d", ("hsic", "pyhsiclasso")),
    "laplacian_score": Described("filter", "n^2 d", ("laplacian", "lap_score")),
    "alpha_investing": Described("filter", "n d r"),
    "fastcan": Described("filter", "n d r", ("fast_can",)),
    "l1_svm": Described("embedded", "linear SVMs", ("l1svc", "sparse_svm")),
    "at_size_l1_svm": Described("embedded", "tens of linear SVMs", ("sized_l1_svm",)),
    "l1_logistic": Described(
        "embedded",
        "20 logistic regressions, or a lasso path",
        ("l1_logistic_regression", "l1_path"),
    ),
    "lpsvm": Described("embedded", "linear programs", ("1-norm SVM",)),
    "at_size_lpsvm": Described("embedded", "tens of linear programs", ("sized_lpsvm",)),
    "lasso": Described("embedded", "n d", ("l1_regression",)),
    "mcp": Described("embedded", "n d", ("minimax_concave_penalty", "skglm")),
    "least_angles": Described(
        "embedded", "n d r", ("lars", "lars_path", "least_angle_regression")
    ),
    "feature_selective": Described("embedded", "linear SVMs", ("fssvm_penalty",)),
    "at_size": Described(
        "embedded", "tens of linear SVMs", ("fs_svm", "sized_feature_selective")
    ),
    "svm_weights": Described(
        "embedded", "a linear SVM", ("svm_coefficients", "linear_svm_weights")
    ),
    "extra_trees": Described(
        "embedded",
        "a forest",
        ("tree_importance", "impurity_importance", "forest_importance"),
    ),
    "boosting_gain": Described(
        "embedded",
        "100 boosted trees a class",
        ("gradient_boosting", "gradient_boosting_importance"),
    ),
    "stability_selection": Described(
        "embedded", "100 paths of half the rows", ("stability selection, its number",)
    ),
    "knockoff": Described(
        "embedded", "n d^2", ("knockoffs", "knockoff_filter", "model_x_knockoffs")
    ),
    "rfe": Described(
        "wrapper", "tens of linear SVMs", ("svm_rfe", "recursive_feature_elimination")
    ),
    "bagged_rfe": Described(
        "wrapper", "10 times that of rfe", ("ensemble_rfe", "ensemble_svm_rfe")
    ),
    "rfe_half": Described("wrapper", "tens of linear SVMs"),
    "forward": Described(
        "wrapper",
        "n d r",
        ("forward_ridge", "sequential_forward", "SequentialFeatureSelector"),
    ),
    "forest_rfe": Described(
        "wrapper", "forests of fewer and fewer columns", ("rf_rfe", "random_forest_rfe")
    ),
    "permutation_importance": Described(
        "wrapper", "a forest, and d permutations", ("mda", "permutation")
    ),
    "boruta": Described("wrapper", "100 forests", ("BorutaPy", "boruta, its number")),
    "cross_validated_size": Described("wrapper", "5 folds of each size", ("rfecv",)),
    "always_kept": Described("wrapper", "that of its selector"),
    "adaptive_randomized_pivoting": Described(
        "subset", _SVD, ("adaptive_pivoting", "arp")
    ),
    "approximate_bss": Described("subset", _SVD),
    "bss": Described("subset", _SVD, ("spectral_sparsification",)),
    "cur": Described("subset", _SVD, ("cur_decomposition", "pcov_cur")),
    "dual_set": Described("subset", _SVD),
    "farthest_point": Described(
        "subset", "n d r", ("farthest_points", "farthest_columns", "fps")
    ),
    "leverage": Described("subset", _SVD, ("leverage_scores",)),
    "leverage_top": Described(
        "subset", _SVD, ("leverage, largest", "deterministic_leverage")
    ),
    "online_leverage": Described("subset", "n d r"),
    "randomly_pivoted_qr": Described(
        "subset", "n d r", ("random_pivots", "rpqr", "randomly_pivoted_cholesky")
    ),
    "ridge_leverage": Described("subset", _SVD, ("ridge_leverage_scores",)),
    "rrqr": Described("subset", _SVD, ("pivoted_qr", "rank_revealing_qr", "qr")),
    "single_svd": Described("subset", _SVD),
    "spectral_selection": Described("subset", _SVD),
    "strong_rrqr": Described("subset", _SVD, ("gu_eisenstat",)),
    "full": Described("control", "nothing", ("all_features", "all", "FullData")),
    "uniform": Described("control", "d", ("random",)),
    "gaussian_compression": Described(
        "compression", "n d r", ("GaussianRandomProjection", "random_projection")
    ),
    "sparse_embedding": Described(
        "compression", "n d", ("count_sketch", "SparseRandomProjection")
    ),
}
"""Description of each file of conf/selector except `any`."""

SPELLINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "selector": {name: described.spellings for name, described in SELECTORS.items()},
    "model": {
        "libsvm": ("svm", "svc", "linear_svm"),
        "liblinear": ("linear_svc",),
        "logistic": ("logistic_regression",),
        "extra_trees": ("forest", "extra_trees_classifier"),
        "ridge": ("ridge_regression",),
        "svr": ("linear_svr",),
        "kmeans": ("k_means_clustering",),
    },
    "preparation": {
        "standardise": ("standardize", "standard_scaler", "scale", "zscore"),
        "range": ("min_max_scaler", "min_max"),
        "robust": ("robust_scaler",),
        "impute": ("simple_imputer", "imputer"),
        "one_hot": ("one_hot_encoder",),
    },
}
"""Other spellings of names, by group of conf/ and file; there is no other table of spellings."""


def family_of(name: str) -> str:
    """Return the family of a selector; "yours" if it is not in provsel."""
    return SELECTORS[name].family if name in SELECTORS else "yours"


def file_named(group: str, spelling: str, names: Collection[str]) -> str:
    """Return the name that a spelling refers to, or the spelling itself if it matches none."""
    if spelling in names:
        return spelling
    by_form: dict[str, str] = {}
    for name, usual in SPELLINGS.get(group, {}).items():
        by_form |= dict.fromkeys(map(_form, usual), name)
    by_form |= {_form(name): name for name in names}
    form = _form(spelling)
    meant = by_form.get(form) or by_form.get(re.sub(r"(selector|selection)$", "", form))
    return meant if meant is not None and meant in names else spelling


def advice_on(group: str, spelling: str, names: Collection[str]) -> str:
    """Return the end of a message about an unknown name: a suggestion, or the command that lists all names.

    Parameters
    ----------
    group : str
    spelling : str
    names : collection of str
        Names of all files in the group.
    """
    candidates = list(names)
    for name, usual in SPELLINGS.get(group, {}).items():
        if name in names:
            candidates += usual
    meant = nearest(spelling, candidates)
    return (
        f"; did you mean {file_named(group, meant, names)!r}?"
        if meant
        else "; provsel list shows the names."
    )


def _form(spelling: str) -> str:
    """Return a spelling without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", spelling.lower())
