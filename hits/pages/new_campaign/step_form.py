"""The base of all steps' forms. Task types add their own fields to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from django import forms

from annotate.kinds import DEFAULT_KIND, KINDS
from annotate.kinds.campaign_files import filled
from annotate.kinds.steps import FileField, StepFields
from annotate.models import CampaignDraft
from annotate.queries.keywords import has_classes
from annotate.services.drafts import value_at


@dataclass(frozen=True)
class Entries:
    """What a step stores: the valid values, and what was typed and is not valid."""

    values: dict[str, Any] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)  # keys of other steps that no longer apply


class StepForm(forms.Form):
    """A step's fields. Bound to what was posted, or to what the draft has."""

    step: ClassVar[str]
    # Fields shown in a folded section.
    details: tuple[str, ...] = ()

    def __init__(self, data: Mapping[str, Any], *, draft: CampaignDraft) -> None:
        super().__init__(data)
        self.draft = draft
        self.whole = filled(draft.file)
        self.task_kind = KINDS.get(self.whole["kind"]) or KINDS[DEFAULT_KIND]
        self.own = self.task_kind.steps.get(self.step, StepFields())
        self.fields |= self.own.copies()
        self.details += self.own.details
        if "selection" not in self.fields and self._lacks_classes(draft.file.get("selection")):
            for name in self.own.without_classes:
                del self.fields[name]
        for name, form_field in self.fields.items():
            file_field(form_field).begin(value_at(self.whole, path_of(name)), draft.team)
        self.shape()

    @classmethod
    def names(cls) -> set[str]:
        """All fields that the step has for some task type."""
        steps = [kind.steps.get(cls.step, StepFields()) for kind in KINDS.values()]
        return {*cls.base_fields, *(name for own in steps for name in own.fields)}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self._lacks_classes(values.get("selection")):
            for name, value in self.own.without_classes.items():
                self.errors.pop(name, None)
                values[name] = value
        for name, sentence in self.own.clean(values, self.draft.team):
            self.add_error(name, sentence)
        return values

    def _lacks_classes(self, selection: Any) -> bool:
        return bool(selection) and not has_classes(str(selection), self.draft.team)

    @classmethod
    def of(cls, draft: CampaignDraft) -> Self:
        """The form with what the draft has."""
        form = cls({}, draft=draft)
        form.data = {name: form.text_of(name) for name in form.fields}
        return form

    def shape(self) -> None:
        """Remove fields that do not apply, and fill in choices."""

    def in_new_language(self) -> list[forms.BoundField]:
        """Fields to show again, as a change of the language has changed them."""
        return []

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
        for name, form_field in self.fields.items():
            path = path_of(name)
            if name in self.errors:
                # PostgreSQL stores no NUL character.
                raw = str(self.data.get(name, "")).replace("\0", "")
                entries.unfinished[path] = raw[:10_000]
                entries.values[path] = None
            else:
                value = file_field(form_field).as_value(self.cleaned_data.get(name))
                entries.values[path] = None if value == self.default_of(path) else value
        return entries

    def default_of(self, path: str) -> Any:
        """The value without this step's own entries."""
        bare = filled(without(self.draft.file, self.paths()))
        return in_file(value_at(bare, path))


def in_file(value: Any) -> Any:
    """A default as a file has it."""
    return list(value) if isinstance(value, tuple) else value


def path_of(name: str) -> str:
    return name.replace("__", ".")


def file_field(form_field: forms.Field) -> FileField:
    assert isinstance(form_field, FileField), "the steps use fields of this package"
    return form_field


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
    form_field = form.fields[name]
    assert isinstance(form_field, forms.ChoiceField)
    return form_field
