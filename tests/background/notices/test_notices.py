"""Notices: each event once, to those who want it, tried again until it is given up."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.utils import timezone

from accounts.services.teams import remove_member
from annotate.models import Release
from background.models import Delivery, DeliveryStatus, Notice, Webhook
from background.notices import registry, sending
from background.notices.choices import (
    WebhookRefused,
    add_webhook,
    change_webhook,
    choose_emails,
    remove_webhook,
    renew_secret,
    send_test,
)
from background.notices.registry import Event, NoticeKind
from background.notices.sending import signature
from background.notices.sweeping import AGAIN_AFTER, sweep
from tests.factories import NOON, CampaignFactory, TeamFactory, UserFactory
from tests.hooks import endless, receiver
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def events(monkeypatch):
    """The events that the only kind of notice finds."""
    found = []
    kind = NoticeKind("try", "Try", "a test", lambda at: list(found))
    registry.notice_kinds()
    monkeypatch.setattr(registry, "_kinds", {"try": kind})
    return found


@pytest.fixture
def campaign():
    return CampaignFactory(slug="pilot")


@pytest.fixture(autouse=True)
def _private_networks(settings):
    settings.WEBHOOKS_TO_PRIVATE_NETWORKS = True


def event(about=None, subject="one", **values):
    return Event(subject, "Something happened", "Look at it.", "/jobs/", about, **values)


def reader(**values):
    user = UserFactory(email="ada@lab.example", **values)
    choose_emails(user=user, email=user.email, kinds=["try"])
    return user


def hook(campaign, url="https://hooks.example/", kinds=None):
    kinds = list(registry.notice_kinds()) if kinds is None else kinds
    return add_webhook(about=campaign, url=url, kinds=kinds, user=None, at=NOON)


def send():
    return list(sending.send_due())


def test_a_state_is_noticed_once_while_it_lasts(events, campaign):
    user = reader()
    events.append(event(campaign))

    assert [sweep(at=NOON + timedelta(hours=hour)) for hour in range(3)] == [1, 0, 0]
    send()
    send()

    (message,) = mail.outbox
    assert message.to == [user.email]
    assert message.subject == "[pilot] Something happened"
    assert "http://127.0.0.1:8000/jobs/" in message.body
    assert "/account/notices/" in message.body


def test_a_mail_goes_to_the_domain_of_the_address(events, campaign):
    user = reader()
    user.email = "anna@straße.de"
    user.save()
    events.append(event(campaign))
    sweep(at=NOON)

    send()

    assert [message.to for message in mail.outbox] == [["anna@xn--strae-oqa.de"]]


def test_the_mail_about_a_release_names_it(events, campaign):
    reader()
    release = Release.objects.create(
        name="pilot-v1", campaign=campaign, seed=0, created_at=NOON, context={}
    )
    events.append(event(release))
    sweep(at=NOON)

    send()

    assert [message.subject for message in mail.outbox] == ["[pilot-v1] Something happened"]


def test_a_state_that_comes_back_is_noticed_again_at_most_once_a_day(events):
    def at(hours):
        return NOON + timedelta(hours=hours)

    events.append(event())
    sweep(at=at(0))
    events.clear()
    sweep(at=at(1))
    events.append(event())

    assert sweep(at=at(2)) == 0
    assert sweep(at=NOON + AGAIN_AFTER) == 1
    assert Notice.objects.count() == 2


def test_a_state_that_a_clock_that_was_ahead_has_noticed_is_noticed_again(events, campaign):
    events.append(event(campaign))
    hook(campaign)
    reader()
    sweep(at=timezone.now() + timedelta(days=365))
    assert len(send()) == 2
    events.clear()
    sweep(at=timezone.now())
    events.append(event(campaign))

    assert sweep(at=timezone.now()) == 1

    assert len(send()) == 2
    assert len(mail.outbox) == 2


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(days=365)])
def test_a_delivery_of_a_clock_that_was_ahead_does_not_wait_until_then(events, campaign, ahead):
    reader()
    events.append(event(campaign))
    sweep(at=timezone.now() + ahead)
    if ahead > timedelta(days=1):
        sending.take(at=timezone.now() + ahead)

    assert len(send()) == 1


def test_a_single_event_is_noticed_once_even_after_it_was_gone(events, monkeypatch):
    kind = NoticeKind("try", "Try", "a test", lambda at: list(events), is_state=False)
    monkeypatch.setattr(registry, "_kinds", {"try": kind})
    events.append(event())
    sweep(at=NOON)
    events.clear()
    sweep(at=NOON)
    events.append(event())

    assert sweep(at=NOON + 2 * AGAIN_AFTER) == 0


def test_a_user_who_switched_a_kind_off_gets_nothing(events, campaign):
    user = reader()
    choose_emails(user=user, email=user.email, kinds=[])
    events.append(event(campaign))

    sweep(at=NOON)

    assert Notice.objects.count() == 1
    assert not Delivery.objects.exists()


def test_a_campaigns_notices_go_to_its_team_and_about_money_to_who_may_see_it(
    events, campaign, monkeypatch
):
    def told(kind):
        monkeypatch.setattr(registry, "_kinds", {kind.name: kind})
        sweep(at=NOON)
        deliveries = Delivery.objects.filter(notice__kind=kind.name)
        return {delivery.user.username for delivery in deliveries}

    for role in ("RESEARCHER", "REVIEWER", "VIEWER"):
        UserFactory(username=role.lower(), email="a@lab.example", team__role=role)
    UserFactory(username="stranger", email="s@lab.example", team=TeamFactory())
    UserFactory(username="operator", email="o@lab.example", team=False, is_superuser=True)
    events.append(event(campaign))

    assert told(NoticeKind("try", "Try", "", lambda at: list(events))) == {
        "researcher",
        "reviewer",
    }
    for user in User.objects.all():
        choose_emails(user=user, email=user.email, kinds=["try"])
    monkeypatch.setattr(registry, "_kinds", {})
    Notice.objects.all().delete()
    everybody = {"researcher", "reviewer", "viewer", "operator"}
    assert told(NoticeKind("try", "Try", "", lambda at: list(events))) == everybody
    Notice.objects.all().delete()
    about_money = NoticeKind("try", "Try", "", lambda at: list(events), is_about_money=True)
    assert told(about_money) == everybody - {"reviewer"}


@pytest.mark.parametrize("error", [ValueError("no such month"), KeyError("x")])
def test_a_kind_that_fails_does_not_stop_the_others(events, monkeypatch, error):
    def fail(at):
        raise error

    broken = NoticeKind("broken", "Broken", "a test", fail)
    kinds = {"broken": broken, **registry.notice_kinds()}
    monkeypatch.setattr(registry, "_kinds", kinds)
    events.append(event())

    assert sweep(at=NOON) == 1


def test_an_event_of_one_person_goes_to_them_alone(events, campaign):
    reader()
    asker = UserFactory(email="asker@lab.example")
    events.append(event(campaign, only=asker))

    sweep(at=NOON)

    assert [delivery.user for delivery in Delivery.objects.all()] == [asker]


def test_without_a_mail_server_nobody_gets_e_mail(events, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = ""
    reader()
    events.append(event())

    sweep(at=NOON)

    assert not Delivery.objects.exists()


def test_a_webhook_gets_a_signed_request(events, campaign):
    with receiver() as found:
        webhook = hook(campaign, found.url)
        hook(CampaignFactory(), found.url)
        events.append(event(campaign))
        sweep(at=timezone.now())

        (delivery,) = send()

    ((headers, body),) = found.requests
    stamp, key = headers["Webhook-Timestamp"], headers["Webhook-Id"]
    assert key == str(delivery.key)
    assert headers["Webhook-Signature"] == signature(webhook.secret, key, int(stamp), body)
    told = json.loads(body)
    assert (told["kind"], told["campaign"], told["text"]) == ("try", "pilot", "Look at it.")
    assert told["url"] == "http://127.0.0.1:8000/jobs/"
    assert delivery.status == DeliveryStatus.SENT


def test_a_webhook_that_never_answers_is_tried_with_growing_pauses_and_given_up(
    events, campaign, settings
):
    settings.WEBHOOK_SECONDS = 0.05
    with endless(b"") as url:
        delivery = send_test(webhook=hook(campaign, url), at=NOON).deliveries.get()
        at, waited = NOON, []
        while delivery.status == DeliveryStatus.WAITING:
            sending.try_delivery(sending.take(at=at), at=at)
            delivery.refresh_from_db()
            if delivery.status == DeliveryStatus.WAITING:
                waited.append(delivery.due_at - at)
                assert sending.take(at=delivery.due_at - timedelta(seconds=1)) is None
            at = delivery.due_at

    assert waited == sending.PAUSES == sorted(waited)
    assert delivery.status == DeliveryStatus.GIVEN_UP
    assert delivery.error.startswith("Given up after 9 attempts. No answer: nothing complete")


def test_a_webhook_that_works_again_gets_what_it_missed(campaign):
    with receiver(status=503) as found:
        send_test(webhook=hook(campaign, found.url), at=timezone.now())
        (failed,) = send()
        assert (failed.status, failed.error) == ("WAITING", "The answer was 503.")
        found.status = 204
        Delivery.objects.update(due_at=NOON)
        (sent,) = send()

    assert (sent.status, sent.attempts, sent.error) == ("SENT", 2, "")
    ids = [headers["Webhook-Id"] for headers, _ in found.requests]
    assert ids == [str(sent.key)] * 2


def test_loopback_is_refused_when_added_and_when_sent(campaign, settings):
    with receiver() as found:
        webhook = hook(campaign, found.url)
        settings.WEBHOOKS_TO_PRIVATE_NETWORKS = False
        with pytest.raises(WebhookRefused, match="private network"):
            hook(campaign, "http://127.0.0.1:9/")
        with pytest.raises(WebhookRefused, match="private network"):
            change_webhook(webhook=webhook, url="http://[::1]/", kinds=["job-failed"], is_on=True)
        send_test(webhook=webhook, at=timezone.now())
        (delivery,) = send()

    assert found.requests == []
    assert "private network" in delivery.error


def test_a_killed_sender_delays_a_delivery_and_loses_none(campaign):
    with receiver() as found:
        send_test(webhook=hook(campaign, found.url), at=NOON)
        dead = sending.take(at=NOON)

        assert sending.take(at=NOON + timedelta(minutes=4)) is None
        (delivery,) = send()
        sending._failed(dead, "too late", NOON)

    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts) == (DeliveryStatus.SENT, 2)


def test_a_notice_that_was_switched_off_meanwhile_is_not_sent(campaign):
    with receiver() as found:
        webhook = hook(campaign, found.url)
        send_test(webhook=webhook, at=NOON)
        remove_webhook(webhook=webhook, at=NOON)
        (delivery,) = send()

    assert found.requests == []
    assert delivery.error == "The webhook was removed or switched off."


@pytest.mark.parametrize("is_for_one", [False, True])
@pytest.mark.parametrize("is_of_campaign", [False, True])
def test_a_member_who_was_removed_meanwhile_gets_no_waiting_notice(
    events, campaign, is_for_one, is_of_campaign
):
    user = reader(team=campaign.team)
    stays = UserFactory(email="bob@lab.example", team=campaign.team)
    about = {"about": campaign} if is_of_campaign else {"of_team": campaign.team}
    events.append(event(**about, only=user if is_for_one else None))
    sweep(at=NOON)
    remove_member(member=user.memberships.get(), actor=stays, at=NOON)

    sent = send()

    assert [message.to for message in mail.outbox] == ([] if is_for_one else [[stays.email]])
    (kept,) = [one for one in sent if one.user == user]
    assert (kept.status, kept.error[:20]) == (DeliveryStatus.GIVEN_UP, "The user may not see")


@pytest.mark.parametrize("is_for_one", [False, True])
def test_a_former_operator_gets_only_their_own_waiting_notices(events, is_for_one):
    user = reader(team=False, is_superuser=True)
    events.append(event(only=user if is_for_one else None))
    sweep(at=NOON)
    User.objects.filter(pk=user.pk).update(is_superuser=False)

    send()

    assert len(mail.outbox) == is_for_one


def test_a_user_who_became_a_viewer_gets_no_waiting_notice_of_the_campaign(events, campaign):
    user = UserFactory(email="ada@lab.example", team=campaign.team)
    events.append(event(campaign))
    sweep(at=NOON)
    user.memberships.update(role="VIEWER")

    (delivery,) = send()

    assert (delivery.status, mail.outbox) == (DeliveryStatus.GIVEN_UP, [])


def test_a_kind_that_was_switched_off_meanwhile_is_not_mailed(events, campaign):
    user = reader()
    events.append(event(campaign))
    sweep(at=NOON)
    choose_emails(user=user, email=user.email, kinds=[])

    send()

    assert mail.outbox == []


def test_a_state_that_is_over_is_not_mailed(events, campaign):
    reader(team=campaign.team)
    events.append(event(campaign))
    sweep(at=NOON)
    events.clear()
    sweep(at=NOON + timedelta(minutes=1))

    (delivery,) = send()

    assert (delivery.status, mail.outbox) == (DeliveryStatus.GIVEN_UP, [])


def test_a_state_that_comes_back_is_mailed_to_those_whose_mail_was_not_sent(events, campaign):
    first = reader(team=campaign.team)
    later = UserFactory(email="bob@lab.example", team=campaign.team)
    hook(campaign)

    def tell(minutes):
        """Whom a state is told of that begins now and ends right away."""
        at = NOON + timedelta(minutes=minutes)
        events.append(event(campaign))
        sweep(at=at)
        events.clear()
        sweep(at=at)
        return Delivery.objects.filter(notice__noticed_at=at)

    told = tell(0)
    told.filter(user=first).update(status=DeliveryStatus.SENT, ended_at=NOON)
    again = tell(1)
    (mail_to_later,) = again

    assert told.count() == 3
    assert mail_to_later.user == later
    again.update(status=DeliveryStatus.SENT, ended_at=NOON)
    assert not tell(2)
    assert Notice.objects.count() == 2


def test_a_mail_server_that_fails_is_tried_again(events, campaign, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    reader()
    events.append(event(campaign))
    sweep(at=NOON)

    (delivery,) = send()

    assert (delivery.status, delivery.attempts) == (DeliveryStatus.WAITING, 1)
    assert "refused" in delivery.error.lower()


def test_a_webhook_is_added_once_and_in_small_numbers(campaign, monkeypatch):
    monkeypatch.setattr("background.notices.choices.MOST_WEBHOOKS", 2)
    first = hook(campaign, kinds=["job-failed"])
    secret = first.secret
    with pytest.raises(WebhookRefused, match="with this address already"):
        hook(campaign, kinds=["job-failed"])
    with pytest.raises(WebhookRefused, match="no kind of notice 'nothing'"):
        hook(campaign, "https://other.example/", kinds=["nothing"])
    hook(campaign, "https://other.example/", kinds=["job-failed"])

    with pytest.raises(WebhookRefused, match="can have 2 webhooks"):
        hook(campaign, "https://third.example/", kinds=["job-failed"])
    renew_secret(webhook=first)
    assert first.secret != secret
    remove_webhook(webhook=first, at=NOON)
    assert Webhook.objects.kept().count() == 1
    hook(campaign, kinds=["job-failed"])


@pytest.mark.django_db(transaction=True)
def test_processes_that_sweep_at_once_store_one_notice(events):
    events.append(event())

    new = at_once(lambda _: sweep(at=NOON), range(4))

    assert sum(new) == Notice.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_processes_that_send_at_once_take_a_delivery_once(campaign):
    send_test(webhook=hook(campaign, kinds=["job-failed"]), at=NOON)

    taken = at_once(lambda _: sending.take(at=NOON), range(4))

    assert len([each for each in taken if each]) == 1
