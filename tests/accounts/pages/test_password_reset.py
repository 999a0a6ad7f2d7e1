"""A new password by a link: by e-mail, by an operator's command, and the limits on both."""

import re
from io import StringIO

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.pages import sign_in
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

NEW = "an even longer pass phrase"
FORM = "/sign-in/forgotten/"


@pytest.fixture
def ada():
    user = UserFactory(username="ada", email="ada@example.org")
    user.set_password("a long pass phrase")
    user.save()
    return user


def ask(client, email="ada@example.org"):
    """The answer, once the mails are sent."""
    answer = client.post(FORM, {"email": email}, headers={"host": "127.0.0.1"})
    sign_in.mails.submit(lambda: None).result()
    return answer


def set_password(link):
    client = Client()
    form = client.get(link, follow=True)
    fields = {"new_password1": NEW, "new_password2": NEW}
    return client.post(form.request["PATH_INFO"], fields, follow=True)


def test_a_link_by_mail_sets_a_new_password_once(client, ada):
    ask(client)
    (sent,) = mail.outbox
    link = re.search(r"http://127\.0\.0\.1:8000(/sign-in/new-password/\S+)", sent.body)[1]

    done = set_password(link)
    again = Client().get(link, follow=True).content.decode()

    assert sent.to == ["ada@example.org"]
    assert "Your new password is set" in done.content.decode()
    assert "_auth_user_id" not in done.client.session
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    assert "was used, or has expired" in again


@pytest.mark.parametrize("email", ["nobody@example.org", "ADA@example.org"])
def test_the_answer_is_the_same_for_any_address(client, ada, email):
    answer = ask(client, email)

    assert (answer.status_code, answer["Location"]) == (302, f"{FORM}sent/")
    assert "If an account has this" in client.get(answer["Location"]).content.decode()


def test_closed_accounts_get_no_link(client, ada):
    ada.is_active = False
    ada.save()

    ask(client)

    assert not mail.outbox


def test_an_address_gets_few_mails(client, ada):
    answers = [ask(client).status_code for _ in range(sign_in.MAILS_PER_HOUR + 2)]

    assert set(answers) == {302}
    assert len(mail.outbox) == sign_in.MAILS_PER_HOUR


def test_one_network_sends_few_forms(client, ada, settings):
    settings.PUBLIC_POSTS_PER_HOUR = 2

    answers = [ask(client, f"{n}@example.org") for n in range(3)]
    sign_up = client.post("/account/invitations/none/", {})
    other = client.post(FORM, {"email": "a@example.org"}, REMOTE_ADDR="192.0.2.9")

    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert answers[2].headers["Retry-After"] == "3600"
    assert sign_up.status_code == 429
    assert other.status_code == 302


def test_a_site_without_mail_has_no_such_page(client, settings):
    settings.EMAIL_HOST, settings.EMAIL_BACKEND = "", "django.core.mail.backends.smtp.EmailBackend"

    page = client.get("/sign-in/").content.decode()

    assert client.get(FORM).status_code == 404
    assert FORM not in page
    assert "Ask an operator" in page


def test_an_operator_makes_a_link(client, ada):
    out = StringIO()

    call_command("password_link", "ada", stdout=out)
    set_password(out.getvalue().strip().removeprefix("http://127.0.0.1:8000"))

    ada.refresh_from_db()
    assert ada.check_password(NEW)


def test_the_command_says_what_is_wrong(ada):
    ada.is_active = False
    ada.save()

    for name, message in (("ada", "closed"), ("nobody", "No account")):
        with pytest.raises(CommandError, match=message):
            call_command("password_link", name)
