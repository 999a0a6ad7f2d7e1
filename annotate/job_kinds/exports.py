"""Write a release into a ZIP archive below MEDIA_ROOT, in any format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotate.exports.formats import FORMATS
from annotate.exports.tables import Extra
from annotate.jobs.registry import JobKind, register
from annotate.jobs.work import JobFailed, Result, Work
from annotate.kinds.exporting import content_of, export_archive

# Bytes that are written between two looks at whether the job is cancelled.
BATCH = 1_000_000


def write_archive(work: Work) -> Result:
    """Write the archive under a temporary name, then rename it, so that it is whole or absent."""
    release, name = work.release, work.arguments["format"]
    if name not in FORMATS:
        raise JobFailed(f"There is no format {name!r}.")
    content = content_of(release, [Extra(each) for each in work.arguments.get("extras", [])])
    path = Path("exports") / release.name / f"{release.name}-{name}-{work.job.key.hex[:8]}.zip"
    target = Path(settings.MEDIA_ROOT) / path
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    work.step(f"Writing {FORMATS[name].name}")
    written = noted = 0
    try:
        with part.open("wb") as stream:
            for chunk in export_archive(content, FORMATS[name]):
                written += stream.write(chunk)
                if written - noted >= BATCH:
                    noted = written
                    work.progress(written)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    work.progress(written)
    return Result(f"Archive of {written:,} bytes written.", file=str(path))


def _title(arguments: Mapping[str, Any], _campaign: Any, release: Any) -> str:
    return f"Export: {release or 'a release'} as {arguments['format']}"


register(
    JobKind(name="export", label="Export", work=write_archive, title=_title, is_repeatable=True)
)
