"""Mutual information of columns with a target, estimated by nearest neighbours: all columns of a block at once.

Kraskov, Stoegbauer, Grassberger (2004) for two numbers, Ross (2014) for a number and a class. Columns are rows here,
shape (d, n), so that each lies in one piece.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma

from provsel.kernels.discrete_information import Codes, column_blocks
from provsel.kernels.spectral import Array

BLOCK = 1 << 20
"""Values of a block of columns: 8 MiB of float64."""

CACHED = 1 << 15
"""Values of a block whose neighbours are searched together: its lists of neighbours stay in a cache."""

MANY = 1024
"""Rows from which on a tree for each column is quicker."""

NEARLY_ALL = 0.95
"""Share of points with all their neighbours from which on the others are searched one by one."""


def information_with_classes(columns: Array, y: NDArray[np.int64], n_neighbors: int) -> Array:
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
        for start, stop in pairwise([0, *(np.flatnonzero(np.diff(groups)) + 1), groups.size]):
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
                counts = _counts(everywhere, values[place, kept][None, :], inside[place, kept][None, :])
                information[feature] = _of_groups(n_near[place, kept], size[place, kept], counts)[0]
    return np.maximum(information, 0.0)


def information_with_numbers(columns: Array, y: Array, n_neighbors: int) -> Array:
    """Return the mutual information, shape (d,), in nats, of numbers, shape (d, n), with numbers y, shape (n,)."""
    order = np.argsort(y, kind="stable")
    target = y[order]
    n_samples = target.size
    digammas = digamma(np.arange(n_samples + 1))
    information = np.empty(len(columns))
    for part in column_blocks(len(columns), y.size, CACHED):
        values = columns[part][:, order]
        search = _radius_of_pairs if n_samples < MANY else _radius_by_trees
        radius = search(values, target, n_neighbors)
        near = digammas[_counts(np.sort(values, axis=1), values, _inside(values, radius))]
        targets = np.broadcast_to(target, values.shape).reshape(1, -1)
        inside = _inside(targets, radius.reshape(1, -1))
        near += digammas[_counts(target[None, :], targets, inside)].reshape(near.shape)
        information[part] = digammas[n_samples] + digammas[n_neighbors] - near.mean(axis=1)
    return np.maximum(information, 0.0)


def _radius_in_groups(
    values: Array, groups: NDArray[np.integer], n_neighbors: int
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distance to the last neighbour in the group, how many neighbours these are, and the group's size.

    `values`, shape (b, n), increase in each group; groups, shape (b, n) or (1, n), are contiguous. Groups of k rows or
    fewer have less than k neighbours.
    """
    size = _run_lengths(groups)
    n_near = np.minimum(n_neighbors, size - 1)
    after = [np.zeros_like(values)]
    before = [np.zeros_like(values)]
    for step in range(1, n_neighbors + 1):
        gap = np.full_like(values, np.inf)
        if step < values.shape[1]:
            same = groups[:, step:] == groups[:, :-step]
            gap[:, :-step] = np.where(same, values[:, step:] - values[:, :-step], np.inf)
        after.append(gap)
        before.append(np.roll(gap, step, axis=1))
    radius = np.full_like(values, np.inf)
    for count in np.unique(n_near[n_near > 0]):
        nearest = np.full_like(values, np.inf)
        for left in range(count + 1):  # neighbours in a line: some on the left, and the others on the right
            np.minimum(nearest, np.maximum(before[left], after[count - left]), out=nearest)
        radius = np.where(n_near == count, nearest, radius)
    return radius, n_near, size


