"""Releases during reviews and submissions: a release is a consistent snapshot."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from threading import Event

import pytest
from django.db import connection, connections, transaction
from django.db.models import F
from django.utils import timezone

from annotate.models import Release, Task
from qualcontrol.models import Exclusion
from qualcontrol.review.judging import judge
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from qualcontrol.services.releasing import ReleaseRefused, release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    WorkerFactory,
)
from tests.races import just_before, just_before_number
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

IMAGES, WANTED = 3, 2
# Numbers of the statements before which something else happens. On SQLite, it waits for the end of
# the transaction that sends them, so all moments within a transaction are one.
MOMENTS = partial(count, step=10 if connection.vendor == "sqlite" else 1)


@pytest.fixture
def worker():
    """The worker concerned by the actions, with a caption of all images except one."""
    return WorkerFactory()


def make_campaign(worker):
    """A few images with all their captions."""
    config = {"references": 1, "baselines": 1, "review": {"first": 0, "share": 0}}
    campaign = CampaignFactory(config=config)
    for number, task in enumerate(TaskFactory.create_batch(IMAGES, campaign=campaign)):
        ResponseFactory(task=task)
        ResponseFactory(task=task, worker=worker if number else WorkerFactory())
    return campaign


def release(campaign, name="v1", **options):
    return release_campaign(campaign=campaign, name=name, seed=1, at=NOON, **options)


def exclude(campaign, worker):
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)


def discard_one(campaign, worker):
    response = worker.responses.filter(task__campaign=campaign, status="SUBMITTED").last()
    judge(response=response, verdict="BAD", reason="vague", reviewer=None, at=NOON)


def exclude_and_reinstate(campaign, worker):
    exclude(campaign, worker)
    about = {"campaign": campaign, "worker": worker, "actor": None, "at": NOON}
    reinstate_worker(**about, reason="a mistake")


def captions_per_image(release):
    return [image.captions.count() for image in release.images.all()]


@pytest.mark.parametrize("act", [exclude, discard_one, exclude_and_reinstate])
def test_a_complete_release_has_all_images_whatever_happens_at_any_moment(act, worker):
    released = 0
    for moment in MOMENTS():
        campaign = make_campaign(worker)
        with just_before_number(moment, lambda c=campaign: act(c, worker)) as happened:
            try:
                made = release(campaign, name=f"v{moment}")
            except ReleaseRefused:
                made = None
        if made is not None:
            released += 1
            assert not made.is_partial
            assert captions_per_image(made) == [WANTED] * IMAGES
        if not happened:
            break

    assert moment > 8
    assert released > 1


def test_a_partial_release_leaves_out_what_it_counts_as_missing(worker):
    campaign = make_campaign(worker)
    TaskFactory(campaign=campaign)

    with just_before("annotate_response", lambda: discard_one(campaign, worker)):
        made = release(campaign, partial=True)

    assert made.is_partial
    assert set(captions_per_image(made)) == {WANTED}


def test_a_check_drawn_while_the_last_answer_comes_in_holds_the_release_up(worker):
    for moment in MOMENTS():
        campaign = make_campaign(worker)
        last = TaskFactory(campaign=campaign)
        ResponseFactory(task=last)

        def submit_the_last(task=last):
            SpotCheckFactory(response=ResponseFactory(task=task))

        with (
            just_before_number(moment, submit_the_last) as happened,
            pytest.raises(
                ReleaseRefused, match=r"has 1 of 2 captions|1 required check is not done"
            ),
        ):
            release(campaign, name=f"v{moment}")
        if not happened:
            break

    assert moment > 5
    assert not Release.objects.exists()


def test_of_two_releases_of_one_name_at_once_one_is_refused(worker):
    campaign, refusals = make_campaign(worker), []

    def make():
        try:
            release(campaign)
        except ReleaseRefused as error:
            refusals.append(str(error))

    with just_before("INSERT INTO", make):
        make()

    [refusal] = refusals
    assert "'v1' is not available" in refusal
    assert captions_per_image(Release.objects.get()) == [WANTED] * IMAGES


def lock_whole_and_change(campaign):
    """Change tasks with a lock that also covers their keys.

    Foreign keys of a snapshot conflict with it. The product's own locks do not cover the keys.
    """
    with transaction.atomic():
        list(Task.objects.filter(campaign=campaign).select_for_update())
        Task.objects.filter(campaign=campaign).update(places_left=F("places_left"))


def test_a_release_that_meets_a_conflict_is_made_anew(worker):
    campaign = make_campaign(worker)

    with just_before("INSERT INTO", lambda: lock_whole_and_change(campaign)):
        made = release(campaign)

    assert captions_per_image(made) == [WANTED] * IMAGES


@pytest.mark.skipif(
    connection.vendor == "sqlite", reason="an IMMEDIATE transaction has no conflict"
)
def test_a_release_that_meets_one_conflict_after_the_other_asks_to_try_again(worker, monkeypatch):
    monkeypatch.setattr("shared.database.transactions.ATTEMPTS", 1)
    campaign = make_campaign(worker)

    with (
        just_before("INSERT INTO", lambda: lock_whole_and_change(campaign)),
        pytest.raises(ReleaseRefused, match="Please try again"),
    ):
        release(campaign)

    assert not Release.objects.exists()


def test_a_release_is_not_made_within_another_transaction(worker):
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        release(make_campaign(worker))


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_release_is_not_later_than_an_exclusion_that_it_does_not_know(worker):
    campaign = make_campaign(worker)
    excluded, released = Event(), Event()

    def exclude_slowly():
        try:
            with transaction.atomic():
                campaign.refresh_from_db()  # begins the transaction
                at = timezone.now()
                exclude_worker(campaign=campaign, worker=worker, reason="x", actor=None, at=at)
                excluded.set()
                assert released.wait(PATIENCE)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(exclude_slowly)
        assert excluded.wait(PATIENCE)
        made = release_campaign(campaign=campaign, name="v1", seed=1, at=timezone.now())
        released.set()
        done.result(PATIENCE)

    assert captions_per_image(made) == [WANTED] * IMAGES
    assert made.created_at < Exclusion.objects.get().excluded_at
