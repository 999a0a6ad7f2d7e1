"""Export a release in one format, in a process of its own, whose peak memory is measured.

`python -m benchmarks.one_export DATABASE FORMAT DIR` prints one JSON object: the seconds and the
peak memory of the export, the size of its files, the seconds of a ZIP archive, and the seconds
that pandas takes to write the same tables from memory.
"""

import json
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotate.exports.content import Content
from annotate.exports.formats import FORMATS
from annotate.kinds.exporting import content_of, export_archive, write_export
from annotate.models import Release
from benchmarks.harness import peak_megabytes, seconds, use

# pandas' functions that write a table in a format.
PANDAS: dict[str, Callable[[Any, Path], object]] = {
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "csv": lambda frame, path: frame.to_csv(path, index=False),
}


def measure(database: str, name: str, folder: Path) -> dict[str, Any]:
    use(database)
    content, chosen = content_of(Release.objects.get(name="export")), FORMATS[name]
    took = seconds(lambda: write_export(content, chosen, folder))
    peak = peak_megabytes()
    return {
        "seconds": round(took, 2),
        "peak_mb": round(peak),
        "size_mb": round(sum(path.stat().st_size for path in folder.iterdir()) / 1e6, 1),
        "zip_s": round(seconds(lambda: deque(export_archive(content, chosen), maxlen=0)), 2),
        "pandas_s": _pandas(content, name, folder) if name in PANDAS else None,
    }


def _pandas(content: Content, name: str, folder: Path) -> float:
    import pandas  # noqa: PLC0415 (would count towards the peak)

    frames = [pandas.DataFrame(each.rows(), columns=each.names) for each in content.tables]

    def write() -> None:
        for frame in frames:
            PANDAS[name](frame, folder / "by-pandas")

    return round(seconds(write), 2)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], Path(sys.argv[3]))))
