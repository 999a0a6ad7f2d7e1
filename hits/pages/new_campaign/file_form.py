"""The form for a campaign file, and its faults in words."""

import json
import re
from typing import Any

from django import forms
from pydantic import BaseModel

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.kinds.campaign_files import CampaignFileError, parse_plan, parse_toml
from corpora.reading.files import MalformedFile, decoded
from shared.text_areas import TextArea

# What the validator says, and what pages say; the first that fits.
WORDS = [
    (r"input should be less than or equal to (\S+?)", r"must be at most \1"),
    (r"input should be greater than or equal to (\S+?)", r"must be at least \1"),
    (r"input should be less than (\S+?)", r"must be less than \1"),
    (r"input should be greater than (\S+?)", r"must be more than \1"),
    (r"input should be a valid integer.*?", "must be a whole number"),
    (r"input should be a valid (?:number|decimal).*?", "must be a number"),
    (r"decimal input should be an integer.*?", "must be a number"),
    (r"input should be a finite number.*?", "must be a number"),
    (r"input should be a valid string.*?", "must be a text in quotation marks"),
    (r"input should be a valid boolean.*?", "must be true or false"),
    (r"input should be a valid (?:tuple|list|array).*?", "must be a list in square brackets"),
    (r"input should be a valid dictionary.*?", "must be a section with keys of its own"),
    (r"input should be (.+?)", r"must be \1"),
    (r"field required", "is missing"),
    (r"string should have at least 1 character", "must not be empty"),
    (r"string should have at (least|most) (\d+) characters?", r"must have at \1 \2 characters"),
    (
        r"string should match pattern .*?\[a-z0-9\].*?",
        "must have lower-case letters, digits and single hyphens between them only",
    ),
    (r"string should match pattern .*?", "has a character that is not allowed there"),
    (r"decimal input should have no more than 2 decimal places", "must be in whole cents"),
    (r"decimal input should have no more than .*?", "has too many digits"),
]
PATTERNS = [(re.compile(rf"{said}(?P<given>, not .*)?", re.DOTALL), words) for said, words in WORDS]


def in_words(line: str) -> str:
    """`hit.images: must be at most 20, not 25` for an error of `annotate.kinds.campaign_files`."""
    key, colon, message = line.partition(": ")
    for pattern, words in PATTERNS:
        match = pattern.fullmatch(message)
        if match is not None:
            return f"{key}{colon}{match.expand(words)}{match['given'] or ''}"
    return line


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
        widget=TextArea(attrs={"rows": 16, "spellcheck": "false", "class": "code"}),
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
                    f"The file is too large: a campaign file has at most {MOST_BYTES // 1000} kB."
                )
            try:
                return file.name, decoded(file.name, file.read())
            except MalformedFile as error:
                raise forms.ValidationError(str(error)) from error
        if not text.strip():
            raise forms.ValidationError("Choose a campaign file or paste its text.")
        return "The text", text


def _refuse_other_types(values: dict[str, Any]) -> None:
    """Raise ValidationError for values that no step can show: dates, and plain values of
    sections."""
    for name, field in CampaignConfig.model_fields.items():
        is_section = isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
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
