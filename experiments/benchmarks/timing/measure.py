"""CPU seconds of calls, side by side."""

import statistics
import time
from pathlib import Path


def cpu_seconds(function, *arguments):
    """Return (CPU seconds of the process, result) of one call."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def in_turns(functions, repeats, once=()):
    """Return (seconds, results): a list of CPU seconds and the last result of each named function.

    The functions take turns, so that a machine that slows down slows all of them; those named in `once` run in the
    first turn only, because they take long.
    """
    seconds, results = {name: [] for name in functions}, {}
    for turn in range(repeats):
        for name, function in functions.items():
            if turn == 0 or name not in once:
                taken, results[name] = cpu_seconds(function)
                seconds[name].append(taken)
    return seconds, results


def several(function, repeats=3, long=1.0):
    """Return the CPU seconds of up to `repeats` calls, no further one after a call of more than `long` seconds."""
    seconds = []
    while len(seconds) < repeats and (not seconds or seconds[-1] <= long):
        seconds.append(cpu_seconds(function)[0])
    return seconds


def median(values):
    """Return the median of a number or of several."""
    return float(statistics.median(numbers(values)))


def numbers(values):
    """Return a list of floats, of a number or of several."""
    return [float(values)] if isinstance(values, int | float) else [float(value) for value in values]


def repository():
    """Return the root of the checkout."""
    return Path(__file__).resolve().parents[3]
