"""Forms of the dashboard."""

from typing import Any

from django import forms

from annotate.kinds.reading import CampaignFileError, parse_config
from annotate.reading.files import MalformedFile, decoded
from annotate.reading.toml_files import parse_toml

MOST_BYTES = 100_000


class CampaignFileForm(forms.Form):
    """A campaign file, uploaded or pasted: its `values`, and `config`, its validated configuration.

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
            if "steps" not in self.data:
                values["config"] = parse_config(values["values"])
        except MalformedFile as error:
            raise forms.ValidationError(str(error)) from error
        except CampaignFileError as error:
            raise forms.ValidationError(str(error).splitlines()) from error
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


class AcceptanceForm(forms.Form):
    """An optional reason for paying a held payment."""

    reason = forms.CharField(
        label="Note",
        required=False,
        max_length=1024,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Optional. Kept in the decision log; the worker does not read it.",
    )
