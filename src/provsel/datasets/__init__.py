"""Data sets: loaders that return a `Dataset`, the registry of their sources, and the download of files."""

from ._columns import column_blocks
from ._errors import DataIntegrityError, FetchError, MissingDataError
from ._fetch import fetch
from ._locate import locate
from ._record import Dataset, make_dataset
from ._registry import dataset_members, dataset_names, load_dataset
from ._rows import row_chunks
from ._sources import Source, SourceFile, read_source, source_names

__all__ = [
    "DataIntegrityError",
    "Dataset",
    "FetchError",
    "MissingDataError",
    "Source",
    "SourceFile",
    "column_blocks",
    "dataset_members",
    "dataset_names",
    "fetch",
    "load_dataset",
    "locate",
    "make_dataset",
    "read_source",
    "row_chunks",
    "source_names",
]
