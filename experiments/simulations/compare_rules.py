"""python experiments/simulations/compare_rules.py [--samples 400] [--tables FOLDER] [--csv FILE]: p of `compare`.

How often p < 0.05 on two methods without a difference, which should be 5 % and never
more, for the corrected resampled t-test that `provlab.compare` uses and for tests that
might come nearer to 5 %:

- draws apart: the part of the variance that is of a method's own draws is the draws' in
  each fold, and is independent between folds; only the rest is corrected.
  Satterthwaite's degrees of freedom.
- fewer df: those of the folds of one repeat.
- repeats: the correction is multiplied by the share of the variance that repeats with
  other folds do not show.
- rows: t of the rows' differences in loss, each the mean over repeats (Bayle and
  others, 2020).
- 5x2cv F: on five repeats of two folds (Alpaydin, 1999).

Simulated rows have two halves of 20 columns of the same distribution. Methods take four
columns: at random; or those with the largest covariance with the classes, the first
method in one half and the second in the other; or two in each of these ways. Errors are
those of least squares. No method is better on average, but on given rows one can be.
Real rows are drawn without replacement from a table; there the test is of the mean
difference over all samples. In the last lines the second half has no signal, and shares
are the power. Two standard errors of a share are 2.2 points at 5 %, with 400 samples;
10 x 10 folds and 2,000 rows have half of them, real rows a quarter.

--tables is a folder with PMLB's files, pmlb/<name>.tsv.gz.
"""

import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import fdtrc, stdtr
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler
from tables import arguments, write_table

from provlab.verdicts.claims.paired_tests import CorrectedT
from provsel.selectors import RRQRSelector, UniformSelector

COMPARE, DRAWS, FEWER, REPEATS, ROWS = (
    "compare",
    "draws apart",
    "fewer df",
    "repeats",
    "rows",
)
TWO_FOLDS = "5x2cv F"
FIELDS = ["what", "folds", "n", COMPARE, DRAWS, FEWER, REPEATS, ROWS, TWO_FOLDS]
DESIGNS = ((1, 5), (2, 5), (1, 10), (10, 10), (5, 2))
"""Repeats and folds."""

N_COLUMNS, N_KEPT, N_DRAWS = 40, 4, 5
HALF = N_COLUMNS // 2
FLOATS_AT_ONCE = 2_000_000


# ---- simulated rows


def no_signal(n):
    return np.zeros(N_COLUMNS)


def weak_signal(n):
    """Return a signal of four columns of each half that n rows hardly tell from none."""
    half = np.r_[np.full(4, 3.0), np.zeros(HALF - 4)] / np.sqrt(n)
    return np.r_[half, half]


def clear_signal(n):
    half = np.r_[np.full(2, 0.8), np.full(4, 0.3), np.zeros(HALF - 6)]
    return np.r_[half, half]


def only_the_first(n):
    """Return a signal of the first half alone."""
    signal = weak_signal(n)
    signal[HALF:] = 0
    return signal


def first_columns(scores, n_kept=N_KEPT):
    return np.argpartition(-scores, n_kept - 1, axis=-1)[..., :n_kept]


def at_random(rng, scores):
    """Return the columns of two methods that draw five times in each fold."""
    return first_columns(rng.random((*scores.shape[:2], 2, N_DRAWS, N_COLUMNS)))


def at_random_once(rng, scores):
    return at_random(rng, scores)[..., :1, :]


def of_halves(rng, scores, n_kept=N_KEPT):
    """Return the columns of two methods that take those with the largest scores of their halves."""
    of_first = first_columns(scores[..., :HALF], n_kept)
    of_second = HALF + first_columns(scores[..., HALF:], n_kept)
    return np.stack([of_first, of_second], axis=2)[:, :, :, None, :]


def partly_at_random(rng, scores):
    """Return columns of which two are those of `of_halves`, and two are drawn, five times in each fold."""
    certain = of_halves(rng, scores, 2)
    certain = np.broadcast_to(certain, (*certain.shape[:3], N_DRAWS, 2))
    chances = rng.random((*certain.shape[:4], N_COLUMNS))
    np.put_along_axis(chances, certain, -1.0, axis=-1)
    return np.concatenate([certain, first_columns(chances, 2)], axis=-1)


