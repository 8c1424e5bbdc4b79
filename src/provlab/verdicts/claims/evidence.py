"""Evidence: results for an artefact from some source, as samples of errors with tests.

`stored.Evidence` reads the trials of a store, and `table.TableEvidence` the rows of a
file. Both return data frames of trials; everything else is computed from the means of
folds.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.core.artefact import Artefact, Entry
from provlab.core.frames import fold_means
from provlab.verdicts.claims.paired_tests import (
    AbstractPairedTest,
    CorrectedT,
    DisjointT,
    DyadicT,
    Floats,
    SignedRank,
)

Selections = list[NDArray[np.int32]]
"""The features selected in trials."""

Method = TypeVar("Method", bound=Callable[..., Any])

Place = tuple[str, str, str]
"""Artefact, row, column."""

Sample = dict[str, float]
"""Values by the name of the data set, fold or draw."""

POINTS = "percentage points"

FOLD_KEYS = ["dataset", "repeat", "fold"]

GROUPINGS = {"sources": "source", "domains": "domain"}
"""Groupings of data sets that claims may name, and the columns with the groups; each group counts by its mean."""

SIZE_TOLERANCE = 0.02
"""Numbers of features count as equal if their logarithms differ by at most this, which is about 2 %."""


class UnavailableError(Exception):
    """Evidence is unavailable, for the reason in the message. The claim is then "not run"; no command fails."""


class Layout(NamedTuple):
    """Possible subjects of claims about an artefact: its rows, its columns, and the columns of each data set."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    datasets: Mapping[str, tuple[str, ...]]


class Folds:
    """The folds to which values belong, with derived values that claims request thousands of times.

    Parameters
    ----------
    frame : DataFrame
        `FOLD_KEYS` of each fold, sorted by them.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._parts: dict[bytes, Folds] = {}

    @cached_property
    def labels(self) -> list[str]:
        """The name of each fold."""
        names = zip(*(self.frame[name] for name in FOLD_KEYS), strict=True)
        return [
            f"{dataset}, repeat {repeat}, fold {fold}"
            for dataset, repeat, fold in names
        ]

    @cached_property
    def datasets(self) -> list[str]:
        """The distinct data sets."""
        return [str(name) for name in self.frame["dataset"].unique()]

    @cached_property
    def n_folds(self) -> int:
        """The number of folds per repeat."""
        return int(self.frame["fold"].nunique())

    @cached_property
    def dataset_numbers(self) -> NDArray[np.int64]:
        """The index of each fold's data set in `datasets`."""
        return pd.factorize(self.frame["dataset"])[0]

    def only(self, is_chosen: NDArray[np.bool_]) -> Folds:
        """Return the folds that a mask selects."""
        if is_chosen.all():
            return self
        pattern = is_chosen.tobytes()
        if pattern not in self._parts:
            self._parts[pattern] = Folds(self.frame[is_chosen].reset_index(drop=True))
        return self._parts[pattern]


class FoldLine(NamedTuple):
    """A quantity behind one number of an artefact, averaged over the draws of each fold.

    Attributes
    ----------
    folds : Folds
        Lines with equal folds share one object.
    values : ndarray of shape (n_folds,)
        NaN if no draw has a value.
    """

    folds: Folds
    values: Floats

    def on(self, folds: Folds) -> Floats:
        """Return the values on the given folds; NaN for folds that this line lacks."""
        if folds is self.folds:
            return self.values
        values = self.folds.frame.assign(value=self.values)
        return folds.frame.merge(values, "left", FOLD_KEYS)["value"].to_numpy()


def remembered(method: Method) -> Method:
    """Cache the results of a method of evidence per data set, because families of claims request them repeatedly."""

    @wraps(method)
    def from_memory(self: AbstractEvidence, *arguments: Any) -> Any:
        key: tuple[Any, ...] = (self.lines_asked, method.__name__)
        for argument in arguments:
            # a list is not hashable
            key += (tuple(argument) if isinstance(argument, list) else argument,)
        if key not in self.memory:
            self.memory[key] = method(self, *arguments)
        return self.memory[key]

    return cast(Method, from_memory)


