"""Metadata as an RO-Crate: research objects with JSON-LD of schema.org (Soiland-Reyes et al. 2022, version 1.1)."""

from __future__ import annotations

from typing import Any

from provlab.exchange.parts import CSV, DataSet, Part
from provlab.exchange.statement import Statement
from provsel import __version__

SOFTWARE = "#provsel"


def ro_crate(stated: Statement) -> dict[str, Any]:
    """Return the content of ro-crate-metadata.json: files, the data sets behind them, and how they were made."""
    files = [_ref(part.path) for part in stated.parts]
    data = [_ref(_name(each)) for each in stated.data]
    root = {
        "@id": "./", "@type": "Dataset", "name": stated.title, "description": stated.description,
        "datePublished": stated.date, "license": stated.licence, "hasPart": files, "mentions": [_ref("#run"), *data],
    }  # fmt: skip
    about = {
        "@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": _ref("./"),
        "conformsTo": _ref("https://w3id.org/ro/crate/1.1"),
    }  # fmt: skip
    software = {
        "@id": SOFTWARE, "@type": "SoftwareApplication", "name": "provsel", "softwareVersion": __version__,
        "description": "Provable feature selection with measured guarantees",
    }  # fmt: skip
    run = {
        "@id": "#run", "@type": "CreateAction", "name": "Trials and what follows from them", "endTime": stated.date,
        "instrument": _ref(SOFTWARE), "object": data, "result": files,
    }  # fmt: skip
    graph = [about, root, *map(_file, stated.parts), *map(_data_set, stated.data), software, run]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


def _file(part: Part) -> dict[str, Any]:
    return {
        "@id": part.path, "@type": "File", "name": part.title, "encodingFormat": CSV, "contentSize": str(part.size),
        "sha256": part.sha256,
    }  # fmt: skip


def _data_set(data: DataSet) -> dict[str, Any]:
    made: dict[str, Any] = {
        "@id": _name(data), "@type": "Dataset", "name": data.name, "identifier": data.identity,
        "description": f"{data.source}; {data.n_samples} rows, {data.n_features} features, {data.n_classes} classes",
    }  # fmt: skip
    if data.registered:
        made |= {"url": data.registered.homepage, "creditText": data.registered.citation,
                 "license": data.registered.licence}  # fmt: skip
    return made


def _name(data: DataSet) -> str:
    return f"#data-{data.identity[:16]}"


def _ref(name: str) -> dict[str, str]:
    return {"@id": name}
