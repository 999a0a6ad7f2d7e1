"""Pages about a campaign's own people: *Invite people*, their group at the marketplace with its
link, and *Who is who*, their names beside their pseudonyms, as far as their consent goes.

Names are read from the marketplace each time, and stored nowhere here.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import segno
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import FIRST_TEAM_NAME, Right
from accounts.pages.once import once
from accounts.pages.signed_in import refusals_shown, user_of
from annotate.lookups import campaign_of
from annotate.models import Campaign, CampaignStatus
from annotate.queries.progress import progress
from corpora.errors import DomainError
from corpora.language.text import gettext_noop
from hits.models import WorkerAccount
from hits.mturk import people
from hits.mturk.connection import MarketplaceError
from hits.mturk.endpoints import is_amazons
from hits.mturk.people import GroupFieldRefused
from hits.pages.next_steps import short_of_people
from hits.reconcile.withdraw import people_missing
from hits.services.syncs import sync_state
from shared.environment import LOOPBACK_HOSTS
from shared.number_fields import WholeNumberField
from shared.text_areas import TextArea

MOST = 2**31 - 1
# In place of a name that tells people nothing: of the first team, or of an account.
SENDER = gettext_noop("the person who sent you the link")
# A sample, by paragraphs.
CONSENT = (
    gettext_noop(
        "Taking part is voluntary. You can stop at any time, and on your page you can withdraw what you have done."  # noqa: E501
    ),
    gettext_noop(
        "We store your answers, when you opened and sent each page, how many characters you typed, dictated or pasted, or a program inserted, how often you left the page, and whether you used a phone, a tablet or a computer."  # noqa: E501
    ),
    gettext_noop(
        "We publish your answers under a number, never your name. Please write no names or other personal details in them."  # noqa: E501
    ),
    gettext_noop("If a picture disturbs you, leave its task."),
    gettext_noop("I am at least 18 years old, I have read this, and I agree to take part."),
)


class GroupForm(forms.Form):
    """What people read before they join."""

    name = forms.CharField(max_length=100, help_text="As people see it.")
    organizer = forms.CharField(
        label="Organiser",
        max_length=200,
        help_text="A person or an institution, as people read it.",
    )
    purpose = forms.CharField(
        label="Purpose",
        max_length=4000,
        widget=TextArea(attrs={"rows": 4}),
        help_text="What people do, and what their work is used for.",
    )
    contact = forms.CharField(
        label="Whom people can ask",
        max_length=200,
        help_text="A name, an e-mail address. People read it.",
    )
    consent = forms.CharField(
        label="Consent text",
        max_length=20_000,
        widget=TextArea(attrs={"rows": 12}),
        help_text="A sample, which only your own institution can approve. Everybody agrees to it "
        "before the first task.",
    )
    shows_names = forms.BooleanField(
        label="Show me names beside answers",
        required=False,
        help_text="People read this below the consent text. Otherwise you see numbers.",
    )


class AddressesForm(forms.Form):
    """Whom the marketplace mails the link."""

    group = WholeNumberField(min_value=1, max_value=MOST, widget=forms.HiddenInput)
    addresses = forms.CharField(
        label="E-mail addresses",
        max_length=200_000,
        widget=TextArea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Separated by spaces, commas or lines.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the links by which people join; make a group, give it new tasks, or mail its link."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    if campaign.config.workers.who != "own" or is_amazons(campaign.endpoint):
        messages.warning(request, "Only campaigns for your own people have a link to send them.")
        return redirect(campaign)
    form: forms.Form | None = None
    if "tasks" in request.POST:
        with refusals_shown(request):
            people.give_tasks(campaign, _group_of(campaign, request.POST["tasks"]))
            messages.success(request, "The group sees the campaign's new tasks.")
        return redirect("hits:invite", slug)
    if request.method == "POST":
        form = (AddressesForm if "addresses" in request.POST else GroupForm)(request.POST)
        try:
            if form.is_valid():
                messages.success(request, _act(campaign, form))
                return redirect("hits:invite", slug)
        except GroupFieldRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        except DomainError as error:
            form.add_error(None, str(error))
    return _page(request, campaign, form)


def _act(campaign: Campaign, form: forms.Form) -> str:
    """Do what the form says; return what was done."""
    values = form.cleaned_data
    if isinstance(form, AddressesForm):
        addresses = values["addresses"].replace(",", " ").replace(";", " ").split()
        group = _group_of(campaign, str(values["group"]))
        new, earlier = people.invite(campaign, group, addresses)
        before = f" {earlier} had been invited before and get no second mail." if earlier else ""
        return f"{new} new on the list. Their mails are being sent.{before}"
    people.make_group(campaign, {**values, "language": _language_of_pages(campaign)})
    return "The link is made: people can join now."


def _language_of_pages(campaign: Campaign) -> str:
    """The campaign's language if pages have it, or else English."""
    pages = {code.partition("-")[0]: code for code, _ in settings.LANGUAGES}
    return pages.get(campaign.config.language.partition("-")[0], "en")