class AbstractEvidence(ABC):
    """Results of artefacts, which are read once: the trials of a store, or the rows of a table.

    Parameters
    ----------
    overrides : sequence of str
        The user's settings.
    scale : float
        Factor that converts the column `error` to `unit`.
    unit : str
        Unit of errors and their differences.

    Attributes
    ----------
    dataset : str
        The only data set to use; "" for all.
    only, without : tuple of str
        Conditions on rows of a table, see `provlab.verdicts.claims.rules.Lines`.
    memory : dict
        Cached results, by data set and request.
    plans : bool
        Whether findings state how many observations would decide.
    read_together : tuple of str
        Quantities that are read together with any other, because most tests need them.
    """

    read_together: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, overrides: Sequence[str] = (), *, scale: float = 100.0, unit: str = POINTS
    ) -> None:
        self.overrides = list(overrides)
        self.scale = scale
        self.unit = unit
        self.dataset = ""
        self.only: tuple[str, ...] = ()
        self.without: tuple[str, ...] = ()
        self.memory: dict[tuple[Any, ...], Any] = {}
        self.plans = True
        self._folds: list[Folds] = []

    @abstractmethod
    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return one row per result behind a number: `FOLD_KEYS`, `draw` and `columns`."""

    @abstractmethod
    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return the actual and the expected number of results behind the given numbers."""

    def datasets(self, place: Place) -> list[str]:
        """Return the data sets that a number is expected to cover."""
        return [str(name) for name in self.trials(place, [])["dataset"].unique()]

    def artefact(self, name: str) -> Artefact:
        """Return the plan of an artefact; ValueError if only results are known, as for a table."""
        raise ValueError(
            f"{name}: expected claims about numbers, got one about the selected features, which a table of results "
            f"lacks; leave the claim out, or compute it by provsel reproduce and provsel verify."
        )

    @remembered
    def entries_by_number(self, artefact: str) -> dict[tuple[str, str], list[Entry]]:
        """Return the entries of an artefact by row and column; errors as in `artefact`."""
        entries: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in self.artefact(artefact).entries:
            if self.dataset in ("", entry.dataset):
                entries[entry.row, entry.column].append(entry)
        return dict(entries)

    def entries(self, place: Place) -> list[Entry]:
        """Return the entries behind a number of an artefact, one per data set; errors as in `artefact`."""
        artefact, row, column = place
        return self.entries_by_number(artefact).get((row, column), [])

    def selections(self, places: Sequence[Place]) -> dict[Place, Selections]:
        """Return the selected features behind the given numbers; errors as in `artefact`."""
        return {place: [] for place in places if self.artefact(place[0])}

    def inverse_folds(self, place: Place) -> bool:
        """Return whether each fold trains on one part and tests on all others, so that training sets are disjoint.

        A table does not state this. Overlap is then assumed, which is conservative.
        """
        return False

    def on(
        self, dataset: str, only: tuple[str, ...] = (), without: tuple[str, ...] = ()
    ) -> Self:
        """Return the evidence restricted to one data set, or "" for all, and to some rows of a table."""
        part = copy.copy(self)  # shares data already read
        part.dataset = dataset
        part.only = only
        part.without = without
        return part

    @property
    def lines_asked(self) -> tuple[object, ...]:
        """The restriction of this evidence, as a key of the cache."""
        return self.dataset, self.only, self.without

    def group_of(self, column: str) -> Mapping[str, str]:
        """Return the group of each data set from a column with the groups, which only tables have."""
        raise ValueError(
            f"over: expected datasets, folds or draws of an artefact, got groups by {column}."
        )

    def grouped(self, sample: Sample, over: str) -> Sample:
        """Return the means of groups of data sets if a claim is about groups; otherwise the sample itself."""
        if over not in GROUPINGS:
            return sample
        group_of = self.group_of(GROUPINGS[over])
        means = pd.Series(sample, dtype=float).groupby(group_of).mean()
        return {str(name): float(mean) for name, mean in means.items()}

    def has(self, place: Place, quantity: str = "error") -> bool:
        """Return whether a quantity is known on any fold behind a number."""
        return bool((~np.isnan(self._line(place, quantity).values)).any())

    def by_fold(self, place: Place) -> Sample:
        """Return the mean error of each fold over its draws, in `unit`."""
        folds, [errors] = self._common([place], "error")
        return dict(zip(folds.labels, errors.tolist(), strict=True))

    @remembered
    def sample(
        self, places: Sequence[Place], over: str, quantity: str = "error"
    ) -> Sample:
        """Return the sample that `test` uses; errors are in `unit`."""
        if over == "draws":
            return self._by_draw(*places)
        folds, values = self._common(places, quantity)
        if over != "folds":
            return self.grouped(_dataset_means(folds, _differences(values)), over)
        n_datasets = len(folds.datasets)
        if n_datasets > 1:
            raise ValueError(
                f"over: expected datasets for an artefact with {n_datasets} data sets, got folds."
            )
        return dict(zip(folds.labels, _differences(values).tolist(), strict=True))

    @remembered
    def test(
        self, places: Sequence[Place], over: str, quantity: str = "error"
    ) -> AbstractPairedTest:
        """Return the test of the mean of a quantity, or of error(first) - error(second) on their common folds.

        Parameters
        ----------
        places : sequence of (artefact, row, column)
            One or two numbers, followed by the knots of `_at_kept`.
        over : {"datasets", "sources", "domains", "dyadic", "folds", "draws"}
            The sample. It has the means of data sets, or their means over groups; the
            test is t for counts, dyadic-robust t if data sets are pairs of categories,
            and otherwise the signed-rank test. Or it has the folds of one data set (t,
            corrected for shared rows); if all rows are clustered, a fold is a seed. Or
            it has the draws of the first method on a single fold, compared with the
            error of the second, which is deterministic (t). Then the test concerns only
            the randomness of the method.
        quantity : str
            A column of the results.

        Raises
        ------
        UnavailableError
            If there are fewer than two values.
        """
        sample = self.sample(places, over, quantity)
        if len(sample) < 2:
            what = "data sets" if over in ("datasets", "dyadic") else over
            raise UnavailableError(
                f"needs at least 2 {what} with both sides, found {len(sample)}"
            )
        values = np.array([*sample.values()])
        if over == "folds":
            return self._fold_test(places, quantity, values)
        if over == "dyadic":
            return DyadicT(values, pairs=_category_pairs(sample))
        if over in ("datasets", *GROUPINGS) and quantity != "n_selected":
            return SignedRank(values)
        return CorrectedT(values, ratio=0.0)

    def _fold_test(
        self, places: Sequence[Place], quantity: str, values: Floats
    ) -> AbstractPairedTest:
        folds, means = self._common(places, quantity)
        n_train = self._line(places[0], "n_train").on(folds)
        n_test = self._line(places[0], "n_test").on(folds)
        if not self.inverse_folds(places[0]):
            overlap = float((n_test / n_train).mean())
            if math.isnan(overlap):
                raise UnavailableError(
                    "a test over folds that overlap needs n_train and n_test of each trial, and some trials lack them"
                )
            return CorrectedT(values, ratio=overlap)
        # depends on the training rows alone, which are disjoint
        if quantity == "n_selected":
            return CorrectedT(values, ratio=0.0)
        if quantity != "error":
            raise UnavailableError(
                f"over folds with disjoint training rows only the error can be tested, not {quantity}"
            )
        first, second = (float(errors.mean()) for errors in means)
        variance = max(0.0, 100 * (first + second) - (first - second) ** 2)
        shared = variance / float((n_train + n_test).mean())
        return DisjointT(values, n_folds=folds.n_folds, shared=shared)

    @remembered
    def dataset_means(
        self, places: Sequence[Place], quantity: str = "error"
    ) -> pd.DataFrame:
        """Return means of a quantity (data sets x places) on common folds; errors are in `unit`."""
        if not places:
            return pd.DataFrame()
        folds, values = self._common(places, quantity, n_compared=len(places))
        errors = {}
        for (_, row, _), line in zip(places, values, strict=True):
            errors[row] = pd.Series(_dataset_means(folds, line))
        return pd.DataFrame(errors)

    def _by_draw(self, place: Place, reference: Place) -> Sample:
        trials = self.trials(place, ["error"]).dropna()
        n_datasets = trials["dataset"].nunique()
        if n_datasets > 1:
            raise ValueError(
                f"over: expected datasets for an artefact with {n_datasets} data sets, got draws."
            )
        errors = self.trials(reference, ["error"])["error"].dropna()
        if len(errors) != 1 or trials["fold"].nunique() != 1:
            raise UnavailableError(
                f"needs draws on one fold, and one trial of {reference[1]}, found {len(errors)}"
            )
        differences = self.scale * trials["error"] - self.scale * errors.iloc[0]
        labels = [f"draw {draw}" for draw in trials["draw"]]
        return dict(zip(labels, differences.tolist(), strict=True))

    def _common(
        self, places: Sequence[Place], quantity: str, n_compared: int = 2
    ) -> tuple[Folds, Floats]:
        """Return the folds that all compared numbers share, and the values, shape (n_compared, n_folds).

        Additional places are knots, from which `_at_kept` interpolates the second
        number.
        """
        compared = places[:n_compared]
        lines = [self._line(place, quantity) for place in compared]
        if len(places) > n_compared:
            lines[1] = self._at_kept(compared[0], places[n_compared:], quantity)
        folds = lines[0].folds
        values = np.array([line.on(folds) for line in lines])
        is_known = ~np.isnan(values).any(axis=0)
        factor = self.scale if quantity == "error" else 1.0
        return folds.only(is_known), factor * values[:, is_known]

    @remembered
    def _at_kept(self, place: Place, knots: Sequence[Place], quantity: str) -> FoldLine:
        """Return the value of another method on each fold, at the number of features that this method keeps.

        The knots belong to the other method, in columns that are named by their number
        of features. Its values are interpolated by monotone cubics (PCHIP) in the
        logarithm of that number. There is no extrapolation: values beyond the knots are
        NaN, except within `SIZE_TOLERANCE`. The other method is interpolated because it
        can keep any number of features. The first may be unable to keep a number near
        the requested one: `OnlineLeverageSelector` keeps 83 or 703 features of AR, but
        no number in between. Linear interpolation would favour the first method,
        because chords of a convex decreasing curve lie above it.

        References
        ----------
        Fritsch and Butland (1984), SIAM J. Sci. Stat. Comput. 5, for the interpolation.
        """
        ordered = sorted(knots, key=lambda knot: float(knot[2]))
        sizes = np.log([float(column) for _, _, column in ordered])
        kept = self._line(place, "n_selected")
        values = np.column_stack(
            [self._line(knot, quantity).on(kept.folds) for knot in ordered]
        )
        # zero features are fewer than any column has
        with np.errstate(divide="ignore"):
            numbers = np.log(kept.values)
        return FoldLine(kept.folds, _interpolated(numbers, sizes, values))

    def _line(self, place: Place, quantity: str) -> FoldLine:
        """Return the values behind a number, by fold."""
        lines = self._lines_of(place)
        if quantity not in lines:
            names = [
                name
                for name in dict.fromkeys([quantity, *self.read_together])
                if name not in lines
            ]
            trials = self.trials(place, names).sort_values("dataset", kind="stable")
            means = fold_means(trials.rename(columns={"dataset": "cell"}), names)
            folds = self._shared_folds(
                means.rename(columns={"cell": "dataset"})[FOLD_KEYS]
            )
            for name in names:
                lines[name] = FoldLine(folds, means[name].to_numpy())
        return lines[quantity]

    @remembered
    def _lines_of(self, place: Place) -> dict[str, FoldLine]:
        """Return the lines behind a number by quantity."""
        return {}

    def _shared_folds(self, frame: pd.DataFrame) -> Folds:
        """Return one shared object for equal folds, because millions of lines have only a few different ones."""
        for folds in self._folds:
            if folds.frame.equals(frame):
                return folds
        self._folds.append(Folds(frame))
        return self._folds[-1]


