"""scikit-learn names that a config may use without trust, excluding all that read or write files.

The list is explicit, so that no new version of scikit-learn adds a name unnoticed. A
test compares it with `sklearn.utils.all_estimators` and `sklearn.metrics`. Text
vectorisers, which read files by name, are left out.
"""

from __future__ import annotations

import importlib
from typing import Any

from provlab.project.messages import did_you_mean

ESTIMATORS = {
    "calibration": "CalibratedClassifierCV",
    "cluster": """AffinityPropagation AgglomerativeClustering Birch BisectingKMeans DBSCAN FeatureAgglomeration HDBSCAN
        KMeans MeanShift MiniBatchKMeans OPTICS SpectralBiclustering SpectralClustering SpectralCoclustering""",
    "compose": "ColumnTransformer TransformedTargetRegressor",
    "covariance": """EllipticEnvelope EmpiricalCovariance GraphicalLasso GraphicalLassoCV LedoitWolf MinCovDet OAS
        ShrunkCovariance""",
    "cross_decomposition": "CCA PLSCanonical PLSRegression PLSSVD",
    "decomposition": """DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA LatentDirichletAllocation
        MiniBatchDictionaryLearning MiniBatchNMF MiniBatchSparsePCA NMF PCA SparseCoder SparsePCA TruncatedSVD""",
    "discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "dummy": "DummyClassifier DummyRegressor",
    "ensemble": """AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier
        ExtraTreesRegressor GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier
        HistGradientBoostingRegressor IsolationForest RandomForestClassifier RandomForestRegressor
        RandomTreesEmbedding StackingClassifier StackingRegressor VotingClassifier VotingRegressor""",
    "feature_selection": """GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe SelectKBest
        SelectPercentile SequentialFeatureSelector VarianceThreshold""",
    "frozen": "FrozenEstimator",
    "gaussian_process": "GaussianProcessClassifier GaussianProcessRegressor",
    "impute": "IterativeImputer KNNImputer MissingIndicator SimpleImputer",
    "isotonic": "IsotonicRegression",
    "kernel_approximation": "AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler SkewedChi2Sampler",
    "kernel_ridge": "KernelRidge",
    "linear_model": """ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor Lars LarsCV
        Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearRegression LogisticRegression LogisticRegressionCV
        MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV OrthogonalMatchingPursuit
        OrthogonalMatchingPursuitCV PassiveAggressiveClassifier PassiveAggressiveRegressor Perceptron PoissonRegressor
        QuantileRegressor RANSACRegressor Ridge RidgeCV RidgeClassifier RidgeClassifierCV SGDClassifier SGDOneClassSVM
        SGDRegressor TheilSenRegressor TweedieRegressor""",
    "manifold": "ClassicalMDS Isomap LocallyLinearEmbedding MDS SpectralEmbedding TSNE",
    "mixture": "BayesianGaussianMixture GaussianMixture",
    "model_selection": """FixedThresholdClassifier GridSearchCV HalvingGridSearchCV HalvingRandomSearchCV
        RandomizedSearchCV TunedThresholdClassifierCV""",
    "multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
    "multioutput": "ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain",
    "naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "neighbors": """KNeighborsClassifier KNeighborsRegressor KNeighborsTransformer KernelDensity LocalOutlierFactor
        NearestCentroid NearestNeighbors NeighborhoodComponentsAnalysis RadiusNeighborsClassifier
        RadiusNeighborsRegressor RadiusNeighborsTransformer""",
    "neural_network": "BernoulliRBM MLPClassifier MLPRegressor",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": """Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer LabelEncoder
        MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures
        PowerTransformer QuantileTransformer RobustScaler SplineTransformer StandardScaler TargetEncoder""",
    "random_projection": "GaussianRandomProjection SparseRandomProjection",
    "semi_supervised": "LabelPropagation LabelSpreading SelfTrainingClassifier",
    "svm": "LinearSVC LinearSVR NuSVC NuSVR OneClassSVM SVC SVR",
    "tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
}
"""Public estimators by scikit-learn module."""

KERNELS = {
    "gaussian_process.kernels": """CompoundKernel ConstantKernel DotProduct ExpSineSquared Exponentiation Matern
        PairwiseKernel Product RBF RationalQuadratic Sum WhiteKernel""",
}
"""Possible values of `kernel` in estimators."""

SPLITTERS = {
    "model_selection": """GroupKFold GroupShuffleSplit KFold LeaveOneGroupOut LeaveOneOut LeavePGroupsOut LeavePOut
        PredefinedSplit RepeatedKFold RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold StratifiedKFold
        StratifiedShuffleSplit TimeSeriesSplit""",
}

SCORERS = {"metrics": "make_scorer"}

FUNCTIONS = {
    "feature_selection": "chi2 f_classif f_regression mutual_info_classif mutual_info_regression r_regression",
    "metrics": """accuracy_score adjusted_mutual_info_score adjusted_rand_score average_precision_score
        balanced_accuracy_score brier_score_loss cohen_kappa_score completeness_score d2_absolute_error_score
        d2_brier_score d2_log_loss_score d2_pinball_score d2_tweedie_score explained_variance_score f1_score fbeta_score
        fowlkes_mallows_score hamming_loss hinge_loss homogeneity_score jaccard_score log_loss matthews_corrcoef
        max_error mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance mean_pinball_loss
        mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance median_absolute_error
        mutual_info_score normalized_mutual_info_score precision_score r2_score rand_score recall_score roc_auc_score
        root_mean_squared_error root_mean_squared_log_error top_k_accuracy_score v_measure_score zero_one_loss""",
}
"""Score functions for selectors and `make_scorer`."""

EXPERIMENTAL = {
    "IterativeImputer": "enable_iterative_imputer",
    "HalvingGridSearchCV": "enable_halving_search_cv",
    "HalvingRandomSearchCV": "enable_halving_search_cv",
}
"""Estimators that exist only after importing a module of `sklearn.experimental`."""


def _by_target(kinds: dict[str, dict[str, str]]) -> dict[str, str]:
    kind_of: dict[str, str] = {}
    for kind, modules in kinds.items():
        for module, names in modules.items():
            kind_of |= dict.fromkeys(
                (f"sklearn.{module}.{name}" for name in names.split()), kind
            )
    return kind_of


KINDS = _by_target(
    {
        "estimator": ESTIMATORS,
        "kernel": KERNELS,
        "splitter": SPLITTERS,
        "scorer": SCORERS,
        "function": FUNCTIONS,
    }
)
"""Kind of object behind each dotted name; `sklearn.svm.SVC`, for example, is an estimator."""


def kind_of(target: object) -> str:
    """Return the kind of object that a dotted name stands for; "" if it is not on the list."""
    return KINDS.get(target, "") if isinstance(target, str) else ""


def listed(target: str) -> Any:
    """Return the class or function of a name on the list.

    Raises
    ------
    ValueError
        If the installed scikit-learn lacks the name.
    """
    module, _, name = target.rpartition(".")
    if name in EXPERIMENTAL:
        importlib.import_module(f"sklearn.experimental.{EXPERIMENTAL[name]}")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{target}: the installed scikit-learn lacks this name ({error}); update scikit-learn."
        ) from error


def function_target(setting: str, name: str, module: str) -> str:
    """Return the dotted name of a listed function of a module, which may be given by its last part.

    Raises
    ------
    ValueError
        If the name is another. The message begins with `setting`.
    """
    names = FUNCTIONS[module].split()
    last = name.removeprefix(f"sklearn.{module}.")
    if last not in names:
        hint = did_you_mean(last, names) or f"; choose one of {', '.join(names)}."
        raise ValueError(
            f"{setting}: expected a function of sklearn.{module}, got {name!r:.80}{hint}"
        )
    return f"sklearn.{module}.{last}"
