"""Forms of the operator's pages."""

from decimal import Decimal

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.models import User

from marketplace.models import HitType, Requester
from marketplace.services.accounts import MOST_INVITATION_DAYS, MOST_INVITATION_USES
from marketplace.services.operators import MOST_MONEY
from marketplace.services.studies import StudyPlan


class SignInForm(forms.Form):
    name = forms.CharField(max_length=150)
    password = forms.CharField(max_length=200, widget=forms.PasswordInput)

    def operator(self) -> User | None:
        """The operator with this name and password, or None."""
        found = authenticate(
            username=self.cleaned_data["name"], password=self.cleaned_data["password"]
        )
        return found if isinstance(found, User) and found.is_staff else None


class MoneyForm(forms.Form):
    amount = forms.DecimalField(
        label="Dollars", min_value=Decimal("0.01"), max_value=MOST_MONEY, decimal_places=2
    )


class RequesterForm(forms.Form):
    name = forms.CharField(max_length=100)
    balance = forms.DecimalField(
        label="Balance in dollars", min_value=Decimal(0), max_value=MOST_MONEY, decimal_places=2
    )


class WorkerForm(forms.Form):
    country = forms.RegexField(
        "^[A-Za-z]{2}(-[A-Za-z0-9]{2})?$",
        label="Country",
        required=False,
        error_messages={
            "invalid": ("Two letters, such as US, with a state if needed, as in US-PA.")
        },
    )
    approved = forms.IntegerField(label="Approved HITs", min_value=0, max_value=10**8)
    rejected = forms.IntegerField(label="Rejected HITs", min_value=0, max_value=10**8)


class StudyForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="As participants see it.")
    hit_type = forms.CharField(
        label="HIT type", max_length=64, help_text="HITTypeId of the study's HITs."
    )
    assignments = forms.IntegerField(
        label="HITs for each participant", min_value=1, max_value=10_000
    )
    return_url = forms.CharField(
        label="Return address",
        max_length=1000,
        initial="https://app.prolific.com/submissions/complete",
        help_text="Participants return to this address with the code added.",
    )
    completion_code = forms.CharField(max_length=100)
    no_work_code = forms.CharField(
        label="Code for participants who find no HITs", max_length=100, required=False
    )
    id_parameter = forms.CharField(
        label="Parameter with the panel's id", max_length=64, initial="PROLIFIC_PID"
    )

    def clean_hit_type(self) -> HitType:
        found = HitType.objects.filter(public_id=self.cleaned_data["hit_type"].strip()).first()
        if found is None:
            raise forms.ValidationError("There is no such HIT type.")
        return found

    def plan(self) -> StudyPlan:
        """The form's values as a StudyPlan."""
        fields = dict(self.cleaned_data)
        del fields["name"], fields["hit_type"]
        return StudyPlan(**fields)


class InvitationForm(forms.Form):
    uses = forms.IntegerField(
        label="Accounts", min_value=1, max_value=MOST_INVITATION_USES, initial=1
    )
    days = forms.IntegerField(
        label="Expires after days", min_value=1, max_value=MOST_INVITATION_DAYS, initial=14
    )


class LayoutForm(forms.Form):
    requester = forms.ModelChoiceField(Requester.objects.order_by("name"))
    name = forms.CharField(max_length=100)
    page = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "false"}),
        help_text="HTML with placeholders such as ${name}, which HITLayoutParameters fill.",
    )
    frame_height = forms.IntegerField(
        label="Frame height in pixels (0 fits the window)",
        min_value=0,
        max_value=100_000,
        initial=0,
    )
