"""Croissant: the Parquet files, and `croissant.json`, which describes them for programs.

JSON-LD by version 1.0 of the Croissant specification; the package mlcroissant reads it. The data
are in Parquet, because mlcroissant reads CSV and JSON lines with pandas, which takes texts such as
`NA` and `0012` for something else.
"""

import json
from collections.abc import Iterator
from typing import Any

from annotate.exports.formats import parquet
from annotate.exports.formats.base import Format
from annotate.exports.provenance import UNKNOWN_LICENCES
from annotate.exports.tables import Column, Content, Table, Type
from corpora.writing import Digest, File

# The context that the specification prescribes.
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
# mlcroissant joins a record set to what it refers to, and fails if that refers to something else or
# if there are two. The table of images, to which nearly all tables refer, refers to none.
JOINED = "images.image_id"
TYPES = {
    Type.TEXT: "sc:Text",
    Type.TEXTS: "sc:Text",
    Type.INTEGER: "sc:Integer",
    Type.NUMBER: "sc:Float",
    Type.BOOLEAN: "sc:Boolean",
}


def files(content: Content) -> Iterator[File]:
    digests: dict[str, Digest] = {}
    for file in parquet.files(content):
        digests[file.name] = Digest()
        yield File(file.name, digests[file.name].of(file.chunks))
    text = json.dumps(_dataset(content, digests), ensure_ascii=False, indent=1)
    yield File("croissant.json", iter([f"{text}\n".encode()]))


def _dataset(content: Content, digests: dict[str, Digest]) -> dict[str, Any]:
    release = content.release
    cited = f"{release.name}, release of the campaign {release.source}"
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": release.name,
        "description": content.about,
        "citeAs": f"{cited} ({release.created_at.year}).",
        "version": "1.0.0",
        "datePublished": release.created_at.strftime("%Y-%m-%d"),
        # The specification asks for one; it knows no empty list.
        "license": [licence.url for licence in content.licences] or UNKNOWN_LICENCES,
        "distribution": [_file(name, digest) for name, digest in digests.items()],
        "recordSet": [_records(table) for table in content.tables],
    }


def _file(name: str, digest: Digest) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{digest.size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": digest.sha256,
    }


def _records(table: Table) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.about,
        "field": [_field(table, column) for column in table.columns],
    }


def _field(table: Table, column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": column.about,
        "dataType": TYPES[column.type],
        "source": {
            "fileObject": {"@id": f"{table.name}.parquet"},
            "extract": {"column": column.name},
        },
    }
    if column.type == Type.TEXTS:
        field["repeated"] = True
    if column.refers_to == JOINED:
        field["references"] = {"field": {"@id": column.refers_to.replace(".", "/")}}
    return field


CROISSANT = Format(
    name="croissant",
    title="Croissant",
    about="Parquet files with a description in JSON-LD, which mlcroissant reads; needs pyarrow",
    files=files,
    packages=parquet.PARQUET.packages,
    data_files=parquet.data_files,
)
