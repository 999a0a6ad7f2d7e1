"""Participants who are screened out are paid, and attention checks before a rejection."""

from datetime import timedelta
from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import (
    AttentionAnswer,
    AttentionCheck,
    Participation,
    Screening,
    Transfer,
    Worker,
)
from marketplace.panels.client import prolific
from marketplace.panels.models import PanelPayment, PanelStudy, PanelSubmission
from marketplace.panels.services import rounds, submissions
from marketplace.services import money, studies
from marketplace.services.retention import erase_worker
from simulation.prolific.state import new_id
from tests.marketplace.panels.people import (
    agree,
    approve_all,
    arrive,
    assignments_of,
    give_bonus,
    go_back,
    make_panel_study,
    publish,
    run,
    work,
)

pytestmark = pytest.mark.django_db

STUDY = "/studies/everyday-scenes"
PAGE = "/operator/studies/everyday-scenes/panel"
ELIGIBILITY = {
    "eligibility_question": "Which language did you speak first?",
    "eligible_choices": ["German"],
    "ineligible_choices": ["English", "Another language"],
    "screened_out_code": "OUT",
}
CHECKS = [
    ("Choose blue, whatever you like best.", ["blue", "red"]),
    ("Choose seven, to show that you read this.", ["seven", "two"]),
]
REASON = "You failed two attention checks, whose questions said which answer to choose. " * 2


@pytest.fixture
def screened(world, panel_api) -> PanelStudy:
    """A published study that pays 0.20 to those who are screened out, at most two."""
    panel_study = make_panel_study(
        hits=1,
        places=3,
        screening=Screening(**ELIGIBILITY),
        screen_out_reward=Decimal("0.20"),
        screen_out_places=2,
    )
    publish(panel_study)
    return panel_study


def answer(client: Client, text: str) -> str:
    client.post(f"{STUDY}/screening", {"answer": text})
    return BeautifulSoup(client.get(STUDY).content, "lxml").find("main").get_text(" ", strip=True)


def screen_out(world, panel_study) -> None:
    client, submission = arrive(world, panel_study, new_id())
    assert "OUT" in answer(client, "English")
    world.complete(submission, "OUT")


def test_a_screened_out_participant_is_paid_by_the_panel_once_with_a_row(world, screened):
    screen_out(world, screened)

    run(screened, times=3)

    [payment] = PanelPayment.objects.all()
    assert (payment.kind, payment.amount) == ("screen-out", Decimal("0.20"))
    rows = Transfer.objects.filter(at_panel__payment=payment).order_by("pk")
    assert [(row.kind, row.amount) for row in rows] == [
        ("panel screen-out", Decimal("0.20")),
        ("panel fee", Decimal("0.07")),
        ("panel tax", Decimal("0.01")),
    ]
    assert payment.submission.status == "SCREENED OUT"
    agree(world, screened)


def test_a_screen_out_reduces_no_bonus(world, screened):
    """A participant who enters the code after having worked also gets the earnings of the work."""
    client, submission = arrive(world, screened, new_id())
    answer(client, "German")
    work(client, screened.study, hits=1)
    world.complete(submission, "OUT")
    approve_all(screened)

    run(screened, later=timedelta(days=30), times=4)

    assert submission.bonuses == [100]
    agree(world, screened)


def test_a_participant_approved_after_a_screen_out_gets_the_reward_and_the_bonus(world, screened):
    """Somebody corrects the screen-out on the panel's site."""
    client, submission = arrive(world, screened, new_id())
    answer(client, "German")
    work(client, screened.study, hits=1)
    world.complete(submission, "OUT")
    run(screened)
    approve_all(screened)
    give_bonus(screened, "0.75")
    world._set(submission, "APPROVED")

    run(screened, times=4)

    payments = PanelPayment.objects.order_by("pk").values_list("kind", "amount")
    assert [(kind, str(amount)) for kind, amount in payments] == [
        ("screen-out", "0.20"), ("reward", "1.50"), ("bonus", "0.25"),
    ]  # fmt: skip
    assert submission.bonuses == [25]


def test_a_partly_approved_participant_gets_the_earnings_above_the_reward(world, screened):
    client, submission = arrive(world, screened, new_id())
    answer(client, "German")
    work(client, screened.study, hits=1)
    go_back(world, client, screened.study, submission)
    approve_all(screened)
    give_bonus(screened, "0.75")
    world._set(submission, "PARTIALLY APPROVED")

    run(screened, times=4)

    assert submission.bonuses == [25]
    assert money.balances() == {}
    assert "Prolific does not tell which part" in operators_page()
    erase_worker(worker=Worker.objects.get(), at=clock.now())


