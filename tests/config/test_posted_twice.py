"""Every form of the site is posted twice, and the second post makes nothing.

The forms are those that the pages of the URL list show, filled in with VALUES.
"""

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.test import Client
from django.urls import resolve

from accounts.models import IdempotencyKey
from tests.routes import ROUTES, address_of
from tests.rubbish import PageForm, filled_in, forms_of

pytestmark = [pytest.mark.django_db]

PAGES = sorted(route for route in ROUTES if not route.startswith("api-"))
VALUES = {
    "amount": "1.00",
    "answer": "We looked at it again.",
    "budget-value": "5",
    "change": "GOOD",
    "days": "30",
    "email": "grace@example.org",
    "granted": "yes",
    "name": "second",
    "note": "Grace",
    "reason": "It has too few words.",
    "reward-value": "1.25",
    "share-value": "20",
    "subject": "Thank you",
    "text": "Please look at it again.",
    "title": "Second",
    "url": "https://93.184.216.34/hook",
    "verdict": "GOOD",
}
# Rows that say what happened, or belong to the session: not what a form makes.
NOT_COUNTED = {IdempotencyKey._meta.db_table, Session._meta.db_table}
# Routes of forms that the values above do not fit: they need files, secrets or further rows. Each
# has its own test.
NOT_FILLED_IN = {
    "account:password",
    "account:second_factor",
    "hits:bonuses",
    "hits:change",
    "hits:find_worker",
    "hits:new_from_file",
    "hits:task",
    "hits:told",
    "images:import",
    "leaderboard:challenge",
    "leaderboard:new",
    "notices:notices",
    "qualcontrol:gold",
    "qualcontrol:judge",
    "qualcontrol:releases",
    "webhooks:webhook",
}


TABLES = sorted({model._meta.db_table for model in apps.get_models()} - NOT_COUNTED)
COUNTS = "SELECT " + ", ".join(f'(SELECT count(*) FROM "{table}")' for table in TABLES)


def rows() -> dict[str, int]:
    """The number of rows of each table, by one statement."""
    with connection.cursor() as cursor:
        cursor.execute(COUNTS)
        return dict(zip(TABLES, cursor.fetchone(), strict=True))


@pytest.mark.parametrize("route", PAGES)
def test_a_form_that_is_posted_twice_creates_its_rows_once(route, every_row):
    names, clients = every_row
    address = address_of(route, names)
    for who in ("researcher", "operator"):
        page = clients[who].get(address)
        if page.status_code == 200 and page["Content-Type"].startswith("text/html"):
            for form in forms_of(b"".join(page).decode(), address):
                if form.address != "/sign-out/":
                    check_form(clients[who], form)


def check_form(client: Client, form: PageForm) -> None:
    """Post the form twice, with each of its buttons; the changes are undone."""
    to = resolve(form.address).view_name
    for fields in filled_in(form, VALUES):
        with transaction.atomic():
            first = client.post(form.address, fields)
            before = rows()
            second = client.post(form.address, fields)
            made = [table for table, number in rows().items() if number > before[table]]
            transaction.set_rollback(True)
        said = f"{form.address} {fields}"
        assert not made, f"{said} makes twice: {made}"
        assert second.status_code < 500, said
        assert first.status_code < 400 or to in NOT_FILLED_IN, (
            f"{said} is refused: add what its fields need to VALUES, or the route {to} to "
            "NOT_FILLED_IN and a test for it"
        )
