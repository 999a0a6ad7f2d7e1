"""What a reviewer fills in."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotate.models import Release
from qualcontrol.models import Verdict

OTHER = "other"
# In the order of their number keys on the review page.
REASONS = {
    "keyword-list": "a list of keywords, not a sentence",
    "wrong-image": "describes another image",
    "vague": "too vague: would fit many images",
    "not-english": "not in English",
    "copy": "the same as other captions",
    OTHER: "another reason",
}


class VerdictForm(forms.Form):
    """Good, or bad with a reason; the buttons give the verdict."""

    verdict = forms.ChoiceField(choices=Verdict)
    reason = forms.ChoiceField(choices=list(REASONS.items()), required=False)
    other = forms.CharField(max_length=300, required=False)

    def clean(self) -> dict[str, Any]:
        """`reason` becomes the sentence that is kept."""
        values = super().clean() or {}
        if values.get("verdict") != Verdict.BAD:
            return {**values, "reason": ""}
        text = values.get("other", "").strip()
        if values.get("reason") and values["reason"] != OTHER:
            reason = REASONS[values["reason"]]
            values["reason"] = f"{reason} ({text})"[:300] if text else reason
        elif text:
            values["reason"] = text
        else:
            raise forms.ValidationError("Say what is wrong with the caption: choose a reason.")
        return values


class ReasonForm(forms.Form):
    """A reason that goes into the decision log."""

    reason = forms.CharField(
        max_length=300,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="It is kept in the decision log.",
        error_messages={"required": "Give a reason; it is kept in the decision log."},
    )


class RejectionForm(forms.Form):
    """What the worker will read beside their rejected assignment."""

    reason = forms.CharField(
        max_length=1024,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The worker reads it, word for word.",
        error_messages={"required": "Give a reason; the worker has a right to know it."},
    )


class ReleaseForm(forms.Form):
    """A release's name, the seed of its draw, and whether it may be partial."""

    name = forms.SlugField(
        max_length=100, help_text="Letters, digits, hyphens and underscores; it names the files."
    )
    seed = forms.IntegerField(help_text="It draws the human baseline of each image.")
    partial = forms.BooleanField(
        required=False, label="Partial: leave unfinished images out, despite open questions"
    )

    def __init__(self, *args: Any, lacking: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lacking = lacking

    def clean_name(self) -> str:
        """A release stays as it is, so its name is given once."""
        name = self.cleaned_data["name"]
        if Release.objects.filter(name=name).exists():
            raise forms.ValidationError(f"There is a release {name} already; it stays as it is.")
        return name

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self.lacking and not values.get("partial"):
            raise forms.ValidationError(
                "The campaign is not finished. Wait for what is missing, or make it partial."
            )
        return values
