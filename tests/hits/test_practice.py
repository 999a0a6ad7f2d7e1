"""The practice before a worker's first task: its pages, and what the marketplace reports of it."""

from datetime import timedelta

import pytest
from bs4 import BeautifulSoup

from annotate.kinds import CampaignNotPossible
from annotate.kinds.campaign_files import parse_config
from annotate.kinds.practice import signed_marks
from annotate.models import Response
from annotate.services.campaigns import create_campaign
from hits.models import Assignment, Claim, TaskPage
from hits.services.hit_pages import close_pages
from hits.services.submissions import NO_PRACTICE, Reported, take_submissions
from qualcontrol.flags import BREAKS_RULES
from qualcontrol.models import Assessment, Exclusion, HeldPayment, SpotCheck
from qualcontrol.services.exclusions import reinstate_worker
from tests.factories import (
    NOON,
    AssignmentFactory,
    HitFactory,
    ImageFactory,
    SelectionFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)
from tests.hits.opened_pages import SENTENCE, form_fields, listed, open_page, send
from tests.hits.practice import GRADES, REASONS, make_hit
from tests.races import just_before
from tests.submitted import take_submission

pytestmark = pytest.mark.django_db


def step(client, hit, page, **fields):
    form = BeautifulSoup(page.content, "html.parser").select_one("form[data-practice]")
    assert form is not None, text_of(page)
    token = form.select_one("[name=practice]")["value"]
    return client.post(f"/task/{hit.campaign.slug}/", {"practice": token, **fields})


def text_of(page):
    return BeautifulSoup(page.content, "html.parser").select_one("main").get_text(" ", strip=True)


def practise(client, hit, *, right=4, assignment="A1", worker="AWORKER1"):
    """Rate all captions, `right` of them right; return the page with the result."""
    page = open_page(client, hit, assignment, worker)
    for number, is_good in enumerate(GRADES):
        answer = "good" if is_good == (number < right) else "bad"
        page = step(client, hit, page, answer=answer)
        assert REASONS[number] in text_of(page)
        if number < len(GRADES) - 1:
            page = step(client, hit, page)
    return page


def submit(hit, assignment, worker, **fields):
    report = listed(assignment, worker, **fields)
    return take_submission(campaign=hit.campaign, hit=hit, listed=report, at=NOON)[0]


def forwarded(page):
    form = BeautifulSoup(page.content, "html.parser").select_one("form[data-forward]")
    return {f["name"]: f["value"] for f in form.select("[name]") if f["name"] != "assignmentId"}


def test_a_worker_practises_before_the_first_task_and_not_again(client):
    hit = make_hit(pass_mark=0.75)
    first = open_page(client, hit, "A1", "AWORKER1")
    assert "You get tasks if 3 of 4 answers are right." in text_of(first)
    assert "The practice itself is not paid." in text_of(first)
    assert "caption-" not in first.content.decode()

    over = practise(client, hit, right=3)
    assert "3 of 4 answers are right. You have passed." in text_of(over)
    assert not TaskPage.objects.exists()
    task = step(client, hit, over)
    again = open_page(client, hit, "A1", "AWORKER1")
    assert form_fields(again).keys() == form_fields(task).keys()
    fields = forwarded(send(client, hit, again))

    # Neither before the marketplace has reported it, nor afterwards.
    assert form_fields(open_page(client, hit, "A2", "AWORKER1"))
    row = submit(hit, "A1", "AWORKER1", **fields)
    assert row.practice == "1110"
    assert Response.objects.get().worker == row.account.worker
    assert form_fields(open_page(client, hit, "A3", "AWORKER1"))
    assert not HeldPayment.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_submitted", [True, False])
def test_a_page_that_is_closed_while_it_opens_again_is_no_error(client, is_submitted):
    hit = make_hit(pass_mark=1)
    task = step(client, hit, practise(client, hit))
    fields = form_fields(task)

    def close():
        if is_submitted:
            submit(hit, "A1", "AWORKER1", **fields)
        close_pages(hit.pages.values_list("pk", flat=True))

    with just_before('"hits_taskpage"."fields"', close):
        again = text_of(open_page(client, hit, "A1", "AWORKER1"))

    assert ("You have submitted this task already" in again) == is_submitted
    assert ("Practice: 1 of 4" in again) == (not is_submitted)


def test_an_answer_that_came_through_the_marketplace_alone_has_the_practice_of_its_page(client):
    hit = make_hit(pass_mark=1)
    task = step(client, hit, practise(client, hit))
    [name] = [name for name in form_fields(task) if name.startswith("caption-")]

    assert submit(hit, "A1", "AWORKER1", **{name: SENTENCE}).practice == "1111"
    assert not HeldPayment.objects.exists()


