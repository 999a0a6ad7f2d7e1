"""The way from the requester site to the marketplace's admin pages, with one sign-in."""

import re
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import Right
from accounts.pages.signed_in import user_of
from annotate.lookups import campaign_of
from hits.mturk import people
from hits.mturk.connection import MarketplaceError
from hits.mturk.endpoints import endpoint_of, is_amazons
from shared import hand_over
from shared.second_factors.services import has_second_factor

ADMIN = "/operator/hand-over"


def hands_over(endpoint: str) -> bool:
    """Whether the marketplace's admin pages take a sign-in of this site."""
    return bool(settings.HAND_OVER_SECRET) and not is_amazons(endpoint)


@never_cache
@require_safe
def tell(request: HttpRequest) -> HttpResponse:
    """Send the browser back to the marketplace, which asks who is signed in here."""
    state, user = request.GET.get("state", ""), user_of(request)
    is_state = re.fullmatch(f"[A-Za-z0-9]{{{hand_over.STATE_LENGTH}}}", state)
    if not hands_over(settings.MTURK_ENDPOINT) or not is_state:
        raise Http404("The marketplace did not ask.")
    # The only address that the user is named to; no parameter of the request changes it.
    marketplace = endpoint_of(settings.MTURK_ENDPOINT).url
    told = hand_over.SignedIn(
        name=user.get_username(),
        is_operator=user.is_superuser,
        has_second_factor=has_second_factor(user),
    )
    text = hand_over.signed(told, to=marketplace, state=state)
    return redirect(f"{marketplace}{ADMIN}/end?{urlencode({'text': text})}")


@never_cache
@require_safe
def at_marketplace(request: HttpRequest, slug: str) -> HttpResponse:
    """Lead to the marketplace's admin page of the campaign's people, or of its HITs."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    try:
        if is_amazons(campaign.endpoint):
            raise MarketplaceError("Mechanical Turk has no admin pages for campaigns.")
        page = people.describe(campaign, people.hit_types(campaign)[-1]).page
    except MarketplaceError as error:
        messages.warning(request, str(error))
        return redirect(campaign)
    return redirect(admin_page(campaign.endpoint, page))


def admin_page(endpoint: str, page: str) -> str:
    """The address of an admin page of the marketplace, by way of the sign-in if there is one."""
    marketplace = endpoint_of(endpoint).url
    if not hands_over(endpoint) or not page.startswith(f"{marketplace}/"):
        return page
    return f"{marketplace}{ADMIN}?{urlencode({'next': page.removeprefix(marketplace)})}"
