"""The task page of a draft, before there is a campaign."""

import pytest
from django.urls import reverse

from annotate.models import Campaign
from tests.factories import ImageFactory, SelectionFactory
from tests.hits.pages.new_campaign.entries import ENTRIES, page_of, save

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.mark.parametrize("state", ["preview", "accepted"])
def test_the_preview_is_the_task_page(signed_in, draft, state):
    SelectionFactory(name="streets", images=1)
    for step in ENTRIES:
        save(signed_in, draft, step)

    answer = signed_in.get(reverse("hits:new_preview", args=[draft.pk, state]))

    page = answer.content.decode()
    assert "Describe a street" in page
    assert "Two cyclists wait at a red light." in page
    assert ("This is a preview" in page) == (state == "preview")
    assert not Campaign.objects.exists()


def test_the_preview_shows_the_practice_that_the_steps_ask_for(signed_in, draft):
    SelectionFactory(name="streets", images=1)
    image = ImageFactory()
    for step in ENTRIES:
        save(signed_in, draft, step)
    line = rf"{image.key} | bad | A street \| a road. | Two captions."
    save(signed_in, draft, "instructions", practice__captions=line, practice__pass_mark="50")

    page = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "practice"])).content.decode()

    draft.refresh_from_db()
    assert draft.file["practice"]["captions"] == [
        {"image": image.key, "good": False, "text": "A street | a road.", "why": "Two captions."}
    ]
    assert "You get tasks if 1 of 1 answers are right." in " ".join(page.split())
    assert "A street | a road." in page
    step = signed_in.get(page_of(draft, "instructions"))
    assert line in step.content.decode()


def test_the_preview_of_an_empty_draft_says_what_is_missing(signed_in, draft):
    answer = signed_in.get(reverse("hits:new_preview", args=[draft.pk, "preview"]))

    assert "when the images are chosen" in answer.content.decode()
