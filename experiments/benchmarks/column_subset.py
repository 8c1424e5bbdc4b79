"""How well 20 columns stand for a matrix: every selector on seven matrices.

python experiments/benchmarks/column_subset.py --repeats 5 --csv
docs/measured/column_subset.csv

The number is ||X - C C^+ X||_F^2 / ||X - X_k||_F^2 of `certify_subset`, with k = r = 20
(59 of Kahan's 60 columns), of one draw of each matrix, digits centred; randomised
methods are means over `--repeats` seeds. Methods with a rank of r/2 promise something
beside X_{r/2} only. A ratio above a promise that is certain is a defect, and stops the
run. `extremes.py` has what each costs.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from provlab.data import MissingDataError, dataset_members, load_dataset
from provsel.certificates import VIOLATED, certify_subset
from provsel.kernels.spectral import spectral_basis
from provsel.selectors import (
    AdaptiveRandomizedPivotingSelector,
    BSSSelector,
    DualSetSelector,
    LeverageScoreSelector,
    OnlineLeverageSelector,
    RandomlyPivotedQRSelector,
    RRQRSelector,
    SingleSVDSelector,
    SpectralSelectionSelector,
    StrongRRQRSelector,
    UniformSelector,
)

METHODS = {
    "strong RRQR, f = 2": StrongRRQRSelector,
    "strong RRQR, f = 1.01": lambda r: StrongRRQRSelector(r, f=1.01),
    "single SVD": SingleSVDSelector,
    "single SVD, V alone": lambda r: SingleSVDSelector(r, form="basis_only"),
    "spectral": SpectralSelectionSelector,
    "spectral, k = r/2": lambda r: SpectralSelectionSelector(r, rank=r // 2),
    "dual set, k = r/2": lambda r: DualSetSelector(r, rank=r // 2),
    "BSS, k = r/2": lambda r: BSSSelector(r, rank=r // 2),
    "RRQR": RRQRSelector,
    "adaptive randomized pivoting": AdaptiveRandomizedPivotingSelector,
    "randomly pivoted QR": RandomlyPivotedQRSelector,
    "online ridge": lambda r: OnlineLeverageSelector(
        r, outside_span="ridge", ridge=1.0
    ),
    "top leverage": lambda r: LeverageScoreSelector(r, strategy="top", rank=r),
    "leverage, without replacement": lambda r: LeverageScoreSelector(
        r, replace=False, rank=r
    ),
    "leverage, with replacement": lambda r: LeverageScoreSelector(r, rank=r),
    "uniform": UniformSelector,
}


def kahan(n, c=0.285):
    """Return Kahan's matrix, on which column pivoting fails."""
    s = np.sqrt(1 - c * c)
    return (s ** np.arange(n))[:, None] * (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


def matrices(d=400):
    """Return X and r by name; of text the first registered set where it is here."""
    rng = np.random.default_rng(0)
    signal = rng.standard_normal((100, 20)) @ rng.standard_normal((20, d))
    coherent = np.linalg.qr(rng.standard_normal((d, 20)) * rng.standard_t(1.5, (d, 1)))[
        0
    ]
    base = rng.standard_normal((100, d // 10))
    digits = load_dataset("digits").X
    by_name = {
        "gauss": (rng.standard_normal((100, d // 4)), 20),
        "low rank": (signal + 0.01 * rng.standard_normal((100, d)), 20),
        "coherent": (
            rng.standard_normal((100, 20)) @ coherent.T
            + 0.01 * rng.standard_normal((100, d)),
            20,
        ),
        "duplicates": (
            np.hstack([base] * 10)
            + 1e-3 * rng.standard_normal((100, base.shape[1] * 10)),
            20,
        ),
        "digits": (digits - digits.mean(axis=0), 20),
        "Kahan": (kahan(60), 59),
    }
    try:
        by_name["text"] = load_dataset("techtc", set=dataset_members("techtc")[0]).X, 20
    except MissingDataError as missing:
        print(f"text is left out: {missing}")
    return by_name


def selector_for(method, X, r):
    selector = METHODS[method](r)
    if method == "online ridge":
        tail = spectral_basis(X).singular_values[r:]
        selector.set_params(ridge=float((tail**2).sum()) / r / selector.epsilon or 1e-9)
    return selector


def certified(name, method, X, r, repeats):
    """Yield a row of the CSV file for each seed."""
    selector = selector_for(method, X, r)
    for seed in range(repeats if selector.is_random else 1):
        if selector.is_random:
            selector.set_params(random_state=seed)
        selector.fit(X)
        certificate, promised = (
            certify_subset(selector, X, r),
            certify_subset(selector, X),
        )
        if VIOLATED in (certificate.state, promised.state):
            raise SystemExit(
                f"{method} on {name}: expected its promise to hold, got {certificate}, {promised}."
            )
        place = {
            "data": name,
            "n": X.shape[0],
            "d": X.shape[1],
            "r": r,
            "method": method,
            "seed": seed,
        }
        yield place | certificate.as_record()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--columns", type=int, default=400, help="of the drawn matrices"
    )
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--csv", type=Path, help="write all ratios and bounds there")
    options = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        for name, (X, r) in matrices(options.columns).items():
            for method in METHODS:
                rows.extend(certified(name, method, X, r, options.repeats))
    table = pd.DataFrame(rows)
    means = table.pivot_table("subset_frobenius_ratio", "method", "data", sort=False)
    print(means.to_string(float_format="{:.3g}".format))
    if options.csv:
        table.to_csv(options.csv, index=False, na_rep="nan")


if __name__ == "__main__":
    main()
