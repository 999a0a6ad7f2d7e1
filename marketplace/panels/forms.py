"""Forms of a study at a panel."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django import forms

from marketplace.models import AttentionCheck, Screening, Study
from marketplace.panels.models import PanelStudy, PanelSubmission
from marketplace.panels.panel import DEVICES, FAILED_CHECK, LEAST_REJECTION, REJECTION_CATEGORIES
from marketplace.panels.services import submissions
from marketplace.panels.services.studies import MOST_PLACES
from shared.number_fields import AmountField, WholeNumberField
from shared.text_areas import TextArea


class LinesField(forms.CharField):
    """A text of several lines; its value is a list of what `read` makes of each."""

    def __init__(self, read: Callable[[str], Any], **options: Any) -> None:
        options.setdefault("widget", TextArea(attrs={"rows": 3}))
        super().__init__(required=False, **options)
        self.read = read

    def clean(self, value: Any) -> Any:
        return [self.read(line) for line in super().clean(value).splitlines() if line.strip()]


def _choice(line: str) -> str:
    return " ".join(line.split())[:200]


def _filter(line: str) -> dict[str, Any]:
    name, _, values = (part.strip() for part in line.partition("="))
    if not name or not values:
        raise forms.ValidationError(f"Write a filter as: id = value, value. Not: {line[:60]}")
    lower, dots, upper = (part.strip() for part in values.partition(".."))
    if not dots:
        selected = [value for value in map(str.strip, values.split(",")) if value]
        if not selected:
            raise forms.ValidationError(f"A filter has at least one value: {line[:60]}")
        return {"filter_id": name, "selected_values": selected}
    try:
        bounds = {"lower": int(lower), "upper": int(upper)}
    except ValueError as error:
        raise forms.ValidationError(f"A range has two numbers: {line[:60]}") from error
    if bounds["lower"] > bounds["upper"]:
        raise forms.ValidationError(f"The smaller number of a range comes first: {line[:60]}")
    return {"filter_id": name, "selected_range": bounds}


def _attention_check(line: str) -> AttentionCheck:
    question, *choices = (" ".join(part.split()) for part in line.split("|"))
    choices = [choice[:200] for choice in choices if choice]
    if not question or len(question) > 500 or len(choices) < 2:
        raise forms.ValidationError(
            f"Write a check as: question | right answer | other answer. Not: {line[:60]}"
        )
    return AttentionCheck(question=question, choices=choices, right_choice=choices[0])


PLAN = (
    "description", "reward", "minutes", "places", "devices", "filters", "is_signed",
    "screen_out_reward", "screen_out_places",
)  # fmt: skip
SCREENING = (
    "consent", "no_consent_code", "eligibility_question", "eligible_choices",
    "ineligible_choices", "screened_out_code", "question", "choices", "failed_check_code",
)  # fmt: skip


class PanelPlanForm(forms.Form):
    description = forms.CharField(
        max_length=5000,
        widget=TextArea(attrs={"rows": 5}),
        help_text="Participants read it at the panel before they take a place.",
    )
    reward = AmountField(
        label="Reward", min_value=Decimal("0.01"), max_value=10_000, decimal_places=2,
        help_text="For the whole study, in the currency of your workspace. What a participant "
        "earns here above it is paid as a bonus.",
    )  # fmt: skip
    minutes = WholeNumberField(label="Minutes that the study takes", min_value=1, max_value=1440)
    places = WholeNumberField(
        min_value=1, max_value=MOST_PLACES, help_text="Begin with two places."
    )
    devices = forms.MultipleChoiceField(
        choices=[(device, device.capitalize()) for device in DEVICES],
        required=False,
        widget=forms.SelectMultiple(attrs={"size": len(DEVICES)}),
        help_text="None means all of them.",
    )
    filters = LinesField(
        _filter,
        widget=TextArea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="One on each line, by the panel's ids: fluent-languages = 19, 20. A range is "
        "age = 18..65.",
    )
    is_signed = forms.BooleanField(
        label="Refuse arrivals without the panel's signature",
        required=False,
        help_text="Prolific offers signed addresses to some workspaces only.",
    )
    consent = forms.CharField(
        label="Consent text",
        required=False,
        max_length=20_000,
        widget=TextArea(attrs={"rows": 4}),
        help_text="Shown before the first HIT. Empty if the panel asks for consent.",
    )
    no_consent_code = forms.CharField(
        label="Code for participants who do not consent", required=False, max_length=100
    )
    eligibility_question = forms.CharField(
        label="Question on who may take part",
        required=False,
        max_length=500,
        help_text="For what the panel has no filter for. It is asked first, once, and must not "
        "tell which answer lets a participant take part.",
    )
    eligible_choices = LinesField(
        _choice, label="Answers that let a participant take part, one on each line"
    )
    ineligible_choices = LinesField(
        _choice, label="Answers that screen a participant out, one on each line"
    )
    screened_out_code = forms.CharField(
        label="Code for participants who are screened out", required=False, max_length=100
    )
    screen_out_reward = AmountField(
        label="Reward of a participant who is screened out", required=False, min_value=Decimal(0),
        max_value=10_000, decimal_places=2,
        help_text="The panel pays it by itself. Prolific offers this to some workspaces only.",
    )  # fmt: skip
    screen_out_places = WholeNumberField(
        label="Most participants who are screened out", required=False, min_value=0,
        max_value=MOST_PLACES, help_text="The panel pauses the study when they are reached.",
    )  # fmt: skip
    question = forms.CharField(
        label="Question on the instructions",
        required=False,
        max_length=500,
        help_text="Participants have two tries. After that they are asked to return the "
        "submission, and are never rejected for it.",
    )
    choices = LinesField(_choice, label="Answers, one on each line, the right one first")
    failed_check_code = forms.CharField(
        label="Code for participants who fail the question", required=False, max_length=100
    )

    attention_checks = LinesField(
        _attention_check,
        label="Attention checks, one on each line",
        help_text="Question | right answer | other answer | other answer. The question must say "
        "which answer to choose. The checks are spread over the HITs of a participant. Two "
        "failed ones, in studies under five minutes one, allow you to reject the submission.",
    )

    def clean_screen_out_reward(self) -> Decimal:
        return self.cleaned_data["screen_out_reward"] or Decimal("0.00")

    def clean_screen_out_places(self) -> int:
        return self.cleaned_data["screen_out_places"] or 0

    def panel_study(self, study: Study) -> PanelStudy:
        """The study at the panel that is filled in, not stored."""
        return PanelStudy(study=study, **{name: self.cleaned_data[name] for name in PLAN})

    def screening(self) -> Screening | None:
        """The screening that is filled in, not stored; None if there is none."""
        data = self.cleaned_data
        if not any(data[name] for name in ("consent", "eligibility_question", "question")):
            return None
        own = {name: data[name] for name in SCREENING}
        return Screening(right_choice=(data["choices"] or [""])[0], **own)


class PlacesForm(forms.Form):
    places = WholeNumberField(label="Places in total", min_value=1, max_value=MOST_PLACES)


class RejectionForm(forms.Form):
    """A person's rejection of one submission; offers the categories that the panel allows."""

    category = forms.ChoiceField(choices=list(REJECTION_CATEGORIES.items()))
    reason = forms.CharField(
        label="Reason that the participant reads",
        max_length=2000,
        widget=TextArea(attrs={"rows": 3}),
        help_text=f"At least {LEAST_REJECTION} characters.",
    )

    def __init__(self, submission: PanelSubmission) -> None:
        super().__init__()
        if not submissions.allows_rejection(submission):
            allowed = {k: v for k, v in REJECTION_CATEGORIES.items() if k != FAILED_CHECK}
            self.fields["category"].choices = list(allowed.items())  # type: ignore[attr-defined]
