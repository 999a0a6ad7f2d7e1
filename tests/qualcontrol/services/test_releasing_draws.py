"""Releases: the draw, refusals, and database constraints."""

import random

import pytest
from django.db import IntegrityError, transaction

from annotate.models import (
    Caption,
    ClassRelation,
    Image,
    RelationKind,
    Release,
    ReleasedCaption,
    Response,
    Role,
)
from annotate.services.responses import discard
from corpora.errors import DomainError
from qualcontrol.services.releasing import ReleaseRefused, missing, release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db


def finished_campaign(tasks=3, references=3, baselines=1, extra=0, **config):
    """A campaign whose tasks have all their captions and `extra` more."""
    campaign = CampaignFactory(config={"references": references, "baselines": baselines, **config})
    workers = WorkerFactory.create_batch(references + baselines + extra)
    for task in TaskFactory.create_batch(tasks, campaign=campaign):
        for worker in workers:
            ResponseFactory(task=task, worker=worker)
    return campaign


def release(campaign, name="r1", seed=7, **options):
    return release_campaign(campaign=campaign, name=name, seed=seed, at=NOON, **options)


def drawn(made):
    return list(
        ReleasedCaption.objects.filter(image__release=made).values_list(
            "image__number", "role", "response", "text"
        )
    )


def test_every_image_has_its_references_and_one_baseline_by_different_workers():
    campaign = finished_campaign(tasks=4, references=5)

    made = release(campaign)

    assert made.images.count() == 4
    for image in made.images.all():
        captions = list(image.captions.select_related("response"))
        roles = [caption.role for caption in captions]
        assert (roles.count(Role.REFERENCE), roles.count(Role.BASELINE)) == (5, 1)
        assert len({caption.response.worker_id for caption in captions}) == 6
        assert len({caption.worker_number for caption in captions}) == 6


def test_references_stand_in_the_order_in_which_they_came_in():
    made = release(finished_campaign(tasks=1, references=8))

    references = made.images.get().captions.filter(role=Role.REFERENCE).order_by("pk")

    keys = list(references.values_list("response", flat=True))
    assert keys == sorted(keys)


def test_a_campaign_without_a_baseline_releases_references_only():
    made = release(finished_campaign(tasks=1, references=2, baselines=0))

    assert [role for _, role, _, _ in drawn(made)] == [Role.REFERENCE] * 2


def test_the_same_seed_and_responses_draw_the_same_captions():
    campaign = finished_campaign(tasks=10, references=5)

    first, again = release(campaign, "first"), release(campaign, "again")

    assert drawn(first) == drawn(again)


def test_a_seed_draws_the_same_captions_in_all_versions():
    campaign = finished_campaign(tasks=4, references=3, extra=2)

    made = release(campaign, seed=2019)

    # The places of the references, and that of the baseline, among each image's six captions.
    assert [places_drawn(image) for image in made.images.all()] == [
        [0, 3, 5, 1],
        [2, 3, 5, 1],
        [2, 3, 5, 4],
        [0, 3, 4, 1],
    ]


def places_drawn(image):
    submitted = [*image.task.responses.order_by("pk").values_list("pk", flat=True)]
    return [submitted.index(caption.response_id) for caption in image.captions.all()]


def test_another_seed_draws_another_baseline():
    campaign = finished_campaign(tasks=10, references=5)

    first, other = release(campaign, "first", seed=1), release(campaign, "other", seed=2)

    assert drawn(first) != drawn(other)