def test_a_worker_who_does_not_pass_gets_no_task_and_nothing_is_stored(client):
    hit = make_hit(pass_mark=1)

    over = practise(client, hit, right=3)

    assert "Please return this task." in text_of(over)
    assert "Practice: 1 of 4" in text_of(step(client, hit, over))
    assert not TaskPage.objects.exists()
    assert not Claim.objects.exists()
    # Somebody may have invented the worker's id, so the worker is not kept out.
    assert "Practice: 1 of 4" in text_of(open_page(client, hit, "A2", "AWORKER1"))


@pytest.mark.parametrize(("right", "is_kept_out"), [(3, False), (2, True)])
def test_a_paid_practice_is_submitted_by_itself_and_decides(client, right, is_kept_out):
    hit = make_hit(pass_mark=0.75, paid=True)
    over = practise(client, hit, right=right)
    assert ("You have not passed" in text_of(over)) == is_kept_out

    fields = forwarded(step(client, hit, over))
    row = submit(hit, "A1", "AWORKER1", **fields)

    assert row.practice == "1" * right + "0" * (4 - right)
    assert Assignment.objects.payable().filter(pk=row.pk).exists()
    assert row.unplaced_answer == ""
    assert not Response.objects.exists()
    page = open_page(client, hit, "A2", "AWORKER1")
    assert ("No more work for you here" in text_of(page)) == is_kept_out
    if is_kept_out:
        exclusion = Exclusion.objects.get()
        assert exclusion.reason == "did not pass the practice: 2 of 4 right"
        reinstate_worker(
            campaign=hit.campaign, worker=exclusion.worker, actor=None, reason="typo", at=NOON
        )
        page = open_page(client, hit, "A2", "AWORKER1")
    assert form_fields(page)


def test_the_next_assignment_of_who_passed_is_work_before_a_sync(client):
    hit = make_hit(pass_mark=0.75, paid=True)
    step(client, hit, practise(client, hit, assignment="A1"))
    step(client, hit, practise(client, hit, assignment="A1", worker="AFAILED1", right=1))

    assert form_fields(open_page(client, hit, "A2", "AWORKER1"))
    assert "Practice: 1 of 4" in text_of(open_page(client, hit, "A2", "AFAILED1"))


def test_a_practice_is_paid_once(client):
    hit = make_hit(paid=True)
    fields = forwarded(step(client, hit, practise(client, hit)))
    submit(hit, "A1", "AWORKER1", **fields)

    second = submit(hit, "A2", "AWORKER1", **fields)

    assert HeldPayment.objects.get().submission_id == second.pk


@pytest.mark.parametrize("paid", [True, False])
@pytest.mark.parametrize("is_one_lot", [True, False])
def test_a_practice_counts_also_if_later_work_is_read_first(client, paid, is_one_lot):
    """Listings have the newest HIT first."""
    older = make_hit(paid=paid)
    newer = HitFactory(hit_type=older.hit_type)
    over = step(client, older, practise(client, older))
    fields = forwarded(over if paid else send(client, older, over))
    work = forwarded(send(client, newer, open_page(client, newer, "A2", "AWORKER1")))
    first = listed("A1", "AWORKER1", **fields)
    second = listed("A2", "AWORKER1", **work)
    second = second.model_copy(update={"submitted_at": NOON + timedelta(minutes=1)})
    reported = [Reported(newer, second), Reported(older, first)]

    for lot in [reported] if is_one_lot else [reported[:1], reported[1:]]:
        take_submissions(campaign=older.campaign, reported=lot, at=NOON)

    marks = Assignment.objects.order_by("assignment_id").values_list("practice", flat=True)
    assert list(marks) == ["1111", ""]
    assert Response.objects.count() == (1 if paid else 2)
    assert not HeldPayment.objects.exists()


@pytest.mark.parametrize("text", [SENTENCE, "Dog."])
@pytest.mark.parametrize("minutes", [1, -1])
def test_work_that_is_read_before_its_practice_lacks_it_no_longer(text, minutes):
    hit = make_hit(pass_mark=1, paid=True)
    fields = {f"caption-{hit.campaign.tasks.first().number}": text}
    work = listed("A2", "AWORKER1", **fields)
    work = work.model_copy(update={"submitted_at": NOON + timedelta(minutes=minutes)})
    take_submission(campaign=hit.campaign, hit=hit, listed=work, at=NOON)
    assert HeldPayment.objects.get().why.startswith(NO_PRACTICE)

    submit(hit, "A1", "AWORKER1", practice=signed_marks(hit.campaign, "AWORKER1", "1111"))

    is_earlier = minutes < 0  # the practice came afterwards
    held = HeldPayment.objects.filter(submission__assignment__assignment_id="A2").first()
    assessment = Assessment.objects.get()
    assert bool(held) == (BREAKS_RULES in assessment.codes) == (is_earlier or text == "Dog.")
    flag = next((flag for flag in assessment.flags if flag["code"] == BREAKS_RULES), None)
    assert (held and held.why) == (flag and flag["why"])
    assert bool(held and NO_PRACTICE in held.why) == is_earlier
    assert SpotCheck.objects.exists() == bool(held)
    assert Assignment.objects.payable().count() == (1 if held else 2)