def operators_page() -> str:
    client = Client()
    client.force_login(User.objects.create_user("root", is_staff=True))
    return client.get(PAGE).content.decode()


def test_the_answer_that_lets_in_leads_to_the_tasks_and_counts_once(world, screened):
    client, _ = arrive(world, screened, new_id())

    page = answer(client, "German")
    answer(client, "English")

    assert "Start" in page
    participation = Participation.objects.get()
    assert participation.eligible_at is not None
    assert participation.screened_out_at is None


def test_a_screened_out_participant_cannot_answer_again(world, screened):
    client, _ = arrive(world, screened, new_id())

    answer(client, "English")
    page = answer(client, "German")

    assert "You are paid for the time" in page
    assert client.post(f"{STUDY}/next").url == STUDY
    assert not assignments_of(screened).exists()


def test_the_panel_is_told_the_reward_and_pauses_at_the_most_screen_outs(world, screened):
    study = world.study(screened.external_id)
    [action] = next(
        each["actions"] for each in study.fields["completion_codes"] if each["code"] == "OUT"
    )
    assert action == {
        "action": "FIXED_SCREEN_OUT_PAYMENT",
        "fixed_screen_out_reward": 20,
        "slots": 2,
    }
    for _ in range(2):
        screen_out(world, screened)

    run(screened)

    assert screened.status == "PAUSED"
    # Three places, and two screen-outs, each with its fee and VAT.
    assert 10_000_00 - world.balance == 3 * (150 + 50 + 10) + 2 * (20 + 7 + 1)


def test_a_screen_out_that_the_panel_has_not_paid_is_left_to_a_person(world, screened):
    _, submission = arrive(world, screened, new_id())
    submission.code, submission.completed_at = "OUT", clock.now()
    world._set(submission, "AWAITING REVIEW")

    run(screened)

    assert "screened out" in PanelSubmission.objects.get().question
    assert submission.return_requested is None


@pytest.mark.parametrize(
    "plan",
    [
        {"screen_out_reward": Decimal("0.05"), "screen_out_places": 2},
        {"screen_out_reward": Decimal("1.50"), "screen_out_places": 2},
        {"screen_out_reward": Decimal("0.20"), "screen_out_places": 0},
        {},
    ],
)
def test_screen_outs_without_fair_pay_are_refused(panel_api, plan):
    with pytest.raises(StudyRefused):
        make_panel_study(screening=Screening(**ELIGIBILITY), **plan)


@pytest.mark.parametrize(
    "changes",
    [
        {"eligible_choices": []},
        {"ineligible_choices": []},
        {"ineligible_choices": ["German"]},
        {"screened_out_code": ""},
        {"screened_out_code": "DONE"},
    ],
)
def test_a_question_that_cannot_work_is_refused(panel_api, changes):
    panel_study = make_panel_study()

    with pytest.raises(StudyRefused):
        studies.set_screening(
            study=panel_study.study, screening=Screening(**{**ELIGIBILITY, **changes})
        )


def make_checked(*, minutes: int, checks=CHECKS) -> PanelStudy:
    panel_study = make_panel_study(hits=3, minutes=minutes)
    studies.set_checks(
        study=panel_study.study,
        checks=[
            AttentionCheck(question=question, choices=choices, right_choice=choices[0])
            for question, choices in checks
        ],
    )
    publish(panel_study)
    return panel_study


def do_with_checks(world, panel_study, answers: list[str]):
    """Do all HITs, with these answers to the attention checks between them."""
    client, submission = arrive(world, panel_study, new_id())
    for text in answers:
        work(client, panel_study.study, hits=1)
        assert client.post(f"{STUDY}/next").url == STUDY
        page = BeautifulSoup(client.get(STUDY).content, "lxml")
        key = page.find("input", {"name": "check"})["value"]
        client.post(f"{STUDY}/attention", {"check": key, "answer": text})
    work(client, panel_study.study, hits=3 - len(answers))
    go_back(world, client, panel_study.study, submission)
    rounds.run_round(panel_study=panel_study, at=clock.now())
    return client, PanelSubmission.objects.get()