def test_every_response_has_its_chance_to_be_the_baseline():
    campaign = finished_campaign(tasks=1, references=2)

    baselines = {
        release(campaign, f"r{seed}", seed=seed)
        .images.get()
        .captions.get(role=Role.BASELINE)
        .response_id
        for seed in range(25)
    }

    assert baselines == set(Response.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("shown", [True, False])
def test_a_released_caption_says_whether_its_image_was_primed(shown):
    campaign = finished_campaign(tasks=1, references=2)
    campaign.tasks.update(shows_keywords=shown)

    captions = release(campaign).images.get().captions.all()

    assert [caption.primed for caption in captions] == [shown] * 3


def test_a_released_caption_says_whether_it_was_primed_where_each_claim_decides():
    campaign = finished_campaign(tasks=1, references=2)
    campaign.tasks.update(shows_keywords=None)
    said = dict(zip(Response.objects.order_by("pk"), [True, False, None], strict=True))
    for response, primed in said.items():
        Response.objects.filter(pk=response.pk).update(primed=primed)

    captions = release(campaign).images.get().captions.select_related("response")

    assert {caption.response: caption.primed for caption in captions} == said


def test_of_more_captions_than_wanted_the_wanted_number_is_drawn():
    made = release(finished_campaign(tasks=2, references=2, extra=4))

    assert len(drawn(made)) == 2 * 3


def test_a_caption_that_does_not_count_is_never_drawn():
    campaign = finished_campaign(tasks=1, references=2)
    task = campaign.tasks.get()
    ResponseFactory(task=task, status="DISCARDED", text="Not this one.")

    texts = {
        text for seed in range(10) for *_, text in drawn(release(campaign, f"r{seed}", seed=seed))
    }

    assert "Not this one." not in texts


def test_worker_numbers_of_two_releases_do_not_tell_who_is_who(monkeypatch):
    campaign = finished_campaign(tasks=1, references=9)
    orders = iter([random.Random(1), random.Random(2)])
    monkeypatch.setattr("qualcontrol.services.releasing.random.SystemRandom", lambda: next(orders))

    numbers = [
        list(
            ReleasedCaption.objects.filter(image__release=release(campaign, name))
            .order_by("response")
            .values_list("worker_number", flat=True)
        )
        for name in ["first", "second"]
    ]

    assert sorted(numbers[0]) == sorted(numbers[1]) == list(range(1, 11))
    assert numbers[0] != numbers[1]


def test_an_unfinished_campaign_is_refused_with_the_list_of_what_is_missing():
    campaign = finished_campaign(tasks=2, references=2)
    lacking = campaign.tasks.last()
    discard(responses=list(lacking.responses.all()[:2]))

    with pytest.raises(ReleaseRefused) as refusal:
        release(campaign)

    assert refusal.value.missing == [f"image {lacking.image.key} has 1 of 3 captions"]
    assert lacking.image.key in str(refusal.value)
    assert not Release.objects.exists()


def test_missing_captions_name_own_images_by_their_files():
    campaign = finished_campaign(tasks=1, references=2)
    Image.objects.update(file_name="cups/coffee_b.jpg")
    discard(responses=list(campaign.tasks.get().responses.all()[:2]))

    assert missing(campaign) == ["image cups/coffee_b.jpg has 1 of 3 captions"]


def test_a_long_list_of_what_is_missing_says_how_many_more():
    campaign = CampaignFactory(tasks=23)

    lines = missing(campaign)

    assert len(lines) == 21
    assert lines[-1] == "and 3 more images"


def test_a_complete_release_is_counted_before_it_is_saved(monkeypatch):
    campaign = finished_campaign(tasks=2)

    def lose_one(campaign):
        """Discard a response after the check for missing ones."""
        discard(responses=[campaign.tasks.last().responses.last()])
        return []

    monkeypatch.setattr("qualcontrol.services.releasing.open_questions", lose_one)

    with pytest.raises(ReleaseRefused, match="has 1 of the campaign's 2 images"):
        release(campaign)

    assert not Release.objects.exists()


def test_a_partial_release_holds_the_complete_images_alone_and_says_it_is_partial():
    campaign = finished_campaign(tasks=2, references=2)
    lacking = campaign.tasks.last()
    discard(responses=[lacking.responses.last()])

    made = release(campaign, partial=True)

    assert made.is_partial
    assert [image.task for image in made.images.all()] == [campaign.tasks.first()]


def test_a_whole_release_is_not_partial_even_if_that_was_allowed():
    assert not release(finished_campaign(tasks=1), partial=True).is_partial


def test_a_campaign_without_a_complete_image_has_nothing_to_release():
    with pytest.raises(ReleaseRefused, match="no image"):
        release(CampaignFactory(tasks=1), partial=True)

    assert not Release.objects.exists()


def test_a_release_keeps_its_name():
    campaign = finished_campaign(tasks=1)
    release(campaign)

    with pytest.raises(ReleaseRefused, match="not available"):
        release(campaign, seed=8)

    assert Release.objects.get().seed == 7


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "x" * 101])
def test_a_name_that_no_address_can_have_is_refused(name):
    campaign = finished_campaign(tasks=1)

    with pytest.raises(DomainError, match="cannot be the name of a release"):
        release(campaign, name=name)

    assert not Release.objects.exists()


