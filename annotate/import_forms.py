"""Forms of imports, for pages and the API, and the storing of the files that they take."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from accounts.models import Team
from annotate.services import imports, own_images, uploads
from background.models import Job
from corpora.datasets.sidecar import read_sidecar
from corpora.errors import DomainError

SPLIT_HELP = (
    "The name of a group of images, such as the dataset's own: train, validation, test. Letters, "
    "digits, dots, hyphens and underscores."
)


class ManyFiles(forms.FileInput):
    """Chooses several files. The field gets the last one; the view reads all of them."""

    allow_multiple_selected = True

    def value_from_datadict(self, _data: Any, files: Any, name: str) -> Any:
        return files.get(name)


class ImportForm(forms.Form):
    """What to import."""

    # The team to which the images will belong.
    team: Team | None = None
    is_operator = False

    def __init__(self, data: Any = None, files: Any = None) -> None:
        kind = self.base_fields["kind"].initial
        super().__init__(data, files, label_suffix="", auto_id=f"{kind}-%s")


class SharedField(forms.BooleanField):
    """Lets an operator import for all teams."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            label="Share with all teams",
            help_text="Every team can use what is imported. Without it, it belongs to your team. "
            "Only operators can share, and import into splits that are shared.",
        )


class DatasetForm(ImportForm):
    """Files of a dataset, which an operator can share with all teams."""

    # The fields of files, and those of them that write images, classes or boxes.
    parts: Sequence[str]
    owned: Sequence[str]

    def clean_shared(self) -> bool:
        shared: bool = self.cleaned_data["shared"]
        if shared and not self.is_operator:
            raise forms.ValidationError("Only an operator can share images with all teams.")
        return shared

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not any(values.get(part) for part in self.parts):
            raise forms.ValidationError("Choose at least one file.")
        if split := values.get("split"):
            try:
                imports.check_split(split)
                if any(values.get(part) for part in self.owned):
                    imports.check_owner(split, None if values.get("shared") else self.team)
            except DomainError as error:
                self.add_error("split", str(error))
        return values


