"""The reviewer's pages."""

import pytest
from django.urls import reverse

from annotate.models import Release, ResponseStatus
from qualcontrol import services
from qualcontrol.models import Act, Decision, SpotCheck
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerAccountFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer(client):
    user = UserFactory()
    client.force_login(user)
    return user


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot")


def waiting(campaign, **response):
    return SpotCheckFactory(
        response=ResponseFactory(task__campaign=campaign, **response), drawn_at=NOON
    )


def post_verdict(client, check, **fields):
    address = reverse("qualcontrol:judge", args=[check.response.task.campaign.slug, check.pk])
    return client.post(address, fields)


@pytest.mark.usefixtures("reviewer")
def test_the_queue_shows_image_keywords_caption_and_other_captions(client, campaign):
    worker = WorkerFactory()
    WorkerAccountFactory(worker=worker, marketplace_id="AVERYSECRET")
    ResponseFactory(task__campaign=campaign, worker=worker, text="Another sentence of theirs.")
    check = waiting(campaign, worker=worker, text="A dog sleeps on a red sofa.")
    BoxFactory(image=check.response.task.image, object_class__name="Dog")

    page = client.get("/review/pilot/").content.decode()

    assert check.response.task.image.url in page
    assert "<li>Dog</li>" in page
    assert "A dog sleeps on a red sofa." in page
    assert "Another sentence of theirs." in page
    assert worker.pseudonym in page
    assert "AVERYSECRET" not in page


@pytest.mark.usefixtures("reviewer")
def test_the_queue_escapes_what_a_worker_wrote(client, campaign):
    waiting(campaign, text="<script>alert(1)</script> & a dog")

    page = client.get("/review/pilot/").content.decode()

    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; a dog" in page
    assert "<script>alert" not in page


@pytest.mark.usefixtures("reviewer")
def test_skipping_leads_to_the_next_caption_and_around_to_the_first(client, campaign):
    first, second = waiting(campaign), waiting(campaign)

    after_first = client.get("/review/pilot/", {"after": first.pk})
    after_second = client.get("/review/pilot/", {"after": second.pk})

    assert after_first.context["check"] == second
    assert after_second.context["check"] == first


@pytest.mark.usefixtures("reviewer")
def test_the_queue_of_one_campaign_holds_nothing_of_another(client, campaign):
    waiting(CampaignFactory())

    page = client.get("/review/pilot/")

    assert "Nothing waits for review" in page.content.decode()


def test_good_judges_and_goes_on(client, campaign, reviewer):
    check = waiting(campaign)

    answer = post_verdict(client, check, verdict="GOOD", reason="vague", other="not read")

    assert (answer.status_code, answer.url) == (302, f"/review/pilot/?after={check.pk}")
    check.refresh_from_db()
    assert (check.verdict, check.reason, check.reviewer) == ("GOOD", "", reviewer)


@pytest.mark.usefixtures("reviewer")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"reason": "wrong-image"}, "describes another image"),
        ({"reason": "other", "other": " rude "}, "rude"),
        ({"other": "rude"}, "rude"),
        ({"reason": "copy", "other": "of W-1"}, "the same as other captions (of W-1)"),
    ],
)
def test_bad_keeps_the_reason_and_discards(client, campaign, fields, reason):
    check = waiting(campaign)

    post_verdict(client, check, verdict="BAD", **fields)

    check.refresh_from_db()
    check.response.refresh_from_db()
    assert (check.verdict, check.reason) == ("BAD", reason)
    assert check.response.status == ResponseStatus.DISCARDED


@pytest.mark.usefixtures("reviewer")
@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "BAD"},
        {"verdict": "BAD", "reason": "other"},
        {"verdict": "BAD", "reason": "no such reason"},
        {"verdict": "PERHAPS"},
        {},
    ],
)
def test_a_verdict_that_is_not_whole_changes_nothing_and_says_so(client, campaign, fields):
    check = waiting(campaign)

    answer = post_verdict(client, check, **fields)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert SpotCheck.objects.open().get() == check


