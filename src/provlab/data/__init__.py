"""Data sets: loaders that return a `Dataset`, the registry of sources, and the download of files."""

from .dataset import Classes, Dataset, make_dataset, rows_from, warn_of_scales
from .download import FetchError, Obtained, UnreachableError, fetch, usable
from .files import (
    DataIntegrityError,
    MissingDataError,
    data_dir,
    describe_roots,
    locate,
)
from .identity import (
    dataset_identity,
    dataset_members,
    dataset_names,
    dataset_parameters,
    is_place,
    keyed_parameters,
    loader,
    missing_files,
)
from .loading import load_dataset
from .registry import Source, SourceFile, read_source, source_names

__all__ = [
    "Classes",
    "DataIntegrityError",
    "Dataset",
    "FetchError",
    "MissingDataError",
    "Obtained",
    "Source",
    "SourceFile",
    "UnreachableError",
    "data_dir",
    "dataset_identity",
    "dataset_members",
    "dataset_names",
    "dataset_parameters",
    "describe_roots",
    "fetch",
    "is_place",
    "keyed_parameters",
    "load_dataset",
    "loader",
    "locate",
    "make_dataset",
    "missing_files",
    "read_source",
    "rows_from",
    "source_names",
    "usable",
    "warn_of_scales",
]
