"""Layouts, from the HTML file to the question of a HIT, and HITs whose type changes."""

import io
import json
from decimal import Decimal
from functools import partial

import pytest
from django.core.management import CommandError, call_command

from marketplace import queries
from marketplace.errors import InvalidHitState, NothingToAccept
from marketplace.models import Account, Assignment, Hit, HitLayout, HitType, Requester, Worker
from marketplace.questions.documents import parse_question
from marketplace.services import assignments, hits, people_groups, reviews, studies
from tests.marketplace.factories import (
    NOON,
    make_hit,
    make_hit_type,
    make_requester,
    make_study,
    make_worker,
)
from tests.marketplace.ledger import ledger_balance
from tests.marketplace.people import make_group

pytestmark = pytest.mark.django_db

PAGE = "<!DOCTYPE html><p>Is this a ${animal}?</p><img src='${image.url}' alt=''>"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def make_layout(page, *, requester, name="animals"):
    out = io.StringIO()
    call_command(
        "marketplace_layout", name, str(page), "--requester", requester.name, "--json", stdout=out
    )
    return json.loads(out.getvalue())


def test_the_command_makes_a_layout_and_names_its_gaps(page):
    requester = make_requester()

    made = make_layout(page, requester=requester)

    layout = HitLayout.objects.get(requester=requester)
    assert made == {"layout_id": layout.public_id, "parameters": ["animal", "image.url"]}


def test_a_hit_of_the_layout_has_its_gaps_filled_with_html(transactional_db, marketplace, page):
    """As at Mechanical Turk, where programs pass lists and JSON, and escape other texts."""
    client = marketplace.requester()
    made = make_layout(page, requester=Requester.objects.get())

    request = partial(
        client.create_hit,
        LifetimeInSeconds=3600,
        AssignmentDurationInSeconds=600,
        Reward="0.05",
        Title="Animals",
        Description="One question about an animal.",
        HITLayoutId=made["layout_id"],
    )
    image = {"Name": "image.url", "Value": "https://images.example/1.jpg?a=1&b=2"}

    created = request(HITLayoutParameters=[{"Name": "animal", "Value": "<b>cat</b>"}, image])["HIT"]

    assert created["HITLayoutId"] == made["layout_id"]
    shown = parse_question(Hit.objects.get().question).html
    assert "Is this a <b>cat</b>?" in shown
    assert image["Value"] in shown
    with pytest.raises(client.exceptions.RequestError, match="parsing the XML"):
        request(HITLayoutParameters=[{"Name": "animal", "Value": "]]>"}, image])


def test_a_name_is_taken_once(page):
    requester = make_requester()
    make_layout(page, requester=requester)

    with pytest.raises(CommandError, match="has a layout 'animals' already"):
        make_layout(page, requester=requester)


@pytest.mark.parametrize("name", ["", "n" * 101])
def test_a_layout_needs_a_name_that_can_be_stored(page, name):
    with pytest.raises(CommandError, match="1 to 100 characters"):
        make_layout(page, requester=make_requester(), name=name)


@pytest.mark.parametrize("content", ["a ]]> b", "x" * 70_000, "a \x00 b"])
def test_a_page_that_no_hit_could_show_is_refused(tmp_path, content):
    path = tmp_path / "page.html"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(CommandError, match=r"page\.html: "):
        make_layout(path, requester=make_requester())

    assert not HitLayout.objects.exists()


def test_nobodys_layout_is_refused(page):
    with pytest.raises(CommandError, match="No requester is called 'nobody'"):
        call_command("marketplace_layout", "animals", str(page), "--requester", "nobody")


# A HIT's type, and so its reward, changes while its work is being decided


@pytest.fixture
def requester():
    return make_requester("10.00")