def _group_of(campaign: Campaign, number: str) -> int:
    """The number of a group of the campaign; raises DomainError. All teams' groups are of the same
    requester, and none may use another's."""
    for group in people.groups_of(campaign):
        if str(group.id) == number:
            return group.id
    raise DomainError("The campaign has no such group.")


def _page(request: HttpRequest, campaign: Campaign, sent: forms.Form | None) -> HttpResponse:
    problem, groups, short, numbers = "", [], [], None
    is_open = campaign.status == CampaignStatus.RUNNING and campaign.hit_types.exists()
    if is_open:
        try:
            groups = people.groups_of(campaign)
            if groups:
                # As it is, like the numbers beside it: the latest sync may be minutes old.
                missing = people_missing(campaign, people.members_of(campaign))
                numbers = progress(campaign)
                short = short_of_people(campaign, numbers, missing=missing)
        except DomainError as error:
            problem = str(error)
    new = GroupForm(initial=_texts(request, campaign))
    if not groups and request.headers.get("HX-Request"):
        return HttpResponse(status=204)  # The page that refreshes itself keeps what it shows.
    context = {
        "campaign": campaign,
        "is_open": is_open,
        "problem": problem,
        "sync_state": None if is_open else sync_state(campaign, at=timezone.now()),
        "groups": [_shown(campaign, group, sent) for group in groups],
        "form": sent if isinstance(sent, GroupForm) else new,
        "short": short,
        "progress": numbers,
        "needed": campaign.config.wanted,
        "errors": sent.non_field_errors() if sent else [],
    }
    status = 422 if sent is not None and sent.errors else 200
    return render(request, "hits/invite.html", context, status=status)


def _shown(
    campaign: Campaign, group: people.PeopleGroup, sent: forms.Form | None
) -> dict[str, Any]:
    is_of_group = isinstance(sent, AddressesForm) and sent.data.get("group") == str(group.id)
    mail = AddressesForm(initial={"group": group.id}, auto_id=f"mail-{group.id}-%s")
    is_local = urlsplit(group.link).hostname in LOOPBACK_HOSTS
    # On a white ground, so that cameras read it in the dark theme, too.
    code = segno.make(group.link, micro=False) if group.link and not is_local else None
    return {
        "group": group,
        "is_local": is_local,
        "qr": code.svg_data_uri(scale=4, border=3, light="white") if code else "",
        "lacks_newest": people.lacks_newest(campaign, group),
        "form": sent if is_of_group else mail,
    }


def _texts(request: HttpRequest, campaign: Campaign) -> dict[str, str]:
    """Texts to begin with, made from the campaign and in its language."""
    user, team = user_of(request), campaign.team.name
    name = user.get_full_name()
    with translation.override(_language_of_pages(campaign)):
        sender, consent = gettext(SENDER), "\n\n".join(map(gettext, CONSENT))
    return {
        "name": f"{campaign.config.hit.title} ({campaign.slug})"[:100],
        "organizer": team if team != FIRST_TEAM_NAME else name or capfirst(sender),
        "purpose": campaign.config.hit.description,
        "contact": user.email or name or sender,
        "consent": consent,
    }


@dataclass(frozen=True)
class Person:
    """A person's name, and the pseudonym and number of responses here, if there are any."""

    name: str
    pseudonym: str = ""
    responses: int = 0


@never_cache
@require_safe
def who_is_who(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's people by name."""
    # Reviewers judge without names.
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    if campaign.config.workers.who != "own" or is_amazons(campaign.endpoint):
        messages.warning(request, "Only campaigns for your own people have names.")
        return redirect("qualcontrol:workers", slug)
    context = {"campaign": campaign, "problem": "", "people": [], "unnamed": 0}
    try:
        names = people.names_of(campaign)
    except MarketplaceError as error:
        context["problem"] = str(error)
    else:
        context |= {"people": _people(campaign, names), "unnamed": names.unnamed}
    return render(request, "hits/who_is_who.html", context)


def _people(campaign: Campaign, names: people.Names) -> list[Person]:
    """Everybody with a name, in the order of names."""
    of_campaign = Q(worker__responses__campaign=campaign)
    # An id that was deleted is not looked for: nobody is to be recognised by it.
    accounts = WorkerAccount.objects.filter(
        endpoint=campaign.endpoint, marketplace_id__in=[person.worker_id for person in names.people]
    )
    rows = accounts.annotate(n=Count("worker__responses", filter=of_campaign)).filter(n__gt=0)
    known_workers = {
        worker_id: (pseudonym, number)
        for worker_id, pseudonym, number in rows.values_list(
            "marketplace_id", "worker__pseudonym", "n"
        )
    }
    listed = [
        Person(person.name, *known_workers.get(person.worker_id, ("", 0)))
        for person in names.people
    ]
    return sorted(listed, key=lambda person: person.name.casefold())
