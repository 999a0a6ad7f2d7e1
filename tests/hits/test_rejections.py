"""Scheduling a rejection, and assignments that cannot be rejected."""

import pytest
from django.urls import reverse

from annotate.services.responses import discard
from hits.services.rejections import ask_for_rejection
from qualcontrol.models import Act, Decision
from qualcontrol.services.errors import CannotReject, ReasonMissing
from tests.factories import (
    NOON,
    AssignmentFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    UserFactory,
)
from tests.hits.conftest import make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def assignment():
    """A submitted assignment with two images; the response to the first was discarded."""
    campaign = make_campaign(tasks=2)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    made = AssignmentFactory(hit=hit)
    for task in campaign.tasks.order_by("number"):
        ResponseFactory(task=task, worker=made.account.worker, assignment=made)
    discard(responses=responses_of(made)[:1])
    return made


def responses_of(assignment):
    return list(assignment.responses.order_by("pk"))


def ask(assignment, reason="A list of words."):
    ask_for_rejection(
        response=responses_of(assignment)[0], reason=reason, actor=UserFactory(), at=NOON
    )


def test_an_assignment_of_which_a_part_is_used_cannot_be_rejected(assignment):
    with pytest.raises(CannotReject, match="Work that is used is paid"):
        ask(assignment)


def test_an_assignment_of_which_nothing_is_used_can_be_rejected(assignment):
    discard(responses=responses_of(assignment))

    ask(assignment)

    assert Decision.objects.get(act=Act.REJECT).reason == "A list of words."


@pytest.mark.parametrize("status", ["APPROVED", "REJECTED"])
def test_what_is_decided_cannot_be_rejected(assignment, status):
    discard(responses=responses_of(assignment))
    type(assignment).objects.update(status=status, decided_at=NOON)

    with pytest.raises(CannotReject, match=status.lower()):
        ask(assignment)


def test_a_rejection_needs_words_for_the_worker(assignment):
    discard(responses=responses_of(assignment))

    with pytest.raises(ReasonMissing):
        ask(assignment, reason=" ")


def test_the_page_keeps_the_words_and_says_what_is_not_possible(client, assignment):
    client.force_login(UserFactory())
    response = responses_of(assignment)[0]
    address = reverse("hits:reject", args=[assignment.hit.campaign.slug, response.pk])

    without_reason = client.post(address)
    refused = client.post(address, {"reason": "No."}, follow=True)
    discard(responses=responses_of(assignment))
    taken = client.post(address, {"reason": "The text is of another image."})

    assert without_reason.status_code == 422
    assert "Work that is used is paid" in refused.content.decode()
    assert taken.status_code == 302
    assert Decision.objects.get(act=Act.REJECT).reason == "The text is of another image."
