"""Write knockpy.json: thresholds and gaps of the package knockpy on fixed inputs. Needs knockpy."""

import importlib.metadata
import json
from pathlib import Path

import numpy as np
from knockpy.knockoff_stats import data_dependent_threshhold
from knockpy.smatrix import compute_smatrix


def thresholds():
    """Return statistics, levels, and the thresholds of knockoff+; infinite ones as null."""
    cases = []
    for seed in range(8):
        W = np.round(np.random.default_rng(seed).standard_normal(20) + seed / 4, 2)
        for fdr in (0.1, 0.3):
            threshold = float(data_dependent_threshhold(W, fdr=fdr, offset=1))
            cases.append(
                {
                    "W": W.tolist(),
                    "fdr": fdr,
                    "threshold": threshold if np.isfinite(threshold) else None,
                }
            )
    return cases


def gap(rho, d=5):
    """Return the equicorrelated gaps of columns of correlations rho^|i - j|."""
    C = rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    return {
        "rho": rho,
        "gaps": np.diag(compute_smatrix(C, method="equicorrelated")).tolist(),
    }


if __name__ == "__main__":
    stored = {
        "versions": {
            name: importlib.metadata.version(name)
            for name in ("knockpy", "numpy", "scipy")
        },
        "thresholds": thresholds(),
        "gaps": [gap(rho) for rho in (0.0, 0.3, 0.8)],
    }
    Path(__file__).with_name("knockpy.json").write_text(
        json.dumps(stored) + "\n", encoding="utf-8"
    )
