"""The review page: its contents, its verdicts, and its responses to the script."""

import re
from uuid import uuid4

import pytest
from bs4 import BeautifulSoup
from django.urls import reverse

from annotate.kinds import KINDS
from annotate.models import ResponseStatus
from qualcontrol.models import Decision, Exclusion, Judgement, Reservation, SpotCheck
from qualcontrol.pages.forms import OTHER, reasons_against
from qualcontrol.pages.review import AHEAD
from qualcontrol.review.gold import mark_gold, seed_gold
from qualcontrol.review.judging import judge
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.worker_risks import refresh_worker_risks
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    LinkCampaignFactory,
    LinkResponseFactory,
    LinkTaskFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerAccountFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, key_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reviewer")]

QUEUE = "/review/pilot/"
NO_ITEM = "5b1d6f0e-91c4-4f7e-8f2a-3c6a1e0d9b75"


def submitted(campaign, **response):
    """A response, ingested as by the reconciler."""
    return taken_in(ResponseFactory(task__campaign=campaign, **response))


def taken_in(response):
    campaign = response.task.campaign
    review_submitted(campaign=campaign, responses=[response], at=NOON)
    refresh_worker_risks(campaign=campaign)
    return response


def linked():
    """A response of links, in a campaign called pilot."""
    task = LinkTaskFactory(campaign=LinkCampaignFactory(slug="pilot"), boxes=["Dog", "Man"])
    return taken_in(LinkResponseFactory(task=task))


def judge_address(response):
    return reverse("qualcontrol:judge", args=[response.task.campaign.slug, key_of(response)])


def shown(page):
    """The caption shown to the reviewer; preloaded ones are in templates."""
    before, *_ = page.content.decode().split("<template")
    return before


def held(page):
    """The keys of the items in a response, in order."""
    return re.findall(r'data-key="([^"]*)"', page.content.decode())


def test_the_page_shows_image_keywords_caption_and_other_captions(client, campaign):
    worker = WorkerFactory()
    WorkerAccountFactory(worker=worker, marketplace_id="AVERYSECRET")
    submitted(campaign, worker=worker, text="Another sentence of theirs, of some length.")
    response = submitted(campaign, worker=worker, text="A dog sleeps on a red sofa.")
    BoxFactory(image=response.task.image, object_class__name="Dog")
    judge(response=worker.responses.first(), verdict="GOOD", reason="", reviewer=None, at=NOON)

    page = shown(client.get(QUEUE))

    assert response.task.image.url in page
    assert ">Dog</li>" in page
    assert "A dog sleeps on a red sofa." in page
    assert "Another sentence of theirs" in page
    assert worker.pseudonym in page
    assert "AVERYSECRET" not in page


def test_the_page_escapes_what_a_worker_wrote(client, campaign):
    submitted(campaign, text="<script>alert(1)</script> & a dog")

    page = client.get(QUEUE).content.decode()

    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; a dog" in page
    assert "<script>alert" not in page


def test_the_page_says_why_this_one_and_which_signs_it_has(client, campaign):
    submitted(campaign, text="cat, dog, tree, car, house")

    page = shown(client.get(QUEUE))

    assert "One of this worker&#x27;s first responses." in page
    assert "<strong>Only a list of words.</strong>" in page
    assert "keyword_list" not in page


def test_the_signs_of_a_random_check_are_folded_away(client):
    campaign = CampaignFactory(slug="pilot", config={"review": {"share": 1}})
    submitted(campaign)

    page = shown(client.get(QUEUE))

    assert "Random check" in page
    assert "<details>" in page
    assert "<details open>" not in page


def test_the_next_items_lie_ready_and_their_images_are_fetched_ahead(client, campaign):
    responses = [submitted(campaign) for _ in range(AHEAD + 2)]

    page = client.get(QUEUE)

    assert len(held(page)) == 1 + AHEAD
    ahead = [r for r in responses if key_of(r) in held(page)[1:]]
    assert all(
        f'<link rel="preload" as="image" href="{r.task.image.url}">' in shown(page) for r in ahead
    )


