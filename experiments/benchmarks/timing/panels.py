"""The figure of scaling.py: cost against size, one panel a variable."""

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from provlab.report.figures.looks import looks
from provlab.report.figures.style import TWO_COLUMNS, save_figure, style
from timing.exponents import exponent_text

COLUMNS = 3
FEW = 3
"""Up to so many methods in a panel there is room for the theory's lines too."""
LOWEST_RANGE = 5.0
"""Highest over lowest of the axis of costs, at least: noise of a flat cost should look flat."""


def draw_panels(sweeps, stem, title):
    """Write the figure of measured sweeps (see scaling.py), as PDF, PNG and SVG."""
    variables = list(dict.fromkeys(sweep["variable"] for sweep in sweeps))
    methods = looks(sweep["method"] for sweep in sweeps)
    lines = -(-len(variables) // COLUMNS)
    with style():
        figure = Figure(figsize=(TWO_COLUMNS, 0.4 + 3.0 * lines), layout="constrained")
        panels = figure.subplots(lines, COLUMNS, squeeze=False)
        for panel, variable in zip(panels.flat, variables, strict=False):
            draw_panel(panel, [sweep for sweep in sweeps if sweep["variable"] == variable], methods)
        for panel in panels.flat[len(variables) :]:
            panel.set_axis_off()
        return save_figure(figure, stem, title)


def draw_panel(panel, sweeps, methods):
    """Draw the sweeps of one variable, the fits as lines, with both exponents in the legend below."""
    for sweep in sweeps:
        fit, sizes = sweep["fit"], sweep["sizes"]
        theory = "none" if sweep["theory"] is None else f"{sweep['theory']:g}"
        label = f"{sweep['method']}: {exponent_text(fit)} ({theory})"
        kind = {"color": methods[sweep["method"]].colour, "marker": methods[sweep["method"]].marker}
        panel.plot(sizes, sweep["seconds"], linestyle="none", markersize=3.5, label=label, **kind)
        panel.plot(fit.sizes, [fit.at(size) for size in fit.sizes], color=kind["color"])
        if len(sweeps) <= FEW and sweep["theory"] is not None:
            first = fit.sizes[0]
            costs = [fit.at(first) * (size / first) ** sweep["theory"] for size in fit.sizes]
            panel.plot(fit.sizes, costs, color=kind["color"], linestyle=":")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel(sweeps[0]["axis"])
    panel.set_ylabel(sweeps[0]["cost"])
    sizes = sorted({size for sweep in sweeps for size in sweep["sizes"]})
    step = -(-len(sizes) // 5)
    panel.set_xticks(sizes[::-1][::step])
    low, high = panel.get_ylim()
    wider = max(1.0, LOWEST_RANGE / (high / low)) ** 0.5
    panel.set_ylim(low / wider, high * wider)
    within_a_decade = high / low * wider**2 < 30
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if within_a_decade else (1,)))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(short))
        axis.set_minor_locator(NullLocator())
    panel.legend(loc="upper center", bbox_to_anchor=(0.45, -0.22), fontsize=6, handletextpad=0.2, labelspacing=0.3)


def short(size, _place=None):
    """Return 16000 as 16k, and 0.05 as it is."""
    return f"{size / 1000:g}k" if size >= 1000 else f"{size:g}"
