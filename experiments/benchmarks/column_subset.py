"""How well 20 columns stand for a matrix: every selector on seven matrices, and what each costs beside one SVD.

python experiments/benchmarks/column_subset.py [--quick] [--repeats 20]

The number is ||X - C C^+ X||_F^2 / ||X - X_k||_F^2 of `certify_subset`, with k = r = 20 (59 of Kahan's 60 columns), of
one draw of each matrix, digits centred; randomised methods are means over `--repeats` seeds. Methods with a rank of r/2
promise something beside X_{r/2} only. A ratio above a promise that is certain is a defect, and stops the run.
Beside the table, column_subset.csv has each ratio with its bounds. CPU seconds are of one fit, one BLAS thread; the
limit is the SVD, or of sparse rows the eigenvectors of the Gram matrix, that singular vectors cannot do without.
"""

import argparse
import csv
import statistics

import numpy as np
from threadpoolctl import threadpool_limits
from timing import case, cpu_seconds, report
from timing.cases import folder

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

BENCH = {
    "bench": ["--repeats", "5"],
    "quick": ["--quick", "--repeats", "1"],
    "left_out": "15 of 20 seeds of each randomised method",
    "seconds": 120,
}
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
    "adaptive randomized pivoting": lambda r: AdaptiveRandomizedPivotingSelector(r, random_state=0),
    "randomly pivoted QR": lambda r: RandomlyPivotedQRSelector(r, random_state=0),
    "online ridge": lambda r: OnlineLeverageSelector(r, outside_span="ridge", ridge=1.0, random_state=0),
    "top leverage": lambda r: LeverageScoreSelector(r, strategy="top", rank=r),
    "leverage, without replacement": lambda r: LeverageScoreSelector(r, replace=False, rank=r, random_state=0),
    "leverage, with replacement": lambda r: LeverageScoreSelector(r, rank=r, random_state=0),
    "uniform": lambda r: UniformSelector(r, random_state=0),
}


def kahan(n, c=0.285):
    """Return Kahan's matrix, on which column pivoting fails."""
    s = np.sqrt(1 - c * c)
    return (s ** np.arange(n))[:, None] * (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


def matrices(quick):
    """Return X and r by name; of text the first registered set that is here."""
    rng = np.random.default_rng(0)
    d = 150 if quick else 400
    signal = rng.standard_normal((100, 20)) @ rng.standard_normal((20, d))
    coherent = np.linalg.qr(rng.standard_normal((d, 20)) * rng.standard_t(1.5, (d, 1)))[0]
    base = rng.standard_normal((100, d // 10))
    digits = load_dataset("digits").X
    found = {
        "gauss": (rng.standard_normal((100, d // 4)), 20),
        "low rank": (signal + 0.01 * rng.standard_normal((100, d)), 20),
        "coherent": (rng.standard_normal((100, 20)) @ coherent.T + 0.01 * rng.standard_normal((100, d)), 20),
        "duplicates": (np.hstack([base] * 10) + 1e-3 * rng.standard_normal((100, base.shape[1] * 10)), 20),
        "digits": (digits - digits.mean(axis=0), 20),
        "Kahan": (kahan(60), 59),
    }
    try:
        found["text"] = (load_dataset("techtc", set=dataset_members("techtc")[0]).X, 20)
    except MissingDataError as missing:
        print(f"text is left out: {missing}")
    return found


def measure(name, method, X, r, repeats):
    """Return the rows of one method on one matrix, a row a seed, and the CPU seconds of one fit."""
    selector = METHODS[method](r)
    if method == "online ridge":
        sigma = spectral_basis(X).singular_values
        selector.set_params(ridge=float((sigma[r:] ** 2).sum()) / r / selector.epsilon or 1e-9)
    rows, seconds = [], []
    for seed in range(repeats if selector.is_random else 1):
        if selector.is_random:
            selector.set_params(random_state=seed)
        cpu, fitted = cpu_seconds(lambda: selector.fit(X))
        found = certify_subset(fitted, X, r)
        promised = certify_subset(fitted, X)
        if VIOLATED in (found.state, promised.state):
            raise SystemExit(f"{method} on {name}: expected its promise to hold, got {found}, {promised}.")
        seconds.append(cpu)
        rows.append({"data": name, "n": X.shape[0], "d": X.shape[1], "r": r, "method": method, "seed": seed}
                    | found.as_record())  # fmt: skip
    return rows, statistics.median(seconds)


def main():
    """Measure, write column_subset.csv, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    data, rows, cases, table = matrices(given.quick), [], [], {method: [] for method in METHODS}
    with threadpool_limits(1):
        for name, (X, r) in data.items():
            limit, _ = cpu_seconds(lambda X=X: spectral_basis(X))
            for method in METHODS:
                found, cpu = measure(name, method, X, r, given.repeats)
                rows += found
                table[method].append(statistics.mean(row["subset_frobenius_ratio"] for row in found))
                title = f"{method}, {name} ({X.shape[0]} x {X.shape[1]}), r = {r}"
                cases.append(case(title, cpu, limit=("basis", limit)))
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / "column_subset.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines = [f"| squared error over the best | {' | '.join(data)} |", "|---" * (len(data) + 1) + "|"]
    lines += [f"| {method} | {' | '.join(f'{ratio:.3g}' for ratio in table[method])} |" for method in METHODS]
    report("column_subset", "\n".join(lines), cases)


if __name__ == "__main__":
    main()
