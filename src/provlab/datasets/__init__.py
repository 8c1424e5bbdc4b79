"""Data sets: loaders that return a `Dataset`, the registry of their sources, and the download of files."""

from provsel.streams.columns import column_blocks
from provsel.streams.rows import row_chunks

from .dataset import Dataset, make_dataset
from .download import FetchError, Obtained, fetch, usable
from .files import DataIntegrityError, MissingDataError, data_dir, describe_roots, locate
from .identity import (
    dataset_files,
    dataset_identity,
    dataset_names,
    is_place,
    keyed_parameters,
    loader,
    missing_files,
)
from .loading import dataset_feature_names, dataset_members, load_dataset
from .registry import Source, SourceFile, read_source, source_names

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
    "is_place",
    "keyed_parameters",
    "load_dataset",
    "loader",
    "locate",
    "make_dataset",
    "missing_files",
    "read_source",
    "row_chunks",
    "source_names",
    "usable",
]