def test_skipping_leads_to_the_next_and_around_to_the_first(client, campaign):
    first, second = (submitted(campaign), submitted(campaign))

    one = held(client.get(QUEUE))[0]
    other = held(client.get(QUEUE, {"skip": f"{one}"}))
    again = held(client.get(QUEUE, {"skip": f"{one} {other[0]}"}))

    assert {one, *other} == {key_of(first), key_of(second)}
    assert len(other) == 1
    assert set(again) == {one, *other}


@pytest.mark.parametrize("skip", ["x", "-1", "9" * 40, "²", "1 2 x"])
def test_a_skip_that_makes_no_sense_is_passed_over(client, campaign, skip):
    submitted(campaign)

    assert client.get(QUEUE, {"skip": skip}).status_code == 200


def test_the_queue_of_one_campaign_holds_nothing_of_another(client, campaign):
    submitted(CampaignFactory())

    page = client.get(QUEUE)

    assert "No captions to review" in page.content.decode()


@pytest.mark.parametrize("is_gold", [False, True])
def test_the_end_of_the_queue_shows_the_last_verdict_which_can_be_taken_back(
    client, campaign, is_gold
):
    if is_gold:
        item = seed_gold(
            task=TaskFactory(campaign=campaign),
            text="A purple cow.",
            reason="wrong",
            actor=UserFactory(),
            at=NOON,
        )
    else:
        item = submitted(campaign, text="A purple cow.")
    fields = {"verdict": "BAD", "reason": "vague"}
    address = reverse("qualcontrol:judge", args=["pilot", key_of(item)])

    page = client.post(address, fields, follow=True).content.decode()

    assert "No captions to review" in page
    assert "A purple cow." in page
    # No word more of either, or reviewers would recognise gold items.
    assert "<p>Judged bad.</p>" in page
    assert "data-review-undo>" in page


def test_two_reviewers_are_shown_different_captions(client, campaign):
    submitted(campaign)
    submitted(campaign)
    mine = held(client.get(QUEUE))
    client.force_login(UserFactory())

    theirs = client.get(QUEUE)

    assert len(mine) == 2
    assert held(theirs) == []


def test_good_judges_and_continues(client, campaign, reviewer):
    response = submitted(campaign)

    fields = {"verdict": "GOOD", "reason": "vague", "other": "not read"}
    answer = client.post(judge_address(response), fields)

    assert (answer.status_code, answer.url) == (302, QUEUE)
    judgement = Judgement.objects.get()
    assert (judgement.verdict, judgement.reason, judgement.reviewer) == ("GOOD", "", reviewer)


def test_skipped_items_stay_skipped_after_a_verdict(client, campaign):
    skipped, response = submitted(campaign), submitted(campaign)

    fields = {"verdict": "GOOD", "skip": f"{key_of(skipped)} x"}
    answer = client.post(judge_address(response), fields)

    assert answer.url == f"{QUEUE}?skip={key_of(skipped)}"


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
    response = submitted(campaign)

    client.post(judge_address(response), {"verdict": "BAD", **fields})

    response.refresh_from_db()
    check = SpotCheck.objects.get()
    assert (check.verdict, check.reason) == ("BAD", reason)
    assert response.status == ResponseStatus.DISCARDED


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
    response = submitted(campaign)

    answer = client.post(judge_address(response), fields)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert SpotCheck.objects.open().get().response == response


def test_another_reason_of_spaces_alone_is_asked_for_by_page_and_server(client, campaign):
    response = submitted(campaign)
    page = BeautifulSoup(client.get(QUEUE).content, "lxml")
    field = page.select_one("input[name=other]")

    fields = {"verdict": "BAD", "reason": OTHER, "other": "  "}
    answer = client.post(judge_address(response), fields)

    assert not re.fullmatch(field["pattern"], "  ")
    assert re.fullmatch(field["pattern"], "too vague")
    said = BeautifulSoup(answer.content, "lxml").select_one("[role=alert]")
    assert (answer.status_code, said.text) == (422, field["title"])


