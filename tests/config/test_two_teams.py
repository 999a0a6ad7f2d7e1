"""Two teams of twenty people each use the whole site at the same time, over HTTP.

Every address that can be read is read in random order, of one's own team and of the other one, and
some changes are made in between. Nobody sees a name of the other team, and nothing fails.
"""

import random
from dataclasses import dataclass, field

import pytest
import requests
from django.test import Client

from annotate.models import Campaign
from qualcontrol.models import Decision
from tests.config.every_row import make_world
from tests.config.rules import RULES, Rule
from tests.factories import UserFactory
from tests.routes import ROUTES, address_of
from tests.servers import PATIENCE
from tests.threads import at_once

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    # On PostgreSQL, each request in progress takes one of the server's connections, which other
    # tests share.
    pytest.mark.one_database,
]

TEAMS = ("zebra", "giraffe")
PEOPLE = 20
CHANGES = (
    "hits:pause",
    "hits:sync",
    "images:pick",
    "account:switch_team",
    "api-campaign-pause",
    "api-campaign-sync",
    "api-job-cancel",
    "webhooks:secret",
)
CSRF = "x" * 32


@dataclass(frozen=True)
class Step:
    verb: str
    route: str
    team: str
    address: str

    @property
    def rule(self) -> Rule:
        return RULES[self.route]


@dataclass
class Person:
    team: str
    session: requests.Session
    steps: list[Step] = field(default_factory=list)


@pytest.fixture
def worlds(settings, live_server):
    settings.SITE_URL = live_server.url
    return {name: make_world(name) for name in TEAMS}


def people_of(worlds) -> list[Person]:
    """Twenty signed-in members of each team: the three of its world, and more in all roles."""
    people = []
    for name, (_, users) in worlds.items():
        team = users["viewer"].memberships.get().team
        roles = ["VIEWER", "REVIEWER", "RESEARCHER"]
        more = [
            UserFactory(username=f"{name}-{n}", team=team, team__role=roles[n % 3])
            for n in range(PEOPLE - len(users))
        ]
        for user in [*users.values(), *more]:
            client = Client()
            client.force_login(user)
            session = requests.Session()
            session.cookies.update({"sessionid": client.cookies["sessionid"].value})
            session.cookies["csrftoken"] = session.headers["X-CSRFToken"] = CSRF
            people.append(Person(name, session))
    return people


def steps_of(worlds) -> list[Step]:
    """A GET of every address of both teams, and several of each change."""
    verbs = [("GET", route) for route, rule in RULES.items() if route in ROUTES and reads(rule)]
    verbs += [("POST", route) for route in CHANGES] * 2
    return [
        Step(verb, route, name, address_of(route, names))
        for name, (names, _) in worlds.items()
        for verb, route in verbs
    ]


def reads(rule: Rule) -> bool:
    return rule.scope in {"account", "public"} or "GET" in rule.verbs


def walk(person: Person, url: str) -> list[str]:
    """Take the person's steps; return what went wrong."""
    found = []
    other = next(name for name in TEAMS if name != person.team)
    for step in person.steps:
        answer = person.session.request(
            step.verb, url + step.address, timeout=PATIENCE, allow_redirects=False
        )
        said = f"{step.verb} {step.address} as {person.team}: {answer.status_code}"
        if answer.status_code >= 500:
            found.append(said)
        is_row = step.rule.scope == "team" and not step.rule.is_missing
        if step.team == other and is_row and answer.status_code != 404:
            found.append(f"{said}, and should be 404")
        if other not in step.address and other in answer.text.lower():
            found.append(f"{said}, and shows {other}")
    return found


def test_forty_people_of_two_teams_see_their_own_only(worlds, live_server):
    people, steps = people_of(worlds), steps_of(worlds)
    random.Random(7).shuffle(steps)
    for step, person in zip(steps, people * len(steps), strict=False):
        person.steps.append(step)

    wrong = at_once(lambda person: walk(person, live_server.url), people)

    assert [line for lines in wrong for line in lines] == []
    for name in TEAMS:
        made = Decision.objects.filter(campaign=Campaign.objects.get(slug=name))
        actors = made.exclude(actor=None).values_list("actor__memberships__team__slug", flat=True)
        assert set(actors) <= {f"{name}-team"}
