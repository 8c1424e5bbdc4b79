"""A panel that was drawn: methods with known effects on data sets of several domains."""

import numpy as np
import pandas as pd

from provlab.benchmark.frame import WHERE, as_panel

DOMAINS = {"text": 4, "genes": 3, "images": 2, "designs": 2, "speech": 1}
METHODS = {"all features": 0.0, "good": -0.02, "random": 0.1, "slow": 0.0, "two classes": 0.02}
FIXED, MODELS = (5, 20), ("linear", "forest")
OF_SELECTION = ("stability", "stability_se", "support_f1", "false_discovery")


def made_panel(seed=0, methods=METHODS):
    """Return a panel; "slow" fails in a fold of the first set of text, "two classes" has no trial on images."""
    rng, lines = np.random.default_rng(seed), []
    for domain, n_sets in DOMAINS.items():
        for dataset in [f"{domain} {k}" for k in range(n_sets)]:
            base = rng.uniform(0.1, 0.3)
            for method, effect in methods.items():
                own = base + effect * rng.uniform(0.5, 1.5) + 0.01 * rng.standard_normal()
                for size in (0,) if method == "all features" else FIXED:
                    if method == "two classes" and domain == "images":
                        continue
                    place = {"method": method, "dataset": dataset, "domain": domain, "size": size}
                    known = domain == "designs" and size
                    measured = rng.uniform(size=3) if size else [np.nan] * 3
                    numbers = [*measured[:2], *([measured[2], 1 - measured[2]] if known else [np.nan] * 2)]
                    told = dict(zip(OF_SELECTION, numbers, strict=True)) | dict.fromkeys(WHERE, "")
                    for model in MODELS:
                        for fold in range(3):
                            failed = method == "slow" and dataset == "text 0" and fold == 2
                            error = np.clip(own + 0.2 / (size or 1000) + 0.02 * rng.standard_normal(), 0, 1)
                            trial = place | {
                                "model": model,
                                "repeat": 0,
                                "fold": fold,
                                "draw": 0,
                                "cell": f"{len(lines):064x}",
                            }
                            trial |= {"n_selected": size or 100, "error": error, "balanced_accuracy": 1 - error}
                            trial |= {"neg_log_loss": -2 * error if model == "forest" else np.nan}
                            trial |= {
                                "subset_frobenius_ratio": 1 + error,
                                "select_cpu": rng.lognormal(),
                                "peak_bytes": 1e6,
                            }
                            gone = dict.fromkeys(["n_selected", *[*trial][10:]], np.nan) if failed else {}
                            told |= {"n_features": 100, "failure": "took 301 s" if failed else ""}
                            lines.append(trial | gone | told)
    return as_panel(pd.DataFrame(lines))