def test_a_kind_of_task_has_reasons_of_its_own(client):
    response = linked()

    page = shown(client.get(QUEUE))
    client.post(judge_address(response), {"verdict": "BAD", "reason": "wrong-box"})

    assert "a word is linked to the wrong box <kbd>1</kbd>" in page
    assert "keywords" not in page
    assert SpotCheck.objects.get().reason == "a word is linked to the wrong box"


def test_a_reason_of_another_kind_is_none(client):
    response = linked()

    answer = client.post(judge_address(response), {"verdict": "BAD", "reason": "vague"})

    assert answer.status_code == 422
    assert "Choose what is wrong with the response." in answer.content.decode()
    assert not Judgement.objects.exists()


def test_an_answer_that_shows_its_image_is_all_that_shows_it(client):
    response = linked()

    page = shown(client.get(QUEUE))

    assert page.count(f'<img src="{response.task.image.url}"') == 1
    assert "Keywords" not in page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "when workers submit responses"),
        ("quality/", "One reviewer judges each response."),
        ("gold/", "<h2>Use a worker's response</h2>"),
        ("workers/", "more than 10% of a worker's responses are bad"),
        ("workers/{}/", "<h2>Responses</h2>"),
        ("decisions/", "A man feeds a dog in front of a red car."),
    ],
)
def test_pages_speak_of_what_the_kind_is_answered_with(client, reviewer, name, words):
    response = linked()
    fields = {"verdict": "BAD", "reason": "all wrong", "actor": reviewer, "at": NOON}
    mark_gold(response=response, **fields)

    page = client.get(f"{QUEUE}{name.format(response.worker)}").content.decode()

    assert "captions" not in page
    assert words in page


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_reason_has_a_number_key_and_the_last_is_in_words(kind):
    reasons = reasons_against(kind)

    assert len(reasons) <= 9
    assert [*reasons][-1] == OTHER


def test_judging_what_somebody_else_judged_says_so(client, campaign):
    response = submitted(campaign)
    judge(response=response, verdict="GOOD", reason="", reviewer=None, at=NOON)

    fields = {"verdict": "BAD", "reason": "vague"}
    answer = client.post(judge_address(response), fields, follow=True)

    assert "Another reviewer has judged this response." in answer.content.decode()
    assert Decision.objects.count() == 1


def test_a_verdict_that_is_sent_twice_is_given_once(client, campaign):
    address = judge_address(submitted(campaign))

    for _ in range(2):
        client.post(address, {"verdict": "GOOD"})

    assert Decision.objects.count() == 1


@pytest.mark.parametrize("key", ["1", "A" * 16, NO_ITEM, NO_ITEM.upper()])
def test_a_key_that_no_item_has_is_not_found(client, campaign, key):
    answer = client.post(f"/review/pilot/checks/{key}/", {"verdict": "GOOD"})

    assert answer.status_code == 404


def test_a_response_of_another_campaign_is_not_found(client, campaign):
    response = submitted(CampaignFactory())

    address = reverse("qualcontrol:judge", args=["pilot", key_of(response)])
    answer = client.post(address, {"verdict": "GOOD"})

    assert answer.status_code == 404
    assert SpotCheck.objects.open().exists()


def test_a_made_up_caption_of_another_campaign_is_not_found(client, campaign):
    made_up = seed_gold(
        task=TaskFactory(), text="A purple cow.", reason="wrong", actor=UserFactory(), at=NOON
    )

    address = reverse("qualcontrol:judge", args=["pilot", key_of(made_up)])

    assert client.post(address, {"verdict": "BAD"}).status_code == 404


def test_judging_needs_a_post(client, campaign):
    assert client.get(judge_address(submitted(campaign))).status_code == 405


