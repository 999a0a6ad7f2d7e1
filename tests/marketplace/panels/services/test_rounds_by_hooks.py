"""Hooks over real HTTP: subscriptions, and requests that are lost, repeated, forged or stale."""

import random
import time
from collections import Counter
from datetime import timedelta
from io import StringIO

import pytest
import requests
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.panels import panel
from marketplace.panels.models import PanelStudy, PanelSubmission
from marketplace.panels.panel import PanelRefused
from marketplace.panels.services import rounds
from simulation.prolific.hooks import Event, Faults, Sender, headers_of
from simulation.prolific.server import StandIn
from simulation.prolific.state import new_id
from tests.marketplace.conftest import serving
from tests.marketplace.panels.people import TOKEN, arrive, go_back, published_study, work
from tests.servers import PATIENCE

HOUR = timedelta(hours=1)


@pytest.fixture
def stand_in(world, settings):
    """The stand-in on a port of this machine; the site talks to it by real requests."""
    with serving(StandIn(world, token=TOKEN), threads=2) as url:
        settings.PROLIFIC_API_URL = url
        settings.PROLIFIC_API_TOKEN = TOKEN
        settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT = world.workspace, world.project
        settings.PROLIFIC_HOOK_SECRET = world.make_secret(world.workspace)
        yield url


@pytest.fixture
def sender(world):
    """Sends the stand-in's hooks when the test says so."""
    return Sender(world.hooks, Faults())


@pytest.fixture
def published(marketplace, stand_in) -> PanelStudy:
    """A published study that is not due for an hour, at a site that is subscribed."""
    panel_study = published_study(places=40)
    rounds.subscribe()
    wait_an_hour()
    return panel_study


def wait_an_hour() -> None:
    PanelStudy.objects.update(read_next_at=clock.now() + HOUR)


def is_due_soon() -> bool:
    return PanelStudy.objects.get().read_next_at < clock.now() + timedelta(minutes=1)


def deliver(sender: Sender) -> list[int]:
    """Send what waits, once each, and return the statuses."""
    before = len(sender.sent)
    for event in sender.faults.disturb(sender.hooks.take()):
        sender.send(event)
    return [status for _, status in sender.sent[before:]]


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("marketplace_panel_hooks", *arguments, stdout=out)
    return out.getvalue()


def test_a_participants_return_is_read_because_a_hook_came(world, published, sender):
    client, submission = arrive(world, published, new_id())
    assert deliver(sender) == [204]
    assert is_due_soon()
    wait_an_hour()
    work(client, published.study, hits=2)
    go_back(world, client, published.study, submission)

    assert deliver(sender) == [204]
    assert is_due_soon()
    rounds.follow(at=clock.now() + timedelta(minutes=1))

    assert PanelSubmission.objects.get().status == "AWAITING REVIEW"


def test_lost_repeated_and_reordered_hooks_leave_the_same_state(world, published):
    """The hooks that come are taken, in any order; a reading finds what the lost ones said."""
    sender = Sender(world.hooks, Faults(0.3, seed=2))
    chance = random.Random(3)
    at_panel = world.study(published.external_id)
    taken = []
    for _ in range(30):
        taken.append(world.take_place(at_panel, new_id()))
        if chance.random() < 0.5:
            world.complete(taken.pop(chance.randrange(len(taken))), "NOWORK")
    noted = list(sender.hooks.take())
    for event in noted:
        sender.hooks.waiting.put(event)

    statuses = deliver(sender)

    times = Counter(event.id for event, _ in sender.sent)
    assert set(statuses) == {204}
    assert len(times) < len(noted), "none was lost"
    assert max(times.values()) > 1, "none was repeated"
    order = [event.happened_at for event, _ in sender.sent]
    assert order != sorted(order)
    assert is_due_soon()
    rounds.follow(at=clock.now() + timedelta(minutes=1))
    read = dict(PanelSubmission.objects.values_list("external_id", "status"))
    assert read == {each.id: each.status for each in world.submissions.values()}


