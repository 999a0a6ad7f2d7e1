"""The operator's pages: access, contents and changes."""

import csv
import io
import json
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from botocore.exceptions import ClientError
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, InterfaceError
from django.urls import reverse

from marketplace import clock
from marketplace.errors import NotQualified
from marketplace.models import Account, Activity, Transfer, TransferKind
from marketplace.operator.urls import urlpatterns
from marketplace.services import accounts, assignments, money, operators, reviews
from marketplace.services.operators import noted
from marketplace.services.reviews import block_worker
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker
from tests.marketplace.ledger import ledger_balance
from tests.marketplace.people import make_group

pytestmark = pytest.mark.django_db
MANY = 40  # more than a page, less than two


def make_operator(name: str = "root", **options) -> dict[str, str]:
    out = StringIO()
    call_command("marketplace_operator", name, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def earn(worker, *, times: int = 1) -> None:
    """Let the worker do this number of HITs at ten cents each."""
    hit_type = make_hit_type()
    for _ in range(times):
        make_hit(hit_type)
        found = assignments.accept(worker=worker, hit_type=hit_type, at=NOON)
        assignments.submit(assignment=found, answer="<a/>", at=NOON)
        reviews.approve(assignment=found, at=NOON)


def addresses() -> dict[str, str]:
    """A URL for each of the operator's routes."""
    arguments = {
        "requester": [1], "add_money": [1], "replace_keys": [1], "worker": ["A1"],
        "suspend": ["A1"], "sign_in_link": ["A1"], "end_sessions": ["A1"],
        "worker_file": ["A1"], "erase_worker": ["A1"],
        "hit": ["3A"], "payout_csv": ["2026-03-02T12:00:00+00:00"],
        "end_invitation": [1], "open_study": ["scenes"], "study_at_panel": ["scenes"],
        "panel_study_action": ["scenes"], "panel_submission_action": ["scenes", 1],
        "panel_batch_action": ["scenes", 1],
        "people_group": [1], "people_link": [1], "open_people": [1], "people_offer": [1],
        "close_offer": [1, 1], "people_mail": [1], "people_mail_again": [1], "people_hours": [1],
        "people_withdrawals": [1], "withdraw_member": [1, "A1"],
        "remove_operator": [1], "site_account": [1], "new_password": ["MQ", "set-password"],
    }  # fmt: skip
    return {
        each.name: reverse(f"operator:{each.name}", args=arguments.get(each.name, []))
        for each in urlpatterns
    }


def test_what_cannot_be_undone_asks_behind_a_line_that_opens(operator):
    requester, worker = make_hit_type().requester, make_worker()
    invitation = accounts.invite(uses=1, expires_at=clock.now() + timedelta(days=1), at=clock.now())
    group = make_group()
    actions = {
        reverse("operator:requester", args=[requester.pk]): "/keys",
        reverse("operator:people_group", args=[group.pk]): "/link",
        reverse("operator:invitations"): f"/{invitation.pk}/end",
        reverse("operator:worker", args=[worker.public_id]): "/sessions",
    }

    for page, action in actions.items():
        [form] = BeautifulSoup(operator.get(page).content, "lxml").select(
            f"form[action$='{action}']"
        )
        assert form.find_parent("details", class_="why"), action


@pytest.mark.parametrize(
    "name",
    sorted({each.name for each in urlpatterns} - {"sign_in", "new_password", "end_hand_over"}),
)
def test_no_page_shows_anything_to_strangers_or_workers(client, name):
    worker = make_worker()
    session = client.session
    session["worker_id"] = worker.pk
    session.save()
    address = addresses()[name]

    answers = [client.get(address), client.post(address)]

    for answer in answers:
        assert answer.status_code in (302, 405), answer.content
        assert answer.status_code == 405 or answer.url.split("?")[0] == "/operator/sign-in"


def test_a_wrong_password_and_an_ordinary_user_are_refused(client):
    made = make_operator()
    User.objects.create_user("guest", password="a long password")

    wrong = client.post("/operator/sign-in", {"name": made["name"], "password": "guess"})
    guest = client.post("/operator/sign-in", {"name": "guest", "password": "a long password"})

    assert (wrong.status_code, guest.status_code) == (403, 403)
    assert client.get("/operator/").status_code == 302


def test_guessing_passwords_is_stopped(client):
    made = make_operator()
    for _ in range(10):
        client.post("/operator/sign-in", {"name": made["name"], "password": "guess"})

    right = client.post("/operator/sign-in", {"name": made["name"], "password": made["password"]})

    assert right.status_code == 429


def test_the_command_prints_a_password_once_and_can_replace_it(client):
    first = make_operator()

    with pytest.raises(CommandError, match="already"):
        make_operator()
    second = make_operator(new_password=True)

    old, new = (
        client.post("/operator/sign-in", {"name": "root", "password": each["password"]})
        for each in (first, second)
    )
    assert new.url == "/operator/"
    assert client.get("/operator/").status_code == 200
    assert (old.status_code, new.status_code) == (403, 302)
    assert User.objects.count() == 1


def test_signing_in_leads_to_the_page_that_was_asked_for(client):
    made = make_operator()
    asked = client.get("/operator/invitations")

    signed_in = client.post(asked.url, {"name": made["name"], "password": made["password"]})

    assert signed_in.url == "/operator/invitations"


def test_signing_in_leads_to_no_other_site(client):
    made = make_operator()

    signed_in = client.post(
        "/operator/sign-in?next=https://evil.example/",
        {"name": made["name"], "password": made["password"]},
    )

    assert signed_in.url == "/operator/"


def test_signing_out_ends_the_session(operator):
    operator.post("/operator/sign-out")

    assert operator.get("/operator/").status_code == 302


def test_an_operator_makes_a_requester_and_pays_money_in(operator):
    operator.post("/operator/requesters", {"name": "A new lab", "balance": "5.00"})
    page = operator.get("/operator/requesters", {"q": "new"})
    link = BeautifulSoup(page.content, "lxml").find("a", string="A new lab")["href"]

    operator.post(f"{link}/money", {"amount": "2.50"})

    requester = page.context["page"].rows[0]
    requester.refresh_from_db()
    assert requester.available_balance == Decimal("7.50")
    assert ledger_balance(requester, Account.AVAILABLE) == Decimal("7.50")
    assert list(Activity.objects.order_by("pk").values_list("action", flat=True)) == [
        "created a requester",
        "paid in",
    ]


@pytest.mark.parametrize("amount", ["0", "-1", "0.001", "lots", ""])
def test_an_invalid_amount_is_not_paid_in(operator, amount):
    requester = make_requester("1.00")

    operator.post(f"/operator/requesters/{requester.pk}/money", {"amount": amount})

    requester.refresh_from_db()
    assert requester.available_balance == Decimal("1.00")


def test_a_second_requester_of_a_name_is_refused_and_keeps_the_first_as_it_was(operator):
    requester = make_requester("1.00")

    page = operator.post(
        "/operator/requesters", {"name": requester.name, "balance": "9.00"}, follow=True
    )

    requester.refresh_from_db()
    assert requester.available_balance == Decimal("1.00")
    assert "already" in page.content.decode()


def test_new_keys_replace_the_old_ones(operator):
    requester = make_requester()
    old = (requester.access_key, requester.secret_key)

    operator.post(f"/operator/requesters/{requester.pk}/keys")

    requester.refresh_from_db()
    assert requester.access_key != old[0]
    assert requester.secret_key != old[1]
    assert old[1] not in operator.get(f"/operator/requesters/{requester.pk}").content.decode()


def test_a_workers_country_and_figures_are_corrected(operator):
    worker = make_worker()

    operator.post(
        f"/operator/workers/{worker.public_id}",
        {"country": "gb", "approved": "5000", "rejected": "20"},
    )

    worker.refresh_from_db()
    assert (worker.country, worker.approved_count, worker.rejected_count) == ("GB", 5000, 20)


def test_a_suspended_worker_accepts_nothing_until_let_back(operator):
    worker, hit = make_worker(), make_hit()
    address = f"/operator/workers/{worker.public_id}/suspension"

    operator.post(address, {"suspended": "yes"})
    with pytest.raises(NotQualified, match="suspended"):
        assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    operator.post(address, {"suspended": "no"})

    assert assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)