def test_a_page_that_holds_items_gets_as_many_as_it_lacks(client, campaign):
    for _ in range(AHEAD + 4):
        submitted(campaign)
    first, *ahead = held(client.get(QUEUE))

    fields = {"verdict": "GOOD", "ahead": " ".join(ahead), "skip": ""}
    answer = client.post(reverse("qualcontrol:judge", args=["pilot", first]), fields)

    assert answer.status_code == 200
    assert len(held(answer)) == 1
    assert not {first, *ahead} & set(held(answer))
    assert Judgement.objects.count() == 1


def test_a_page_posts_the_keys_of_hundreds_of_skipped_items(client, campaign):
    for _ in range(AHEAD + 2):
        submitted(campaign)
    first, *ahead = held(client.get(QUEUE))
    skipped = [first, *(str(uuid4()) for _ in range(300))]

    answer = client.post(QUEUE, {"ahead": " ".join(ahead), "skip": " ".join(skipped)})

    assert answer.status_code == 200
    (more,) = held(answer)
    assert more not in {first, *ahead}


def test_a_skipped_gold_item_does_not_keep_others_away(client):
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "gold_every": 1}})
    made = {"reason": "made up", "actor": UserFactory(), "at": NOON}
    responses = [submitted(campaign) for _ in range(6)]
    gold = [seed_gold(task=one.task, text="A dog.", **made) for one in responses[:2]]
    first, second = (str(one.key) for one in gold)
    address = reverse("qualcontrol:queue", args=[campaign.slug])
    others = [key_of(one) for one in responses[:AHEAD]]

    with_it = client.post(address, {"ahead": " ".join([first, *others[1:]])})
    after_it = client.post(address, {"ahead": " ".join(others), "skip": first})

    assert not {first, second} & set(held(with_it))
    assert second in held(after_it)
    assert first not in held(after_it)


def test_an_address_names_the_items_that_were_skipped_last(client, campaign):
    response = submitted(campaign)
    skipped = [str(uuid4()) for _ in range(300)]

    answer = client.post(judge_address(response), {"verdict": "GOOD", "skip": " ".join(skipped)})

    assert len(answer.url) < 4_000
    assert answer.url.endswith(skipped[-1])


def test_a_page_is_told_which_of_its_items_no_longer_need_a_verdict(client, campaign):
    careless = WorkerFactory()
    for _ in range(2):
        submitted(campaign, worker=careless)
    submitted(campaign)
    first, *ahead = held(client.get(QUEUE, {"only": "all"}))
    exclude_worker(campaign=campaign, worker=careless, reason="x", actor=None, at=NOON)

    answer = client.get(QUEUE, {"ahead": f"{first} {' '.join(ahead)}"})

    (gone,) = re.findall(r'data-gone="([^"]*)"', answer.content.decode())
    assert set(gone.split()) == {key_of(response) for response in careless.responses.all()}


def test_the_page_shows_required_checks_alone_until_the_reviewer_chooses(client):
    campaign = CampaignFactory(slug="pilot", config={"review": {"first": 1}})
    worker = WorkerFactory()
    required, further = submitted(campaign, worker=worker), submitted(campaign, worker=worker)

    assert held(client.get(QUEUE)) == [key_of(required)]
    client.post(judge_address(required), {"verdict": "GOOD"})
    done = client.get(QUEUE).content.decode()
    assert "All required checks are done" in done
    assert held(client.get(QUEUE, {"only": "all"})) == [key_of(further)]

    submitted(campaign)
    assert len(held(client.get(QUEUE))) == 2


def test_without_required_checks_the_page_shows_what_helps(client):
    campaign = CampaignFactory(slug="pilot", config={"review": NO_REQUIRED_CHECKS})
    response = submitted(campaign)

    assert held(client.get(QUEUE)) == [key_of(response)]


