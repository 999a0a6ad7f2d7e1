"""Hours by person, withdrawing work, and the operator's pages of groups."""

import csv
import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from marketplace import clock
from marketplace.models import Activity, Assignment, AssignmentStatus, Offer, PeopleGroup
from marketplace.requirements import NUMBER_APPROVED
from marketplace.services import assignments
from tests.marketplace.factories import make_hit_type, make_requester
from tests.marketplace.people import TEXTS, begin, join, make_group, make_offer, membership_of, work

pytestmark = pytest.mark.django_db


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def printed(*arguments: str, **options: object) -> list[dict[str, str]]:
    out = io.StringIO()
    call_command("marketplace_people", *arguments, stdout=out, **options)
    return rows_of(out.getvalue())


def take(task: str, **time: float) -> None:
    """Let a task have taken this long."""
    found = Assignment.objects.filter(public_id=task)
    found.update(accepted_at=found.get().submitted_at - timedelta(**time))


def test_hours_and_tasks_by_person(operator):
    group = make_group()
    offer = make_offer(group)
    mia = join(group, "=Mia")
    join(group, "Ben")
    take(work(mia, offer), minutes=30)
    take(work(mia, offer), minutes=60)
    begin(mia, offer)

    page = operator.get(f"/operator/people/{group.pk}/hours.csv").getvalue().decode()

    first, second = rows_of(page)
    assert (first["name"], first["tasks"], first["hours"]) == ("'=Mia", "2", "1.50")
    assert (first["waiting"], first["accepted"], first["earned_usd"]) == ("2", "0", "0.00")
    assert (second["name"], second["tasks"], second["hours"]) == ("Ben", "0", "0.00")
    assert rows_of(page) == printed(group.name)


def test_hours_of_a_month_and_of_days(operator):
    group = make_group()
    work(join(group), make_offer(group))
    today = clock.now()
    page = f"/operator/people/{group.pk}/hours.csv?month="

    this = rows_of(operator.get(f"{page}{today:%Y-%m}").getvalue().decode())
    other = rows_of(operator.get(f"{page}2020-01").getvalue().decode())

    assert [this[0]["tasks"], other[0]["tasks"]] == ["1", "0"]
    assert operator.get(f"{page}2020-13").status_code == 404
    assert operator.get(f"{page}x").status_code == 404
    assert printed(group.name, since=f"{today:%Y-%m-%d}")[0]["tasks"] == "1"
    assert printed(group.name, before=f"{today:%Y-%m-%d}")[0]["tasks"] == "0"
    with pytest.raises(CommandError, match="is not a day"):
        printed(group.name, since="yesterday")
    with pytest.raises(CommandError, match="no group of people"):
        printed("nobody")


def test_groups_of_one_name_are_told_apart_by_their_requester():
    join(make_group(), "Mia")
    requester = make_requester()
    join(make_group(requester=requester), "Ben")

    assert [row["name"] for row in printed(TEXTS["name"], requester=requester.name)] == ["Ben"]
    with pytest.raises(CommandError, match="--requester"):
        printed(TEXTS["name"])


def test_a_person_withdraws_their_work():
    group = make_group()
    offer = make_offer(group)
    mia, ben = join(group, "Mia"), join(group, "Ben")
    sent, opened = work(mia, offer), begin(mia, offer)
    work(ben, offer)
    page = f"/home/groups/{group.pk}/withdrawal"

    assert "1 task" in mia.get(page).content.decode()
    mia.post(page)
    assert membership_of("Mia").withdrawn_at is None
    mia.post(page, {"sure": "yes"})

    member = membership_of("Mia")
    assert (member.withdrawn_by, membership_of("Ben").withdrawn_at) == ("person", None)
    assert Assignment.objects.get(public_id=opened).status == AssignmentStatus.RETURNED
    assert printed(group.name, withdrawals=True) == [
        {
            "worker_id": member.worker.public_id,
            "assignment_id": sent,
            "withdrawn_at": member.withdrawn_at.isoformat(),
        }
    ]


def test_a_task_that_is_sent_during_a_withdrawal_is_withdrawn_too(monkeypatch):
    group = make_group()
    mia = join(group)
    task = begin(mia, make_offer(group))
    give_back = assignments.give_back

    def after_sending(**given) -> None:
        Client().post("/mturk/externalSubmit", {"assignmentId": task, "caption": "A dog."})
        give_back(**given)

    monkeypatch.setattr(assignments, "give_back", after_sending)

    answer = mia.post(f"/home/groups/{group.pk}/withdrawal", {"sure": "yes"})

    assert answer.status_code == 303
    assert [row["assignment_id"] for row in printed(group.name, withdrawals=True)] == [task]


