"""Metadata as a Croissant file: JSON-LD about data sets for machine learning (MLCommons, version 1.0)."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from provlab.exchange.parts import CSV, DataSet, Part
from provlab.exchange.statement import Statement
from provsel import __version__

TYPES = {"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}

TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
"""Names of Croissant's own vocabulary."""

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in TERMS},
}


def croissant(stated: Statement) -> dict[str, Any]:
    """Return the content of croissant.json: each CSV file as records with typed fields, and the files of data sets."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": _plain(stated.title),
        "description": stated.description,
        "license": stated.licence,
        "datePublished": stated.date,
        "version": __version__,
        "citeAs": "; ".join(dict.fromkeys(data.registered.citation for data in stated.data if data.registered)),
        "url": "./",
        "distribution": [*map(_file, stated.parts), *_sources(stated.data)],
        "recordSet": [_records(part) for part in stated.parts],
    }


def _file(part: Part) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject", "@id": part.path, "name": _plain(part.path), "description": part.title,
        "contentUrl": part.path, "contentSize": f"{part.size} B", "encodingFormat": CSV, "sha256": part.sha256,
    }  # fmt: skip


def _sources(data: tuple[DataSet, ...]) -> list[dict[str, Any]]:
    """Return the published files of registered data sets: where they are, and what they must be."""
    files = {
        file.path: (each.registered, file)
        for each in data
        if each.registered
        for file in each.registered.files
        if file.urls and file.sha256
    }
    return [
        {
            "@type": "cr:FileObject", "@id": f"data/{path}", "name": _plain(path),
            "description": f"{source.title}. {source.licence}", "contentUrl": file.urls[0],
            "encodingFormat": "application/octet-stream", "sha256": file.sha256,
        }
        for path, (source, file) in files.items()
    ]  # fmt: skip


def _records(part: Part) -> dict[str, Any]:
    name = str(PurePosixPath(part.path).with_suffix(""))
    fields = [
        {
            "@type": "cr:Field", "@id": f"{name}/{column}", "name": f"{name}/{column}", "dataType": TYPES[kind],
            "source": {"fileObject": {"@id": part.path}, "extract": {"column": column}},
        }
        for column, kind in part.columns.items()
    ]  # fmt: skip
    key = {"key": {"@id": f"{name}/key"}} if "key" in part.columns else {}
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": part.title, **key, "field": fields}


def _plain(text: str) -> str:
    """Return a name of letters that every reader takes."""
    return "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in text)
