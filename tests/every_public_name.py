"""Every public name in use, for `mypy --strict`; nothing runs it."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from provlab import Measure, MeasuredTrial, Project, compare, load_dataset
from provsel.certificates import (
    HELD,
    IN_EXPECTATION,
    NO_BOUND,
    NOT_MEASURED,
    NOT_SEPARABLE,
    THEOREMS,
    UNDECIDED,
    VACUOUS,
    VIOLATED,
    Certificate,
    ClusteringCost,
    CompressedRecovery,
    FeatureSelectiveRecovery,
    MarginPreservation,
    OnlineFeatureCount,
    OnlineScoreSum,
    PartitionCost,
    RadiusPreservation,
    RidgeRegressionCost,
    RidgeRegressionRisk,
    RidgeSparsification,
    SoftMarginBound,
    SpectralSparsification,
    Spectrum,
    SubsetApproximation,
    SubsetPromise,
    Theorem,
    certify,
    certify_compression,
    certify_subset,
)
from provsel.models import (
    BaseLinearSVM,
    CompressedLinearSVM,
    CrossValidatedSVM,
    FeatureSelectiveSVM,
    HingeSVM,
    KMeansClustering,
    LiblinearSVM,
    LibsvmSVM,
)
from provsel.selectors import (
    AdaptiveRandomizedPivotingSelector,
    AlphaInvestingSelector,
    AlwaysKept,
    ApproximateBSSSelector,
    AtSize,
    BaseSelector,
    BSSSelector,
    CrossValidatedSize,
    DualSetSelector,
    FeatureSelectiveSelector,
    FullDataSelector,
    GaussianCompression,
    L1SVMSelector,
    LaplacianScoreSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    OnlineLeverageSelector,
    OnSupportVectors,
    RandomlyPivotedQRSelector,
    RidgeLeverageSelector,
    RRQRSelector,
    Selection,
    SingleSVDSelector,
    SparseEmbedding,
    SpectralSelectionSelector,
    StrongRRQRSelector,
    SVMRFESelector,
    UniformSelector,
    WithEnclosingBallCenter,
    checked_count,
)
from provsel.stability import StabilityReport, StabilityTest, stability
from provsel.streams import column_blocks, row_chunks
from provsel.training_view import Cost, Meter, TrainingView

X: NDArray[np.float64] = np.eye(10)
y: NDArray[np.int64] = np.arange(10) % 2


class Mine(BaseSelector):
    def __init__(self, n_features_to_select: int) -> None:
        self.n_features_to_select = n_features_to_select

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        return Selection.unweighted(np.arange(checked_count(self, view.n_features)))


class Mean(Measure):
    mean: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        return cls(mean=float(trial.rows.n_samples))


class Size(Theorem):
    name, source = "size", "by construction"
    kept: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial, most: int = 100) -> Self:
        kept = float(trial.reducer.indices_.size)
        return cls(kept=kept, state=HELD if kept <= most else VIOLATED)


SELECTORS: list[BaseSelector] = [
    CrossValidatedSize(SVMRFESelector(1), cv=2),
    DualSetSelector(0.3),
    SpectralSelectionSelector(3),
    AdaptiveRandomizedPivotingSelector(3),
    AlphaInvestingSelector(),
    AlwaysKept(SVMRFESelector(1), 3, always=[0]),
    ApproximateBSSSelector(5),
    AtSize(L1SVMSelector(), 3, parameter="C", low=0.1, high=1.0),
    BSSSelector(5),
    FeatureSelectiveSelector(),
    FullDataSelector(),
    LaplacianScoreSelector(3),
    LeverageScoreSelector(3),
    LPSVMSelector(),
    Mine(2),
    OnlineLeverageSelector(),
    OnSupportVectors(BSSSelector(5)),
    RidgeLeverageSelector(3),
    RandomlyPivotedQRSelector(3),
    RRQRSelector(3),
    SingleSVDSelector(3),
    StrongRRQRSelector(3),
    SVMRFESelector(3),
    UniformSelector(3),
    WithEnclosingBallCenter(BSSSelector(5)),
]
for selector in SELECTORS:
    fitted = selector.fit(X, y)
    indices: NDArray[np.int64] = fitted.indices_
    weights: NDArray[np.float64] = fitted.weights_
    found: Certificate = certify(fitted, X, y, also=[Size])
    states: list[str] = [record.state for record in found]
for transformer in (SparseEmbedding(3), GaussianCompression(3)):
    transformer.fit(X)
MODELS: list[BaseLinearSVM] = [
    CompressedLinearSVM(3),
    CrossValidatedSVM(),
    FeatureSelectiveSVM(),
    HingeSVM(),
    LiblinearSVM(),
    LibsvmSVM(),
]
for model in MODELS:
    labels: NDArray[np.int64] = model.fit(X, y).predict(X)
KMeansClustering(2).fit(X, y)
OWN: list[type[Theorem]] = [ClusteringCost, CompressedRecovery, FeatureSelectiveRecovery, MarginPreservation, Size]
OWN += [
    OnlineFeatureCount,
    OnlineScoreSum,
    PartitionCost,
    RadiusPreservation,
    RidgeRegressionCost,
    RidgeRegressionRisk,
    RidgeSparsification,
    SubsetApproximation,
    SoftMarginBound,
    SpectralSparsification,
    *THEOREMS,
]
print(
    OWN[0].columns(),
    Mean(mean=1.0).as_record(),
    NO_BOUND,
    NOT_MEASURED,
    NOT_SEPARABLE,
    UNDECIDED,
    VACUOUS,
    IN_EXPECTATION,
)
print(SubsetPromise, Spectrum)
print(certify_subset(SingleSVDSelector(3).fit(X), X, 2).frobenius_ratio)
certify_compression(CompressedLinearSVM(3).fit(X, y), X, y)
print(list(column_blocks(X, block_size=3)), list(row_chunks(X, y=y)), Cost.now(), Meter())
steady: StabilityReport = StabilityReport.of(RRQRSelector(3), X, y, cv=3)
test: StabilityTest = steady.compare(stability([[0, 1], [0, 2], [1, 2]], 10))
print(steady.index, steady.interval(0.9), steady.most_frequent(3), test.p_value)
frame = compare(X, y, {"mine": Mine(2)}, repeats=1)
print(frame.draw(), load_dataset("digits").X, Project.find().root)
