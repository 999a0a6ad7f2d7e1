"""Campaign files that are pasted or uploaded, and their faults in words."""

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from annotate.kinds.campaign_files import CampaignFileError, parse_config
from annotate.models import Campaign, CampaignDraft, CampaignStatus
from hits.pages.new_campaign.file_form import in_words
from tests.factories import ImageFactory, SelectionFactory
from tests.hits.pages.new_campaign.entries import BARE, page_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_a_draft_is_made_from_a_pasted_file(signed_in):
    SelectionFactory(name="few", images=[ImageFactory(), ImageFactory()])
    text = 'name = "mine"\npreset = "coco-c5"\nselection = "few"\nbudget = "25.00"\n'

    answer = signed_in.post("/new/", {"text": text})

    campaign = Campaign.objects.get()
    assert answer.url == "/campaigns/mine/"
    assert (campaign.status, campaign.tasks.count()) == (CampaignStatus.DRAFT, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Choose a campaign file or paste its text."),
        ("name = ", "The text: not TOML: Invalid value"),
        ('name = "mine"', "budget: "),
        ('name = "mine"\nbudget = "1"', "one of selection"),
        ('name = "mine"\nselection = "few"\nbudget = "1"', "there is no selection"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(signed_in, text, message):
    answer = signed_in.post("/new/", {"text": text})

    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Campaign.objects.exists()


def test_an_uploaded_file_fills_the_steps(signed_in, user):
    SelectionFactory(name="streets", images=1)
    text = (
        'name = "a"\npreset = "coco-c5"\nselection = "streets"\nbudget = 9\n[flags]\nrepeats = 4\n'
    )

    answer = signed_in.post("/new/file/", {"text": text, "steps": "yes"})
    draft = CampaignDraft.objects.get(owner=user)
    images = BeautifulSoup(signed_in.get(page_of(draft, "images")).content, "html.parser")
    signed_in.post(reverse("hits:new_create", args=[draft.pk]))

    assert answer.url == page_of(draft, "checklist")
    assert images.find(id="id_references")["value"] == "5"
    assert Campaign.objects.get().config.flags.repeats == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workers = 3", "workers: write this as a section"),
        ("rating = 3", "rating: write this as a section"),
        ("kind = []", "kind: write this as a text"),
        ("preset = 1", "preset: write this as a text"),
        ("seed = 2026-01-01", "The file has a date"),
        ("[review]\nshare = nan", "The file has a date, or a number"),
    ],
)
def test_a_file_that_no_step_can_show_is_refused(signed_in, text, message):
    answer = signed_in.post("/new/file/", {"text": text, "steps": "yes"})

    assert answer.status_code == 422
    assert message in answer.content.decode()


@pytest.mark.parametrize(
    "text",
    [
        'name = 3\nselection = ["a"]\nbudget = {}',
        '[hit]\nreward = "much"\nimages = [1]\ntitle = 5',
        '[workers]\nwho = 7\ncountries = "US"',
        "[instructions]\ngood = 1\nbad = [1, 2]",
        "[rating]\nsources = [1]",
        'kind = "rating"\n[rating]\nsources = [{name = 1, per_image = "x"}]',
        'kind = "nothing"\npreset = "nothing"',
        'kind = "nothing"\nname = "scenes"\nselection = "streets"',
        '[review]\nshare = "half"\n[priming]\nby = 3',
        f"responses = 1{'0' * 400}\n[review]\nshare = 1{'0' * 400}\n[hit]\nimages = 1{'0' * 400}",
    ],
)
def test_a_file_with_wrong_values_is_shown_in_the_steps(signed_in, user, text):
    names = ["task", "images", "instructions", "workers", "reward", "checks", "checklist"]

    signed_in.post("/new/file/", {"text": text, "steps": "yes"})

    drafts = CampaignDraft.objects.filter(owner=user)
    if drafts.exists():
        pages = [signed_in.get(page_of(drafts.get(), name)) for name in names]
        assert {page.status_code for page in pages} == {200}
        created = signed_in.post(reverse("hits:new_create", args=[drafts.get().pk]))
        assert created.status_code == 302
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"hit": {"images": 25}}, "hit.images: must be at most 20, not 25"),
        ({"hit": {"images": "a"}}, "hit.images: must be a whole number, not 'a'"),
        ({"hit": {"reward": "0.001"}}, "hit.reward: must be in whole cents"),
        ({"review": {"policy": "x"}}, "review.policy: must be 'decide' or 'propose', not 'x'"),
        ({"flags": {"repeats": 0}}, "flags.repeats: must be at least 1, not 0"),
        ({"name": "A b"}, "name: must have lower-case letters, digits and single hyphens"),
        ({"workers": {"countries": ["usa"]}}, "must be a country code of ISO 3166-1 in"),
        ({"hit": {"title": ""}}, "hit.title: must not be empty"),
        ({"budget": None}, "budget: must be a number"),
        ({"captions": 3}, "captions: must be a section"),
        ({"instructions": {"good": 3}}, "instructions.good: must be a list in square brackets"),
        ({"priming": {"share": 2}}, "priming.share: must be at most 1, not 2"),
        ({"masters": True}, "masters: there is no such key"),
    ],
)
def test_errors_of_a_file_are_in_a_persons_words(values, words):
    with pytest.raises(CampaignFileError) as caught:
        parse_config({**BARE, **values})

    lines = [in_words(line) for line in str(caught.value).splitlines()]

    assert any(words in line for line in lines), lines
    assert not any("should" in line for line in lines)
