"""Texts of several lines that people type."""

from typing import Any

from django import forms


class TextArea(forms.Textarea):
    """A text area whose line breaks are one character each, as browsers count them for
    `maxlength`. They send two: CR LF."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        return value.replace("\r\n", "\n") if isinstance(value, str) else value
