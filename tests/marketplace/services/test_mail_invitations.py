"""Invitations by e-mail: once for each address, none after unsubscribing, and safe to run twice."""

import socket
from datetime import timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPServerDisconnected

import pytest
from django.core import mail
from django.test import Client

from marketplace import clock
from marketplace.errors import GroupRefused
from marketplace.models import MailInvitation, MailRefusal, Worker
from marketplace.services import accounts, mail_invitations, people_groups
from marketplace.services.links import group_url, mail_url, stop_url
from marketplace.services.mail_invitations import send_invitations
from marketplace.services.retention import erase_worker
from tests.marketplace.people import make_group, path_of

pytestmark = pytest.mark.django_db

ADDRESSES = "mia@university.example, <BEN@university.example>\nmia@University.example"
JOINING = {"agree": "yes", "version": "1", "name": "Mia", "password": ""}


def invite(group, text: str = ADDRESSES) -> int:
    found = mail_invitations.addresses_in(text)
    return mail_invitations.add_addresses(group=group, addresses=found, at=clock.now())


def send_all() -> None:
    while send_invitations(at=clock.now()):
        pass


def recipients() -> list[str]:
    return [each.to[0] for each in mail.outbox]


def test_each_address_gets_one_mail_however_often_it_is_listed_and_sent():
    group = make_group()
    assert invite(group) == 2
    send_all()

    assert invite(group) == 0
    send_all()

    assert recipients() == ["mia@university.example", "ben@university.example"]
    assert not MailInvitation.objects.filter(sent_at=None).exists()


def test_an_invitation_of_a_clock_that_was_ahead_does_not_wait_until_then():
    invite(make_group())
    MailInvitation.objects.update(due_at=clock.now() + timedelta(hours=1))

    send_all()

    assert len(recipients()) == 2


def test_a_mail_says_who_asks_and_how_to_unsubscribe():
    invite(make_group(), "mia@university.example")
    send_all()
    invitation = MailInvitation.objects.get()

    [sent] = mail.outbox

    assert sent.subject == "Photographs 2026"
    assert "Dr. Example" in sent.body
    assert mail_url(invitation) in sent.body
    assert stop_url(invitation) in sent.body
    assert sent.extra_headers["List-Unsubscribe"] == f"<{stop_url(invitation)}>"
    assert sent.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_an_address_that_unsubscribed_gets_nothing_again_from_any_group():
    first, second = make_group(), make_group(name="Another")
    invite(first, "mia@university.example")
    send_all()
    link = path_of(stop_url(MailInvitation.objects.get()))

    # Mail filters open links, so opening it changes nothing.
    assert Client(enforce_csrf_checks=True).get(link).status_code == 200
    assert not MailRefusal.objects.exists()
    one_click = Client(enforce_csrf_checks=True).post(link, {"List-Unsubscribe": "One-Click"})
    assert one_click.status_code == 200
    invite(second, "MIA@university.example")
    send_all()

    assert len(mail.outbox) == 1
    assert Client().post("/stop-mail/forged").status_code == 403


def test_a_member_of_another_group_uses_up_the_link_of_a_mail():
    """Otherwise one address could give a second account in the same group."""
    first, second = make_group(), make_group(name="Another")
    invite(second, "mia@university.example")
    invitation = MailInvitation.objects.get()
    link, browser = path_of(mail_url(invitation)), Client()
    browser.post(path_of(group_url(first)), JOINING)
    mia = Worker.objects.get()

    browser.post(link, JOINING)
    elsewhere = Client()
    opened = elsewhere.post(link, {**JOINING, "name": "Eve"})

    assert list(second.memberships.values_list("worker", flat=True)) == [mia.pk]
    assert Worker.objects.count() == 1
    assert opened["Location"] == "/home"
    invitation.refresh_from_db()
    assert invitation.worker == mia
    with pytest.raises(GroupRefused, match="joined with this link already"):
        people_groups.join(
            group=second,
            text=people_groups.latest_text(second),
            worker=mia,
            at=clock.now(),
            invitation=invitation,
        )


def test_an_erasure_deletes_the_address_in_groups_that_the_person_has_not_joined_too():
    """Otherwise the address would stay, and get the mails that wait."""
    first, second = make_group(), make_group(name="Another")
    invite(first, "mia@university.example")
    invite(second)
    link = path_of(mail_url(first.mail_invitations.get()))
    Client().post(link, JOINING)

    erase_worker(worker=Worker.objects.get(), at=clock.now())
    send_all()

    assert recipients() == ["ben@university.example"]
    assert MailInvitation.objects.get().address == "ben@university.example"


def test_a_mail_that_failed_is_sent_again_only_if_a_person_says_so(monkeypatch):
    group = make_group()
    invite(group, "mia@university.example")

    def fail(invitation):
        raise SMTPServerDisconnected("no answer")

    monkeypatch.setattr("marketplace.services.mail_invitations.post", fail)
    send_all()
    monkeypatch.undo()
    send_all()
    assert mail.outbox == []
    assert "no answer" in MailInvitation.objects.get().problem

    assert mail_invitations.try_again(group=group, at=clock.now()) == 1
    send_all()

    assert recipients() == ["mia@university.example"]
    assert mail_invitations.try_again(group=group, at=clock.now()) == 0


