"""A linear model on the selected features, on the data set's own training and test rows."""

from __future__ import annotations

from provlab.protocols._base import AbstractOwnSplit
from provlab.protocols.classifying import AbstractClassification


class OfficialSplit(AbstractClassification, AbstractOwnSplit):
    """Train on the data set's own training rows and test on its test rows."""

    name = "official"
