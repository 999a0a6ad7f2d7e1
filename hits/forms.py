"""What a researcher fills in."""

import tomllib
from typing import Any

from django import forms

from annotate.config import CampaignFileError, parse_config

MOST_BYTES = 100_000


class CampaignFileForm(forms.Form):
    """A campaign file, uploaded or pasted; `config` is what it says, checked."""

    file = forms.FileField(required=False, help_text="A TOML file, the one that you keep in git.")
    text = forms.CharField(
        required=False,
        label="Or paste it",
        max_length=MOST_BYTES,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "code"}),
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        try:
            text = self._text(values)
            values["config"] = parse_config(tomllib.loads(text))
        except UnicodeDecodeError as error:
            raise forms.ValidationError("The file is not text in UTF-8.") from error
        except tomllib.TOMLDecodeError as error:
            raise forms.ValidationError(f"This is not TOML: {error}.") from error
        except CampaignFileError as error:
            raise forms.ValidationError(str(error).splitlines()) from error
        return values

    def _text(self, values: dict[str, Any]) -> str:
        file, text = values.get("file"), values.get("text", "")
        if file is not None:
            if file.size > MOST_BYTES:
                raise forms.ValidationError("The file is too long to be a campaign file.")
            return file.read().decode("utf-8-sig")
        if not text.strip():
            raise forms.ValidationError("Choose a campaign file, or paste one.")
        return text