def test_hits_are_found_by_id_title_requester_and_state(operator):
    hit, other = make_hit(), make_hit(make_hit_type(title="Draw boxes"))

    def found(**query):
        return [row.pk for row in operator.get("/operator/hits", query).context["page"].rows]

    assert found() == [other.pk, hit.pk]
    assert found(q=hit.public_id.lower()) == [hit.pk]
    assert found(q="boxes") == [other.pk]
    assert found(q=hit.requester.name) == [hit.pk]
    assert found(state="Assignable") == [other.pk, hit.pk]
    assert found(state="Disposed") == []


def test_a_payout_takes_what_is_owed_off_the_ledger_once(operator):
    worker = make_worker(country="US")
    earn(worker, times=2)

    operator.post("/operator/money/payouts")
    operator.post("/operator/money/payouts")

    payout = Transfer.objects.get(kind=TransferKind.PAYOUT)
    address = reverse("operator:payout_csv", args=[payout.made_at.isoformat()])
    answer = operator.get(address)
    (row,) = csv.DictReader(io.StringIO(answer.getvalue().decode()))
    assert (row["worker_id"], row["amount"]) == (worker.public_id, "0.20")
    assert "attachment" in answer["Content-Disposition"]
    assert money.balances() == {}


def test_a_name_cannot_be_a_formula_in_the_payouts_list(operator):
    worker = make_worker()
    type(worker).objects.filter(pk=worker.pk).update(name="=1+1")
    earn(worker)
    operator.post("/operator/money/payouts")
    made_at = Transfer.objects.get(kind=TransferKind.PAYOUT).made_at

    answer = operator.get(reverse("operator:payout_csv", args=[made_at.isoformat()]))

    assert ",'=1+1," in answer.getvalue().decode()


