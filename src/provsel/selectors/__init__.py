"""Feature selectors with the scikit-learn API. The folder is the registry: every final class in it is exported.

Plain transformers that live here too, such as `SparseEmbedding`, do not inherit from `AbstractSelector`. Configs can
name them in the place of a selector: they reduce rows, and have no features to show.
"""

from __future__ import annotations

import importlib
import pkgutil

from provsel.selectors._base import AbstractSelector

__all__ = ["AbstractSelector"]

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        _found = importlib.import_module(f"{__name__}.{_module.name}")
        for _name, _member in vars(_found).items():
            if isinstance(_member, type) and _member.__module__ == _found.__name__ and not _name.startswith("_"):
                globals()[_name] = _member
                __all__ += [_name]