def test_a_hook_that_was_not_taken_is_sent_again(world, published, sender, settings):
    right, settings.PROLIFIC_HOOK_SECRET = settings.PROLIFIC_HOOK_SECRET, "another secret"
    arrive(world, published, new_id())
    assert deliver(sender) == [403]
    assert not is_due_soon()

    settings.PROLIFIC_HOOK_SECRET = right

    assert deliver(sender) == [204]
    assert is_due_soon()
    first, second = (event.id for event, _ in sender.sent)
    assert first == second


@pytest.mark.parametrize("how", ["forged", "stale", "other body", "no signature"])
def test_a_hook_that_the_panel_did_not_sign_now_is_refused(world, published, how):
    body = b'{"resource_id": "' + published.external_id.encode() + b'"}'
    [subscription] = [
        each for each in world.hooks.subscriptions.values() if "submission" in each.event_type
    ]
    secret = "a guess" if how == "forged" else world.hooks.secret
    now = time.time() - (2 * 24 * 3600 if how == "stale" else 0)
    headers = headers_of(Event(subscription, {}), body, secret=secret, now=now)
    if how == "no signature":
        del headers["X-Prolific-Request-Signature"]
    if how == "other body":
        body += b" "

    answer = requests.post(subscription.target_url, body, headers=headers, timeout=PATIENCE)

    assert answer.status_code == 403
    assert not is_due_soon()


def test_subscribing_again_leaves_one_subscription_to_each_event(world, published):
    [first, *_] = world.hooks.subscriptions.values()
    # Prolific disables subscriptions whose hooks fail for days.
    first.is_confirmed = False

    rounds.subscribe()

    found = world.hooks.subscriptions.values()
    assert sorted(each.event_type for each in found) == sorted(rounds.EVENTS)
    assert all(each.is_confirmed for each in found)


def test_the_command_subscribes_shows_and_removes(world, marketplace, stand_in):
    other = world.subscribe("study.status.change", "https://other.example/", world.workspace)

    assert "No hooks lead to" in printed()
    assert printed("--subscribe").count(f"-> {marketplace.url}/panels/prolific/hook") == 2
    assert "is the workspace's" in printed()
    assert "No hooks lead to" in printed("--unsubscribe")
    assert list(world.hooks.subscriptions) == [other.id]


def test_without_the_workspaces_secret_nothing_is_subscribed(world, marketplace, stand_in):
    made = printed("--new-secret").strip()

    assert made == f"export PROLIFIC_HOOK_SECRET={world.hooks.secret}"
    assert "hooks are refused" in printed()
    with pytest.raises(CommandError, match="--new-secret"):
        printed("--subscribe")
    assert not world.hooks.subscriptions


def test_a_site_that_prolific_cannot_reach_is_not_subscribed(
    world, marketplace, stand_in, settings
):
    settings.MARKETPLACE_URL = "http://marketplace.example"

    with pytest.raises(PanelRefused, match="target_url"):
        rounds.subscribe()


def test_a_workspace_is_needed(settings):
    settings.PROLIFIC_WORKSPACE = ""

    with pytest.raises(StudyRefused, match="PROLIFIC_WORKSPACE"):
        rounds.subscribe()


def test_the_answer_with_the_row_alone_is_understood_too():
    row = {"id": "a" * 24, "event_type": "e", "target_url": "https://here.example"}

    alone = panel.subscription_made(row, event="e", address="https://here.example")
    listed = panel.subscription_made(
        {"results": [{**row, "id": "b", "event_type": "f"}, row]},
        event="e",
        address="https://here.example",
    )

    assert alone == listed


def test_the_operator_subscribes_and_sees_it(world, published, client):
    client.force_login(User.objects.create_user("root", is_staff=True))
    rounds.unsubscribe()
    page = "/operator/studies/everyday-scenes/panel"

    assert "No hooks" in client.get(page, {"hooks": "show"}).content.decode()
    done = client.post(f"{page}/study", {"action": "subscribe"}, follow=True)
    assert "Subscribed to hooks." in done.content.decode()
    assert "submission.status.change" in client.get(page, {"hooks": "show"}).content.decode()
    client.post(f"{page}/study", {"action": "unsubscribe"})

    assert not world.hooks.subscriptions
