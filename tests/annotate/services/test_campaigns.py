"""Creating campaigns."""

from functools import partial

import pytest
from django.db import connection

from annotate.kinds.campaign_files import parse_plan
from annotate.models import Campaign, ClassRelation
from annotate.queries.progress import progress
from annotate.services.campaigns import (
    CampaignNotPossible,
    change_campaign,
    create_campaign,
    create_campaigns,
)
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    config,
)
from tests.races import while_open

pytestmark = pytest.mark.django_db


def create(**values):
    return create_campaign(config=config(**values), endpoint="local", at=NOON)


def rename():
    """Give the campaign `other` the name that new ones have."""
    campaign = Campaign.objects.get(slug="other")
    return change_campaign(campaign=campaign, config=config(), begun_from=campaign.config_json)


def select(number):
    """A selection of so many images, each with a keyword."""
    SelectionFactory(name="scenes", images=[BoxFactory().image for _ in range(number)])


def primed(campaign):
    return set(campaign.tasks.filter(shows_keywords=True).values_list("number", flat=True))


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.parametrize("act", [create, rename])
def test_a_name_that_another_campaign_takes_meanwhile_is_refused(act):
    SelectionFactory(name="scenes", images=1)
    create(name="other")

    with pytest.raises(CampaignNotPossible, match="already exists"):
        while_open(create, act)

    assert [each.tasks.count() for each in Campaign.objects.all()] == [1, 1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_of_two_files_of_one_name_one_makes_the_family_in_its_languages():
    selection = SelectionFactory(images=1)

    def create_in(*languages):
        file = {"name": "street", "selection": selection.name, "budget": 20}
        plan = parse_plan({**file, "languages": [*languages]})
        return create_campaigns(plan=plan, endpoint="local", at=NOON, team=selection.team)

    with pytest.raises(CampaignNotPossible, match="another file has made the campaigns"):
        while_open(partial(create_in, "en", "de"), partial(create_in, "fr", "it"))

    assert {each.config.language for each in Campaign.objects.all()} == {"en", "de"}


def test_a_campaign_has_a_task_for_each_image_in_the_order_of_its_selection():
    selection = SelectionFactory(name="scenes", images=3)

    campaign = create()

    assert (campaign.status, campaign.endpoint) == ("DRAFT", "local")
    chosen = list(selection.selected.values_list("image", "position"))
    assert list(campaign.tasks.order_by("number").values_list("image", "number")) == chosen


@pytest.mark.parametrize(
    ("preset", "wanted", "primed_tasks"),
    [("nocaps", 11, 4), ("coco-c5", 6, 0), ("coco-c40", 41, 0)],
)
def test_a_preset_says_how_many_captions_and_whether_keywords_are_shown(
    preset, wanted, primed_tasks
):
    select(4)

    campaign = create(preset=preset)

    assert set(campaign.tasks.values_list("wanted", "places_left")) == {(wanted, wanted)}
    assert len(primed(campaign)) == primed_tasks


def test_keywords_are_shown_on_the_share_of_tasks_that_the_file_asks_for():
    select(10)

    campaign = create(priming={"share": 0.3})

    assert len(primed(campaign)) == 3


@pytest.mark.parametrize("by", ["image", "response"])
@pytest.mark.parametrize("source", ["OPEN_IMAGES", "OWN"])
def test_an_image_of_which_no_class_is_shown_is_never_primed(source, by):
    part = ClassRelation.objects.create(
        parent=ClassFactory(name="Car"), child=ClassFactory(name="Wheel"), kind="PART"
    ).child
    images = [ImageFactory(source=source, sha256=name, file_name=name) for name in ("a", "b")]
    BoxFactory(image=images[0], object_class=part)
    SelectionFactory(name="scenes", images=images)

    campaign = create(priming={"by": by})

    assert set(campaign.tasks.values_list("shows_keywords", flat=True)) == {False}


def test_which_tasks_show_keywords_depends_on_the_seed_alone():
    select(20)

    same = [create(name=name, seed=1, priming={"share": 0.5}) for name in ["first", "again"]]
    other = create(name="other", seed=2, priming={"share": 0.5})

    assert primed(same[0]) == primed(same[1])
    assert primed(same[0]) != primed(other)


def test_the_campaign_keeps_the_file_as_it_was_checked():
    SelectionFactory(name="scenes", images=1)
    file = config(captions={"least_words": 5})

    campaign = create_campaign(config=file, endpoint="local", at=NOON)

    assert Campaign.objects.get().config == file
    assert campaign.config.captions.least_words == 5


@pytest.mark.parametrize(
    ("values", "key"),
    [({"selection": "nowhere"}, "selection"), ({"name": "taken"}, "name")],
)
def test_a_campaign_that_cannot_be_made_names_the_key_and_leaves_nothing(values, key):
    SelectionFactory(name="scenes", images=1)
    CampaignFactory(slug="taken")

    with pytest.raises(CampaignNotPossible, match=f"^{key}: "):
        create(**values)

    assert Campaign.objects.count() == 1


def test_progress_counts_what_counts():
    campaign = CampaignFactory()
    done = TaskFactory(campaign=campaign, wanted=1)
    ResponseFactory(task=done)
    begun = TaskFactory(campaign=campaign, wanted=3)
    ResponseFactory(task=begun)
    ResponseFactory(task=begun, status="DISCARDED")

    now = progress(campaign)

    assert (now.tasks, now.complete, now.wanted) == (2, 1, 4)
    assert (now.submitted, now.answered, now.missing) == (2, 2, 2)
    assert now.share == 0.5
