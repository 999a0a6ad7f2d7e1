"""Forms of the evaluation server."""

from typing import Any, cast

from django import forms
from django.db.models import Exists, OuterRef

from accounts.models import Team
from accounts.pages.sign_in import NewAccountForm
from annotate.models import Release, ReleasedCaption, Role
from corpora.evaluation.metrics import METRICS
from corpora.evaluation.tokenisers import OFFICIAL, PLAIN
from leaderboard.models import Challenge, Track
from leaderboard.services.challenges import (
    MOST_IN_TOTAL,
    MOST_MEGABYTES,
    MOST_SECONDS,
    MOST_TITLE,
)
from leaderboard.templatetags.leaderboard import metric_name
from shared.number_fields import WholeNumberField
from shared.text_areas import TextArea

MINUTES = "%Y-%m-%d %H:%M"
EXAMPLE = "Such as 2027-01-31 12:00."


def closing_field() -> forms.DateTimeField:
    return forms.DateTimeField(
        required=False,
        label="Closes (UTC)",
        widget=forms.DateTimeInput(format=MINUTES),
        help_text=f"{EXAMPLE} Empty: it stays open.",
    )


class SubmissionForm(forms.Form):
    """A results file, and what its submitter says about it."""

    method = forms.CharField(max_length=100, help_text="The name of your method, for the board.")
    track = forms.ChoiceField(choices=Track.choices)
    training_data = forms.CharField(
        max_length=2000,
        label="Training data",
        widget=TextArea(attrs={"rows": 3}),
        help_text="All data that your model was trained on. Shown on the board.",
    )
    file = forms.FileField(
        label="Results file", help_text="JSON, or a ZIP archive of one JSON file, up to 10 MB."
    )

    def __init__(self, challenge: Challenge, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not challenge.has_extra_track:
            self.fields["track"] = forms.ChoiceField(choices=Track.choices[:1])


class SignUpForm(NewAccountForm):
    """A new submitter's account."""

    field_order = ["name", "team", "password"]
    team = forms.CharField(max_length=100, help_text="Shown on boards beside your submissions.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        help_text = "At least 8 characters, and no common password."
        self.fields["password"].help_text = help_text


class LimitsForm(forms.Form):
    """Limits of submissions and of their scoring."""

    per_day = WholeNumberField(
        min_value=1,
        max_value=MOST_IN_TOTAL,
        label="Submissions per day",
        help_text="Days begin at 0:00 UTC.",
    )
    in_total = WholeNumberField(min_value=1, max_value=MOST_IN_TOTAL, label="Submissions in total")
    seconds = WholeNumberField(
        min_value=1,
        max_value=MOST_SECONDS,
        label="Time limit in seconds",
        help_text="For scoring one submission.",
    )
    megabytes = WholeNumberField(
        min_value=256,
        max_value=MOST_MEGABYTES,
        label="Memory limit in megabytes",
        help_text="For each process that scores.",
    )


class ChallengeForm(LimitsForm):
    release = forms.ModelChoiceField(
        Release.objects.none(),
        to_field_name="name",
        help_text="With reference captions. Its hidden images are scored; if none is hidden, all.",
    )
    name = forms.SlugField(
        max_length=100,
        help_text="Letters, digits, hyphens and underscores. It is part of the addresses.",
    )
    title = forms.CharField(max_length=MOST_TITLE)
    description = forms.CharField(
        max_length=10_000,
        required=False,
        label="What to do",
        widget=TextArea(attrs={"rows": 5}),
        help_text="Shown to submitters. Empty lines make paragraphs.",
    )
    plain_data = forms.CharField(
        max_length=2000,
        label="Training data of the plain track",
        widget=TextArea(attrs={"rows": 2}),
        help_text="The image captions that methods of this track may be trained on.",
    )
    has_extra_track = forms.BooleanField(
        required=False, label="A second track for methods with extra training data"
    )
    opens_at = forms.DateTimeField(
        label="Opens (UTC)", widget=forms.DateTimeInput(format=MINUTES), help_text=EXAMPLE
    )
    closes_at = closing_field()
    metrics = forms.MultipleChoiceField(
        choices=[(name, metric_name(name)) for name in METRICS], widget=forms.CheckboxSelectMultiple
    )
    tokeniser = forms.ChoiceField(
        choices=[(PLAIN, "plain: needs no Java"), (OFFICIAL, "official: comparable with papers")]
    )

    def __init__(self, team: Team, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        releases = cast("forms.ModelChoiceField[Release]", self.fields["release"])
        references = ReleasedCaption.with_hidden.filter(
            image__release=OuterRef("pk"), role=Role.REFERENCE
        )
        releases.queryset = Release.objects.of_team(team).filter(Exists(references))


class ClosingForm(forms.Form):
    """When a challenge closes."""

    closes_at = closing_field()


class WithdrawalForm(forms.Form):
    """Why a submission is withdrawn."""

    reason = forms.CharField(
        max_length=300,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="The submitter reads it.",
        error_messages={"required": "Enter a reason: the submitter has a right to know it."},
    )
