"""The pages on which users change their password and set up an authenticator app."""

from datetime import timedelta

import pyotp
import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.utils import timezone

from shared.second_factors.models import SecondFactor
from shared.second_factors.services import RECOVERY_CODES, add_second_factor, new_secret
from shared.version import software_version
from tests.factories import NOON, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OLD, NEW = "a long pass phrase", "another long pass phrase"
PAGE = "/account/password/"
SECOND = "/account/second-factor/"


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


def test_a_field_names_its_error_to_screen_readers(client):
    page = change(client, old="wrong").content.decode()

    assert 'aria-describedby="id_old_password_error"' in page
    assert '<div id="id_old_password_error">' in page


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


def test_the_page_turns_an_app_on_and_off(client):
    page = client.get(SECOND)
    app = pyotp.TOTP(page.context["secret"].replace(" ", ""))

    wrong = client.post(SECOND, {"code": "000000x"})
    done = client.post(SECOND, {"code": app.at(timezone.now())})
    again = client.get(SECOND).content.decode()
    new = client.post(SECOND, {"code": done.context["codes"][0], "codes": ""})
    old = client.post(SECOND, {"code": done.context["codes"][1], "remove": ""})
    kept = SecondFactor.objects.exists()
    client.post(SECOND, {"code": new.context["codes"][1], "remove": ""})

    assert 'src="data:image/svg+xml' in page.content.decode()
    assert wrong.status_code == 422
    assert len(done.context["codes"]) == RECOVERY_CODES
    assert "no-store" in done.headers["Cache-Control"]
    assert done.context["codes"][0] not in again
    assert old.status_code == 422
    assert kept
    assert not SecondFactor.objects.exists()


def test_a_double_click_says_how_to_get_recovery_codes_that_were_not_seen(client, user):
    secret, at = new_secret(), NOON - timedelta(hours=1)
    (code, *_) = add_second_factor(user=user, secret=secret, code=pyotp.TOTP(secret).at(at), at=at)
    key = BeautifulSoup(client.get(SECOND).content, "lxml").find(attrs={"name": "form_key"})
    form = {"form_key": key["value"], "code": code, "codes": ""}

    first, second = (client.post(SECOND, form) for _ in range(2))

    assert len(first.context["codes"]) == RECOVERY_CODES
    assert second.status_code == 409
    assert "make new ones with the next code of your app" in second.content.decode()


def test_wrong_codes_on_the_page_count_too(client, user):
    secret, at = new_secret(), NOON - timedelta(hours=1)
    add_second_factor(user=user, secret=secret, code=pyotp.TOTP(secret).at(at), at=at)

    client.post(SECOND, {"code": "123", "remove": ""})

    assert SecondFactor.objects.get().wrong_codes == 1


@pytest.mark.parametrize(("name", "status"), [("BOB", 200), ("Ada", 302), ("carla", 302)])
def test_the_admin_gives_no_account_a_name_that_differs_from_another_only_in_case(
    client, name, status
):
    UserFactory(username="bob")
    ada = UserFactory(username="ada", is_superuser=True, is_staff=True)
    client.force_login(ada)
    fields = {"date_joined_0": "2026-11-29", "date_joined_1": "12:00:00"}
    may = dict.fromkeys(("is_active", "is_staff", "is_superuser"), "on")

    answer = client.post(f"/admin/auth/user/{ada.pk}/change/", {"username": name, **fields, **may})

    assert answer.status_code == status
    assert ("already exists" in answer.content.decode()) == (status == 200)
