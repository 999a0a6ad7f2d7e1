"""Forms of the dashboard."""

import json
from typing import Any

from django import forms

from annotate.campaign_file import CampaignConfig, Section
from annotate.kinds import KINDS
from annotate.kinds.families import parse_plan
from annotate.kinds.reading import CampaignFileError
from annotate.reading.files import MalformedFile, decoded
from annotate.reading.toml_files import parse_toml
from hits.dashboard.file_errors import in_words

MOST_BYTES = 100_000


class CampaignFileForm(forms.Form):
    """A campaign file, uploaded or pasted: its `values`, and `plan`, its campaigns.

    If `steps` is sent, the file need not be valid: the steps show what is wrong.
    """

    file = forms.FileField(required=False, help_text="A TOML campaign file.")
    text = forms.CharField(
        required=False,
        label="Or paste the file's text",
        max_length=MOST_BYTES,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "code"}),
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        name, text = self._text(values)
        try:
            values["values"] = parse_toml(name, text)
            if "steps" in self.data:
                _refuse_other_types(values["values"])
            else:
                values["plan"] = parse_plan(values["values"])
        except MalformedFile as error:
            raise forms.ValidationError(str(error)) from error
        except CampaignFileError as error:
            raise forms.ValidationError(
                [in_words(line) for line in str(error).splitlines()]
            ) from error
        return values

    def _text(self, values: dict[str, Any]) -> tuple[str, str]:
        """The name for the text in error messages, and the text."""
        file, text = values.get("file"), values.get("text", "")
        if file is not None:
            if file.size > MOST_BYTES:
                raise forms.ValidationError(
                    "The file is too large: a campaign file has at most 100 kB."
                )
            try:
                return file.name, decoded(file.name, file.read())
            except MalformedFile as error:
                raise forms.ValidationError(str(error)) from error
        if not text.strip():
            raise forms.ValidationError("Choose a campaign file or paste its text.")
        return "The text", text


def _refuse_other_types(values: dict[str, Any]) -> None:
    """Raise ValidationError for values that no step can show: sections that are none, and dates."""
    for name, field in CampaignConfig.model_fields.items():
        is_section = isinstance(field.annotation, type) and issubclass(field.annotation, Section)
        if is_section and not isinstance(values.get(name, {}), dict):
            raise forms.ValidationError(f"{name}: write this as a section, [{name}].")
        if field.annotation is str and not isinstance(values.get(name, ""), str):
            raise forms.ValidationError(f"{name}: write this as a text in quotation marks.")
    for name, kind in KINDS.items():
        if kind.section is not None and not isinstance(values.get(name, {}), dict):
            raise forms.ValidationError(f"{name}: write this as a section, [{name}].")
    if not isinstance(values.get("preset", ""), str):
        raise forms.ValidationError("preset: write this as a text in quotation marks.")
    try:
        json.dumps(values, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise forms.ValidationError(
            "The file has a date, or a number that is infinite or none. No key takes these."
        ) from error


class AcceptanceForm(forms.Form):
    """An optional reason for paying a held payment."""

    reason = forms.CharField(
        label="Note",
        required=False,
        max_length=1024,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Optional. Kept in the decision log; the worker does not read it.",
    )
