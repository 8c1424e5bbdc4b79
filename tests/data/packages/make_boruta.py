"""Write boruta.json: what BorutaPy decides on fixed hits, and on fixed rows. Needs the package Boruta."""

import importlib.metadata
import json
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

ROUNDS = 25
FEATURES = 12
SHAPES = {"two classes": (80, 15), "three classes": (120, 15), "numbers": (80, 15)}


def table(seed, *, two_step, alpha=0.05):
    """Return numbers of hits after each round, and the decisions; what is rejected has no more hits."""
    from boruta import BorutaPy

    drawn = np.random.default_rng(seed)
    chances = drawn.choice([0.0, 0.1, 0.5, 0.9, 1.0], size=FEATURES)
    judge = BorutaPy(None, alpha=alpha, two_step=two_step)
    decisions = np.zeros(FEATURES, dtype=int)
    hits = np.zeros(FEATURES, dtype=int)
    counts = []
    history = []
    for n_rounds in range(1, ROUNDS + 1):
        hits += (drawn.random(FEATURES) < chances) & (decisions >= 0)
        decisions = judge._do_tests(decisions, hits, n_rounds)
        counts.append(hits.tolist())
        history.append(decisions.tolist())
    return {
        "seed": seed,
        "two_step": two_step,
        "alpha": alpha,
        "hits": counts,
        "decisions": history,
    }


def target(name, rows):
    """Return the target of rows, shape (n, d)."""
    linear = rows[:, 0] - rows[:, 1] + rows[:, 2]
    if name == "numbers":
        return linear
    return (linear > 0).astype(int) + (
        (rows[:, 3] > 0.5) if name == "three classes" else 0
    )


def fit(name, seed=1):
    """Return what BorutaPy confirms of Gaussian rows, and what it cannot decide."""
    from boruta import BorutaPy

    n, d = SHAPES[name]
    rows = np.random.default_rng(seed).standard_normal((n, d))
    forest = RandomForestRegressor if name == "numbers" else RandomForestClassifier
    options = {"max_features": 1 / 3 if name == "numbers" else "sqrt", "max_depth": 5}
    fitted = BorutaPy(forest(**options), n_estimators=50, max_iter=31, random_state=0)
    fitted.fit(rows, target(name, rows))
    confirmed = np.flatnonzero(fitted.support_)
    unsure = np.flatnonzero(fitted.support_weak_)
    return {
        "n": n,
        "d": d,
        "seed": seed,
        "confirmed": confirmed.tolist(),
        "tentative": unsure.tolist(),
    }


if __name__ == "__main__":
    names = ("Boruta", "numpy", "scipy", "scikit-learn")
    stored = {
        "versions": {name: importlib.metadata.version(name) for name in names},
        "tables": [
            table(seed, two_step=two_step)
            for two_step in (True, False)
            for seed in range(3)
        ],
        "fits": {name: fit(name) for name in SHAPES},
    }
    Path(__file__).with_name("boruta.json").write_text(
        json.dumps(stored) + "\n", encoding="utf-8"
    )
