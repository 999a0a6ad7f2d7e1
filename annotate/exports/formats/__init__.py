"""The file formats of `export`, one module each. They know tables, and no task type."""

from annotate.exports.formats.base import COCO, Format
from annotate.exports.formats.croissant import CROISSANT
from annotate.exports.formats.csv_files import CSV
from annotate.exports.formats.json_lines import JSON_LINES
from annotate.exports.formats.parquet import PARQUET

FORMATS = {form.name: form for form in (COCO, JSON_LINES, PARQUET, CSV, CROISSANT)}

__all__ = ["FORMATS", "Format"]
