"""The one page that makes a campaign for own people."""

import pytest

from annotate.models import Campaign, CampaignDraft, Selection
from tests.factories import ImageFactory, SelectionFactory
from tests.hits.pages.new_campaign.entries import field_of, page_of, save, seen_on

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_a_selection_can_be_chosen_from_its_page(signed_in, user):
    SelectionFactory(name="streets")

    signed_in.post("/new/", {"selection": "streets"})

    assert CampaignDraft.objects.get(owner=user).file["selection"] == "streets"


def test_images_become_a_campaign_for_own_people_on_one_page(signed_in, user, settings):
    settings.MTURK_ENDPOINT = "local"
    SelectionFactory(name="streets", images=2)
    begun = signed_in.post("/new/", {"selection": "streets"})
    draft = CampaignDraft.objects.get(owner=user)

    page = signed_in.get(begun.url)
    entries = {"name": "Streets", "references": "2", "language": "ar", "hit__reward": "0"}
    answer, again = (
        signed_in.post(begun.url, {"seen": seen_on(page), **entries, "budget": ""})
        for _ in range(2)
    )

    assert begun.url == page_of(draft, "short")
    assert again.url == answer.url
    assert "describe 2 images" in page.content.decode()
    assert "Nobody is paid here." in page.content.decode()
    assert "$0.00" not in page.content.decode()
    assert answer.url == "/campaigns/streets/publish/?invite"
    incomplete = signed_in.post(answer.url, {"cost": "much"})
    assert incomplete.url == answer.url
    config = Campaign.objects.get(slug="streets").config
    assert (config.references, config.baselines, config.language) == (2, 0, "ar")
    assert (config.workers.who, config.priming.by, config.hit.reward) == ("own", "none", 0)


def test_a_reward_on_the_one_page_needs_a_budget(signed_in, user, settings):
    settings.MTURK_ENDPOINT = "local"
    SelectionFactory(name="streets")
    begun = signed_in.post("/new/", {"selection": "streets"})
    entries = {"name": "s", "references": "2", "language": "en", "hit__reward": "0.2"}

    answer = signed_in.post(begun.url, {"seen": seen_on(signed_in.get(begun.url)), **entries})

    assert answer.status_code == 422
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(("entered", "shown"), [("0.10", "0.10"), ("0.00", "0.00")])
def test_the_steps_keep_the_reward_of_the_one_page(signed_in, user, entered, shown):
    SelectionFactory(name="streets", images=2)
    begun = signed_in.post("/new/", {"selection": "streets"})
    draft = CampaignDraft.objects.get(owner=user)
    entries = {"name": "s", "references": "2", "language": "en", "budget": "25", "to": "task"}

    page = signed_in.get(begun.url)
    signed_in.post(begun.url, {"seen": seen_on(page), "hit__reward": entered, **entries})

    reward = signed_in.get(page_of(draft, "reward")).content.decode()
    assert field_of(reward, "hit__reward") == shown


def test_settings_of_a_collection_win_over_those_of_the_one_page(signed_in, user, settings):
    settings.MTURK_ENDPOINT = "local"
    SelectionFactory(name="streets")
    begun = signed_in.post("/new/", {"selection": "streets"})
    draft = CampaignDraft.objects.get(owner=user)
    entries = {"name": "s", "references": "2", "language": "en", "hit__reward": "0", "budget": ""}
    page = signed_in.get(begun.url)
    on = signed_in.post(begun.url, {"seen": seen_on(page), **entries, "to": "task"})

    save(signed_in, draft, "task", name="s", kind="caption", preset="coco-c5")

    draft.refresh_from_db()
    assert on.url == page_of(draft, "task")
    assert draft.file["preset"] == "coco-c5"
    assert "references" not in draft.file


def test_all_images_of_a_split_are_selected_once(signed_in, user):
    ImageFactory.create_batch(2, split="alps.2026")

    for _ in range(2):
        signed_in.post("/new/", {"split": "alps.2026"})
    ImageFactory(split="alps.2026")
    signed_in.post("/new/", {"split": "alps.2026"})
    signed_in.post("/new/", {"split": "none"})

    drafts = CampaignDraft.objects.filter(owner=user).order_by("pk")
    assert [draft.file.get("selection") for draft in drafts] == [
        "alps-2026", "alps-2026", "alps-2026-2", None,
    ]  # fmt: skip
    assert drafts[0].file["name"] == "alps-2026"
    assert [each.count for each in Selection.objects.order_by("pk")] == [2, 3]
