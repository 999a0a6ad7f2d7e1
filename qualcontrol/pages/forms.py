"""Forms of the review and quality pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from annotate.exports.records import HidingRefused, rule_of
from annotate.kinds import KINDS, TaskKind
from annotate.models import Campaign, Release, Response, Task
from corpora.selection.domains import DEFAULT_PRESET, PRESETS
from qualcontrol.models import Verdict
from qualcontrol.services.releasing import name_refusal
from shared.number_fields import NumberField, WholeNumberField
from shared.text_areas import TextArea

OTHER = "other"


def reasons_against(kind: TaskKind) -> dict[str, str]:
    """The reasons why an answer can be bad, in the order of the review page's number keys."""
    return {**kind.faults, OTHER: "another reason"}


class VerdictForm(forms.Form):
    """A verdict, with a reason if it is bad. The buttons submit the verdict."""

    verdict = forms.ChoiceField(choices=Verdict)
    other = forms.CharField(max_length=300, required=False)

    def __init__(self, kind: TaskKind, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.kind = kind
        self.reasons = reasons_against(kind)
        self.fields["reason"] = forms.ChoiceField(
            choices=list(self.reasons.items()), required=False
        )

    def clean(self) -> dict[str, Any]:
        """Set `reason` to the sentence that is stored."""
        values = super().clean() or {}
        if values.get("verdict") != Verdict.BAD:
            return {**values, "reason": ""}
        text = values.get("other", "").strip()
        if values.get("reason") and values["reason"] != OTHER:
            reason = self.reasons[values["reason"]]
            values["reason"] = f"{reason} ({text})"[:300] if text else reason
        elif text:
            values["reason"] = text
        elif values.get("reason"):
            raise forms.ValidationError("Write the other reason in words.")
        else:
            raise forms.ValidationError(f"Choose what is wrong with the {self.kind.answer_name}.")
        return values


class QuestionForm(forms.Form):
    question = forms.CharField(max_length=300, required=False)


class ReasonForm(forms.Form):
    """A reason for the decision log."""

    reason = forms.CharField(
        max_length=300,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Kept in the decision log.",
        error_messages={"required": "Enter a reason. It is kept in the decision log."},
    )


class ChangeForm(ReasonForm):
    """A change of a verdict, or the restoration of a response; the buttons submit which."""

    RESTORE = "RESTORE"
    change = forms.ChoiceField(choices=[*Verdict.choices, (RESTORE, RESTORE)])


class AppealForm(forms.Form):
    """What an excluded worker wrote."""

    text = forms.CharField(
        label="What the worker wrote", max_length=5000, widget=TextArea(attrs={"rows": 3})
    )


class AnswerForm(forms.Form):
    """An answer to an appeal. The buttons say whether it is granted."""

    answer = forms.CharField(
        max_length=5000,
        widget=TextArea(attrs={"rows": 3}),
        help_text="Workers who appealed on the page about their work read it there. To others, "
        "send it yourself, the way they wrote to you.",
    )
    granted = forms.ChoiceField(choices=[("yes", "yes"), ("no", "no")])


class MarkGoldForm(forms.Form):
    """A response with its known verdict: the one that it has, or a new one."""

    response = forms.ModelChoiceField(
        Response.objects.none(),
        error_messages={
            "required": "Choose one.",
            "invalid_choice": "The campaign has none with this number.",
        },
    )
    verdict = forms.ChoiceField(choices=Verdict, widget=forms.RadioSelect, required=False)
    reason = forms.CharField(label="What is wrong (if bad)", max_length=300, required=False)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        responses = Response.objects.of(campaign).select_related("spot_check")
        self.fields["response"].queryset = responses  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not values.get("verdict"):
            check = getattr(values.get("response"), "spot_check", None)
            if check is None or not check.verdict:
                self.add_error("verdict", "Choose good or bad.")
            else:
                values |= {"verdict": check.verdict, "reason": check.reason}
        if values.get("verdict") == Verdict.BAD and not values.get("reason"):
            self.add_error("reason", "Enter what is wrong with it.")
        return values


class SeedGoldForm(forms.Form):
    """A made-up bad caption."""

    task = forms.CharField(label="Image", error_messages={"required": "Choose an image."})
    text = forms.CharField(label="Caption", max_length=1000)
    reason = forms.CharField(label="What is wrong with it", max_length=300)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign

    def clean_task(self) -> Task:
        """Turn the image's key into the campaign's task."""
        key = self.cleaned_data["task"]
        task = self.campaign.tasks.filter(image__key=key).order_by("pk").first()
        if task is None:
            raise forms.ValidationError(f"The campaign has no image {key}.")
        return task


class RejectionForm(forms.Form):
    """The reason that a worker reads next to a rejected assignment."""

    reason = forms.CharField(
        max_length=1024,
        widget=TextArea(attrs={"rows": 3}),
        help_text="The worker reads this text word for word.",
        error_messages={"required": "Enter a reason: the worker has a right to know it."},
    )


class ReleaseForm(forms.Form):
    """The name and the seed of a release, whether it may be partial, and what it hides."""

    name = forms.SlugField(
        max_length=100,
        help_text="Letters, digits, hyphens and underscores. The name is part of the file names.",
    )
    seed = WholeNumberField(label="Seed of random choices", min_value=-(2**63), max_value=2**63 - 1)
    partial = forms.BooleanField(
        required=False, label="Partial: omit incomplete images, ignore open checks"
    )

    in_all_languages = forms.BooleanField(required=False)
    domains = forms.ChoiceField(
        choices=[(name, name) for name in PRESETS],
        required=False,
        label="Table of domains",
        help_text="Which classes are in-domain.",
    )
    hidden_splits = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Hide the captions of these splits",
    )
    hidden_percent = NumberField(
        required=False,
        label="Or hide the captions of a share of the images, in per cent",
        help_text="The images are drawn with the seed.",
    )

    def __init__(
        self,
        campaign: Campaign,
        *args: Any,
        lacking: Sequence[str] = (),
        lacking_together: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.team = campaign.team
        self.lacking, self.lacking_together = lacking, lacking_together
        kind = KINDS[campaign.kind]
        drawn = (
            f"the {kind.answers_name}, if one of the {kind.subject_name}s has more than it needs"
        )
        if kind.has_references and campaign.config.baselines:
            drawn = f"the human baselines, and {drawn}"
        self.fields[
            "seed"
        ].help_text = f"Any number. It draws {drawn}; the same number always draws the same."
        if campaign.family:
            self.fields["in_all_languages"].label = f"All languages of {campaign.family}"
        else:
            del self.fields["in_all_languages"]
        splits = campaign.tasks.order_by("image__split").values_list("image__split", flat=True)
        self.fields["hidden_splits"].choices = [(name, name) for name in splits.distinct()]  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        """Refuse the name of an existing release, because releases cannot be changed."""
        name: str = self.cleaned_data["name"]
        if Release.objects.filter(name=name).exists():
            raise forms.ValidationError(name_refusal(name, self.team))
        return name

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        is_together = values.get("in_all_languages", False)
        lacking = self.lacking_together if is_together else self.lacking
        if lacking and not values.get("partial"):
            raise forms.ValidationError(
                "The campaign is not complete: the list above says what is missing. Choose a "
                "partial release for what is there."
            )
        splits, percent = values.pop("hidden_splits", []), values.pop("hidden_percent", None)
        try:
            hidden = rule_of(splits=splits, share=None if percent is None else percent / 100)
        except HidingRefused as error:
            raise forms.ValidationError(str(error)) from error
        return {**values, "hidden": hidden, "domains": values.get("domains") or DEFAULT_PRESET}
