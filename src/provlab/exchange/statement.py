"""What metadata of any format say of an export."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.exchange.parts import DataSet, Part
from provsel import __version__

DESCRIPTION = (
    "Trials of feature selection by provsel {version}: {n} trials on {m} data sets, with the tables and verdicts that "
    "follow from them. The key of a trial is the SHA-256 of its configuration and numbers; provsel merge makes a "
    "store of these files again."
)


@dataclass(frozen=True)
class Statement:
    """An export as a whole.

    Attributes
    ----------
    title, licence : str
    date : str
        Of the export, ISO 8601.
    parts : tuple of Part
    data : tuple of DataSet
    n_trials : int
    """

    title: str
    licence: str
    date: str
    parts: tuple[Part, ...]
    data: tuple[DataSet, ...]
    n_trials: int

    @property
    def description(self) -> str:
        """One paragraph."""
        return DESCRIPTION.format(version=__version__, n=self.n_trials, m=len(self.data))