def test_after_a_verdict_that_leads_to_an_exclusion_the_worker_is_not_shown_again(client):
    campaign = CampaignFactory(slug="pilot", config={"review": {"first": 20}})
    careless = WorkerFactory()
    lists = [submitted(campaign, worker=careless, text="cat, dog, tree, car") for _ in range(9)]
    others = [submitted(campaign) for _ in range(9)]

    while not Exclusion.objects.exists():
        key = held(client.get(QUEUE))[0]
        verdict = "BAD" if key in {key_of(response) for response in lists} else "GOOD"
        address = reverse("qualcontrol:judge", args=["pilot", key])
        client.post(address, {"verdict": verdict, "reason": "keyword-list"})

    left = held(client.get(QUEUE))
    assert left
    assert set(left) <= {key_of(response) for response in others}


def test_two_reviewers_judge_without_knowing_of_each_other(client):
    campaign = CampaignFactory(slug="pilot", config={"review": {"reviewers": 2}})
    response = submitted(campaign)
    client.post(judge_address(response), {"verdict": "BAD", "reason": "vague"})
    assert held(client.get(QUEUE)) == []
    assert "vague" not in client.get("/review/pilot/decisions/").content.decode()
    client.force_login(UserFactory())

    page = client.get(QUEUE)

    assert held(page) == [key_of(response)]
    assert "Second judgement; the first is hidden." in shown(page)
    worker_page = client.get(f"/review/pilot/workers/{response.worker}/")
    for text in (shown(page), worker_page.content.decode()):
        assert "too vague: would fit many images" not in text.replace("</label>", "\n").replace(
            "too vague: would fit many images <kbd>", ""
        )


def test_the_page_takes_the_same_queries_for_a_worker_of_many_captions(
    client, campaign, django_assert_max_num_queries
):
    worker = WorkerFactory()
    for _ in range(25):
        submitted(campaign, worker=worker)
    client.get(QUEUE, {"only": "all"})

    with django_assert_max_num_queries(51):
        page = client.get(QUEUE)

    assert len(held(page)) == 1 + AHEAD


def test_a_verdict_takes_the_same_queries_whatever_was_judged_before(
    client, campaign, django_assert_max_num_queries
):
    for _ in range(12):
        submitted(campaign)
    first, *ahead = held(client.get(QUEUE))
    fields = {"verdict": "GOOD", "ahead": " ".join(ahead)}

    with django_assert_max_num_queries(64):
        client.post(reverse("qualcontrol:judge", args=["pilot", first]), fields)


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"X-Moz": "prefetch"}],
)
def test_a_browser_that_fetches_the_page_ahead_takes_no_items(client, campaign, headers):
    submitted(campaign)

    ahead = client.get(QUEUE, headers=headers)
    headers_alone = client.head(QUEUE)

    assert (ahead.status_code, headers_alone.status_code) == (503, 200)
    assert not Reservation.objects.exists()
    assert client.get(QUEUE).status_code == 200
    assert Reservation.objects.count() == 1


def test_the_same_get_again_holds_the_same_items(client, campaign):
    for _ in range(2 * (1 + AHEAD)):
        submitted(campaign)

    client.get(QUEUE)
    before = set(Reservation.objects.values_list("response", flat=True))
    client.get(QUEUE)

    assert set(Reservation.objects.values_list("response", flat=True)) == before
    assert len(before) == 1 + AHEAD


@pytest.mark.parametrize("leave", ["verdict", "second-opinion"])
def test_an_item_that_is_shown_again_leaves_like_any_other(client, leave):
    campaign = CampaignFactory(slug="pilot", config={"review": {"reviewers": 2}})
    UserFactory()  # another reviewer
    response = submitted(campaign)
    client.post(judge_address(response), {"verdict": "GOOD"})
    again = client.post(judge_address(response) + "take-back/").url
    assert held(client.get(again)) == [key_of(response)]

    if leave == "verdict":
        client.post(judge_address(response), {"verdict": "GOOD"})
    else:
        client.post(judge_address(response) + "second-opinion/")

    assert held(client.get(again)) == []
