"""Kinds of jobs: imports of images, selections, archives of releases, and reports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone

from annotate.exports.formats import FORMATS
from annotate.exports.images import ImageFile, image_files
from annotate.exports.tables import Extra
from annotate.kinds.exporting import content_of, export_archive
from annotate.models import CaptionSet, Release
from annotate.services import caption_sets, imports, own_images, selections, uploads
from annotate.services.own_images import OwnFile
from annotate.services.reports import create_report
from annotate.services.uploads import Upload
from background.jobs.work import JobFailed, JobKind, Result, Work, register
from background.models import Job
from corpora.errors import DomainError
from corpora.wording import counted
from corpora.writing import UNFINISHED

# Files named in the job's log for each reason.
NAMED = 100
# Files named in the error of an import from which no image came.
FEW = 5


def import_own(work: Work) -> Result:
    """Import own files. A restarted job continues with the rest."""
    split, table, folder = work.arguments["split"], None, work.arguments.get("folder")
    files: list[OwnFile] = []
    if key := work.arguments.get("upload", ""):
        if (upload := _upload_of(work)) is None:
            return Result("The files were imported.", url=_images_of(split))
        if name := work.arguments.get("table"):
            table = uploads.uploaded_path(upload, name)
        if not folder:
            work.step("Unpacking")
            files = uploads.own_files_of(upload, but=table, progress=_counting(work))
    if folder:
        root = Path(settings.IMAGES_FOLDER).resolve()
        files = own_images.own_files_below(uploads.server_folder(folder), within=root)
    return _import_own(work, files, split, table, key)


def _upload_of(work: Work) -> Upload | None:
    """The job's upload; raises UploadMissing. None if an earlier attempt was stopped after it had
    imported all files and deleted the upload."""
    try:
        return uploads.find_upload(work.arguments["upload"])
    except uploads.UploadMissing:
        if not work.is_repeated:
            raise
        return None


def _import_own(
    work: Work, files: list[OwnFile], split: str, table: Path | None, key: str
) -> Result:
    work.step(f"Importing {counted(len(files), 'file')}", total=len(files))
    counts = own_images.import_own_files(
        files=files,
        split=split,
        table=table,
        table_name=work.arguments.get("table"),
        team=work.job.team,
        progress=_counting(work),
    )
    # The first line is the result, which the job's log ends with.
    result, *lines = own_images.report_lines(counts, most=NAMED)
    has_images = counts.new or counts.unchanged or counts.duplicates or counts.described
    if has_images or len(counts.broken) > FEW:
        for line in lines:
            work.log(line)
    if counts.ignored_columns:
        work.log(f"Columns of the table that were not used: {', '.join(counts.ignored_columns)}.")
    if key:
        uploads.drop_upload(key)
    if not has_images:
        reasons = own_images.report_lines(counts, most=FEW)[1:] or ["There are no files in it."]
        raise JobFailed("\n".join(["No image was imported.", *reasons]))
    more = (
        " The log names the files that were left out." if counts.duplicates or counts.broken else ""
    )
    return Result(f"{result}{more}", url=_images_of(split))


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
    arguments, split = work.arguments, work.arguments.get("split")
    url = _images_of(split) if split else ""
    asked_by = work.job.asked_by
    if arguments.get("shared") and not (asked_by and asked_by.is_active and asked_by.is_superuser):
        # Another member of the team may run an operator's job again.
        raise JobFailed("Only an operator can share images with all teams.")
    if (upload := _upload_of(work)) is None:
        return Result("The files were imported.", url=url)
    # PostgreSQL does not keep the order of the keys of JSON.
    for part in (part for part in PARTS if part in arguments["files"]):
        name = arguments["files"][part]
        work.step(f"Importing {name}")
        path = uploads.uploaded_path(upload, name)
        try:
            lines = _import_part(part, path, work.job)
        except DomainError as error:
            # The file has a number as its name here, which would tell nobody anything.
            raise JobFailed(str(error).replace(str(path), name)) from error
        for line in lines:
            work.log(line)
    uploads.drop_upload(arguments["upload"])
    return Result("Imported. The log has the numbers.", url=url)


# The files of a dataset in the order in which they must be imported.
PARTS = ("classes", "hierarchy", "images", "boxes", "coco", "captions")


def _import_part(part: str, path: Path, job: Job) -> list[str]:
    """Import one file of a dataset; return the result in words."""
    arguments, team = job.arguments, job.team
    split = arguments.get("split", "")
    # An operator can share what is imported with all teams.
    owner = None if arguments.get("shared") else team
    match part:
        case "classes":
            return [imports.import_classes(path=path, team=owner).in_words("class", "classes")]
        case "hierarchy":
            counts = imports.import_hierarchy(path=path, team=owner)
            return [counts.in_words("relation", "relations of classes")]
        case "images":
            base_url = arguments.get("base_url", "")
            counts = imports.import_images(path=path, split=split, base_url=base_url, team=owner)
            return [counts.in_words("image")]
        case "boxes":
            counts = imports.import_boxes(path=path, split=split, team=owner)
            return [counts.in_words("box", "boxes")]
        case "coco":
            return imports.import_coco(path=path, split=split, team=owner).in_words()
    name, at = arguments["caption_set"], job.asked_at
    if CaptionSet.objects.filter(name=name, created_at=at).exists():
        return [f"The set {name} was created before the job was interrupted."]
    given = caption_sets.import_captions(path=path, split=split, name=name, team=team, at=at)
    return [given.in_words(name)]


def _import_title(arguments: Mapping[str, Any], *_: Any) -> str:
    return f"Import images: {arguments.get('split') or 'classes'}"


for name, label, work in (
    ("import_images", "Import images", import_own),
    ("import_dataset", "Import dataset", import_dataset),
):
    register(JobKind(name=name, label=label, work=work, title=_import_title, resent="upload"))


def select_images(work: Work) -> Result:
    options = {**work.arguments, "team": work.job.team}
    url = reverse("images:selection", args=[options["name"]])
    if selections.find_selection(**options):
        return Result("The selection exists already with the same options.", url=url)
    work.step(f"Choosing {counted(options['count'], 'image')}", total=options["count"])
    drawn = selections.draw_selection(**options, at=timezone.now(), progress=_counting(work))
    return Result(f"{counted(drawn.selection.count, 'image')} selected.", url=url)


register(
    JobKind(
        name="select_images",
        label="Select images",
        work=select_images,
        title=lambda arguments, *_: f"Select images: {arguments['name']}",
    )
)


# Bytes that are written between two looks at whether the job is cancelled.
BATCH = 1_000_000


def write_archive(work: Work) -> Result:
    """Write the archive under a temporary name, then rename it, so that it is whole or absent."""
    release, name = work.about(Release), work.arguments["format"]
    if name not in FORMATS:
        raise JobFailed(f"There is no format {name!r}.")
    content = content_of(release, [Extra(extra) for extra in work.arguments.get("extras", [])])
    images = None
    if with_images := work.arguments.get("images", False):
        images = _copying(work, image_files(release, content.images))
    file = f"{release.name}-{name}{'-images' if with_images else ''}-{work.job.key.hex[:8]}.zip"
    path = Path("exports") / release.name / file
    target = Path(settings.MEDIA_ROOT) / path
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(UNFINISHED)
    work.step(f"Writing {FORMATS[name].name}")
    written = noted = 0
    try:
        with part.open("wb") as stream:
            for chunk in export_archive(content, FORMATS[name], images):
                written += stream.write(chunk)
                if images is None and written - noted >= BATCH:
                    noted = written
                    work.progress(written)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    if images is None:
        work.progress(written)
    return Result(f"Archive of {filesizeformat(written)} written.", file=str(path))


def _copying(work: Work, files: Sequence[ImageFile]) -> Iterator[ImageFile]:
    """The files, counted as progress of their own step, which begins with the first one."""
    work.step("Copying image files")
    yield from work.each(files, total=len(files))


def _export_title(arguments: Mapping[str, Any], release: Any) -> str:
    more = " with image files" if arguments.get("images") else ""
    return f"Export: {release or 'a release'} as {arguments['format']}{more}"


register(
    JobKind(
        name="export", label="Export", work=write_archive, title=_export_title, is_repeatable=True
    )
)


def make_report(work: Work) -> Result:
    work.step("Computing statistics and drawing figures")
    release = work.about(Release)
    create_report(release)
    return Result("Report created.", url=reverse("annotate:report", args=[release.name]))


register(JobKind(name="report", label="Report", work=make_report, is_repeatable=True))
