"""Forms that are carried out once, also if they are posted twice."""

from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.urls import reverse_lazy

import shared.once
from accounts.models import ApiToken, IdempotencyKey
from accounts.pages.once import once
from annotate.models import CampaignDraft
from tests.factories import CampaignFactory, UserFactory

NEW = reverse_lazy("hits:new_campaign")

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def ada(client):
    user = UserFactory()
    client.force_login(user)
    return user


def key():
    return str(uuid4())


def test_a_draft_is_begun_once_and_both_answers_lead_to_it(client, ada):
    fields = {"form_key": key()}

    first, second = (client.post(NEW, fields) for _ in range(2))

    assert first.url == second.url
    assert CampaignDraft.objects.count() == 1


def test_two_forms_begin_two_drafts(client, ada):
    for _ in range(2):
        client.post(NEW, {"form_key": key()})
    client.post(NEW)

    assert CampaignDraft.objects.count() == 3


@pytest.mark.parametrize("act", ["copy", "edit"])
def test_a_campaign_is_copied_or_edited_once(client, ada, act):
    CampaignFactory(slug="kites", status="DRAFT")
    fields = {"form_key": key()}

    answers = [client.post(f"/campaigns/kites/{act}/", fields) for _ in range(2)]

    assert answers[0].url == answers[1].url
    assert CampaignDraft.objects.count() == 1


def test_a_token_is_issued_once_and_its_text_is_not_stored(client, ada):
    fields = {"name": "export", "days": "30", "form_key": key()}

    first, second = (client.post("/account/tokens/", fields) for _ in range(2))

    assert (first.status_code, second.status_code) == (200, 409)
    assert "withdraw it on the page of your tokens" in second.content.decode()
    assert ApiToken.objects.count() == 1
    assert first.context["new_token"] not in str(IdempotencyKey.objects.values())


def test_a_form_that_was_refused_can_be_sent_again(client, ada):
    fields = {"name": "export", "days": "0", "form_key": key()}

    refused = client.post("/account/tokens/", fields)
    mended = client.post("/account/tokens/", {**fields, "days": "30"})

    assert (refused.status_code, mended.status_code) == (422, 200)


def test_another_user_may_have_the_same_key(client, ada):
    fields = {"form_key": key()}
    client.post(NEW, fields)
    client.force_login(UserFactory())

    client.post(NEW, fields)

    assert CampaignDraft.objects.count() == 2


@pytest.mark.parametrize("damaged", ["", "1", "a\0b", "x" * 5000, "😀"])
def test_a_damaged_key_is_refused(client, ada, damaged):
    answer = client.post(NEW, {"form_key": damaged})

    assert answer.status_code == 400
    assert "Load the page again" in answer.content.decode()
    assert not CampaignDraft.objects.exists()


def test_a_form_that_is_changed_after_going_back_is_carried_out_too(client, ada):
    campaign = CampaignFactory(slug="kites")
    fields = {"kinds": ["job-failed"], "form_key": key()}
    hooks = [f"https://93.184.216.34/{name}" for name in ("a", "b")]

    first, second = (
        client.post("/campaigns/kites/webhooks/", {**fields, "url": hook}) for hook in hooks
    )

    assert first.url != second.url
    assert sorted(campaign.webhooks.values_list("url", flat=True)) == hooks


def test_the_second_post_waits_for_the_first_one(rf, ada, monkeypatch):
    request = rf.post("/twice/", {"form_key": key()})
    request.user = ada
    done = []

    @once()
    def view(_):
        done.append(1)
        return HttpResponse(status=302, headers={"Location": "/made/"})

    @once()
    def slow(_):
        monkeypatch.setattr(shared.once, "sleep", lambda _: None)
        second = view(request)  # while the first one is being carried out
        assert second.status_code == 409
        assert "still being carried out" in second.content.decode()
        return HttpResponse(status=302, headers={"Location": "/made/"})

    first, third = slow(request), view(request)

    assert (first["Location"], third["Location"]) == ("/made/", "/made/")
    assert not done


def test_a_form_whose_view_fails_can_be_sent_again(rf, ada):
    request = rf.post("/twice/", {"form_key": key()})
    request.user = ada
    outcomes = [RuntimeError("broken"), None]

    @once()
    def view(_):
        if error := outcomes.pop(0):
            raise error
        return HttpResponse("done")

    with pytest.raises(RuntimeError):
        view(request)

    assert view(request).content == b"done"