def _differences(values: Floats) -> Floats:
    """Return the only row of an array, or the first row minus the second."""
    return values[0] if len(values) == 1 else values[0] - values[1]


def _dataset_means(folds: Folds, values: Floats) -> Sample:
    """Return the mean of each data set over its folds."""
    means = np.bincount(folds.dataset_numbers, values) / np.bincount(
        folds.dataset_numbers
    )
    return dict(zip(folds.datasets, means.tolist(), strict=True))


def _category_pairs(sample: Sample) -> list[tuple[str, str]]:
    """Return the two categories of each data set from its name, ..._<one>_<other>."""
    pairs = []
    for name in sample:
        parts = name.split("_")
        if len(parts) < 3:
            raise ValueError(
                f"dependence: dyadic needs names of data sets like Exp_<one>_<other>, got {name!r}."
            )
        pairs.append((parts[-2], parts[-1]))
    return pairs


def _interpolated(numbers: Floats, sizes: Floats, values: Floats) -> Floats:
    """Interpolate each row at its number by PCHIP: NaN outside the known sizes, or if a value is missing.

    Parameters
    ----------
    numbers : ndarray of shape (n_lines,)
    sizes : ndarray of shape (n_sizes,)
        Increasing.
    values : ndarray of shape (n_lines, n_sizes)
    """
    from scipy.interpolate import PchipInterpolator  # a tenth of a second

    interpolated = np.full(len(numbers), np.nan)
    is_known = ~np.isnan(values)
    for pattern in np.unique(is_known, axis=0):
        places = np.flatnonzero(pattern)
        if not places.size or places[-1] - places[0] >= places.size:
            continue
        rows = np.flatnonzero((is_known == pattern).all(axis=1))
        knots = sizes[places]
        x = np.clip(numbers[rows], knots[0], knots[-1])
        lines = values[np.ix_(rows, places)]
        curve = (
            lines[:, 0]
            if places.size == 1
            else PchipInterpolator(knots, lines.T)(x).diagonal()
        )
        nearest = np.minimum(np.searchsorted(knots, x), places.size - 1)  # also for NaN
        at_knot = lines[np.arange(rows.size), nearest]
        curve = np.where(knots[nearest] == x, at_knot, curve)  # exact at the knots
        is_near = np.abs(numbers[rows] - x) <= SIZE_TOLERANCE
        interpolated[rows] = np.where(is_near, curve, np.nan)
    return interpolated