@pytest.mark.usefixtures("reviewer")
def test_judging_what_somebody_else_judged_says_so(client, campaign):
    check = waiting(campaign)
    services.judge(spot_check=check, verdict="GOOD", reason="", reviewer=None, at=NOON)

    address = reverse("qualcontrol:judge", args=["pilot", check.pk])
    answer = client.post(address, {"verdict": "BAD", "reason": "vague"}, follow=True)

    assert "Somebody else has judged this caption meanwhile." in answer.content.decode()
    assert Decision.objects.count() == 1


@pytest.mark.usefixtures("reviewer")
def test_a_check_of_another_campaign_is_not_found(client, campaign):
    check = waiting(CampaignFactory())

    answer = client.post(
        reverse("qualcontrol:judge", args=["pilot", check.pk]), {"verdict": "GOOD"}
    )

    assert answer.status_code == 404
    assert SpotCheck.objects.open().exists()


@pytest.mark.usefixtures("reviewer")
def test_judging_needs_a_post(client, campaign):
    check = waiting(campaign)

    assert client.get(reverse("qualcontrol:judge", args=["pilot", check.pk])).status_code == 405


@pytest.mark.usefixtures("reviewer")
def test_the_queue_takes_the_same_queries_for_a_worker_of_many_captions(
    client, campaign, django_assert_max_num_queries
):
    worker = WorkerFactory()
    waiting(campaign, worker=worker)
    for _ in range(25):
        waiting(campaign, worker=worker)

    with django_assert_max_num_queries(13):
        page = client.get("/review/pilot/")

    assert len(page.context["others"]) == 20


@pytest.mark.usefixtures("reviewer")
def test_the_workers_page_counts_what_each_did(client, campaign, django_assert_max_num_queries):
    busy, other = WorkerFactory(), WorkerFactory()
    good = waiting(campaign, worker=busy)
    services.judge(spot_check=good, verdict="GOOD", reason="", reviewer=None, at=NOON)
    ResponseFactory(task__campaign=campaign, worker=busy, status="DISCARDED")
    ResponseFactory(task__campaign=campaign, worker=busy, status="STORED")
    ResponseFactory(worker=busy)
    ResponseFactory(task__campaign=campaign, worker=other)
    services.exclude_worker(campaign=campaign, worker=other, reason="lists", actor=None, at=NOON)

    with django_assert_max_num_queries(8):
        rows = client.get("/review/pilot/workers/").context["workers"]

    figures = [(w.pseudonym, w.submitted, w.discarded, w.good, w.bad, w.is_excluded) for w in rows]
    assert figures == [
        (busy.pseudonym, 2, 1, 1, 0, False),
        (other.pseudonym, 1, 1, 0, 0, True),
    ]


@pytest.mark.usefixtures("reviewer")
def test_a_workers_page_shows_their_work_and_what_was_decided(
    client, campaign, django_assert_max_num_queries
):
    worker = WorkerFactory()
    for number in range(12):
        check = waiting(campaign, worker=worker, text=f"Sentence number {number} of this worker.")
        services.judge(spot_check=check, verdict="GOOD", reason="", reviewer=None, at=NOON)
        ResponseFactory(task__campaign=campaign, worker=worker)
    ResponseFactory(worker=worker, text="A sentence of another campaign.")
    services.exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    with django_assert_max_num_queries(12):
        page = client.get(f"/review/pilot/workers/{worker.pseudonym}/").content.decode()

    assert "Sentence number 11 of this worker." in page
    assert "worker excluded: lists" in page
    assert "A sentence of another campaign." not in page


@pytest.mark.usefixtures("reviewer")
def test_a_worker_of_another_campaign_is_not_found(client, campaign):
    stranger = ResponseFactory().worker

    assert client.get(f"/review/pilot/workers/{stranger.pseudonym}/").status_code == 404


