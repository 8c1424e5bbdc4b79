"""Sizes of blocks, and limits between two routes to the same numbers: with any other value the numbers are the same.

Each class is compared with its textbook at the values that it has. A few rows do not
reach these, so here they change.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor

from provsel import selectors
from provsel.kernels.alpha_investing import alpha_investing
from provsel.kernels.bss import bss
from provsel.kernels.bss_columns import OrderedColumns
from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.kernels.hinge_dual import hinge_dual, newton_solve
from provsel.kernels.laplacian import nearest_rows
from provsel.kernels.least_angles import first_least_angles
from provsel.kernels.online_calibration import one_pass
from provsel.kernels.online_leverage import Rule
from provsel.kernels.permuted_forest import Forest, permutation_importances
from provsel.kernels.pivoted_qr import PivotedQR
from provsel.kernels.randomized_pivoting import residual_squares
from provsel.kernels.ranks import value_places
from provsel.kernels.spectral import accurate_basis, spectral_basis
from provsel.kernels.standardised import standardised_columns
from provsel.kernels.subset_errors import error_by_products, error_from_basis
from provsel.training_view import TrainingView
from textbook_subsets import MATRICES

DENSE_AND_SPARSE = (np.asarray, sparse.csr_array)
rng = np.random.default_rng(0)
X = rng.standard_normal((42, 12))
CLASSES = np.digitize(X[:, 0] + X[:, 3], [-0.5, 0.7])
NUMBERS = X[:, 1] - X[:, 5] ** 2 + rng.standard_normal(42)
COUNTS = rng.integers(0, 3, (42, 12)).astype(float)
TARGETS = {"two": CLASSES > 0, "three": CLASSES, "numbers": NUMBERS}
TEXT = rng.poisson(
    0.3 + 0.4 * np.outer(np.arange(50) % 2, np.arange(300) < 25)
) * rng.uniform(0.5, 1.5, (50, 300))


def scores_of(*choices, rows=(X, COUNTS)):
    """Return the scores of fits on all rows and targets, one after the other."""
    scores = []
    for table in rows:
        for target in TARGETS.values():
            scores += [selector.fit(table, target).scores_ for selector in choices]
    return np.array(scores)


def alpha():
    """What a block computes ahead is renewed after each acceptance: products, lengths and levels."""
    draws = np.random.default_rng(5)
    rows = draws.standard_normal((300, 60)) + draws.standard_normal((300, 1))
    # nearly dependent, between others
    rows[:, 40:45] = rows[:, :5] + 1e-7 * draws.standard_normal((300, 5))
    target = rows @ (draws.standard_normal(60) * 10.0 ** -np.linspace(0, 4, 60))
    fit = alpha_investing(rows, target, wealth=0.5, delta=0.5, p_value="chi2")
    assert fit.accepted.size > 10
    return fit.accepted, fit.p_values, fit.wealth, fit.residual / np.linalg.norm(target)


def bss_steps():
    V = spectral_basis(np.random.default_rng(0).poisson(0.5, (24, 500)).astype(float)).V
    steps = bss(OrderedColumns(V, None), 100)
    return steps.picks, steps.gains


def compression(form):
    blocks = GaussianBlocks(7, 1000, variance=0.25, key=5)
    rows = np.random.default_rng(0).standard_normal((40, 1000))
    rows *= np.random.default_rng(1).random(rows.shape) < 0.1
    single = blocks.project(form(rows.astype(np.float32)))
    return (
        blocks.project(form(rows)),
        single.astype(float) / 1e3,
        blocks.expand(np.arange(7.0)),
        blocks.gram(),
    )


def forward_picks():
    return [
        selectors.ForwardSelector(5).fit(X, target).indices_
        for target in TARGETS.values()
    ]


def graded_bases():
    bases = []
    for shape in ((400, 30), (30, 400)):
        rows = np.random.default_rng(0).standard_normal(shape)
        for form in DENSE_AND_SPARSE:
            basis = accurate_basis(form(rows))
            bases += [basis.singular_values, basis.V @ basis.V.T]
    return bases


def hinge():
    rows = X * (np.abs(X) > 0.7)
    signs = np.where(CLASSES, 1.0, -1.0)
    return [
        hinge_dual(form(rows), signs, 1e-2, tol=1e-10).primal
        for form in DENSE_AND_SPARSE
    ]


def subset_errors():
    """Where a difference has no digits the residual itself is formed, in blocks."""
    rows, _ = MATRICES["few non-zeros"]
    columns = np.array([3, 1, 4])
    by_products = error_by_products(sparse.csc_array(rows), columns).frobenius
    return by_products, error_from_basis(accurate_basis(rows), columns).frobenius


def newton_step():
    return newton_solve(X, np.arange(30), 2.0, np.arange(12.0))


def hsic():
    mixed = X.copy()
    mixed[:, ::2] = COUNTS[:, ::2]
    codes = np.arange(12) % 2 == 0
    options = {"penalty": 0.2, "block_size": 7, "discrete_features": codes}
    return scores_of(
        *(selectors.HSICLassoSelector(r, **options, random_state=1) for r in (3, None)),
        rows=[mixed],
    )


def tied_neighbors():
    """Nearly every distance is a tie, and rows have fewer neighbours in a tile than they need."""
    rows = np.random.default_rng(1).integers(0, 2, (60, 9)).astype(float)
    rows[40:] = rows[:20]
    results = [nearest_rows(form(rows), 7) for form in DENSE_AND_SPARSE]
    return [np.sort(neighbors, axis=1) for neighbors, _ in results] + [
        distance for _, distance in results
    ]


def streams():
    """Columns that get nearly dependent in their own panel are the hard case: 1e-7 of each is its own."""
    draws = np.random.default_rng(0)
    low_rank = draws.standard_normal((60, 4)) @ draws.standard_normal((4, 150))
    rows = low_rank + 1e-7 * np.random.default_rng(2).standard_normal((60, 150))
    rules = [
        Rule(0.5, 1.0, n_initial=10),
        Rule(0.5, 1.0, n_initial=10, outside_scores_one=False),
        Rule(0.5, 1.0, n_initial=10, ridge=0.3),
    ]
    passes = [
        one_pass(rows, rule, np.array([7, 11], dtype=np.uint64)) for rule in rules
    ]
    assert all(10 < stream.positions.size < 150 for stream in passes)
    return [stream.positions for stream in passes] + [
        stream.scores for stream in passes
    ]


def paths():
    samples = np.array(
        [np.random.default_rng(seed).permutation(42)[:31] for seed in range(5)]
    )
    targets = np.stack([NUMBERS, CLASSES, -NUMBERS, NUMBERS**2, NUMBERS + 1e6])
    return first_least_angles(standardised_columns(X * 1e3 + 7), samples, targets, 11)


def forest():
    model = RandomForestRegressor(25, max_features=0.5, random_state=1).fit(X, NUMBERS)
    trees = Forest.of_trees([tree.tree_ for tree in model.estimators_], shares=False)
    permutations = np.array(
        [np.random.default_rng(seed).permutation(42) for seed in range(3)]
    )
    return permutation_importances(
        trees,
        X.astype(np.float32),
        permutations,
        lambda sums: sums[:, :, 0].std(axis=1),
    )


def pivots():
    chosen = []
    for name in ("wide", "few non-zeros", "low rank plus noise"):
        for form in DENSE_AND_SPARSE:
            chosen += PivotedQR(form(MATRICES[name][0])).extend(20).pivots.tolist()
    return chosen


def residuals():
    Q = np.linalg.qr(X[:, :3])[0]
    return [residual_squares(columns, Q) for columns in (X, sparse.csc_array(X))]


def cancelled_pivots():
    rows = np.random.default_rng(3).standard_normal((80, 1)) * 1e4
    rows = rows + 1e-2 * np.random.default_rng(4).standard_normal((80, 60))
    return PivotedQR(rows).extend(60).pivots


def single_svd():
    chosen = []
    for name in ("wide", "low rank plus noise", "few non-zeros", "Kahan"):
        rows, k = MATRICES[name]
        for form in ("residual", "basis_only"):
            indices = (
                selectors.SingleSVDSelector(k, form=form)
                .fit(sparse.csr_array(rows))
                .indices_
            )
            # rounding decides its order
            chosen += sorted(indices) if name == "Kahan" else list(indices)
    return chosen


def eliminations():
    """One view, with numbers of features in an order that shares few rounds."""
    labels = np.arange(50) % 2
    rankings = []
    for solver in ("auto", "liblinear"):
        view = TrainingView(TEXT, labels)
        for r in (40, 200, 210, 300, 100):
            rankings.append(
                selectors.SVMRFESelector(r, solver=solver).fit_view(view).ranking_
            )
    return rankings


RELIEF = [selectors.ReliefFSelector(1, n_neighbors=3)]
RELIEF += [
    selectors.MultiSURFSelector(1, form=form)
    for form in ("multisurf", "surf", "surf_star")
]
ROUGH = {"ROUGH_ROWS": 0, "ROUGH_COLUMNS": 2, "ROUGH_BLOCK": 16}
IN_BLOCKS = {"WHOLE_ROWS": 0, "BLOCK": 100}

LIMITS = [  # module, other values, numbers
    ("alpha_investing", {"BLOCK": 1}, alpha),
    ("bss_search", {"KEPT_ROWS": 1, "FIRST_BLOCK": 5, "EARLY": 3}, bss_steps),
    ("bss_search", {"KEPT_ROWS": 20, "FIRST_BLOCK": 5, "EARLY": 3}, bss_steps),
    ("forward_ridge", {"BLOCK": 60}, forward_picks),
    *(
        ("gaussian_blocks", limits, lambda form=form: compression(form))
        for limits in (
            {"PANEL": 1, "PRODUCT": 2**21},
            {"PANEL": 2 * 256 * 7, "PRODUCT": 21},
            {"PRODUCT": 21},
        )
        for form in (
            *DENSE_AND_SPARSE,
            np.asfortranarray,
            sparse.csr_matrix,
            sparse.csc_array,
        )
    ),
    ("graded", {"BLOCK": 1}, graded_bases),
    ("hinge_dual", {"MAX_ORDER": 0}, hinge),
    ("hinge_dual", {"BLOCK": 5}, newton_step),
    ("hsic_lasso", {"N_CANDIDATES": 1, "BLOCK": 200}, hsic),
    *(
        ("laplacian", {"TILE": side * side}, tied_neighbors)
        for side in (1, 2, 3, 16, 59)
    ),
    ("laplacian", {"BLOCK": 100}, tied_neighbors),
    ("least_angles", {"ENTRIES": 12}, paths),
    (
        "neighbor_information",
        {"BLOCK": 50},
        lambda: scores_of(selectors.MutualInformationSelector(4, random_state=0)),
    ),
    ("one_way", {"BLOCK": 50}, lambda: scores_of(selectors.FTestSelector(4))),
    ("online_leverage", {"FORESIGHT": 0.0}, streams),
    ("online_leverage", {"FORESIGHT": 1e9}, streams),
    ("online_leverage", {"PANEL": 4, "PANEL_VALUES": 0}, streams),
    ("permuted_forest", {"PAIRS": 70}, forest),
    ("permuted_forest", {"PREDICTIONS": 200}, forest),
    ("pivoted_qr", {"LARGE_Q": 1}, pivots),
    ("pivoted_qr", {"BLOCK": 1}, cancelled_pivots),
    ("randomized_pivoting", {"BLOCK": 50}, residuals),
    ("ranks", {"BLOCK": 50}, lambda: value_places(X)),
    ("relief", IN_BLOCKS, lambda: scores_of(*RELIEF)),
    ("relief", ROUGH, lambda: scores_of(*RELIEF)),
    ("relief", ROUGH | IN_BLOCKS, lambda: scores_of(*RELIEF)),
    ("tails", {"LARGE_BASIS": 0}, single_svd),
    ("subset_errors", {"CANCELLED": 2.0}, subset_errors),
    ("svm_rfe", {"SHARED_ROUNDS": 3}, eliminations),
]
IDS = [f"{module}-{values}" for module, values, _ in LIMITS]


@pytest.mark.parametrize(("module", "values", "numbers"), LIMITS, ids=IDS)
def test_a_limit_changes_no_number(module, values, numbers, monkeypatch):
    expected = numbers()
    package = "selectors" if module == "svm_rfe" else "kernels"
    for name, value in values.items():
        monkeypatch.setattr(f"provsel.{package}.{module}.{name}", value)
    for changed, stated in zip(numbers(), expected, strict=True):
        np.testing.assert_allclose(changed, stated, rtol=1e-7, atol=1e-8)
