"""make reproduce-ofs-certificates | provsel reproduce wang2018/ofs-certificates [protocol.repeats=5]."""

from provlab.core.recipe import Recipe, Rendering
from provlab.core.summaries import count_states
from provlab.core.tables import Traced, write_tables

NUMBERS = {
    "n_selected": ("features kept, mean", "mean"),
    "certificate_spectral_error": ("largest ||E||", "max"),
    "certificate_score_sum": ("sum of scores, largest", "max"),
    "certificate_score_sum_bound": ("its bound", "max"),
    "certificate_cost_ratio_min": ("cost ratio, smallest", "min"),
    "certificate_cost_ratio_max": ("cost ratio, largest", "max"),
    "certificate_partition_ratio": ("partition ratio, largest", "max"),
}
HEADINGS = [heading for heading, _ in NUMBERS.values()]
CERTIFICATES = {
    "spectral": "Theorem 1",
    "scores": "Lemma 2",
    "cost": "Lemma 3",
    "partition": "Theorem 2",
}
"""Certificates in a record, and where the paper promises what they check."""

READ = [*NUMBERS, *(f"certificate_{name}" for name in CERTIFICATES)]


def summarise(entry, trials):
    return [
        {"column": name, "value": trials[key].agg(how)}
        for key, (name, how) in NUMBERS.items()
    ]


def render(rendering: Rendering) -> str:
    numbers = rendering.frame.astype({"value": float}).set_index(
        ["row", "dataset", "column"]
    )["value"]
    rows = []
    for (row, dataset), part in rendering.trials(READ).groupby(
        ["row", "dataset"], sort=False
    ):
        texts = [_text(numbers[row, dataset, heading]) for heading in HEADINGS]
        texts += count_states(part, CERTIFICATES).values()
        column = part["column"].iloc[0]
        rows.append(
            [dataset, row, *(Traced(text, row, column, dataset) for text in texts)]
        )
    config = rendering.artefact.config
    epsilon = config.selector.epsilon
    return write_tables(
        rendering.tables,
        ["data", "method", *HEADINGS, *CERTIFICATES.values()],
        rows,
        caption=f"{rendering.artefact.title}, epsilon = {epsilon}, {config.protocol.repeats} seeds. ||E|| <= {epsilon} "
        "is Theorem 1.",
        note=f"{rendering.note} Synthetic data: 20 x 20,000. Lemma 3: cost ratios within 1 -+ epsilon. Theorem 2: "
        f"partition ratio up to {(1 + epsilon) / (1 - epsilon):.3g}. vacuous: every column kept with weight 1, or a "
        "bound above the number of columns.".strip(),
    )


def _text(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


RECIPE = Recipe("wang2018/ofs-certificates", render, summarise=summarise, columns=READ)
