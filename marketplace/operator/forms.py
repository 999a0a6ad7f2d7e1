"""Forms of the operator's pages."""

from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.template.defaultfilters import date
from django.utils.html import format_html
from django.utils.timezone import localtime

from marketplace.errors import GroupRefused
from marketplace.models import HitType, Requester
from marketplace.services.accounts import (
    LONGEST_NAME,
    MOST_INVITATION_DAYS,
    MOST_INVITATION_USES,
    normal_name,
)
from marketplace.services.mail_invitations import MOST_ADDRESSES, addresses_in
from marketplace.services.operators import MOST_APPROVED, MOST_MONEY, profile_columns
from marketplace.services.people_groups import MOST_SHARE, GroupPlan
from shared.number_fields import AmountField, WholeNumberField
from shared.second_factors.pages import SignInCodeForm
from shared.text_areas import TextArea

MOST_NEW_WORKERS = 100
# Groups of HITs in a list to choose from: those under way first, then the newest.
MOST_GROUPS = 200


class SignInForm(SignInCodeForm):
    field_order = ("name", "password", "code")

    name = forms.CharField(max_length=150)
    password = forms.CharField(max_length=200, widget=forms.PasswordInput)

    def operator(self) -> User | None:
        """The operator with this name, password and code, or None."""
        user = authenticate(
            username=self.cleaned_data["name"],
            password=self.cleaned_data["password"],
            code=self.cleaned_data["code"],
        )
        return user if isinstance(user, User) and user.is_staff else None


class OperatorForm(forms.Form):
    name = forms.CharField(
        max_length=150,
        help_text="The new operator signs in with it, and the activity log shows it.",
    )


class MoneyForm(forms.Form):
    amount = AmountField(
        label="Dollars", min_value=Decimal("0.01"), max_value=MOST_MONEY, decimal_places=2
    )


class RequesterForm(forms.Form):
    name = forms.CharField(max_length=100)
    balance = AmountField(
        label="Balance in dollars", min_value=Decimal(0), max_value=MOST_MONEY, decimal_places=2
    )


def _country_field(**options: Any) -> forms.RegexField:
    return forms.RegexField(
        "^[A-Za-z]{2}(-[A-Za-z0-9]{2})?$",
        label="Country",
        required=False,
        help_text="Two letters, such as US, or US-PA with a state. HITs can require a country.",
        error_messages={
            "invalid": ("Two letters, such as US, with a state if needed, as in US-PA.")
        },
        **options,
    )


# The page has what a field showed, so that only what the operator has changed is stored.
SHOWN: dict[str, Any] = {"show_hidden_initial": True}


class WorkerForm(forms.Form):
    country = _country_field(**SHOWN)
    # The lowest approval rate stands for 99 times as many rejected as approved HITs.
    approved = WholeNumberField(label="Approved HITs", min_value=0, max_value=10**9, **SHOWN)
    rejected = WholeNumberField(label="Rejected HITs", min_value=0, max_value=10**9, **SHOWN)
    is_master = forms.BooleanField(label="Has the Masters qualification", required=False, **SHOWN)
    is_adult = forms.BooleanField(
        label="Is an adult who accepts HITs with adult content", required=False, **SHOWN
    )

    def changes(self) -> dict[str, Any]:
        """The fields that the operator has changed."""
        return {name: self.cleaned_data[name] for name in self.changed_data}


class NewWorkersForm(forms.Form):
    names = forms.CharField(
        label="Names, one on each line",
        max_length=MOST_NEW_WORKERS * (LONGEST_NAME + 2),
        widget=TextArea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text=f"At most {MOST_NEW_WORKERS}. Each person gets a sign-in link of their own.",
    )
    country = _country_field()
    approved = WholeNumberField(
        label="Approved HITs",
        min_value=0,
        max_value=MOST_APPROVED,
        initial=0,
        help_text="A history to begin with. nocaps' requirements ask for 5,000.",
    )
    rate = WholeNumberField(
        label="Approval rate in percent", min_value=1, max_value=100, initial=100
    )

    def clean_names(self) -> list[str]:
        lines = self.cleaned_data["names"].splitlines()
        names = list(dict.fromkeys(filter(None, map(normal_name, lines))))
        if not names:
            raise forms.ValidationError("Enter at least one name.")
        if len(names) > MOST_NEW_WORKERS:
            raise forms.ValidationError(f"Enter at most {MOST_NEW_WORKERS} names.")
        for name in names:
            if len(name) > LONGEST_NAME or not name.isprintable():
                raise forms.ValidationError(
                    f"A name must have at most {LONGEST_NAME} printable characters: {name[:40]}"
                )
        return names

    def columns(self) -> dict[str, int | str]:
        """The columns of the new workers, without their names."""
        names = ("country", "approved", "rate")
        return profile_columns(**{name: self.cleaned_data[name] for name in names})


def _choice(group: HitType) -> tuple[str, str]:
    posted = date(localtime(group.created_at), "j M Y, H:i")
    of = ", ".join(filter(None, [group.campaign, group.language_name]))
    title = f"{of}: {group.title}" if of else group.title
    return group.public_id, f"{title} ({group.requester.name}, posted {posted})"