@pytest.mark.parametrize(
    ("minutes", "answers", "is_allowed"),
    [
        (5, ["red", "seven"], False),
        (5, ["red", "two"], True),
        (4, ["red", "seven"], True),
        (4, ["blue", "seven"], False),
    ],
)
def test_a_rejection_for_attention_checks_needs_as_many_as_the_panel_requires(
    world, panel_api, client, minutes, answers, is_allowed
):
    panel_study = make_checked(minutes=minutes)
    _, submission = do_with_checks(world, panel_study, answers)
    client.force_login(User.objects.create_user("root", is_staff=True))

    offered = BeautifulSoup(client.get(PAGE).content, "lxml").find_all("option")
    client.post(
        f"{PAGE}/submissions/{submission.pk}",
        {"action": "reject", "category": "FAILED_CHECK", "reason": REASON},
    )

    assert ("FAILED_CHECK" in [each["value"] for each in offered]) == is_allowed
    submission.refresh_from_db()
    assert (submission.status == "REJECTED") == is_allowed


def test_a_long_visit_to_a_short_study_needs_two_failed_checks_too(world, panel_api):
    panel_study = make_checked(minutes=4)
    _, submission = do_with_checks(world, panel_study, ["red", "seven"])
    submission.started_at = submission.completed_at - timedelta(minutes=6)

    assert submissions.least_failed(submission) == 2


def test_failed_checks_reject_nobody_by_themselves(world, panel_api):
    panel_study = make_checked(minutes=5)
    do_with_checks(world, panel_study, ["red", "two"])
    approve_all(panel_study)

    run(panel_study, later=timedelta(days=1))
    run(panel_study, later=timedelta(days=1))

    assert PanelSubmission.objects.get().status == "APPROVED"


def test_even_with_failed_checks_the_reason_is_long(world, panel_api):
    panel_study = make_checked(minutes=5)
    _, submission = do_with_checks(world, panel_study, ["red", "two"])

    with pytest.raises(StudyRefused, match="characters"):
        submissions.reject(
            submission=submission,
            category="FAILED_CHECK",
            reason="Failed.",
            panel=prolific(),
        )


def test_the_next_task_waits_for_the_check_and_a_second_answer_changes_nothing(world, panel_api):
    panel_study = make_checked(minutes=5, checks=CHECKS[:1])
    client, _ = arrive(world, panel_study, new_id())
    work(client, panel_study.study, hits=1)

    assert client.post(f"{STUDY}/next").url == STUDY
    key = str(AttentionCheck.objects.get().pk)
    client.post(f"{STUDY}/attention", {"check": key, "answer": "red"})
    client.post(f"{STUDY}/attention", {"check": key, "answer": "blue"})

    assert [each.is_right for each in AttentionAnswer.objects.all()] == [False]
    work(client, panel_study.study, hits=2)
    assert client.get(f"{STUDY}/complete").status_code == 302


@pytest.mark.parametrize(
    "checks", [CHECKS * 2, [("Choose blue.", ["blue"])], [("Choose blue.", ["blue", "blue"])]]
)
def test_attention_checks_that_cannot_work_are_refused(panel_api, checks):
    with pytest.raises(StudyRefused):
        make_checked(minutes=5, checks=checks)


def test_the_operators_form_makes_screen_outs_and_checks(world, panel_api, client):
    panel_study = make_panel_study()
    study = panel_study.study
    panel_study.delete()
    client.force_login(User.objects.create_user("root", is_staff=True))
    form = {
        "description": "Describe photographs.", "reward": "1.50", "minutes": "5", "places": "2",
        "eligibility_question": "Which language did you speak first?",
        "eligible_choices": "German", "ineligible_choices": "English\nAnother",
        "screened_out_code": "OUT", "screen_out_reward": "0.20", "screen_out_places": "5",
        "attention_checks": "Choose blue. | blue | red",
    }  # fmt: skip

    answered = client.post(PAGE, form)

    assert answered.status_code == 302, answered.content.decode()
    assert study.attention_checks.get().choices == ["blue", "red"]
    made = PanelStudy.objects.get()
    assert (made.screen_out_reward, made.screen_out_places) == (Decimal("0.20"), 5)
    assert Screening.objects.get().ineligible_choices == ["English", "Another"]
    assert "at most 5, for 0.20 each" in client.get(PAGE).content.decode()