def test_reinstating_restores_and_is_logged(client, campaign, reviewer):
    response = ResponseFactory(task__campaign=campaign)
    worker = response.worker
    services.exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    answer = client.post(
        reverse("qualcontrol:reinstate", args=["pilot", worker.pseudonym]),
        {"reason": "a mistake"},
        follow=True,
    )

    assert "captions restored: 1" in answer.content.decode()
    response.refresh_from_db()
    assert response.status == ResponseStatus.SUBMITTED
    decision = Decision.objects.get(act=Act.REINSTATE)
    assert (decision.actor, decision.reason) == (reviewer, "a mistake")


@pytest.mark.usefixtures("reviewer")
def test_reinstating_needs_a_reason(client, campaign):
    worker = ResponseFactory(task__campaign=campaign).worker
    services.exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    client.post(reverse("qualcontrol:reinstate", args=["pilot", worker.pseudonym]))

    assert campaign.exclusions.in_force().exists()


@pytest.mark.usefixtures("reviewer")
def test_the_decision_log_is_paged_and_takes_the_same_queries(
    client, campaign, django_assert_max_num_queries
):
    for _ in range(60):
        worker = ResponseFactory(task__campaign=campaign).worker
        Decision.objects.create(
            campaign=campaign, act=Act.DISCARD, worker=worker, reason="lists", at=NOON
        )

    with django_assert_max_num_queries(5):
        page = client.get("/review/pilot/decisions/", {"page": 2})

    assert len(page.context["page"]) == 10


@pytest.mark.usefixtures("reviewer")
def test_the_releases_page_says_what_is_missing_and_refuses(client, campaign):
    TaskFactory(campaign=campaign, image__key="0123abcd")

    answer = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "image 0123abcd has 0 of 11 captions" in page
    assert "The campaign is not finished." in page
    assert not Release.objects.exists()


@pytest.mark.usefixtures("reviewer")
def test_a_release_is_made_from_its_page(client):
    campaign = CampaignFactory(slug="done", config={"references": 1})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    ResponseFactory(task=task)

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "3"})

    release = Release.objects.get()
    assert answer.url == f"/releases/{release.name}/"
    assert (release.seed, release.is_partial) == (3, False)


@pytest.mark.usefixtures("reviewer")
def test_a_partial_release_is_made_when_it_is_asked_for(client):
    campaign = CampaignFactory(slug="half", config={"references": 1})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    ResponseFactory(task=task)
    TaskFactory(campaign=campaign)

    client.post("/review/half/releases/", {"name": "v1", "seed": "3", "partial": "on"})

    assert Release.objects.get().is_partial


@pytest.mark.usefixtures("reviewer")
def test_a_releases_name_is_given_once(client):
    campaign = CampaignFactory(slug="done", config={"references": 1})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task)
    ResponseFactory(task=task)
    client.post("/review/done/releases/", {"name": "v1", "seed": "3"})

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "4"})

    assert "There is a release v1 already" in answer.content.decode()
    assert Release.objects.get().seed == 3


@pytest.mark.usefixtures("reviewer")
def test_a_release_of_nothing_is_refused(client, campaign):
    answer = client.post("/review/pilot/releases/", {"name": "v1", "seed": "1"})

    assert answer.status_code == 422
    assert "pilot has no image with all its captions" in answer.content.decode()


@pytest.mark.usefixtures("reviewer")
def test_with_a_broker_a_release_is_made_behind_the_page(client, settings, monkeypatch):
    CampaignFactory(slug="done", pk=7)
    asked = []
    settings.CELERY_TASK_ALWAYS_EAGER = False
    monkeypatch.setattr(
        "qualcontrol.views.make_release.delay", lambda *args, **kwargs: asked.append((args, kwargs))
    )

    answer = client.post("/review/done/releases/", {"name": "v1", "seed": "3"}, follow=True)

    assert asked == [((7,), {"name": "v1", "seed": 3, "partial": False})]
    assert "The release is being made" in answer.content.decode()
