"""python experiments/benchmarks/scaling.py [--quick|--bench]: cost against n, d, r, rank, tasks, workers.

Gaussian rows (n x d; two classes where labels are needed), one size varied at a time, the others as in
`timing/sweeps.py`. CPU seconds of one BLAS thread, medians of up to three; for workers the seconds of the clock, as
CPU seconds do not fall. The exponent is fitted by least squares in the logarithms over the upper half of the sizes,
with its standard error, beside that of the theory, which leaves out what does not dominate. It is no goal: a cost may
rise more slowly, because a method is lazy, or BLAS faster on large matrices, and faster where arrays leave the cache.

Leaves scaling.svg, .pdf and .png beside its tables. The default takes some three minutes.
"""

import argparse
import time

from threadpoolctl import threadpool_limits
from timing import case, report, several
from timing.cases import folder
from timing.exponents import exponent_text, fit_exponent
from timing.measure import median
from timing.panels import draw_panels
from timing.sweeps import PREPARE, SWEEPS

from provlab.core.cell import Cell
from provlab.core.plan import identity_of, make_tasks
from provlab.run.executors import execute, usable_cores
from provlab.run.task import run_task

BENCH = {
    "bench": ["--bench"],
    "quick": ["--quick"],
    "left_out": "the largest size of each sweep",
    "seconds": 300,
}
AXES = {
    "n": "rows n", "d": "features d", "r": "selected features r", "ell": "rank, components",
    "tasks": "tasks", "workers": "workers",
}  # fmt: skip
TITLE = (
    "Cost against size. In the legends: the fitted exponent of the upper half, its standard error (and the theory's "
    "exponent). Solid: the fit; dotted, where there is room: the theory's slope from the first point of the fit."
)


def measured(sweep, values):
    """Return the measured sweep, with its fit."""
    seconds = []
    for value in values:
        work = PREPARE[sweep.method](**sweep.fixed, **{sweep.variable: value})
        seconds.append(median(several(work, long=0.3)))
    return finished(sweep.method, sweep.variable, values, seconds, sweep.theory, sweep.source, sweep.fixed)


def finished(method, variable, sizes, seconds, theory, source, fixed, cost="CPU seconds"):
    """Return a measured sweep; sizes whose cost the clock did not see are left out."""
    seen = [(size, value) for size, value in zip(sizes, seconds, strict=True) if value > 0]
    sizes, seconds = [size for size, _ in seen], [value for _, value in seen]
    return {
        "method": method, "variable": variable, "axis": AXES[variable], "cost": cost, "sizes": sizes,
        "seconds": seconds, "fixed": fixed, "theory": theory, "source": source, "fit": fit_exponent(sizes, seconds),
    }  # fmt: skip


def make_small_tasks(count):
    """Return tasks of one synthetic fold each."""
    dataset = {"name": "synthetic", "n_samples": 100, "n_features": 500, "n_relevant": 5, "seed": 0}
    protocol = {
        "split": "kfold", "n_splits": 5, "repeats": -(-count // 5), "draws": 2, "setting": "supervised", "seed": 0,
        "certify": True,
    }  # fmt: skip
    cell = Cell(
        dataset=dataset, selector={"_target_": "provsel.selectors.BSSSelector", "n_features_to_select": 200},
        model={"_target_": "provsel.models.LibsvmSVM", "C": 1.0}, protocol=protocol,
        data=identity_of(dataset),
    )  # fmt: skip
    return list(make_tasks([cell]))[:count]


def of_tasks(counts):
    """Return the sweep over the number of tasks, one process."""
    tasks = make_small_tasks(max(counts))
    run_task(tasks[0])  # loads the data set
    seconds = [median(several(lambda count=count: [run_task(task) for task in tasks[:count]])) for count in counts]
    return finished("serial", "tasks", list(counts), seconds, 1, "each does the same work", {})


def of_workers(count):
    """Return the sweep over the number of workers, which all ran something before, in seconds of the clock."""
    tasks, sizes = make_small_tasks(count), [1, 2] if usable_cores() > 1 else [1]
    seconds = []
    for workers in sizes:
        config = {"name": "loky", "n_jobs": workers}
        times = []
        for _ in range(4):
            start = time.perf_counter()
            list(execute(tasks, config))
            times.append(time.perf_counter() - start)
        seconds.append(median(times[1:]))
    if len(sizes) == 1:
        return None
    return finished("loky", "workers", sizes, seconds, -1, "tasks share nothing", {"tasks": count}, "seconds")


def cases(sweeps):
    """Return the common records: exponents beside those of the theory, their spread by the standard error."""
    found = []
    for sweep in sweeps:
        fit, theory = sweep["fit"], sweep["theory"]
        name = f"{sweep['method']} against {sweep['axis']}, to {max(sweep['sizes']):,}"
        low_high = [fit.exponent + sign * fit.error for sign in (-1, 0, 1)] if fit.error else fit.exponent
        found.append(case(name, low_high, limit=("theory", theory) if theory else None, unit="exponent"))
    return found


def markdown(sweeps):
    """Return the table of all exponents."""
    lines = [
        "| method | against | sizes | others | largest (s) | exponent | theory | source |",
        "|---|---|---|---|--:|--:|--:|---|",
    ]
    for sweep in sweeps:
        others = ", ".join(f"{name} = {value:,}" for name, value in sweep["fixed"].items())
        theory = "" if sweep["theory"] is None else f"{sweep['theory']:g}"
        lines.append(
            f"| {sweep['method']} | {sweep['axis']} | {min(sweep['sizes']):,} to {max(sweep['sizes']):,} | {others} "
            f"| {sweep['seconds'][-1]:.3f} | {exponent_text(sweep['fit'])} | {theory} | {sweep['source']} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--quick", action="store_true", help="the three smallest sizes of each")
    forms.add_argument("--bench", action="store_true", help="all sizes but the largest")
    options = parser.parse_args()
    last = 3 if options.quick else 4 if options.bench else None
    with threadpool_limits(1):
        sweeps = []
        for sweep in SWEEPS:
            PREPARE[sweep.method](**sweep.fixed, **{sweep.variable: sweep.values[0]})()  # first calls of everything
            sweeps.append(measured(sweep, sweep.values[:last]))
        sweeps.append(of_tasks((4, 8, 16) if options.quick else (8, 16, 32, 64)))
        sweeps += [found for found in [of_workers(20 if options.quick else 40)] if found]
    in_order = sorted(sweeps, key=lambda sweep: list(AXES).index(sweep["variable"]))
    draw_panels(in_order, folder() / "scaling", TITLE)
    records = [{**sweep, "fit": vars(sweep["fit"])} for sweep in sweeps]
    report("scaling", markdown(sweeps), cases(sweeps), sweeps=records)


if __name__ == "__main__":
    main()