def test_a_release_stays_as_it_is_when_captions_and_images_change():
    campaign = finished_campaign(tasks=1)
    made = release(campaign)
    before = drawn(made), made.images.get().record

    Caption.objects.update(text="Changed.")
    image = campaign.tasks.get().image
    image.url, image.width = "https://elsewhere.example/x.jpg", 1
    image.save()

    assert (drawn(made), made.images.get().record) == before


def test_the_domain_of_an_image_is_told_by_its_classes():
    task = TaskFactory(campaign=CampaignFactory(config={"references": 1, "baselines": 0}))
    for name in ["Dog", "Accordion"]:
        BoxFactory(image=task.image, object_class__name=name)
    ResponseFactory(task=task)

    made = release(task.campaign)

    assert made.images.get().record["domain"] == "near-domain"


def test_parts_that_workers_never_see_do_not_change_the_domain():
    task = TaskFactory(campaign=CampaignFactory(config={"references": 1, "baselines": 0}))
    person, face = ClassFactory(name="Person"), ClassFactory(name="Human face")
    ClassRelation.objects.create(parent=person, child=face, kind=RelationKind.PART)
    for object_class in [person, face]:
        BoxFactory(image=task.image, object_class=object_class)
    ResponseFactory(task=task)

    made = release(task.campaign)

    assert made.images.get().record["domain"] == "in-domain"


def test_freezing_takes_the_same_number_of_queries_for_any_number_of_images(
    django_assert_max_num_queries,
):
    campaign = finished_campaign(tasks=30, references=2)

    # The responses are read for the workers, and again with the tasks for images and captions.
    with django_assert_max_num_queries(58):
        release(campaign)


def test_a_release_that_is_read_in_parts_is_the_same(monkeypatch):
    campaign = finished_campaign(tasks=7, references=2)

    def captions(made):
        rows = ReleasedCaption.with_hidden.filter(image__release=made)
        return list(rows.values_list("image__number", "response", "role", "text"))

    whole = captions(release(campaign))
    monkeypatch.setattr("annotate.kinds.caption.release.IMAGES_AT_ONCE", 3)
    monkeypatch.setattr("annotate.kinds.caption.release.BATCH", 2)

    assert captions(release(campaign, name="in-parts")) == whole
    assert len(whole) == 7 * 3


@pytest.mark.parametrize("field", ["worker_number", "response", "role"])
def test_the_database_lets_no_image_have_a_worker_a_caption_or_a_baseline_twice(field):
    made = release(finished_campaign(tasks=1, references=2))
    image = made.images.get()
    baseline = image.captions.get(role=Role.BASELINE)
    another = {
        "image": image,
        "response": ResponseFactory(task__image=ImageFactory()),
        "worker_number": 99,
        "role": Role.REFERENCE,
        "text": "A dog.",
    }

    with pytest.raises(IntegrityError), transaction.atomic():
        ReleasedCaption.objects.create(**{**another, field: getattr(baseline, field)})
