"""Mutual information of columns with a target, estimated by nearest neighbours: all columns of a block at once.

Kraskov, Stoegbauer, Grassberger (2004) for two numbers, Ross (2014) for a number and a
class. Columns are rows here, shape (d, n), so that each is contiguous.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from provsel.kernels.discrete_information import Codes, column_blocks
from provsel.kernels.spectral import Array

BLOCK = 1 << 14
"""Values of a block of columns, whose lists of neighbours stay in a cache."""

MANY = 600
"""Number of rows from which strips are faster."""

STRIP = 3.5
"""Rows of a strip, in units of sqrt(k n)."""

FAR = 1e300
"""A value that no point has."""

STEPS = 1.2
"""Rows before and after a point that are compared with it, in units of sqrt(k n), which leaves few points open."""


def information_with_classes(
    columns: Array, y: NDArray[np.int64], n_neighbors: int
) -> Array:
    """Return the mutual information, shape (d,), in nats, of numbers, shape (d, n), with the classes y = 0, 1, ..."""
    order = np.argsort(y, kind="stable")
    order = order[np.bincount(y)[y[order]] > 1]  # a class of one row has no neighbours
    if order.size == 0:
        return np.zeros(len(columns))
    groups = y[order]
    information = np.empty(len(columns))
    for part in column_blocks(len(columns), y.size, BLOCK):
        values = columns[part][:, order]
        everywhere = np.sort(values, axis=1)
        for start, stop in pairwise(
            [0, *(np.flatnonzero(np.diff(groups)) + 1), groups.size]
        ):
            values[:, start:stop].sort(axis=1)
        radius, n_near, size = _radius_in_groups(values, groups[None, :], n_neighbors)
        counts = _counts(everywhere, values, _inside(values, radius))
        information[part] = _of_groups(n_near, size, counts)
    return np.maximum(information, 0.0)


def information_of_codes(codes: Codes, y: Array, n_neighbors: int) -> Array:
    """Return the mutual information, shape (d,), of codes 0, 1, ..., shape (d, n), with numbers y, shape (n,)."""
    by_target = np.argsort(y, kind="stable")
    target = y[by_target]
    information = np.zeros(len(codes))
    for part in column_blocks(len(codes), y.size, BLOCK):
        coded = codes[part][:, by_target]
        order = np.argsort(coded, axis=1, kind="stable")
        groups, values = np.take_along_axis(coded, order, axis=1), target[order]
        radius, n_near, size = _radius_in_groups(values, groups, n_neighbors)
        inside = _inside(values, radius)
        for place, feature in enumerate(range(len(codes))[part]):
            kept = size[place] > 1
            if kept.any():
                everywhere = np.sort(values[place, kept])[None, :]
                counts = _counts(
                    everywhere,
                    values[place, kept][None, :],
                    inside[place, kept][None, :],
                )
                information[feature] = _of_groups(
                    n_near[place, kept], size[place, kept], counts
                )[0]
    return np.maximum(information, 0.0)


def information_with_numbers(columns: Array, y: Array, n_neighbors: int) -> Array:
    """Return the mutual information, shape (d,), in nats, of numbers, shape (d, n), with numbers y, shape (n,)."""
    order = np.argsort(y, kind="stable")
    target = y[order]
    n_samples = target.size
    digammas = digamma(np.arange(n_samples + 1))
    information = np.empty(len(columns))
    for part in column_blocks(len(columns), y.size, BLOCK):
        values = columns[part][:, order]
        by_value = np.argsort(values, axis=1)
        line = np.take_along_axis(values, by_value, axis=1)
        radius = _radius_of_pairs(values, target, by_value, line, n_neighbors)
        inside = _inside(line, np.take_along_axis(radius, by_value, axis=1))
        near = digammas[_counts(line, line, inside)].mean(axis=1)
        targets = np.broadcast_to(target, values.shape).reshape(1, -1)
        inside = _inside(targets, radius.reshape(1, -1))
        near += (
            digammas[_counts(target[None, :], targets, inside)]
            .reshape(values.shape)
            .mean(axis=1)
        )
        information[part] = digammas[n_samples] + digammas[n_neighbors] - near
    return np.maximum(information, 0.0)


def _radius_in_groups(
    values: Array, groups: NDArray[np.integer], n_neighbors: int
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distance to the last neighbour in the group, how many neighbours these are, and the group's size.

    `values`, shape (b, n), increase in each group; groups, shape (b, n) or (1, n), are
    contiguous. Groups of at most k rows have fewer than k neighbours.
    """
    size = _run_lengths(groups)
    n_near = np.minimum(n_neighbors, size - 1)
    after = [np.zeros_like(values)]
    before = [np.zeros_like(values)]
    for step in range(1, n_neighbors + 1):
        gap = np.full_like(values, np.inf)
        if step < values.shape[1]:
            same = groups[:, step:] == groups[:, :-step]
            gap[:, :-step] = np.where(
                same, values[:, step:] - values[:, :-step], np.inf
            )
        after.append(gap)
        before.append(np.roll(gap, step, axis=1))
    radius = np.full_like(values, np.inf)
    for count in np.unique(n_near[n_near > 0]):
        nearest = np.full_like(values, np.inf)
        # neighbours in a line: some on the left, and the others on the right
        for left in range(count + 1):
            np.minimum(
                nearest, np.maximum(before[left], after[count - left]), out=nearest
            )
        radius = np.where(n_near == count, nearest, radius)
    return radius, n_near, size


