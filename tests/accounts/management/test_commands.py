"""Commands for operators: teams, tokens, lost passwords and lost apps."""

from datetime import timedelta
from functools import partial

import pyotp
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from accounts.models import Membership, Team, TeamChange
from accounts.services.api_tokens import TokenRefused, issue_token, use_token, withdraw_token
from shared.second_factors.services import add_second_factor, new_secret
from tests.commands import output_of
from tests.factories import NOON, TeamFactory, UserFactory

pytestmark = pytest.mark.django_db

tokens = partial(output_of, "api_tokens")


@pytest.fixture
def ada():
    return UserFactory(username="ada", team=TeamFactory(slug="lab"))


def test_the_first_administrator_is_made_once_and_can_sign_in():
    first, second = output_of("first_admin"), output_of("first_admin")

    user = User.objects.get()
    assert user.is_superuser
    assert user.check_password(first.split("password: ")[1].strip())
    assert second == ""


@pytest.mark.parametrize("name", ["", "a b", "аdmin", "x" * 151])
def test_a_name_that_no_user_can_have_is_refused_to_the_first_administrator(name):
    with pytest.raises(CommandError, match="--name"):
        output_of("first_admin", name=name)

    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("name", "said"), [("ada", "already taken"), ("ADA", "has this name, perhaps with other")]
)
def test_a_superuser_has_no_name_that_differs_from_another_only_in_case(ada, name, said):
    output_of("createsuperuser", interactive=False, username="eve", email="eve@example.org")
    assert User.objects.get(is_superuser=True).username == "eve"

    with pytest.raises(CommandError, match=said):
        output_of("createsuperuser", interactive=False, username=name, email="ada@example.org")


def test_a_team_is_created_with_its_first_researcher(ada):
    said = output_of("create_team", "new", name="The lab", researcher="ada")

    assert "Team The lab created; ada is its researcher." in said
    assert Membership.objects.get(team__slug="new").role == "RESEARCHER"
    with pytest.raises(CommandError, match="already"):
        output_of("create_team", "new", researcher="ada")
    with pytest.raises(CommandError, match="No account is called"):
        output_of("create_team", "two", researcher="nobody")


@pytest.mark.parametrize(
    ("slug", "name"), [("", ""), ("a b", ""), ("x" * 101, ""), ("a", "x" * 101)]
)
def test_names_that_no_team_can_have_are_refused(ada, slug, name):
    with pytest.raises(CommandError):
        output_of("create_team", slug, name=name, researcher="ada")

    assert not Team.objects.filter(slug=slug).exists()


def test_valid_tokens_are_listed(ada):
    kept, _ = issue_token(user=ada, name="nightly export", at=timezone.now())
    gone, _ = issue_token(user=ada, name="gone", at=timezone.now())
    withdraw_token(token=gone, at=timezone.now())

    listed = tokens()

    assert listed.startswith(
        f"{kept.pk}  {kept}  ada  nightly export  read,review,run,pay  created "
    )
    assert "gone" not in listed


def test_tokens_are_withdrawn(ada):
    token, text = issue_token(user=ada, at=timezone.now())

    assert tokens("--withdraw", str(token.pk)) == f"Token {token.pk} withdrawn.\n"

    with pytest.raises(TokenRefused):
        use_token(text=text, at=timezone.now())


def test_all_tokens_of_an_account_are_withdrawn(ada):
    issue_token(user=ada, at=timezone.now())
    other, _ = issue_token(user=UserFactory(username="grace"), at=timezone.now())

    assert tokens("--user", "ada", "--withdraw-all") == "1 withdrawn.\n"
    assert tokens().startswith(f"{other.pk}  ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--withdraw-all"], "needs --user"),
        (["--user", "nobody"], "No account is called 'nobody'"),
        (["--withdraw", "4711"], "no valid token 4711"),
        (["--withdraw", "9" * 20], "9 is not from"),
    ],
)
def test_wrong_options_for_tokens_are_named(arguments, message):
    with pytest.raises(CommandError, match=message):
        tokens(*arguments)


def test_a_link_sets_a_new_password(ada):
    link = output_of("password_link", "ada").strip().removeprefix("http://127.0.0.1:8000")
    client, new = Client(), "an even longer pass phrase"

    form = client.get(link, follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": new, "new_password2": new})

    ada.refresh_from_db()
    assert ada.check_password(new)


def test_closed_and_unknown_accounts_get_no_link(ada):
    ada.is_active = False
    ada.save()

    for name, message in (("ada", "closed"), ("nobody", "No account")):
        with pytest.raises(CommandError, match=message):
            output_of("password_link", name)


def test_a_lost_app_is_removed_and_the_teams_log_says_so(ada):
    ada.set_password("a long pass phrase")
    ada.save()
    secret, at = new_secret(), NOON - timedelta(hours=1)
    add_second_factor(user=ada, secret=secret, code=pyotp.TOTP(secret).at(at), at=at)

    said = output_of("remove_second_factor", "ada")

    assert "password alone" in said
    form = {"username": "ada", "password": "a long pass phrase", "code": ""}
    assert Client().post("/sign-in/", form).status_code == 302
    entry = TeamChange.objects.get(team__slug="lab")
    assert (entry.text, entry.actor) == ("Authenticator app of ada removed by an operator", None)
    for name, message in (("ada", "no authenticator app"), ("nobody", "No account")):
        with pytest.raises(CommandError, match=message):
            output_of("remove_second_factor", name)
