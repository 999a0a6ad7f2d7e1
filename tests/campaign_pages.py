"""The addresses of every page and list of the API that shows a campaign, with their filters."""

from typing import Any, NamedTuple

from django.conf import settings
from django.test import Client

from annotate.models import Box, Response, ResponseStatus
from qualcontrol.models import SpotCheck, Verdict
from qualcontrol.queries.finding import STATUSES
from tests.full_campaign import FLAG, FullCampaign
from tests.routes import ROUTES, address_of

# Pages and lists without the campaign's name in their address.
LISTS = (
    "api-campaign-list",
    "api-image-list",
    "api-job-list",
    "api-selection-list",
    "hits:campaigns",
    "hits:new_campaign",
    "images:images",
    "images:import",
    "images:new_selection",
    "images:pools",
    "images:selections",
    "jobs:count",
    "jobs:jobs",
)
# Routes that change something or show no campaign, and rows that this campaign does not have.
LEFT_OUT = {
    "hits:task",
    "hits:told",
    "api-webhook-detail",
    "hits:statement",  # a file
    "webhooks:webhook",
}


class Row(NamedTuple):
    """Values of filters: a worker, a class, and a word of captions."""

    worker: str
    object_class: str
    word: str


def signed_in(full: FullCampaign) -> Client:
    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    client.force_login(full.user)
    return client


def addresses(full: FullCampaign) -> dict[str, str]:
    """The address of each page and list that shows the campaign, by route and filters."""
    campaign = full.campaign
    good = SpotCheck.objects.of(campaign).filter(verdict=Verdict.GOOD, response__gold=None)
    excluded = campaign.exclusions.in_force().values("worker")
    check = good.exclude(response__worker__in=excluded).order_by("pk")[:1].get()
    response = check.response
    slug, worker = campaign.slug, response.worker.pseudonym
    discarded = Response.objects.of(campaign).filter(status=ResponseStatus.DISCARDED)[:1].get()
    held = campaign.held_payments.order_by("pk")[:1].get()
    names: dict[str, Any] = {
        "slug": slug,
        "number": response.task.number,
        "pseudonym": worker,
        "act": "pause",
        "key": response.key,
        "qualcontrol:response.pk": response.pk,
        "hits:reject.pk": discarded.pk,
        "hits:pay_held.pk": held.pk,
        "hits:reject_held.pk": held.pk,
        "pk": 0,  # of addresses that only take a POST
    }
    image = response.task.image_id
    of_campaign = [route for route, arguments in ROUTES.items() if "slug" in arguments]
    chosen = [route for route in (*LISTS, *of_campaign) if route not in LEFT_OUT]
    by_route = {route: address_of(route, names) for route in chosen}
    by_route["images:image"] = address_of("images:image", {"pk": image})
    # The campaign's selection has its name.
    for route in ("images:selection", "api-selection-detail", "api-selection-images"):
        by_route[route] = address_of(route, {"name": slug})
    name = Box.objects.filter(image=image).values_list("object_class__name", flat=True)[0]
    # A word that many captions have, this one included.
    word = response.caption.text.split()[1]
    return {
        f"{route}{query}".replace(worker, "W")
        .replace(name, "C")
        .replace(word, "often"): f"{address}{query}"
        for route, address in by_route.items()
        for query in _queries(route, Row(worker, name, word))
    }


def _queries(route: str, row: Row) -> list[str]:
    """The page without and with filters."""
    plain = [] if route == "hits:selected_workers" else [""]
    filters = {**_filters_of_pages(row), **_filters_of_api(row)}
    return [*plain, *filters.get(route, [])]


def _filters_of_pages(row: Row) -> dict[str, list[str]]:
    worker, name, word = row
    words = [f"?words={word}", "?words=12345", "?words=nothing"]
    statuses = [f"?status={status}" for status in STATUSES]
    together = f"?words={word}&class={name}&worker={worker}&status=good&flag={FLAG}"
    states = ("active", "waiting", "paused", "proposed", "excluded")
    return {
        "hits:responses": [
            *words,
            *statuses,
            "?after=900-0",
            "?before=900-0",
            f"?class={name}",
            f"?worker={worker}",
            f"?flag={FLAG}",
            "?flag=any",
            f"?words={word}&class={name}",
            f"?words={word}&worker={worker}",
            f"?flag={FLAG}&status=bad",
            f"?class={name}&worker={worker}",
            f"?class={name}&status=discarded",
            together,
        ],
        "hits:images": [
            "?image=full-99",
            "?after=900",
            f"?class={name}",
            *(f"?state={state}" for state in ("complete", "incomplete", "empty", "discarded")),
            f"?class={name}&state=discarded",
        ],
        "hits:selected_workers": [
            f"?act={act}&worker={worker}" for act in ("exclude", "reinstate", "bonus", "message")
        ],
        "qualcontrol:workers": [
            f"?worker={worker}",
            *(f"?state={state}" for state in states),
            "?judged=yes",
            *(f"?sort={order}" for order in ("answers", "good", "bad", "share", "worker")),
        ],
        "qualcontrol:decisions": [
            "?act=DISCARD",
            "?act=REJECT",
            f"?worker={worker}",
            "?actor=campaign",
            "?reason=risk",
            "?reason=nothing",
            "?since=2026-01-01&until=2026-02-01",
        ],
        "images:images": [
            "?name=99",
            "?name=nothing",
            f"?class={name}",
            "?split=full",
            f"?class={name}&split=full",
            "?after=1000",
        ],
        "images:pools": ["?split=full"],
        "jobs:jobs": ["?status=FAILED"],
        "hits:campaigns": ["?status=RUNNING"],
    }


def _filters_of_api(row: Row) -> dict[str, list[str]]:
    worker, name, _ = row
    image = "full-99"
    return {
        "api-campaign-responses": [
            "?status=DISCARDED",
            f"?worker={worker}",
            f"?image={image}",
            "?verdict=GOOD",
            "?verdict=BAD",
            f"?flag={FLAG}",
            f"?flag={FLAG}&verdict=BAD&worker={worker}",
            "?limit=50",
        ],
        "api-campaign-tasks": [f"?image={image}", "?unfinished=true", "?unfinished=false"],
        "api-spot-check-list": ["?verdict=GOOD", "?verdict=BAD", "?open=true", "?open=false"],
        "api-campaign-decisions": ["?act=DISCARD", "?act=REJECT", f"?worker={worker}"],
        "api-campaign-bonuses": [f"?worker={worker}"],
        "api-held-payment-list": ["?open=true", "?open=false"],
        "api-campaign-appeals": ["?open=true", "?open=false"],
        "api-image-list": [
            "?split=full",
            "?source=OPEN_IMAGES",
            "?name=99",
            "?name=nothing",
            f"?object_class={name}",
            f"?split=full&object_class={name}",
        ],
        "api-job-list": ["?status=DONE", "?kind=release", "?campaign=full"],
        "api-selection-list": ["?split=full"],
        "api-campaign-list": ["?status=RUNNING"],
    }