class FilesForm(ImportForm):
    """One's own photographs: files of the browser, or a folder of the server."""

    kind = forms.CharField(initial="own", widget=forms.HiddenInput)
    split = forms.CharField(
        max_length=64,
        label="Name of these photographs",
        help_text="Any name; or that of photographs that you imported before, to add to them.",
    )
    photographs = forms.FileField(
        required=False,
        label="Photographs, or a ZIP file of them",
        widget=ManyFiles(attrs={"multiple": True, "data-files": True}),
    )
    folder = forms.CharField(required=False, max_length=500, label="Or a folder on the server")
    table = forms.FileField(
        required=False,
        label="Table of facts (CSV or JSON lines)",
        help_text="Optional: licences, authors, titles, contexts, classes and boxes by file_name.",
    )

    def __init__(self, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        if settings.IMAGES_FOLDER:
            self.fields["folder"].help_text = f"A folder below {settings.IMAGES_FOLDER}."
        else:
            del self.fields["folder"]

    def clean_split(self) -> str:
        split: str = self.cleaned_data["split"]
        try:
            own_images.check_own_split(split, self.team)
        except DomainError as error:
            raise forms.ValidationError(str(error)) from error
        return split


class OpenImagesForm(DatasetForm):
    """Files of Open Images."""

    kind = forms.CharField(initial="openimages", widget=forms.HiddenInput)
    split = forms.CharField(max_length=64, required=False, help_text=SPLIT_HELP)
    classes = forms.FileField(required=False, label="Class descriptions (CSV)")
    hierarchy = forms.FileField(required=False, label="Class hierarchy (JSON)")
    images = forms.FileField(required=False, label="Image metadata (CSV)")
    boxes = forms.FileField(required=False, label="Boxes (CSV)")
    base_url = forms.CharField(
        required=False,
        max_length=400,
        label="Load the images from",
        help_text="An address that begins with https:// or http://. Without it, the dataset's.",
    )
    shared = SharedField()
    parts = ("classes", "hierarchy", "images", "boxes")
    owned = ("images", "boxes")

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if (values.get("images") or values.get("boxes")) and not values.get("split"):
            self.add_error("split", "Metadata and boxes need a split.")
        return values


class CocoForm(DatasetForm):
    """Files of COCO."""

    kind = forms.CharField(initial="coco", widget=forms.HiddenInput)
    split = forms.CharField(max_length=64, help_text=SPLIT_HELP)
    coco = forms.FileField(required=False, label="Instances file (JSON)")
    captions = forms.FileField(required=False, label="Captions file (JSON)")
    caption_set = forms.SlugField(
        required=False,
        max_length=100,
        label="Name of the caption set",
        help_text="Needed for a captions file.",
    )
    shared = SharedField()
    parts = ("coco", "captions")
    owned = ("coco",)

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if values.get("captions") and not values.get("caption_set"):
            self.add_error("caption_set", "Name the caption set.")
        return values


FORMS: dict[str, type[ImportForm]] = {
    "own": FilesForm,
    "openimages": OpenImagesForm,
    "coco": CocoForm,
}


def filled_form(kind: str, data: Any, files: Any, team: Team, user: User) -> ImportForm:
    """The form of this kind of import, with what a request of the user has."""
    form = FORMS[kind](data, files)
    form.team, form.is_operator = team, user.is_superuser
    return form


# Requests the job of a `kind` with `arguments`.
Begin = Callable[..., Job]


def begin_import(form: ImportForm, begin: Begin) -> Job:
    """Store the files of a valid form, and request the job that imports them; raises
    DomainError."""
    return (_begin_dataset if isinstance(form, DatasetForm) else _begin_own)(form, begin)


def _begin_own(form: Any, begin: Begin) -> Job:
    values = form.cleaned_data
    arguments = {"split": values["split"]}
    files = form.files.getlist("photographs")
    named = list(zip(_names(form, files), files, strict=True))
    if folder := values.get("folder"):
        if named:
            raise DomainError("Choose photographs or a folder, not both.")
        uploads.server_folder(folder)
        arguments["folder"] = folder
    elif named:
        # By these, an import that succeeds ends the failure of an earlier one of the same files.
        names = json.dumps(sorted(name for name, _ in named))
        arguments["names"] = sha256(names.encode()).hexdigest()
    else:
        raise DomainError("Choose photographs or a ZIP file.")
    if table := values.get("table"):
        # Not among the names of the files, because a photograph could have the same.
        arguments["table"] = f"table:{table.name}"
        named.append((arguments["table"], table))
    if not named:
        return begin(kind="import_images", arguments=arguments)
    return _begin(begin, "import_images", arguments, named)


def _begin_dataset(form: Any, begin: Begin) -> Job:
    values = form.cleaned_data
    parts = {part: values[part] for part in form.parts if values.get(part)}
    named = [(f"{part}:{file.name}", file) for part, file in parts.items()]
    arguments = {
        "split": values.get("split", ""),
        "base_url": values.get("base_url", ""),
        "caption_set": values.get("caption_set", ""),
        "shared": values["shared"],
        "files": {part: f"{part}:{file.name}" for part, file in parts.items()},
    }
    return _begin(begin, "import_dataset", arguments, named)


def _begin(
    begin: Begin,
    kind: str,
    arguments: dict[str, Any],
    files: Sequence[tuple[str, UploadedFile]],
) -> Job:
    """Store the files, then request the job; if that fails, nothing is left of the upload."""
    key = uploads.store_upload(files)
    try:
        if name := arguments.get("table"):
            read_sidecar(
                uploads.uploaded_path(uploads.find_upload(key), name),
                name=name.removeprefix("table:"),
            )
        return begin(kind=kind, arguments=arguments | {"upload": key})
    except BaseException:
        uploads.drop_upload(key)
        raise


def _names(form: ImportForm, files: Sequence[UploadedFile]) -> list[str]:
    """The files' paths in a folder that was dropped, if they were sent; else their names. Raises
    DomainError."""
    sent = form.data.get("paths")
    if not sent:
        return [file.name or "file" for file in files]
    try:
        paths = json.loads(sent)
    except (ValueError, RecursionError):
        paths = None
    is_list = isinstance(paths, list) and len(paths) == len(files)
    if not is_list or not all(isinstance(path, str) and path for path in paths):
        raise DomainError("`paths` is not a JSON list with a path for each file.")
    return list(paths)
