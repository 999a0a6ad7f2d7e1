"""Groups of people and their members, for tests."""

import re
from typing import Any

from bs4 import BeautifulSoup
from django.test import Client

from marketplace import clock
from marketplace.models import HitType, Membership, Offer, PeopleGroup, Requester, Worker
from marketplace.services import people_groups
from marketplace.services.links import group_url, sign_in_url
from marketplace.services.people_groups import GroupPlan
from tests.marketplace.factories import make_hit, make_hit_type

TERMS = re.compile(r"\b(hits?|requesters?|assignments?|m?turk(er)?s?)\b", re.IGNORECASE)
TEXTS = {
    "name": "Photographs 2026",
    "organizer": "Dr. Example",
    "purpose": "We study descriptions.",
    "contact": "lab@university.example",
    "consent": "You may stop at any time.",
}


def make_group(*, requester: Requester | None = None, **texts: Any) -> PeopleGroup:
    plan = GroupPlan(**{**TEXTS, **texts})
    return people_groups.create_group(plan=plan, at=clock.now(), requester=requester)


def make_offer(group: PeopleGroup, *, share: int | None = None, **changes: Any) -> Offer:
    """An offer of three open HITs."""
    hit_type: HitType = make_hit_type(**changes)
    for _ in range(3):
        hit = make_hit(hit_type, max_assignments=5)
        type(hit).objects.filter(pk=hit.pk).update(expires_at=clock.now().replace(year=2100))
    return people_groups.offer(group=group, hit_type=hit_type, share=share)


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def join(group: PeopleGroup, name: str = "Mia", *, client: Client | None = None) -> Client:
    """A client of a person who has joined the group by its link."""
    client = client or Client()
    version = people_groups.latest_text(group).version
    fields = {"agree": "yes", "version": version, "name": name, "password": ""}
    answer = client.post(path_of(group_url(group)), fields)
    assert answer.status_code == 303, answer.content.decode()
    return client


def membership_of(name: str) -> Membership:
    return Membership.objects.get(worker__name=name)


def begin(client: Client, offer: Offer) -> str:
    """Open the person's next task; return its id."""
    answer = client.post(f"/home/next/{offer.pk}")
    assert answer.status_code == 303
    assert answer.url.startswith("/home/tasks/"), client.get("/home").content.decode()
    return str(answer.url.rpartition("/")[2])


def work(client: Client, offer: Offer) -> str:
    """Do one task; return its id."""
    task = begin(client, offer)
    answer = client.post("/mturk/externalSubmit", {"assignmentId": task, "caption": "A dog."})
    assert answer.status_code == 200, answer.content.decode()
    return task


def browser(worker: Worker) -> Client:
    """A client signed in as the worker, which checks CSRF tokens."""
    client = Client(enforce_csrf_checks=True)
    path = sign_in_url(worker).partition("/sign-in/")[2]
    assert client.get(f"/sign-in/{path}").url == "/"
    return client


def words_of(answer) -> str:
    """The texts that a person reads on a page, also folded ones, and names for screen readers."""
    soup = BeautifulSoup(answer.content, "lxml")
    names = ("aria-label", "alt", "placeholder", "title")
    spoken = [tag[name] for name in names for tag in soup.find_all(attrs={name: True})]
    return "\n".join([soup.get_text(" ", strip=True), *spoken])
