"""python experiments/benchmarks/stability_intervals.py [--samples 200] [--csv FILE]: how often intervals hold.

Simulated selections, and how often the 95 % interval of their stability holds the true one, which is the mean of the
index over many samples. Independent selections take the k largest of d scores, which are a signal and normal noise; or
each feature for itself with its own probability. Folds are of n drawn rows, of which the k columns with the largest
absolute covariance with the classes are taken: the true stability is that of folds of other rows. A line is about all
sizes and signals of its kind: `held` is the mean share, `least` that of the worst, and `paper` the worst of the
interval of Nogueira, Sechidis and Brown, without what few selections and shared rows need. Two standard errors of a
share are 3.1 points at 95 %, with 200 samples; the least of many is about as much too low.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.special import ndtri
from timing import report, rules_table

from provsel.stability import stability

BENCH = {
    "bench": ["--samples", "100"],
    "quick": ["--samples", "20"],
    "left_out": "100 of 200 samples",
    "seconds": 200,
}

FIELDS = ["what", "selections", "stability", "held", "least", "paper", "width"]
TARGETS = (0.0, 0.3, 0.6, 0.8, 0.95)
SIZES = ((10, 3), (30, 2), (60, 10), (200, 20))
"""Features, and how many of them are taken."""

NORMAL = float(ndtri(0.975))
FLOATS_AT_ONCE = 4_000_000


def largest(scores, k):
    """Return masks of the k largest scores, along the last axis."""
    masks = np.zeros(scores.shape, bool)
    np.put_along_axis(masks, np.argpartition(-scores, k - 1, axis=-1)[..., :k], True, axis=-1)
    return masks


# ---- independent selections


def step(d, k):
    return np.r_[np.ones(k), np.zeros(d - k)]


def ramp(d, k):
    return np.linspace(1, 0, d)


def geometric(d, k):
    return 0.9 ** np.arange(d)


SIGNALS = (step, ramp, geometric)


def noisy_scores(signal, k, strength):
    def draw(rng, n_samples, m):
        noise = rng.standard_normal((n_samples, m, len(signal)), dtype=np.float32)
        return largest(strength * signal + noise, k)

    return draw


def each_for_itself(d, k, target):
    """Return a function that draws selections whose sizes vary, with a stability of `target`."""
    likely = np.sqrt(target)
    inclusion = np.r_[np.full(k, 1 - (1 - k / d) * (1 - likely)), np.full(d - k, k / d * (1 - likely))]
    return lambda rng, n_samples, m: rng.random((n_samples, m, d)) < inclusion


def strength_for(target, signal, k, rng):
    """Return how strong a signal is whose selections have a stability."""
    low, high = 0.0, 60.0 * (target > 0)
    for _ in range(14):
        middle = (low + high) / 2
        [selections] = noisy_scores(signal, k, middle)(rng, 1, 500)
        if stability(selections, len(signal)).index < target:
            low = middle
        else:
            high = middle
    return high


def independent(n_samples, rng):
    """Return the lines about independent selections."""
    for target in TARGETS:
        draws = []
        for d, k in SIZES:
            draws.append((d, each_for_itself(d, k, target)))
            for shape in SIGNALS:
                signal = shape(d, k)
                draws.append((d, noisy_scores(signal, k, strength_for(target, signal, k, rng))))
        for m in (5, 10, 50):
            results = []
            for d, draw in draws:
                [many] = draw(rng, 1, 4000)
                reports = [stability(masks, d) for masks in draw(rng, n_samples, m) if masks.any()]
                results.append(shares(reports, stability(many, d).index if target else 0.0))
            yield line(f"independent, stability {target:g}", m, results)


# ---- folds of the same rows


def no_signal(d, k, strength):
    return np.zeros(d), 0.0


def k_columns(d, k, strength):
    return strength * step(d, k), 0.0


def all_columns(d, k, strength):
    return 1.5 * strength * ramp(d, k), 0.0


def alike_columns(d, k, strength):
    """Every fifth column has a signal, and resembles four others."""
    signal = np.where(np.arange(d) % 5 == 0, strength, 0.0)
    signal[3 * k :] = 0
    return signal, 0.7


def blocks(d, k, strength):
    """Give a signal to k/5 blocks of five columns that resemble each other, among blocks without."""
    return strength * step(d, k), 0.7


KINDS = {
    no_signal: "no column with a signal",
    k_columns: "k columns with a signal",
    all_columns: "all columns with a signal",
    alike_columns: "columns with and without a signal alike (correlation 0.7)",
    blocks: "blocks of five such columns, which come and go together",
}
ROWS = ((60, 50, 5), (200, 50, 5), (100, 200, 20))
DESIGNS = ((1, 5), (1, 10), (1, 20), (2, 5), (10, 10))


def folds(rng, n_samples, rows, design, kind, strength):
    """Yield the selections of all folds of each sample of n rows."""
    n, d, k = rows
    repeats, n_folds = design
    signal, correlation = kind(d, k, strength)
    y = np.where(np.arange(n) % 2, 1.0, -1.0).astype(np.float32)
    at_once = max(1, FLOATS_AT_ONCE // (n * d))
    for start in range(0, n_samples, at_once):
        size = min(at_once, n_samples - start)
        common = np.repeat(rng.standard_normal((size, n, d // 5), dtype=np.float32), 5, axis=2)
        own = rng.standard_normal((size, n, d), dtype=np.float32)
        products = (np.sqrt(1 - correlation) * own + np.sqrt(correlation) * common) * y[:, None] + signal / np.sqrt(n)
        whole = products.sum(axis=1)[:, None]
        kept = []
        for _ in range(repeats):
            order = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)[:, : n // n_folds * n_folds]
            tested = np.take_along_axis(products, order[:, :, None], axis=1)
            tested = tested.reshape(size, n_folds, -1, d).sum(axis=2)
            kept.append(largest(np.abs(whole - tested), k))
        yield from np.concatenate(kept, axis=1)


def of_folds(n_samples, rng):
    """Return the lines about folds."""
    for design in DESIGNS:
        repeats, n_folds = design
        for kind, what in KINDS.items():
            results = []
            for rows in ROWS:
                for strength in (2.0, 3.0, 4.0) if kind is not no_signal else (0.0,):
                    selections = folds(rng, n_samples, rows, design, kind, strength)
                    reports = [stability(masks, rows[1], overlap=1 / (n_folds - 1)) for masks in selections]
                    results.append(shares(reports, float(np.mean([each.index for each in reports]))))
            yield line(f"{repeats} x {n_folds} folds, {what}", repeats * n_folds, results)


def drawing_in_folds(n_samples, rng):
    """Return the line about a selector that draws half of its features: five draws in each of five folds."""
    n, d, k = 100, 50, 6
    results = []
    for strength in (0.0, 2.0, 4.0):
        reports = []
        for stable in folds(rng, n_samples, (n, d, k // 2), (1, 5), k_columns, strength):
            drawn = np.where(stable[:, None], 2.0, rng.random((5, 5, d)))
            masks = largest(drawn, k).reshape(25, d)
            reports.append(stability(masks, d, samples=np.repeat(range(5), 5), overlap=1 / 4))
        results.append(shares(reports, float(np.mean([each.index for each in reports]))))
    yield line("5 folds with 5 draws, half of the features drawn", 25, results)


# ---- the table


def shares(reports, true):
    """Return how often an interval and the paper's hold the true stability, the mean width, and the true one."""
    ends = np.array([each.interval() for each in reports])
    held = (ends[:, 0] <= true) & (true <= ends[:, 1])
    distance = np.abs(true - np.array([each.index for each in reports]))
    paper = distance <= NORMAL * np.sqrt([each.variance for each in reports])
    return held.mean(), paper.mean(), np.ptp(ends, axis=1).mean(), true


def line(what, n_selections, results):
    held, paper, width, true = np.array(results).T
    numbers = [f"{true.min():.2f} to {true.max():.2f}", held.mean(), held.min(), paper.min(), width.mean()]
    numbers[1:] = [round(float(number), 3) for number in numbers[1:]]
    return dict(zip(FIELDS, [what, n_selections, *numbers], strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--csv", type=Path, help="write the table there too")
    options = parser.parse_args()
    rows = [*independent(options.samples, np.random.default_rng(61))]
    rows += of_folds(options.samples, np.random.default_rng(62))
    rows += drawing_in_folds(options.samples, np.random.default_rng(63))
    report("stability_intervals", rules_table(FIELDS, rows, options.csv), rows=rows, samples=options.samples)


if __name__ == "__main__":
    main()
