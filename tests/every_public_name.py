"""Every public name in use, for `mypy --strict`; nothing runs it."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from provlab import Measure, MeasuredTrial, Project, compare, load_dataset, rank
from provsel import certificates, models, selectors
from provsel.stability import StabilityReport, StabilityTest, stability
from provsel.streams import column_blocks, row_chunks
from provsel.training_view import Cost, Meter, TrainingView

X: NDArray[np.float64] = np.eye(10)
y: NDArray[np.int64] = np.arange(10) % 2


class Mine(selectors.BaseSelector):
    def __init__(self, n_features_to_select: int) -> None:
        self.n_features_to_select = n_features_to_select

    def _select(
        self, view: TrainingView, rng: np.random.Generator
    ) -> selectors.Selection:
        return selectors.Selection.unweighted(
            np.arange(selectors.checked_count(self, view.n_features))
        )


class Mean(Measure):
    mean: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        return cls(mean=float(trial.rows.n_samples))


class Size(certificates.Theorem):
    name = "size"
    source = "by construction"
    kept: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial, most: int = 100) -> Self:
        kept = float(trial.reducer.indices_.size)
        return cls(
            kept=kept,
            state=certificates.HELD if kept <= most else certificates.VIOLATED,
        )


EVERY: list[selectors.BaseSelector] = [
    selectors.CrossValidatedSize(selectors.SVMRFESelector(1), cv=2),
    selectors.CURSelector(2),
    selectors.DualSetSelector(0.3),
    selectors.SpectralSelectionSelector(3),
    selectors.AdaptiveRandomizedPivotingSelector(3),
    selectors.AlphaInvestingSelector(),
    selectors.AlwaysKept(selectors.SVMRFESelector(1), 3, always=[0]),
    selectors.ApproximateBSSSelector(5),
    selectors.AtSize(selectors.L1SVMSelector(), 3, parameter="C", low=0.1, high=1.0),
    selectors.BorutaSelector(),
    selectors.BSSSelector(5),
    selectors.ChiSquaredSelector(5),
    selectors.FarthestPointSelector(2),
    selectors.FeatureSelectiveSelector(),
    selectors.FTestSelector(3),
    selectors.FullDataSelector(),
    selectors.HSICLassoSelector(2),
    selectors.JMISelector(3),
    selectors.ForestRFESelector(3),
    selectors.ForwardSelector(3),
    selectors.KnockoffSelector(),
    selectors.LaplacianScoreSelector(3),
    selectors.LassoSelector(),
    selectors.MRMRSelector(3),
    selectors.MutualInformationSelector(3),
    selectors.RankTestSelector(3),
    selectors.ShrunkenCentroidsSelector(3),
    selectors.LeverageScoreSelector(3),
    selectors.LPSVMSelector(),
    Mine(2),
    selectors.MultiSURFSelector(2),
    selectors.OnlineLeverageSelector(),
    selectors.OnSupportVectors(selectors.BSSSelector(5)),
    selectors.ReliefFSelector(2),
    selectors.PermutationImportanceSelector(3),
    selectors.RidgeLeverageSelector(3),
    selectors.RandomlyPivotedQRSelector(3),
    selectors.RRQRSelector(3),
    selectors.SingleSVDSelector(3),
    selectors.StabilitySelector(),
    selectors.StrongRRQRSelector(3),
    selectors.SVMRFESelector(3),
    selectors.UniformSelector(3),
    selectors.WithEnclosingBallCenter(selectors.BSSSelector(5)),
]
for selector in EVERY:
    fitted = selector.fit(X, y)
    indices: NDArray[np.int64] = fitted.indices_
    weights: NDArray[np.float64] = fitted.weights_
    certificate: certificates.Certificate = certificates.certify(
        fitted, X, y, also=[Size]
    )
    states: list[str] = [record.state for record in certificate]
for transformer in (selectors.SparseEmbedding(3), selectors.GaussianCompression(3)):
    transformer.fit(X)
MODELS: list[models.BaseLinearSVM] = [
    models.CompressedLinearSVM(3),
    models.CrossValidatedSVM(),
    models.FeatureSelectiveSVM(),
    models.HingeSVM(),
    models.LiblinearSVM(),
    models.LibsvmSVM(),
]
for model in MODELS:
    labels: NDArray[np.int64] = model.fit(X, y).predict(X)
models.KMeansClustering(2).fit(X, y)
OWN: list[type[certificates.Theorem]] = [
    certificates.ClusteringCost,
    certificates.ClusteringRatio,
    certificates.CompressedRecovery,
    certificates.FalseSelections,
    certificates.FeatureSelectiveRecovery,
    certificates.MarginPreservation,
    Size,
    certificates.OnlineFeatureCount,
    certificates.OnlineScoreSum,
    certificates.PartitionCost,
    certificates.RadiusPreservation,
    certificates.RidgeRegressionCost,
    certificates.RidgeRegressionRisk,
    certificates.RidgeSparsification,
    certificates.SubsetApproximation,
    certificates.SoftMarginBound,
    certificates.SpectralSparsification,
    *certificates.THEOREMS,
]
print(
    OWN[0].columns(),
    Mean(mean=1.0).as_record(),
    certificates.NO_BOUND,
    certificates.NOT_MEASURED,
    certificates.NOT_SEPARABLE,
    certificates.UNDECIDED,
    certificates.VACUOUS,
    certificates.IN_EXPECTATION,
)
print(certificates.SubsetPromise, certificates.Spectrum)
print(
    certificates.certify_subset(
        selectors.SingleSVDSelector(3).fit(X), X, 2
    ).frobenius_ratio
)
certificates.certify_compression(models.CompressedLinearSVM(3).fit(X, y), X, y)
growth: NDArray[np.float64] = certificates.radius_margin_bound([0.0, 0.25])
MEMORY: type[certificates.Measure] = certificates.StreamMemory
print(
    list(column_blocks(X, block_size=3)), list(row_chunks(X, y=y)), Cost.now(), Meter()
)
steady: StabilityReport = StabilityReport.of(selectors.RRQRSelector(3), X, y, cv=3)
test: StabilityTest = steady.compare(stability([[0, 1], [0, 2], [1, 2]], 10))
print(steady.index, steady.interval(0.9), steady.most_frequent(3), test.p_value)
frame = compare(X, y, {"mine": Mine(2)}, repeats=1)
certificate = rank(Mine(2), panel="full", against=["F-test"]).leaderboard
print(frame.draw(), load_dataset("digits").X, Project.find().root)
