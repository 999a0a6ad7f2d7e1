"""What the forms of all steps share. A field's name is the key's name in the campaign file, with
`__` for the dot: `hit__reward` is `hit.reward`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django import forms

from annotate.kinds.reading import filled
from annotate.models import CampaignDraft
from annotate.services.drafts import value_at
from hits.dashboard.new_campaign.fields import FileField


@dataclass(frozen=True)
class Entries:
    """What a step stores: the valid values, and what was typed and is not valid."""

    values: dict[str, Any] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)  # keys of other steps that no longer apply


class StepForm(forms.Form):
    """A step's fields. Bound to what was posted, or to what the draft has."""

    # Fields shown in a folded section.
    details: ClassVar[tuple[str, ...]] = ()

    def __init__(self, data: Mapping[str, Any], *, draft: CampaignDraft) -> None:
        super().__init__(data)
        self.draft = draft
        self.whole = filled(draft.file)
        self.shape()

    @classmethod
    def of(cls, draft: CampaignDraft) -> Self:
        """The form with what the draft has."""
        form = cls({}, draft=draft)
        form.data = {name: form.text_of(name) for name in form.fields}
        return form

    def shape(self) -> None:
        """Remove fields that do not apply, and fill in choices."""

    @property
    def has_details(self) -> bool:
        return any(name in self.fields for name in self.details)

    @property
    def details_have_errors(self) -> bool:
        return any(name in self.errors for name in self.details)

    def paths(self) -> list[str]:
        """The keys of the file that this step sets."""
        return [path_of(name) for name in self.fields]

    def text_of(self, name: str) -> Any:
        """The field's text for what the draft has: what was typed, or the value."""
        path = path_of(name)
        if path in self.draft.unfinished:
            return self.draft.unfinished[path]
        return file_field(self.fields[name]).as_text(value_at(self.whole, path))

    def entries(self) -> Entries:
        """What to store. A value that is the default anyway is left out of the file."""
        entries = Entries()
        for name, one in self.fields.items():
            path = path_of(name)
            if name in self.errors:
                # PostgreSQL stores no NUL character.
                raw = str(self.data.get(name, "")).replace("\0", "")
                entries.unfinished[path] = raw[:10_000]
                entries.values[path] = None
            else:
                value = file_field(one).as_value(self.cleaned_data.get(name))
                entries.values[path] = None if value == self.default_of(path) else value
        return entries

    def default_of(self, path: str) -> Any:
        """The value without this step's own entries."""
        bare = filled(without(self.draft.file, self.paths()))
        value = value_at(bare, path)
        return list(value) if isinstance(value, tuple) else value


def path_of(name: str) -> str:
    return name.replace("__", ".")


def name_of(path: str) -> str:
    return path.replace(".", "__")


def file_field(one: forms.Field) -> FileField:
    assert isinstance(one, FileField), "the steps use fields of this package"
    return one


def without(file: Mapping[str, Any], paths: list[str]) -> dict[str, Any]:
    """The file's values without these keys."""
    result = {}
    for key, value in file.items():
        if key in paths:
            continue
        inner = [path.partition(".")[2] for path in paths if path.startswith(f"{key}.")]
        result[key] = without(value, inner) if inner and isinstance(value, Mapping) else value
    return result


def choice(form: forms.Form, name: str) -> forms.ChoiceField:
    found = form.fields[name]
    assert isinstance(found, forms.ChoiceField)
    return found