def simulated(rng, n_samples, n, design, signal, choose):
    """Return errors (samples, repeats, folds, 2, draws) in points, and rows' differences (samples, repeats, n)."""
    errors, rows = [], []
    n_repeats, n_folds = design
    at_once = max(1, FLOATS_AT_ONCE // (n * N_COLUMNS))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    for start in range(0, n_samples, at_once):
        shape = min(at_once, n_samples - start), n, N_COLUMNS
        X = rng.standard_normal(shape) + signal(n) * y[:, None]
        of_repeats, of_rows = zip(
            *(cross_validated(rng, X, y, n_folds, choose) for _ in range(n_repeats)),
            strict=True,
        )
        errors.append(np.stack(of_repeats, axis=1))
        rows.append(np.stack(of_rows, axis=1))
    return np.concatenate(errors), np.concatenate(rows)


def cross_validated(rng, X, y, n_folds, choose):
    """Return errors and rows' differences of one repeat, of all samples at once."""
    size, n, d = X.shape
    order = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
    parts = np.take_along_axis(X, order[:, :, None], axis=1).reshape(
        size, n_folds, -1, d
    )
    classes = y[order].reshape(size, n_folds, -1)
    predicted = predictions(rng, parts, classes, choose)
    losses = 100.0 * (np.sign(predicted) != classes[:, :, None, None, :])
    of_rows = losses.mean(axis=3)
    differences = np.empty((size, n))
    np.put_along_axis(
        differences,
        order,
        (of_rows[:, :, 0] - of_rows[:, :, 1]).reshape(size, n),
        axis=1,
    )
    return losses.mean(axis=-1), differences


def predictions(rng, parts, classes, choose):
    """Return what least squares on the columns that `choose` takes, from all other folds, says of each row."""
    size, n_folds, n_test, d = parts.shape
    grams = parts.swapaxes(2, 3) @ parts
    grams = grams.sum(axis=1, keepdims=True) - grams  # of the training rows
    products = (parts * classes[..., None]).sum(axis=2)
    products = products.sum(axis=1, keepdims=True) - products
    columns = choose(rng, np.abs(products))
    sample = np.arange(size)[:, None, None, None, None]
    fold = np.arange(n_folds)[None, :, None, None, None]
    of_columns = grams[
        sample[..., None], fold[..., None], columns[..., :, None], columns[..., None, :]
    ]
    ridge = 1e-3 * n_folds * n_test * np.eye(columns.shape[-1])
    weights = np.linalg.solve(
        of_columns + ridge, products[sample, fold, columns][..., None]
    )[..., 0]
    coefficients = np.zeros((*columns.shape[:4], d))
    np.put_along_axis(coefficients, columns, weights, axis=-1)
    return np.einsum("sfnd,sfmjd->sfmjn", parts, coefficients, optimize=True)


# ---- real rows

PAIRS = {
    "two random": (UniformSelector(5), UniformSelector(5)),
    "F-test, RRQR": (SelectKBest(f_classif, k=5), RRQRSelector(5)),
    "F-test, random": (SelectKBest(f_classif, k=5), UniformSelector(5)),
}


def real_tables(folder):
    """Return rows and classes of real tables by name."""
    by_name = {"digits": load_digits(return_X_y=True)}
    if folder:
        table = pd.read_csv(folder / "pmlb" / "waveform-40.tsv.gz", sep="\t")
        by_name["waveform-40"] = (
            table.drop(columns="target").to_numpy(float),
            table["target"].to_numpy(),
        )
    return by_name


def real(rng, n_samples, n, design, X, y, pair):
    """Return errors (samples, repeats, folds, 2, 1) in points of two selectors with a ridge classifier."""
    n_repeats, n_folds = design
    errors = np.empty((n_samples, n_repeats * n_folds, 2, 1))
    for sample in range(n_samples):
        drawn = rng.choice(len(y), n, replace=False)
        seed = int(rng.integers(2**31))
        folds = RepeatedStratifiedKFold(
            n_splits=n_folds, n_repeats=n_repeats, random_state=seed
        )
        for place, (train, test) in enumerate(folds.split(X[drawn], y[drawn])):
            train, test = drawn[train], drawn[test]
            scaler = StandardScaler().fit(X[train])
            train_rows, test_rows = (
                scaler.transform(X[train]),
                scaler.transform(X[test]),
            )
            for method, selector in enumerate(pair):
                columns = clone(selector).fit(train_rows, y[train]).get_support()
                model = RidgeClassifier().fit(train_rows[:, columns], y[train])
                errors[sample, place, method] = 100 * (
                    1 - model.score(test_rows[:, columns], y[test])
                )
    return errors.reshape(n_samples, n_repeats, n_folds, 2, 1)


# ---- tests


def shares_below(errors, rows, location=0.0):
    """Return the share of samples with p < 0.05 by each test that suits the folds."""
    n_samples, n_repeats, n_folds, _, n_draws = errors.shape
    differences = (errors[..., 0, :] - errors[..., 1, :]).mean(axis=-1) - location
    if (n_repeats, n_folds) == (5, 2):
        return {TWO_FOLDS: float(np.mean(five_by_two(differences) < 0.05))}
    n, ratio = n_repeats * n_folds, 1 / (n_folds - 1)
    folds = differences.reshape(n_samples, n)
    mean, variance = folds.mean(axis=1), folds.var(axis=1, ddof=1)
    p = {
        COMPARE: np.array(
            [CorrectedT(values, ratio=ratio).p_value() for values in folds]
        )
    }
    p[FEWER] = t_test(mean, variance * (1 / n + ratio), n_folds - 1.0)
    if n_draws > 1:
        p[DRAWS] = draws_apart(errors, mean, variance)
    if n_repeats > 1:
        between = n_folds * differences.mean(axis=2).var(axis=1, ddof=1)
        within = differences.var(axis=2, ddof=1).mean(axis=1)
        hidden = np.clip(1 - between / np.maximum(within, 1e-12), 0, 1)
        p[REPEATS] = t_test(mean, variance * (1 / n + ratio * hidden), n - 1.0)
    if rows is not None:
        of_rows = rows.mean(axis=1)
        n_rows = of_rows.shape[1]
        p[ROWS] = t_test(mean, of_rows.var(axis=1, ddof=1) / n_rows, n_rows - 1.0)
    return {name: float(np.mean(values < 0.05)) for name, values in p.items()}


def draws_apart(errors, mean, variance):
    """Return p-values for which only the variance that is not of a method's own draws is corrected."""
    _, n_repeats, n_folds, _, n_draws = errors.shape
    n, ratio = n_repeats * n_folds, 1 / (n_folds - 1)
    of_draws = errors.var(axis=-1, ddof=1).sum(axis=3).mean(axis=(1, 2)) / n_draws
    rest = np.maximum(0, variance - of_draws)
    total = variance / n + ratio * rest
    first = (1 / n + ratio * (rest > 0)) * variance
    second = ratio * (rest > 0) * of_draws
    df = total**2 / (first**2 / (n - 1) + second**2 / (2 * n * (n_draws - 1)))
    return t_test(mean, total, np.clip(df, 1, n - 1))


def t_test(mean, variance, df):
    """Return two-sided p-values; 1 where nothing varies."""
    statistic = np.abs(mean) / np.sqrt(np.where(variance > 0, variance, np.inf))
    return 2 * stdtr(df, -statistic)


def five_by_two(differences):
    """Return the p-values of the 5x2cv F-test."""
    squares = (differences**2).sum(axis=(1, 2))
    spread = 2 * differences.var(axis=2, ddof=1).sum(axis=1)
    return fdtrc(10, 5, squares / np.where(spread > 0, spread, np.inf))


# ---- the table

NULLS = (
    ("at random, one draw", weak_signal, at_random_once),
    ("at random, five draws", weak_signal, at_random),
    ("largest covariance, no signal", no_signal, of_halves),
    ("largest covariance, weak signal", weak_signal, of_halves),
    ("largest covariance, clear signal", clear_signal, of_halves),
    ("two so and two at random, no signal", no_signal, partly_at_random),
)


def lines(n_samples, folder):
    """Yield the lines of the table."""
    rng = np.random.default_rng(71)
    for (what, signal, choose), n, design in product(NULLS, (60, 300, 2000), DESIGNS):
        fewer = 2 if design == (10, 10) or n == 2000 else 1
        errors, rows = simulated(
            rng, max(10, n_samples // fewer), n, design, signal, choose
        )
        yield line(what, design, n, shares_below(errors, rows))
    rng = np.random.default_rng(72)
    for (name, (X, y)), (pair, selectors) in product(
        real_tables(folder).items(), PAIRS.items()
    ):
        errors = real(rng, max(10, n_samples // 4), 200, (2, 5), X, y, selectors)
        mean = float((errors[..., 0, :] - errors[..., 1, :]).mean())
        yield line(f"{name}: {pair}", (2, 5), 200, shares_below(errors, None, mean))
    rng = np.random.default_rng(73)
    for n, design in product((60, 300), DESIGNS):
        errors, rows = simulated(
            rng, max(10, n_samples // 2), n, design, only_the_first, of_halves
        )
        yield line(
            "power: no signal for the second", design, n, shares_below(errors, rows)
        )


def line(what, design, n, shares):
    rounded = {name: round(share, 3) for name, share in shares.items()}
    return {"what": what, "folds": f"{design[0]} x {design[1]}", "n": n} | rounded


def main():
    parser = arguments(__doc__, 400)
    parser.add_argument("--tables", type=Path, help="folder with pmlb/<name>.tsv.gz")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "Features .* are constant")
    warnings.filterwarnings("ignore", "invalid value encountered in divide")
    write_table(lines(options.samples, options.tables), options.csv, FIELDS)


if __name__ == "__main__":
    main()
