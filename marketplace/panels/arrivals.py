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
from marketplace.models import Study
from marketplace.panels import signatures
from marketplace.panels.models import PanelStudy
from marketplace.panels.panel import PanelRefused
from marketplace.panels.services import rounds

TICKET = "ticket"
TICKET_SALT = "marketplace.panel-arrival"
# Seconds in which a participant reads the first page. The panel's own token is valid for two
# minutes only.
TICKET_AGE = 3600


def check_arrival(request: HttpRequest, study: Study, identifier: str) -> dict[str, str]:
    """Check the address of the first page, or the ticket that its form sends back; return the
    form's ticket. Studies that need no signed arrivals have none.

    Raises PanelRefused if the address has no valid signature for this study and participant, or
    the ticket is wrong, and PanelUnclear if the panel's keys cannot be read.
    """
    at_panel = PanelStudy.objects.filter(study=study, is_signed=True).first()
    if at_panel is None:
        return {}
    if request.method == "POST":
        return {TICKET: _checked_ticket(request, study, identifier)}
    return {TICKET: _new_ticket(request, study, identifier, at_panel.external_id)}


def _new_ticket(request: HttpRequest, study: Study, identifier: str, external_id: str) -> str:
    address = settings.MARKETPLACE_URL + reverse("join", args=[study.slug])
    token = request.GET.get(signatures.TOKEN_PARAMETER, "")
    arrival = signatures.check_arrival(token, audience=address, now=clock.now().timestamp())
    if (arrival.participant, arrival.study) != (identifier, external_id):
        raise PanelRefused(_("The ids in this address are not those that Prolific has signed."))
    return signing.dumps([study.slug, identifier], salt=TICKET_SALT)


def _checked_ticket(request: HttpRequest, study: Study, identifier: str) -> str:
    ticket = request.POST.get(TICKET, "")
    try:
        found = signing.loads(ticket, salt=TICKET_SALT, max_age=TICKET_AGE)
    except signing.BadSignature as error:
        raise PanelRefused(_("Go back to Prolific, and open the study again.")) from error
    if found != [study.slug, identifier]:
        raise PanelRefused(_("Go back to Prolific, and open the study again."))
    return ticket


@csrf_exempt
@require_POST
def prolific_hook(request: HttpRequest) -> HttpResponse:
    """Let the next round come sooner. A hook's content decides nothing."""
    at = clock.now()
    if not signatures.is_signed_hook(
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