def test_work_that_is_read_before_a_failed_practice_is_discarded():
    hit = make_hit(pass_mark=1, paid=True)
    task = hit.campaign.tasks.first()
    submit(hit, "A1", "AWORKER1", **{f"caption-{task.number}": SENTENCE})

    submit(hit, "A2", "AWORKER1", practice=signed_marks(hit.campaign, "AWORKER1", "1110"))

    assert Exclusion.objects.get().reason == "did not pass the practice: 3 of 4 right"
    assert not Response.objects.counting().exists()
    task.refresh_from_db()
    assert task.answers_missing == task.wanted


def test_marks_are_of_no_use_to_others_and_cannot_be_made_up(client):
    hit = make_hit(pass_mark=1, paid=True)
    fields = forwarded(step(client, hit, practise(client, hit)))

    for worker, given in [("AOTHER1", fields), ("AOTHER2", {"practice": "1111"})]:
        assert submit(hit, f"{worker}A", worker, **given).practice == ""
    assert HeldPayment.objects.count() == 2

    task = hit.campaign.tasks.first()
    row = submit(hit, "A3", "AOTHER3", **{f"caption-{task.number}": SENTENCE})
    held = HeldPayment.objects.get(submission=row.pk)
    assert held.why == "The practice is missing."


def test_a_token_is_of_one_campaign(client):
    hit, other = make_hit(), make_hit()
    over = practise(client, hit)

    assert step(client, other, over).status_code == 403


def test_a_worker_writes_and_reads_the_graded_captions_of_the_image(client):
    hit = make_hit(way="write", pass_mark=0.5)
    page = open_page(client, hit, "A1", "AWORKER1")
    assert "Practice: 1 of 2" in text_of(page)
    assert "Graded" not in text_of(page)

    page = step(client, hit, page, answer="Too short.")
    assert "write at least 8" in text_of(page)
    assert all(reason in text_of(page) for reason in REASONS[:2])
    over = step(client, hit, step(client, hit, page), answer=SENTENCE)
    assert "1 of 2 answers are right. You have passed." in text_of(over)


def test_the_page_explains_the_practice_before_it_begins(client):
    hit = make_hit(paid=True)
    text = text_of(client.get(f"/task/{hit.campaign.slug}/"))
    assert "Before your first task there is a practice." in text
    assert "paid for it as for a task, whether you pass or not" in text


@pytest.mark.database
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image": "missing"}, "there is no image 'missing'"),
        ({"image": "a%00.jpg"}, "there is no image 'a%00.jpg'"),
        ({}, "also one of those that the campaign collects captions of"),
    ],
)
def test_images_of_a_practice_exist_and_are_no_tasks(change, message):
    image = ImageFactory()
    selection = SelectionFactory(images=[image])
    caption = {"image": image.key, "text": "A dog.", "good": True, "why": "Yes."}
    file = {
        "name": "own",
        "selection": selection.name,
        "budget": 5,
        "practice": {"captions": [{**caption, **change}]},
    }
    with pytest.raises(CampaignNotPossible, match=message):
        create_campaign(config=parse_config(file), endpoint="local", at=NOON)


def test_a_worker_of_another_endpoint_is_new_here(client):
    hit = make_hit()
    WorkerAccountFactory(marketplace_id="AWORKER1")
    assert "Practice: 1 of 4" in text_of(open_page(client, hit, "A1", "AWORKER1"))


def test_the_first_form_after_a_paid_practice_asks_what_first_forms_ask(client):
    hit = make_hit(paid=True)
    hit.campaign.config_json["writing"] = {"confirm": "I write myself.", "question": True}
    hit.campaign.save()
    fields = forwarded(step(client, hit, practise(client, hit)))

    before = open_page(client, hit, "A2", "AWORKER1").content.decode()
    submit(hit, "A1", "AWORKER1", **fields)
    after = open_page(client, hit, "A2", "AWORKER1").content.decode()

    for page in (before, after):
        assert "I write myself." in page
        assert "behaviour-dots" in page


@pytest.mark.parametrize(
    ("paid", "said"),
    [(True, "Practice: 3 tried, 2 passed, 1 failed."), (False, "Practice: 2 passed.")],
)
def test_the_overview_says_how_many_passed(client, paid, said):
    hit = make_hit(pass_mark=0.75, paid=paid)
    for marks in ("1110", "1111", *(["1100"] if paid else [])):
        AssignmentFactory(hit=hit, practice=marks)
    AssignmentFactory(hit=hit)
    other = make_campaign(tasks=1)
    client.force_login(UserFactory())

    assert said in text_of(client.get(hit.campaign.get_absolute_url()))
    assert "Practice" not in text_of(client.get(other.get_absolute_url()))