@pytest.fixture
def read_before(requester) -> Assignment:
    """A submitted assignment, read before its HIT's reward changed from $0.10 to $0.50."""
    hit = make_hit(make_hit_type(requester))
    worker = make_worker()
    accepted = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
    read = Assignment.objects.select_related("hit__hit_type", "hit__requester", "worker").get()
    dearer = make_hit_type(requester, reward=Decimal("0.50"))
    hits.change_type(hit=hit, hit_type=dearer, at=NOON)
    return read


def balances(requester) -> tuple[Decimal, Decimal]:
    return tuple(
        ledger_balance(requester, account) for account in (Account.AVAILABLE, Account.HELD)
    )


def test_an_approval_pays_what_is_set_aside_now(requester, read_before):
    reviews.approve(assignment=read_before, at=NOON)

    assert balances(requester) == (Decimal("9.40"), Decimal("0.00"))


def test_a_rejection_gives_back_what_is_set_aside_now(requester, read_before):
    reviews.reject(assignment=read_before, feedback="Empty", at=NOON)

    assert balances(requester) == (Decimal("10.00"), Decimal("0.00"))


def test_an_overridden_rejection_pays_what_it_costs_now(requester, read_before):
    reviews.reject(assignment=read_before, feedback="Empty", at=NOON)

    reviews.approve(assignment=read_before, override_rejection=True, at=NOON)

    assert balances(requester) == (Decimal("9.40"), Decimal("0.00"))


def in_study(hit_type: HitType) -> Worker:
    """A participant of a study of these HITs."""
    study = make_study(hit_type, assignments=2)
    return studies.join(study=study, identifier="a", address="192.0.2.1", at=NOON).worker


def in_group(hit_type: HitType) -> Worker:
    """A member of a group that sees these HITs."""
    group = make_group()
    people_groups.offer(group=group, hit_type=hit_type, share=None)
    text = people_groups.latest_text(group)
    return people_groups.join(group=group, text=text, name="Mia", at=NOON).worker


@pytest.mark.parametrize("make_person", [in_study, in_group])
def test_a_hit_keeps_its_type_once_a_study_or_a_group_has_worked_on_it(requester, make_person):
    """They find the work by it: what a panel has paid already, what a person withdraws."""
    hit_type = make_hit_type(requester)
    worked, untouched = make_hit(hit_type), make_hit(hit_type)
    assignments.accept(worker=make_person(hit_type), hit_type=hit_type, at=NOON)
    other = make_hit_type(requester, reward=Decimal("0.50"))

    with pytest.raises(InvalidHitState, match="keeps its HITType"):
        hits.change_type(hit=worked, hit_type=other, at=NOON)
    hits.change_type(hit=worked, hit_type=hit_type, at=NOON)
    hits.change_type(hit=untouched, hit_type=other, at=NOON)

    assert balances(requester) == (Decimal("9.28"), Decimal("0.72"))


def test_a_hit_that_gets_another_type_meanwhile_is_not_accepted(requester, monkeypatch):
    """The worker may not qualify for the other type."""
    hit_type, other = make_hit_type(requester), make_hit_type(requester, title="Others only")
    hit, read = make_hit(hit_type), queries.next_hit

    def then_changed(*args, **given):
        found = read(*args, **given)
        hits.change_type(hit=hit, hit_type=other, at=NOON)
        return found

    monkeypatch.setattr(queries, "next_hit", then_changed)

    with pytest.raises(NothingToAccept):
        assignments.accept(worker=make_worker(), hit_type=hit_type, at=NOON)

    assert not Assignment.objects.exists()


@pytest.mark.parametrize("make_person", [in_study, in_group])
def test_work_is_not_moved_into_a_study_or_a_group_of_its_person(requester, make_person):
    """A payout pays it; the panel of the study would pay it again."""
    hit_type, other = make_hit_type(requester), make_hit_type(requester, title="Theirs")
    hit = make_hit(hit_type)
    assignments.accept(worker=make_person(other), hit_type=hit_type, at=NOON)

    with pytest.raises(InvalidHitState, match="keeps its HITType"):
        hits.change_type(hit=hit, hit_type=other, at=NOON)
