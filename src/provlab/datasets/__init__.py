"""Data sets: loaders that return a `Dataset`, the registry of their sources, and the download of files."""

from provsel.streams.columns import column_blocks
from provsel.streams.rows import row_chunks

from ._errors import DataIntegrityError, FetchError, MissingDataError
from ._fetch import fetch, fetch_all, usable
from ._identity import dataset_files, dataset_identity, keyed_parameters, missing_files
from ._loaders import dataset_names, is_place, loader
from ._locate import locate
from ._obtain import Obtained
from ._paths import data_dir, describe_roots
from ._record import Dataset, make_dataset
from ._registry import dataset_feature_names, dataset_members, load_dataset, present_members
from ._sources import Source, SourceFile, read_source, source_names

__all__ = [
    "DataIntegrityError",
    "Dataset",
    "FetchError",
    "MissingDataError",
    "Obtained",
    "Source",
    "SourceFile",
    "column_blocks",
    "data_dir",
    "dataset_feature_names",
    "dataset_files",
    "dataset_identity",
    "dataset_members",
    "dataset_names",
    "describe_roots",
    "fetch",
    "fetch_all",
    "is_place",
    "keyed_parameters",
    "load_dataset",
    "loader",
    "locate",
    "make_dataset",
    "missing_files",
    "present_members",
    "read_source",
    "row_chunks",
    "source_names",
    "usable",
]
