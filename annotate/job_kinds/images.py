"""Import images: own files that were uploaded or are on the server, and files of datasets."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from annotate.errors import DomainError
from annotate.jobs.registry import JobKind, register
from annotate.jobs.work import JobFailed, Result, Work
from annotate.services import caption_sets, imports, own_images, uploads
from annotate.services.bulk import Counts
from annotate.services.own_images import OwnFile

# Files named in the job's log for each reason.
NAMED = 100


def import_own(work: Work) -> Result:
    """Import own files. A killed job goes on with the rest."""
    split, table = work.arguments["split"], None
    if key := work.arguments.get("upload", ""):
        try:
            upload = uploads.find_upload(key)
        except uploads.UploadMissing:
            if work.job.attempt == 1:
                raise
            # The worker was killed after it had imported all files and deleted the upload.
            return Result("The files were imported.", url=_images_of(split))
        if name := work.arguments.get("table"):
            table = uploads.uploaded_path(upload, name)
        work.step("Unpacking")
        files = uploads.own_files_of(upload, but=table, progress=_counting(work))
    else:
        folder = uploads.server_folder(work.arguments["folder"])
        root = Path(settings.IMAGES_FOLDER).resolve()
        files = own_images.own_files_below(folder, within=root)
    return _import_own(work, files, split, table, key)


def _import_own(
    work: Work, files: list[OwnFile], split: str, table: Path | None, key: str
) -> Result:
    work.step(f"Importing {len(files):,} files", total=len(files))
    counts = own_images.import_own_files(
        files=files,
        split=split,
        table=table,
        table_name=work.arguments.get("table"),
        team=work.job.team,
        progress=_counting(work),
    )
    lines = own_images.report_lines(counts, most=NAMED)
    for line in lines:
        work.log(line)
    if counts.ignored_columns:
        work.log(f"Columns of the table that were not used: {', '.join(counts.ignored_columns)}.")
    if key:
        uploads.drop_upload(key)
    more = (
        " The log names the files that were left out." if counts.duplicates or counts.broken else ""
    )
    return Result(f"{lines[0]}{more}", url=_images_of(split))


def _counting(work: Work) -> Callable[[int], None]:
    """A function that adds to the progress of the job's step."""
    done = 0

    def progress(number: int) -> None:
        nonlocal done
        done += number
        work.progress(done)

    return progress


def _images_of(split: str) -> str:
    return f"{reverse('images:images')}?split={split}"


def import_dataset(work: Work) -> Result:
    """Import uploaded files of Open Images or COCO, each as one transaction."""
    arguments = work.arguments
    upload = uploads.find_upload(arguments["upload"])
    for part, name in arguments["files"].items():
        work.step(f"Importing {name}")
        path = uploads.uploaded_path(upload, name)
        try:
            lines = PARTS[part](path, {**arguments, "team": work.job.team})
        except DomainError as error:
            # The file has a number as its name here, which would tell nobody anything.
            raise JobFailed(str(error).replace(str(path), name)) from error
        for line in lines:
            work.log(line)
    uploads.drop_upload(arguments["upload"])
    split = arguments.get("split")
    return Result("Imported. The log has the numbers.", url=_images_of(split) if split else "")


def _line(things: str, counts: Counts) -> str:
    skipped = f", {counts.skipped:,} of unknown images skipped" if counts.skipped else ""
    return (
        f"{counts.read:,} {things} read: {counts.new:,} new, {counts.changed:,} changed, "
        f"{counts.unchanged:,} unchanged{skipped}."
    )


def _classes(path: Path, _arguments: Mapping[str, Any]) -> list[str]:
    return [_line("classes", imports.import_classes(path=path))]


def _hierarchy(path: Path, _arguments: Mapping[str, Any]) -> list[str]:
    return [_line("relations of classes", imports.import_hierarchy(path=path))]


def _images(path: Path, arguments: Mapping[str, Any]) -> list[str]:
    base_url = arguments.get("base_url", "")
    counts = imports.import_images(path=path, split=arguments["split"], base_url=base_url)
    return [_line("images", counts)]


def _boxes(path: Path, arguments: Mapping[str, Any]) -> list[str]:
    return [_line("boxes", imports.import_boxes(path=path, split=arguments["split"]))]


def _coco(path: Path, arguments: Mapping[str, Any]) -> list[str]:
    counts = imports.import_coco(path=path, split=arguments["split"])
    return [
        _line("classes", counts.classes),
        _line("images", counts.images),
        _line("boxes", counts.boxes),
    ]


def _captions(path: Path, arguments: Mapping[str, Any]) -> list[str]:
    name = arguments["caption_set"]
    counts = caption_sets.import_captions(
        path=path,
        split=arguments["split"],
        name=name,
        team=arguments["team"],
        at=timezone.now(),
    )
    skipped = f", {counts.skipped:,} of unknown images skipped" if counts.skipped else ""
    return [f"{counts.new:,} captions in the set {name}{skipped}."]


# The files of a dataset in the order in which they must be imported.
PARTS: dict[str, Callable[[Path, Mapping[str, Any]], list[str]]] = {
    "classes": _classes,
    "hierarchy": _hierarchy,
    "images": _images,
    "boxes": _boxes,
    "coco": _coco,
    "captions": _captions,
}


def _title(arguments: Mapping[str, Any], *_: Any) -> str:
    return f"Import images: {arguments.get('split') or 'classes'}"


register(JobKind(name="import_images", label="Import images", work=import_own, title=_title))
register(JobKind(name="import_dataset", label="Import dataset", work=import_dataset, title=_title))
