"""The page on which users change their password."""

import pytest
from django.test import Client

from shared.version import software_version
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OLD, NEW = "a long pass phrase", "another long pass phrase"
PAGE = "/account/password/"


@pytest.fixture
def user():
    """A user without staff status, who has no access to the admin."""
    user = UserFactory(username="grace")
    user.set_password(OLD)
    user.save()
    return user


@pytest.fixture
def client(user):
    client = Client()
    client.force_login(user)
    return client


def change(client, *, old=OLD, new=NEW, again=NEW):
    fields = {"old_password": old, "new_password1": new, "new_password2": again}
    return client.post(PAGE, fields, follow=True)


def test_every_page_names_the_version_at_its_foot(client):
    page = client.get("/account/tokens/").content.decode()

    assert f"Caption campaigns {software_version()}</footer>" in page


def test_the_page_is_in_the_menu_of_every_page(client):
    page = client.get("/account/tokens/")

    assert f'href="{PAGE}"' in page.content.decode()


def test_a_user_who_is_not_staff_changes_the_password(client, user):
    page = change(client)

    user.refresh_from_db()
    assert user.check_password(NEW)
    assert "Password changed" in page.content.decode()
    assert page.context["user"] == user


def test_sessions_in_other_browsers_end(client, user):
    other = Client()
    other.force_login(user)

    change(client)

    assert other.get(PAGE).status_code == 302
    assert client.get(PAGE).status_code == 200


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"old": "wrong"}, "Your old password was entered incorrectly"),
        ({"again": "something else"}, "match"),
        ({"new": "short", "again": "short"}, "too short"),
        ({"new": "password1", "again": "password1"}, "too common"),
    ],
)
def test_a_password_that_is_not_taken_is_said_to_be_so(client, user, fields, problem):
    page = change(client, **fields)

    user.refresh_from_db()
    assert user.check_password(OLD)
    assert page.status_code == 422
    assert problem in page.content.decode()


def test_strangers_are_sent_to_sign_in():
    assert Client().get(PAGE).headers["Location"].startswith("/sign-in/")
