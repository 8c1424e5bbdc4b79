"""python experiments/simulations/stability_intervals.py [--samples 200] [--csv FILE]: how often intervals hold.

Simulated selections, and how often the 95 % interval of their stability holds the true
one, which is the mean of the index over many samples. Independent selections take the k
largest of d scores, which are a signal and normal noise; or each feature for itself
with its own probability. Folds are of n drawn rows, of which the k columns with the
largest absolute covariance with the classes are taken: the true stability is that of
folds of other rows. A line is about all sizes and signals of its kind: `held` is the
mean share, `least` that of the worst, and `paper` the worst of the interval of
Nogueira, Sechidis and Brown, without what few selections and shared rows need. Two
standard errors of a share are 3.1 points at 95 %, with 200 samples; the least of many
is about as much too low.
"""

import numpy as np
from scipy.special import ndtri
from tables import arguments, write_table

from provsel.stability import stability

FIELDS = ["what", "selections", "stability", "held", "least", "paper", "width"]
TARGETS = (0.0, 0.3, 0.6, 0.8, 0.95)
SIZES = ((10, 3), (30, 2), (60, 10), (200, 20))
"""Features, and how many of them are taken."""

NORMAL = float(ndtri(0.975))
FLOATS_AT_ONCE = 4_000_000


def largest(scores, k):
    """Return masks of the k largest scores, along the last axis."""
    masks = np.zeros(scores.shape, bool)
    np.put_along_axis(
        masks, np.argpartition(-scores, k - 1, axis=-1)[..., :k], True, axis=-1
    )
    return masks


# ---- independent selections


def step(d, k):
    return np.r_[np.ones(k), np.zeros(d - k)]


def ramp(d, k):
    return np.linspace(1, 0, d)


def geometric(d, k):
    return 0.9 ** np.arange(d)


def noisy_scores(signal, k, strength):
    """Return a function that draws the k largest of scores with noise."""

    def draw(rng, n_samples, m):
        noise = rng.standard_normal((n_samples, m, len(signal)), dtype=np.float32)
        return largest(strength * signal + noise, k)

    return draw


def each_for_itself(d, k, target):
    """Return a function that draws selections whose sizes vary, with a stability of `target`."""
    likely = np.sqrt(target)
    inclusion = np.r_[
        np.full(k, 1 - (1 - k / d) * (1 - likely)), np.full(d - k, k / d * (1 - likely))
    ]
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
    """Yield the lines about independent selections."""
    for target in TARGETS:
        draws = []
        for d, k in SIZES:
            draws.append((d, each_for_itself(d, k, target)))
            for shape in (step, ramp, geometric):
                signal = shape(d, k)
                draws.append(
                    (d, noisy_scores(signal, k, strength_for(target, signal, k, rng)))
                )
        for m in (5, 10, 50):
            shares = [held(rng, draw, d, m, n_samples, target) for d, draw in draws]
            yield line(f"independent, stability {target:g}", m, shares)


def held(rng, draw, d, m, n_samples, target):
    [many] = draw(rng, 1, 4000)
    reports = [stability(masks, d) for masks in draw(rng, n_samples, m) if masks.any()]
    return shares_held(reports, stability(many, d).index if target else 0.0)


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
    n_repeats, n_folds = design
    signal, correlation = kind(d, k, strength)
    y = np.where(np.arange(n) % 2, 1.0, -1.0).astype(np.float32)
    at_once = max(1, FLOATS_AT_ONCE // (n * d))
    for start in range(0, n_samples, at_once):
        size = min(at_once, n_samples - start)
        common = np.repeat(
            rng.standard_normal((size, n, d // 5), dtype=np.float32), 5, axis=2
        )
        own = rng.standard_normal((size, n, d), dtype=np.float32)
        products = (np.sqrt(1 - correlation) * own + np.sqrt(correlation) * common) * y[
            :, None
        ] + signal / np.sqrt(n)
        of_all_rows = products.sum(axis=1)[:, None]
        selections = []
        for _ in range(n_repeats):
            order = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)[
                :, : n // n_folds * n_folds
            ]
            tested = np.take_along_axis(products, order[:, :, None], axis=1)
            tested = tested.reshape(size, n_folds, -1, d).sum(axis=2)
            selections.append(largest(np.abs(of_all_rows - tested), k))
        yield from np.concatenate(selections, axis=1)


def of_folds(n_samples, rng):
    """Yield the lines about folds."""
    for design in DESIGNS:
        n_repeats, n_folds = design
        for kind, what in KINDS.items():
            strengths = (0.0,) if kind is no_signal else (2.0, 3.0, 4.0)
            shares = []
            for rows in ROWS:
                for strength in strengths:
                    selections = folds(rng, n_samples, rows, design, kind, strength)
                    reports = [
                        stability(masks, rows[1], overlap=1 / (n_folds - 1))
                        for masks in selections
                    ]
                    shares.append(shares_held(reports, mean_index(reports)))
            yield line(
                f"{n_repeats} x {n_folds} folds, {what}", n_repeats * n_folds, shares
            )


def drawing_in_folds(n_samples, rng):
    """Return the line about a selector that draws half of its features: five draws in each of five folds."""
    n, d, k = 100, 50, 6
    shares = []
    for strength in (0.0, 2.0, 4.0):
        reports = []
        for stable in folds(
            rng, n_samples, (n, d, k // 2), (1, 5), k_columns, strength
        ):
            drawn = np.where(stable[:, None], 2.0, rng.random((5, 5, d)))
            masks = largest(drawn, k).reshape(25, d)
            reports.append(
                stability(masks, d, samples=np.repeat(range(5), 5), overlap=1 / 4)
            )
        shares.append(shares_held(reports, mean_index(reports)))
    return line("5 folds with 5 draws, half of the features drawn", 25, shares)


# ---- the table


def mean_index(reports):
    return float(np.mean([report.index for report in reports]))


def shares_held(reports, true):
    """Return how often an interval and the paper's hold the true stability, the mean width, and the true one."""
    ends = np.array([report.interval() for report in reports])
    is_held = (ends[:, 0] <= true) & (true <= ends[:, 1])
    distance = np.abs(true - np.array([report.index for report in reports]))
    is_held_by_paper = distance <= NORMAL * np.sqrt(
        [report.variance for report in reports]
    )
    return is_held.mean(), is_held_by_paper.mean(), np.ptp(ends, axis=1).mean(), true


def line(what, n_selections, shares):
    ours, paper, width, true = np.array(shares).T
    numbers = [
        round(float(number), 3)
        for number in (ours.mean(), ours.min(), paper.min(), width.mean())
    ]
    return what, n_selections, f"{true.min():.2f} to {true.max():.2f}", *numbers


def main():
    options = arguments(__doc__, 200).parse_args()
    rows = [*independent(options.samples, np.random.default_rng(61))]
    rows += of_folds(options.samples, np.random.default_rng(62))
    rows.append(drawing_in_folds(options.samples, np.random.default_rng(63)))
    write_table(rows, options.csv, FIELDS)


if __name__ == "__main__":
    main()