def test_work_for_another_group_after_a_withdrawal_is_not_withdrawn():
    """Both groups have the same tasks."""
    group, other = make_group(), make_group(name="Another group")
    offer = make_offer(group)
    again = Offer.objects.create(group=other, hit_type=offer.hit_type)
    mia = join(group, "Mia")
    earlier = work(mia, offer)
    mia.post(f"/home/groups/{group.pk}/withdrawal", {"sure": "yes"})
    join(other, client=mia)
    later = work(mia, again)

    assert [row["assignment_id"] for row in printed(group.name, withdrawals=True)] == [earlier]
    assert Assignment.objects.get(public_id=later).status == AssignmentStatus.SUBMITTED


def test_work_of_a_person_in_two_groups_with_the_same_tasks_belongs_to_one_of_them():
    group, other = make_group(), make_group(name="Another group")
    offer = make_offer(group)
    again = Offer.objects.create(group=other, hit_type=offer.hit_type)
    mia = join(other, "Mia", client=join(group, "Mia"))
    here, there = work(mia, offer), work(mia, again)
    take(here, minutes=30)
    take(there, minutes=60)

    hours = [printed(each.name)[0]["hours"] for each in (group, other)]
    mia.post(f"/home/groups/{group.pk}/withdrawal", {"sure": "yes"})
    withdrawn = [printed(each.name, withdrawals=True) for each in (group, other)]

    assert hours == ["0.50", "1.00"]
    assert [[row["assignment_id"] for row in rows] for rows in withdrawn] == [[here], []]


def test_a_member_who_withdrew_gets_no_further_tasks_and_withdraws_once():
    group = make_group()
    offer = make_offer(group)
    mia = join(group)
    page = f"/home/groups/{group.pk}/withdrawal"
    mia.post(page, {"sure": "yes"})
    first = membership_of("Mia").withdrawn_at

    mia.post(page, {"sure": "yes"})
    mia.post(f"/home/next/{offer.pk}")

    assert membership_of("Mia").withdrawn_at == first
    assert not Assignment.objects.exists()


def test_the_operator_withdraws_for_a_person(operator):
    group = make_group()
    task = work(join(group), make_offer(group))
    person = membership_of("Mia").worker.public_id

    operator.post(f"/operator/people/{group.pk}/members/{person}/withdrawal")

    assert membership_of("Mia").withdrawn_by == "operator"
    page = operator.get(f"/operator/people/{group.pk}/withdrawals.csv").getvalue().decode()
    assert [row["assignment_id"] for row in rows_of(page)] == [task]
    assert Activity.objects.latest("pk").action == "withdrew a person's work"


def test_the_operator_makes_a_group_and_gives_it_tasks(operator):
    hit_type = make_hit_type()
    made = operator.post("/operator/people", TEXTS)
    group = PeopleGroup.objects.get()
    assert made.url == f"/operator/people/{group.pk}"

    given = {"hit_type": hit_type.public_id, "share": "3"}
    operator.post(f"{made.url}/tasks", given)
    operator.post(f"{made.url}/tasks", {**given, "share": ""})
    offer = Offer.objects.get()
    assert (offer.hit_type, offer.share, offer.is_open) == (hit_type, None, True)

    operator.post(f"{made.url}/tasks/{offer.pk}/close")
    offer.refresh_from_db()
    assert not offer.is_open
    assert operator.get(made.url).status_code == 200


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_group_needs_every_text(operator, name):
    assert operator.post("/operator/people", {**TEXTS, name: " "}).status_code == 400
    assert not PeopleGroup.objects.exists()


def test_two_groups_cannot_have_one_name(operator):
    make_group()
    other = make_group(name="Another")

    assert operator.post("/operator/people", TEXTS).status_code == 400
    assert operator.post(f"/operator/people/{other.pk}", TEXTS).status_code == 400
    assert PeopleGroup.objects.count() == 2


@pytest.mark.parametrize("page", ["", "/hours.csv", "/withdrawals.csv"])
def test_people_and_strangers_see_no_page_of_the_operators(page):
    group = make_group()
    path = f"/operator/people/{group.pk}{page}"

    for client in (Client(), join(group)):
        assert client.get(path).status_code == 302
        assert client.get(path).url.startswith("/operator/sign-in")


def test_the_operator_reads_why_new_people_cannot_do_tasks(operator):
    group = make_group()
    at_least = {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [5000]}
    needs = [{"QualificationTypeId": NUMBER_APPROVED, **at_least}]
    strict = make_offer(group, qualification_requirements=needs).hit_type
    page = f"/operator/people/{group.pk}/tasks"

    answer = operator.post(page, {"hit_type": strict.public_id}, follow=True)
    easy = operator.post(page, {"hit_type": make_hit_type().public_id}, follow=True)

    assert "The requester asks for: Approved HITs at least 5,000." in answer.content.decode()
    assert "New people cannot" not in easy.content.decode()