def _run_lengths(groups: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return for each value the length of its run of equal values, shape (b, n)."""
    starts = np.ones(groups.shape, dtype=bool)
    starts[:, 1:] = groups[:, 1:] != groups[:, :-1]
    first = np.flatnonzero(starts)
    lengths = np.diff(first, append=groups.size)
    return np.repeat(lengths, lengths).reshape(groups.shape)


def _of_groups(
    n_near: NDArray[np.int64], size: NDArray[np.int64], counts: NDArray[np.int64]
) -> Array:
    """Return Ross' estimate of each column from counts, shape (b, m), of points within the radius."""
    n_samples = counts.shape[1]
    digammas = digamma(np.arange(n_samples + 1))
    return (
        digammas[n_samples]
        + (digammas[n_near] - digammas[size]).mean()
        - digammas[counts].mean(axis=1)
    )


def _inside(values: Array, radius: Array) -> Array:
    """Return a slightly smaller radius, so that the neighbour that defines it is outside despite rounding."""
    return radius - 4 * np.spacing(np.abs(values) + radius)


def _counts(everywhere: Array, values: Array, radius: Array) -> NDArray[np.int64]:
    """Return how many of the sorted points, shape (b, m), are within a radius of each value, both of shape (b, n)."""
    rows = np.arange(len(everywhere))[:, None]
    stop = _places(everywhere, rows, values + radius)
    start = _places(everywhere, rows, values - radius)
    return np.maximum(stop - start, 1)  # each is near itself


def _places(lines: Array, rows: NDArray[np.int64], keys: Array) -> NDArray[np.int64]:
    """Return how many points of a sorted line are less than each key: for line `rows` of the lines, shape (b, m).

    All keys are bisected together, in half the time of separate searches, whose
    branches processors cannot predict.
    """
    n_lines, n_points = lines.shape
    n_halvings = n_points.bit_length()
    width = 2**n_halvings
    padded = np.full((n_lines, width), np.inf)
    padded[:, :n_points] = lines
    points = padded.ravel()
    starts = rows * width
    places = np.zeros(keys.shape, dtype=np.int64) + starts
    for exponent in reversed(range(n_halvings)):
        step = 2**exponent
        is_less = points[step - 1 :].take(places) < keys
        places += is_less * np.int64(step)
    return places - starts


def _radius_of_pairs(
    values: Array,
    target: Array,
    by_value: NDArray[np.int64],
    line: Array,
    n_neighbors: int,
) -> Array:
    """Return the distance of each point (value, target) to its neighbour number k, by the larger difference.

    Shape (b, n), for values in the order of the sorted target; `by_value` orders them,
    which gives `line`.
    """
    n_samples = target.size
    if n_samples < MANY:
        n_steps = min(n_samples - 1, int(STEPS * np.sqrt(n_neighbors * n_samples)))
        radius = _bound_by_steps(
            values.T, target[:, None], n_neighbors, n_steps
        ).T.copy()
        is_open = _gap_after(target[None, :], n_steps + 1) < radius
    else:
        radius, is_open = _bound_in_strips(values, target, n_neighbors)
    _close(radius, is_open, values, target, by_value, line, n_neighbors)
    return radius


def _bound_in_strips(
    values: Array, target: Array, n_neighbors: int
) -> tuple[Array, NDArray[np.bool_]]:
    """Return upper bounds on the result of `_radius_of_pairs`, and where it may be lower, both of shape (b, n).

    Strips of consecutive targets are sorted by value, and points a few places apart are
    compared. The points are divided twice, shifted by half a strip, so that each is
    once far from the ends of its strip.
    """
    n_columns, n_samples = values.shape
    height = int(STRIP * np.sqrt(n_neighbors * n_samples))
    n_steps = 4 * n_neighbors
    radius = np.full(values.shape, np.inf)
    is_open = np.ones(values.shape, dtype=bool)
    for lead in (0, height // 2):
        n_strips = -(-(n_samples + lead) // height)
        members = slice(lead, lead + n_samples)
        strips = np.full((n_columns, n_strips * height), FAR)
        strips[:, members] = values
        strips = strips.reshape(n_columns, n_strips, height)
        order = np.argsort(strips, axis=2)
        places = order + np.arange(0, strips.size, height).reshape(
            n_columns, n_strips, 1
        )
        strips = strips.take(places)
        targets = np.pad(
            target,
            (lead, n_strips * height - lead - n_samples),
            constant_values=(-FAR, FAR),
        )
        first = np.arange(0, targets.size, height)[:, None]
        before = np.append(-np.inf, targets)[first]
        after = np.append(targets, np.inf)[first + height]
        targets = targets.take(order + first)
        shape = (n_columns * n_strips, height)
        nearest = _bound_by_steps(
            strips.reshape(shape).T, targets.reshape(shape).T, n_neighbors, n_steps
        )
        nearest = nearest.T.reshape(strips.shape)
        reach = _gap_after(strips, n_steps + 1)
        np.minimum(reach, targets - before, out=reach)
        np.minimum(reach, after - targets, out=reach)
        for whole, part, combine in (
            (radius, nearest, np.minimum),
            (is_open, reach < nearest, np.logical_and),
        ):
            in_place = np.empty(part.size, dtype=part.dtype)
            in_place[places] = part
            combine(whole, in_place.reshape(n_columns, -1)[:, members], out=whole)
    return radius, is_open


def _gap_after(ordered: Array, step: int) -> Array:
    """Return each sorted number's distance to the nearer of the two that are `step` places away, shape (..., n)."""
    gap = np.full(ordered.shape, np.inf)
    if step < ordered.shape[-1]:
        apart = ordered[..., step:] - ordered[..., :-step]
        gap[..., :-step] = apart
        gap[..., step:] = np.minimum(gap[..., step:], apart)
    return gap


def _bound_by_steps(
    values: Array, targets: Array, n_neighbors: int, n_steps: int
) -> Array:
    """Return the distance to the k-th nearest of the points at most `n_steps` rows away, shape (n, b).

    Values of shape (n, b), targets of shape (n, b) or (n, 1). Arrays are reused,
    because allocating memory costs more than the arithmetic.
    """
    values, targets = np.ascontiguousarray(values), np.ascontiguousarray(targets)
    nearest = [np.full(values.shape, np.inf) for _ in range(n_neighbors)]
    spaces = [np.empty_like(values) for _ in range(3)]
    for step in range(1, n_steps + 1):
        distance, spare, copy = (space[step:] for space in spaces)
        np.subtract(values[step:], values[:-step], out=distance)
        np.abs(distance, out=distance)
        np.maximum(distance, np.abs(targets[step:] - targets[:-step]), out=distance)
        np.copyto(copy, distance)
        _insert([row[step:] for row in nearest], copy, spare)
        _insert([row[:-step] for row in nearest], distance, spare)
    return nearest[-1]


def _insert(nearest: list[Array], distance: Array, spare: Array) -> None:
    """Insert distances into increasing lists, in place; the largest drops out, and two work arrays are overwritten."""
    for row in nearest[:-1]:
        np.maximum(row, distance, out=spare)
        np.minimum(row, distance, out=row)
        distance, spare = spare, distance
    np.minimum(nearest[-1], distance, out=nearest[-1])


def _close(
    radius: Array,
    is_open: NDArray[np.bool_],
    values: Array,
    target: Array,
    by_value: NDArray[np.int64],
    line: Array,
    k: int,
) -> None:
    """Lower the bounds on the distance to the k-th neighbour, in place, for open points; all of shape (b, n).

    A neighbour is no farther than the bound in value and in target: of the two
    intervals, the one with fewer points is searched. Intervals of 2^i points or fewer
    are searched together.
    """
    rows, points = np.nonzero(is_open)
    reach = radius[rows, points] + 4 * np.spacing(
        np.abs(values[rows, points]) + radius[rows, points]
    )
    first_value = _places(line, rows, values[rows, points] - reach)
    n_values = _places(line, rows, values[rows, points] + reach) - first_value
    first_target = target.searchsorted(target[points] - reach)
    n_targets = target.searchsorted(target[points] + reach, side="right") - first_target
    is_target = n_targets < n_values
    first = np.where(is_target, first_target, first_value)
    exponent = np.ceil(
        np.log2(np.maximum(np.minimum(n_targets, n_values), k + 1))
    ).astype(np.int64)
    for power in np.unique(exponent).tolist():
        width = min(2**power, target.size)
        members = np.flatnonzero(exponent == power)
        for part in column_blocks(members.size, width, BLOCK):
            some = members[part]
            row, point = rows[some][:, None], points[some][:, None]
            near = np.minimum(first[some], target.size - width)[:, None] + np.arange(
                width
            )
            near = np.where(is_target[some][:, None], near, by_value[row, near])
            distance = np.abs(values[row, near] - values[row, point])
            np.maximum(distance, np.abs(target[near] - target[point]), out=distance)
            distance.partition(k, axis=1)  # the nearest is the point itself
            radius[rows[some], points[some]] = distance[:, k]