@pytest.fixture
def mail_server(settings):
    """The port of a mail server that nobody runs."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    with socket.create_server(("127.0.0.1", 0)) as free:
        settings.EMAIL_PORT = free.getsockname()[1]


def test_invitations_wait_while_the_mail_server_is_away(operator, mail_server, settings):
    group = make_group()
    invite(group)
    at = clock.now()

    for seconds in range(5):
        assert send_invitations(at=at + timedelta(seconds=seconds)) == 0

    assert MailInvitation.objects.exclude(problem="").count() == 1, "one attempt in a minute"
    assert not MailInvitation.objects.filter(due_at=None).exists()
    page = operator.get(f"/operator/people/{group.pk}").content.decode()
    assert "takes no mail at the moment" in page
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    while send_invitations(at=at + timedelta(minutes=2)):
        pass
    assert sorted(recipients()) == ["ben@university.example", "mia@university.example"]
    assert not MailInvitation.objects.exclude(problem="").exists()


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (SMTPDataError(451, b"no"), True),
        (SMTPDataError(554, b"no"), False),
        # As a server answers whose own database is away, and one that does not know the person.
        (SMTPRecipientsRefused({"mia@university.example": (451, b"no")}), True),
        (SMTPRecipientsRefused({"mia@university.example": (550, b"no")}), False),
    ],
)
def test_an_invitation_that_is_refused_for_now_waits_behind_the_others(error, waits):
    invite(make_group())
    at, sent = clock.now(), []

    def post(invitation):
        if invitation.address.startswith("mia"):
            raise error
        sent.append(invitation.address)

    for minutes in (0, 2, 2, 4, 4):
        mail_invitations.send_next(post=post, at=at + timedelta(minutes=minutes))

    assert sent == ["ben@university.example"]
    assert mail_invitations.waiting().exists() == waits


def test_a_mail_goes_to_the_domain_that_was_entered():
    """Not to strasse.de, which somebody else may own."""
    invite(make_group(), "Anna@Straße.de")
    assert MailInvitation.objects.get().address == "anna@straße.de"

    send_all()

    assert recipients() == ["anna@xn--strae-oqa.de"]


def test_a_process_that_dies_while_sending_leads_to_no_second_mail():
    invite(make_group(), "mia@university.example")

    def die(invitation):
        raise SystemExit

    with pytest.raises(SystemExit):
        mail_invitations.send_next(post=die, at=clock.now())
    send_all()

    assert mail.outbox == []
    assert MailInvitation.objects.get().sent_at is None


def test_a_mail_that_is_being_sent_is_sent_again_only_after_its_process_has_died():
    group = make_group()
    invite(group, "mia@university.example")
    at, again = clock.now(), []

    def press_again_and_die(invitation):
        again.append(mail_invitations.try_again(group=group, at=at))
        raise SystemExit

    with pytest.raises(SystemExit):
        mail_invitations.send_next(post=press_again_and_die, at=at)
    again.append(mail_invitations.try_again(group=group, at=at + timedelta(hours=1)))

    assert again == [0, 1]
    assert mail_invitations.waiting().get().group == group


def test_a_closed_group_invites_nobody():
    group = make_group()
    invite(group)
    people_groups.set_open(group=group, is_open=False)

    send_all()

    assert mail.outbox == []


def test_the_link_of_a_mail_joins_once_and_then_signs_in():
    invite(make_group(), "mia@university.example")
    link = path_of(mail_url(MailInvitation.objects.get()))
    assert Client().post(link, JOINING).status_code == 303

    other_device = Client()
    assert other_device.get(link).url == "/home"
    assert "Hello Mia" in other_device.get("/home").content.decode()
    assert Worker.objects.count() == 1

    accounts.end_all_sessions(worker=Worker.objects.get())
    assert Client().get(link).url == "/sign-in"


def test_the_operator_invites_and_sees_what_became_of_it(operator):
    group = make_group()
    page = f"/operator/people/{group.pk}"

    operator.post(f"{page}/mail", {"addresses": ADDRESSES})
    send_all()

    assert recipients() == ["mia@university.example", "ben@university.example"]
    assert "2 new on the list" in operator.get(page).content.decode()
    answer = operator.post(f"{page}/mail", {"addresses": "mia@university.example nonsense"})
    assert answer.status_code == 400
    assert "not an e-mail address: nonsense" in answer.content.decode()


def test_the_operator_of_a_closed_group_reads_that_mails_wait(operator):
    group = make_group()
    people_groups.set_open(group=group, is_open=False)
    page = f"/operator/people/{group.pk}"

    operator.post(f"{page}/mail", {"addresses": ADDRESSES})

    assert "Their mails are sent once new people can join." in operator.get(page).content.decode()


def test_a_site_without_mail_says_so(operator, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = ""
    group = make_group()

    page = operator.get(f"/operator/people/{group.pk}").content.decode()
    answer = operator.post(f"/operator/people/{group.pk}/mail", {"addresses": ADDRESSES})

    assert "EMAIL_HOST is not set" in page
    assert "Send invitations" not in page
    assert answer.status_code == 400
    assert not MailInvitation.objects.exists()
    assert send_invitations(at=clock.now()) == 0


@pytest.mark.parametrize("address", [f"{'a' * 250}@b.org", "mia@\ud800.example"])
def test_an_address_that_cannot_be_stored_is_refused(address):
    with pytest.raises(GroupRefused, match="not an e-mail address"):
        mail_invitations.addresses_in(address)
