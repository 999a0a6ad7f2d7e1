"""The page *Who is who*: the names of own people beside their pseudonyms, as far as their consent
goes. Names are read from the marketplace each time, and stored nowhere here."""

from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import Right
from annotate.models import Campaign
from annotate.pages.lookups import campaign_of
from hits.models import WorkerAccount
from hits.mturk import people
from hits.mturk.connection import MarketplaceError
from hits.mturk.endpoints import is_amazons


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
        found = people.names_of(campaign)
    except MarketplaceError as error:
        context["problem"] = str(error)
    else:
        context |= {"people": _people(campaign, found), "unnamed": found.unnamed}
    return render(request, "hits/who_is_who.html", context)


def _people(campaign: Campaign, names: people.Names) -> list[Person]:
    """Everybody with a name, in the order of names."""
    of_campaign = Q(worker__responses__campaign=campaign)
    # An id that was deleted is not looked for: nobody is to be recognised by it.
    accounts = WorkerAccount.objects.filter(
        endpoint=campaign.endpoint, marketplace_id__in=[each.worker_id for each in names.people]
    )
    rows = accounts.annotate(n=Count("worker__responses", filter=of_campaign)).filter(n__gt=0)
    known = {
        worker_id: (pseudonym, number)
        for worker_id, pseudonym, number in rows.values_list(
            "marketplace_id", "worker__pseudonym", "n"
        )
    }
    found = [Person(each.name, *known.get(each.worker_id, ("", 0))) for each in names.people]
    return sorted(found, key=lambda person: person.name.casefold())