class _HitTypeForm(forms.Form):
    """A form with a choice of groups of HITs."""

    hit_type = forms.CharField(label="HITs", max_length=64, widget=forms.Select)

    def __init__(self, *args: Any, all_at: str, **kwargs: Any) -> None:
        """`all_at` is the address of the page that lists finished groups, too; empty for itself."""
        super().__init__(*args, **kwargs)
        chosen = self["hit_type"]
        widget = chosen.field.widget
        assert isinstance(widget, forms.Select)
        groups = HitType.objects.with_under_way().select_related("requester")
        listed = list(groups.order_by("-is_under_way", "-pk")[:MOST_GROUPS])
        wanted = str(chosen.value() or "")
        if wanted.isalnum() and all(group.public_id != wanted for group in listed):
            listed += groups.filter(public_id=wanted)
        under_way: list[tuple[str, str]] = []
        finished: list[tuple[str, str]] = []
        for group in listed:
            (under_way if group.is_under_way else finished).append(_choice(group))
        shown = [choice for choice in finished if not all_at or choice[0] == chosen.value()]
        last = [("Finished, or nothing open", shown)] if shown else []
        widget.choices = [("", "Choose a group of HITs"), *under_way, *last]
        if len(shown) < len(finished):
            chosen.help_text = format_html('<a href="{}">Show finished</a>', all_at)

    def clean_hit_type(self) -> HitType:
        hit_type = HitType.objects.filter(public_id=self.cleaned_data["hit_type"].strip()).first()
        if hit_type is None:
            raise forms.ValidationError("There is no such group of HITs. Choose one of the list.")
        return hit_type


class _LanguageForm(forms.Form):
    language = forms.ChoiceField(
        choices=lambda: settings.LANGUAGES,
        required=False,
        initial="en",
        help_text="Of the pages around the tasks. The tasks themselves are in the language of "
        "their campaign.",
    )

    def clean_language(self) -> str:
        return self.cleaned_data["language"] or "en"


class StudyForm(_HitTypeForm, _LanguageForm):
    field_order = ("name", "language", "hit_type")

    name = forms.CharField(max_length=100, help_text="As participants see it.")
    assignments = WholeNumberField(label="HITs for each participant", min_value=1, max_value=10_000)
    return_url = forms.CharField(
        label="Return address",
        max_length=1000,
        initial=lambda: settings.PROLIFIC_RETURN_URL,
        help_text="Participants return to this address with the code added.",
    )
    completion_code = forms.CharField(max_length=100)
    no_work_code = forms.CharField(
        label="Code for participants who find no HITs", max_length=100, required=False
    )
    id_parameter = forms.CharField(
        label="Parameter with the panel's id", max_length=64, initial="PROLIFIC_PID"
    )


class GroupForm(_LanguageForm):
    """The texts that people read before they join a group."""

    field_order = ("name", "language")

    name = forms.CharField(
        max_length=100, help_text="As people see it, such as “Photographs for the course, 2026”."
    )
    organizer = forms.CharField(
        label="Organiser", max_length=200, help_text="A person or an institution."
    )
    purpose = forms.CharField(
        label="Purpose",
        max_length=4000,
        widget=TextArea(attrs={"rows": 4}),
        help_text="What people do, and what their work is used for.",
    )
    contact = forms.CharField(
        label="Contact", max_length=200, help_text="Whom people ask: a name, an e-mail address."
    )
    consent = forms.CharField(
        label="Consent text",
        max_length=20_000,
        widget=TextArea(attrs={"rows": 10}),
        help_text="Each person agrees to it before the first task. A changed text is a new "
        "version, and everybody is asked again.",
    )
    shows_names = forms.BooleanField(
        label="The requester sees names beside answers",
        required=False,
        help_text="People read this below the consent text. Otherwise requesters see numbers.",
    )

    def plan(self) -> GroupPlan:
        """The form's values as a GroupPlan."""
        return GroupPlan(**self.cleaned_data)


class AddressesForm(forms.Form):
    addresses = forms.CharField(
        label="E-mail addresses",
        max_length=200_000,
        widget=TextArea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text=f"At most {MOST_ADDRESSES}, separated by spaces, commas or lines. Addresses that "
        "are on the list already get no second mail.",
    )

    def clean_addresses(self) -> list[str]:
        try:
            return addresses_in(self.cleaned_data["addresses"])
        except GroupRefused as error:
            raise forms.ValidationError(str(error)) from error


class OfferForm(_HitTypeForm):
    field_order = ("hit_type", "share")

    share = WholeNumberField(
        label="Most tasks for each person",
        min_value=1,
        max_value=MOST_SHARE,
        required=False,
        help_text="Empty for no limit. Choose the HITs again to change their limit.",
    )


class InvitationForm(forms.Form):
    uses = WholeNumberField(
        label="Accounts",
        min_value=1,
        max_value=MOST_INVITATION_USES,
        initial=1,
        help_text="Number of people who can create an account with the link.",
    )
    days = WholeNumberField(
        label="Expires after days", min_value=1, max_value=MOST_INVITATION_DAYS, initial=14
    )


class LayoutForm(forms.Form):
    requester = forms.ModelChoiceField(Requester.objects.order_by("name"))
    name = forms.CharField(max_length=100)
    page = forms.CharField(
        widget=TextArea(attrs={"rows": 12, "spellcheck": "false"}),
        help_text="HTML with placeholders such as ${name}, which HITLayoutParameters fill.",
    )
    frame_height = WholeNumberField(
        label="Frame height in pixels (0 fits the window)",
        min_value=0,
        max_value=100_000,
        initial=0,
    )