@pytest.mark.parametrize("made_at", ["yesterday", "2026-03-02", "2026-03-02T12:00:00+00:00"])
def test_a_payout_that_was_not_made_has_no_list(operator, made_at):
    assert operator.get(f"/operator/money/payouts/{made_at}.csv").status_code == 404


def test_calls_that_change_something_are_logged_and_refusals_with_their_code(marketplace):
    client = marketplace.requester("lab", "1.00")
    client.list_hits()
    made = client.create_qualification_type(
        Name="Trained", Description="x", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]

    with pytest.raises(ClientError):
        client.delete_hit(HITId="3NOSUCHHIT")
    client.delete_qualification_type(QualificationTypeId=type_id)

    rows = Activity.objects.order_by("pk").values_list("action", "about", "refusal")
    assert list(rows.filter(actor__startswith="lab")) == [
        ("CreateQualificationType", "", ""),
        ("DeleteHIT", "3NOSUCHHIT", "HITDoesNotExist"),
        ("DeleteQualificationType", type_id, ""),
    ]


@pytest.mark.parametrize("error", [DatabaseError, InterfaceError])
def test_an_action_succeeds_although_it_cannot_be_logged(monkeypatch, error):
    def fail(**_):
        raise error("The connection was lost.")

    monkeypatch.setattr(Activity.objects, "create", fail)

    with noted(actor="lab", action="CreateHIT", about="3ABC", at=NOON):
        pass


def test_the_log_is_searched_and_filtered(operator):
    with noted(actor="lab", action="CreateHIT", about="3ABC", at=NOON):
        pass
    with pytest.raises(ValueError, match="no"), noted(actor="b", action="x", about="", at=NOON):
        raise ValueError("no")

    def found(**query):
        return [row.actor for row in operator.get("/operator/activity", query).context["page"].rows]

    assert found() == ["b", "lab"]
    assert found(q="3abc") == ["lab"]
    assert found(state="refused") == ["b"]


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/operator/", 11),
        ("/operator/requesters", 4),
        ("/operator/requesters/{requester}", 5),
        ("/operator/workers", 6),
        ("/operator/workers/{worker}", 9),
        ("/operator/hits", 4),
        ("/operator/hits/{hit}", 5),
        ("/operator/activity", 4),
        ("/operator/money", 8),
        ("/operator/money/ledger", 4),
    ],
)
def test_a_page_asks_for_no_more_where_there_is_more_to_show(
    operator, django_assert_max_num_queries, path, most
):
    requester, worker = make_requester(), make_worker()
    hit_type = make_hit_type(requester)
    hit = make_hit(hit_type, max_assignments=5)
    for _ in range(4):
        someone = make_worker()
        assignments.accept(worker=someone, hit_type=hit_type, at=NOON)
        earn(someone)
        block_worker(requester=make_requester(), worker=worker, reason="x", at=NOON)
    earn(worker, times=3)
    address = path.format(requester=requester.pk, worker=worker.public_id, hit=hit.public_id)

    with django_assert_max_num_queries(most):
        answer = operator.get(address)

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"


def test_long_lists_are_paged_and_every_row_is_on_one_page(operator):
    for number in range(MANY):
        operators.make_requester(name=f"many {number}", balance=Decimal(1), at=NOON)

    first = operator.get("/operator/requesters", {"q": "many"})
    older = BeautifulSoup(first.content, "lxml").find("a", rel="next")["href"]
    second = operator.get(f"/operator/requesters{older}")

    names = [row.name for page in (first, second) for row in page.context["page"].rows]
    assert len(names) == len(set(names)) == MANY
    assert BeautifulSoup(second.content, "lxml").find("a", rel="next") is None


@pytest.mark.parametrize("before", ["x", "-1", "9" * 30, "²"])
def test_a_nonsensical_page_is_the_first(operator, before):
    hit = make_hit(lifetime=timedelta(hours=1))

    page = operator.get("/operator/hits", {"before": before}).context["page"]

    assert [row.pk for row in page.rows] == [hit.pk]