def _run_lengths(groups: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the length of the run of equal values, shape (b, n), in which each stands."""
    starts = np.ones(groups.shape, dtype=bool)
    starts[:, 1:] = groups[:, 1:] != groups[:, :-1]
    first = np.flatnonzero(starts)
    lengths = np.diff(first, append=groups.size)
    return np.repeat(lengths, lengths).reshape(groups.shape)


def _of_groups(n_near: NDArray[np.int64], size: NDArray[np.int64], counts: NDArray[np.int64]) -> Array:
    """Return Ross' estimate of each column from counts, shape (b, m), of points within the radius."""
    n_samples = counts.shape[1]
    digammas = digamma(np.arange(n_samples + 1))
    return digammas[n_samples] + (digammas[n_near] - digammas[size]).mean() - digammas[counts].mean(axis=1)


def _inside(values: Array, radius: Array) -> Array:
    """Return a radius that is a little less, so that the neighbour that gave it is outside however it is rounded."""
    return radius - 4 * np.spacing(np.abs(values) + radius)


def _counts(everywhere: Array, values: Array, radius: Array) -> NDArray[np.int64]:
    """Return how many of the sorted points, shape (b, m), are within a radius of each value, both of shape (b, n)."""
    counts = np.empty(values.shape, dtype=np.int64)
    ends = np.concatenate([values + radius, values - radius], axis=1)
    n_values = values.shape[1]
    for column, (points, limits) in enumerate(zip(everywhere, ends, strict=True)):
        places = points.searchsorted(limits)
        counts[column] = places[:n_values] - places[n_values:]
    return np.maximum(counts, 1)  # each is near itself


def _radius_by_trees(values: Array, target: Array, n_neighbors: int) -> Array:
    """Return what `_radius_of_pairs` does."""
    radius = np.empty_like(values)
    for column, numbers in enumerate(values):
        points = np.column_stack([numbers, target])
        tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
        radius[column] = tree.query(points, k=[n_neighbors + 1], p=np.inf)[0][:, 0]  # the nearest is the point itself
    return radius


def _radius_of_pairs(values: Array, target: Array, n_neighbors: int) -> Array:
    """Return the distance of each point (value, target) to its neighbour number k, by the larger difference.

    Shape (b, n), of values that are in the order of the sorted target. Points a few places apart in this order are
    compared, for all columns together, until nearly all points have their neighbours.
    """
    n_samples = target.size
    nearest = np.full((n_neighbors, *values.shape), np.inf)
    most = min(n_samples - 1, 8 + 3 * int(np.sqrt(n_neighbors * n_samples)))
    is_open = np.ones(values.shape, dtype=bool)
    for step in range(1, most + 1):
        distance = np.abs(values[:, step:] - values[:, :-step])
        np.maximum(distance, target[step:] - target[:-step], out=distance)
        _insert(nearest[:, :, step:], distance)
        _insert(nearest[:, :, :-step], distance)
        if step % 8 == 0 or step == most:
            is_open = _gap_after(target, step + 1) < nearest[-1]
            if np.count_nonzero(is_open) < (1 - NEARLY_ALL) * is_open.size:
                break
    if is_open.any():
        rows, places = np.nonzero(is_open)
        nearest[-1, rows, places] = _radius_of_some(values, target, rows, places, nearest[:, rows, places])
    return nearest[-1]


def _gap_after(target: Array, step: int) -> Array:
    """Return the distance, shape (n,), of each sorted number to the nearer of those `step` places before and after."""
    gap = np.full(target.size, np.inf)
    if step < target.size:
        apart = target[step:] - target[:-step]
        gap[:-step] = apart
        gap[step:] = np.minimum(gap[step:], apart)
    return gap


def _insert(nearest: Array, distance: Array) -> None:
    """Insert distances into the increasing lists `nearest`, shape (k, ...), in place; the largest drops out."""
    for place in range(len(nearest) - 1):
        larger = np.maximum(nearest[place], distance)
        np.minimum(nearest[place], distance, out=nearest[place])
        distance = larger
    np.minimum(nearest[-1], distance, out=nearest[-1])


def _radius_of_some(
    values: Array, target: Array, rows: NDArray[np.int64], places: NDArray[np.int64], bounds: Array
) -> Array:
    """Return what `_radius_of_pairs` does for some points, shape (m,), searched in the order of the values.

    The neighbours `bounds`, shape (k, m), bound the distance.
    """
    order = np.argsort(values, axis=1, kind="stable")
    position = np.empty_like(order)
    np.put_along_axis(position, order, np.arange(values.shape[1])[None, :], axis=1)
    width = values.shape[1] + 2  # an end at infinity on each side
    line = np.pad(
        np.take_along_axis(values, order, axis=1), ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf))
    )
    height = np.pad(target[order], ((0, 0), (1, 1)))
    line, height = line.ravel(), height.ravel()
    first = rows * width
    place = position[rows, places] + 1
    own_value, own_target = values[rows, places], target[places]
    nearest = np.full_like(bounds, np.inf)
    radius = bounds[-1].copy()
    active = np.arange(rows.size)
    for step in range(1, values.shape[1]):
        reach = np.full(active.size, np.inf)
        lists = nearest[:, active]
        for neighbor in (np.maximum(place - step, 0), np.minimum(place + step, width - 1)):
            gap = np.abs(line[first + neighbor] - own_value)
            reach = np.minimum(reach, gap)
            _insert(lists, np.maximum(gap, np.abs(height[first + neighbor] - own_target)))
        nearest[:, active] = lists
        radius[active] = np.minimum(radius[active], lists[-1])
        left = reach < radius[active]
        if not left.all():
            active, place, first = active[left], place[left], first[left]
            own_value, own_target = own_value[left], own_target[left]
        if active.size == 0:
            break
    return radius
