"""Arrivals that a panel has signed, and the panel's hooks."""

import json

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.models import PanelStudy, Study
from marketplace.panels.panel import PanelRefused
from marketplace.panels.prolific.signatures import (
    TOKEN_PARAMETER,
    check_arrival,
    is_signed_hook,
)
from marketplace.services.panels import rounds

TICKET = "ticket"
TICKET_SALT = "marketplace.panel-arrival"
# Seconds in which a participant reads the first page. The panel's own token is valid for two
# minutes only.
TICKET_AGE = 3600


def ticket_for(request: HttpRequest, study: Study, identifier: str) -> str:
    """A ticket for the form of the first page; empty if the study needs no signed arrivals.

    Raises PanelRefused if the address has no valid signature for this study and participant, and
    PanelUnclear if the panel's keys cannot be read.
    """
    at_panel = _signed(study)
    if at_panel is None:
        return ""
    address = settings.MARKETPLACE_URL + reverse("join", args=[study.slug])
    arrival = check_arrival(
        request.GET.get(TOKEN_PARAMETER, ""), audience=address, now=clock.now().timestamp()
    )
    if (arrival.participant, arrival.study) != (identifier, at_panel.external_id):
        raise PanelRefused(_("The ids in this address are not those that Prolific has signed."))
    return signing.dumps([study.slug, identifier], salt=TICKET_SALT)


def check_ticket(request: HttpRequest, study: Study, identifier: str) -> str:
    """The form's ticket, or an empty one if none is needed; raises PanelRefused."""
    if _signed(study) is None:
        return ""
    ticket = request.POST.get(TICKET, "")
    try:
        found = signing.loads(ticket, salt=TICKET_SALT, max_age=TICKET_AGE)
    except signing.BadSignature as error:
        raise PanelRefused(_("Go back to Prolific, and open the study again.")) from error
    if found != [study.slug, identifier]:
        raise PanelRefused(_("Go back to Prolific, and open the study again."))
    return ticket


def _signed(study: Study) -> PanelStudy | None:
    return PanelStudy.objects.filter(study=study, is_signed=True).first()


@csrf_exempt
@require_POST
def prolific_hook(request: HttpRequest) -> HttpResponse:
    """Let the next round come sooner. A hook's content decides nothing."""
    at = clock.now()
    if not is_signed_hook(
        request.body,
        timestamp=request.headers.get("X-Prolific-Request-Timestamp", ""),
        signature=request.headers.get("X-Prolific-Request-Signature", ""),
        now=at.timestamp(),
    ):
        return HttpResponse("The signature is missing, wrong or too old.", status=403)
    try:
        body = json.loads(request.body)
    except ValueError:
        body = {}
    resource = str(body.get("resource_id", "")) if isinstance(body, dict) else ""
    rounds.note_hook(resource=resource, at=at)
    return HttpResponse(status=204)
