"""make reproduce-certificates | provsel reproduce paul2016/certificates [protocol.repeats=1]."""

from provlab.recipe import Recipe, Rendering
from provlab.summaries import count_states
from provlab.tables import Traced, write_tables

from .certificate_figure import CERTIFICATES, TRIAL_COLUMNS, draw_certificates

MEASURES = ("spectral_error", "margin_ratio", "radius_ratio")


def summarise(entry, trials):
    states = [
        {"column": f"{entry.column}, {name}", "value": text}
        for name, text in count_states(trials, CERTIFICATES).items()
    ]
    measured = [(name, trials[f"certificate_{name}"]) for name in MEASURES]
    return states + [
        {"column": f"{entry.column}, {name}", "value": values.mean(), "sd": values.std(ddof=1)}
        for name, values in measured
    ]


def render(made: Rendering) -> str:
    trials = made.trials(TRIAL_COLUMNS)
    trials["r"] = trials["column"].str.extract(r"r=(\d+)", expand=False).astype(float)
    columns = list(made.artefact.config.artefact.columns)
    settings = {}
    for column in columns:
        settings.setdefault(column.split(",")[0], []).append(column)
    rows = []
    for method in made.artefact.config.artefact.rows:
        for column in columns:
            found = trials[(trials["row"] == method) & (trials["column"] == column)]
            means = [found[f"certificate_{name}"].mean() for name in MEASURES]
            ratios = ["" if mean != mean else f"{mean:.2f}" for mean in means]
            numbers = [*ratios, *count_states(found, CERTIFICATES).values()]
            rows.append([method, column, *(Traced(text, method, column) for text in numbers)])
    protocol = made.artefact.config.protocol
    how = f"{protocol.repeats} x {protocol.n_splits}-fold, {made.frame['dataset'].nunique()} data sets"
    text = write_tables(
        made.tables,
        ["method", "", "||E||", "margin ratio", "radius ratio", *(f"{n} ({w})" for n, w in CERTIFICATES.items())],
        rows,
        caption=f"{made.artefact.title} ({how}): means over all trials, and trials by state of their certificate.",
        note=f"{made.note} vacuous: ||E|| is at least 1/2, and the bound says nothing. Margin and radius are squared. "
        "Empty: the paper states no bound (the spectral one of sampling has an open constant), or not for this "
        "setting.".strip(),
    )
    paths = draw_certificates(trials, settings, made.figures, title=f"{made.artefact.title} ({how}). {made.note}")
    return text + "\n" + "\n".join(str(path) for path in paths)


READ = [*TRIAL_COLUMNS, "error"]
RECIPE = Recipe("paul2016/certificates", render, summarise=summarise, columns=READ)
