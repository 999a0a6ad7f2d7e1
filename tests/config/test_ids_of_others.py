"""Ids of another team's rows in everything that a request has beside its address: filters, forms,
JSON bodies, files, and places in an address whose campaign is the user's own.

No answer shows anything of the other team, none of its rows changes, and no row of one team leads
to a row of another one. The team's path of each table is found by its foreign keys, so a new table
is compared without a change here.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, models, transaction
from django.db.models import F, Q
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Team
from annotate.models import Caption, Image, Response
from background.jobs.runner import run_waiting
from background.models import Failure, Job
from tests import pictures
from tests.config.every_row import make_world
from tests.config.rules import RULES
from tests.factories import (
    AssignmentFactory,
    CaptionSetFactory,
    GivenCaptionFactory,
    HitFactory,
    HitTypeFactory,
    WorkerAccountFactory,
)
from tests.routes import ROUTES, address_of
from tests.rubbish import FILTERS, FORM, PageForm, forms_of, urlencoded
from tests.worlds import renewed, shared_rows

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

# Texts that only the other team may read. Names that a request has may be in its answer.
SECRET = "quagga"
MINE, THEIRS = "giraffe", "zebra"
REFUSED = {400, 403, 404, 405, 409, 422}
IN_EVERY_HEADER = {"/sign-out/", "/account/team/switch/"}


@pytest.fixture
def world(shared_two_teams):
    """The values of addresses of one's own team and of the other one, and a researcher's client."""
    mine, theirs, client = shared_two_teams
    return dict(mine), dict(theirs), renewed({"researcher": client})["researcher"]


@pytest.fixture(scope="module")
def shared_two_teams(django_db_setup, django_db_blocker):
    with shared_rows(django_db_blocker):
        yield two_teams()


def two_teams():
    mine, users = make_world(MINE)
    theirs, _ = make_world(THEIRS)
    for names, name in ((mine, MINE), (theirs, THEIRS)):
        names |= _rows_of_workers(name)
    Caption.objects.filter(response__campaign__slug=THEIRS).update(text=SECRET)
    Image.objects.filter(team__slug=f"{THEIRS}-team").update(title=SECRET, author=SECRET)
    Failure.objects.filter(team__slug=f"{THEIRS}-team").update(error=SECRET)
    Job.objects.filter(team__slug=f"{THEIRS}-team").update(step=SECRET, error="")
    theirs["rows"] = rows_of(theirs["team"], team_paths())
    client = Client()
    client.force_login(users["researcher"])
    return mine, theirs, client


def _rows_of_workers(name: str) -> dict[str, Any]:
    response = Response.objects.get(campaign__slug=name)
    team = response.campaign.team
    hit = HitFactory(hit_type=HitTypeFactory(campaign=response.campaign))
    account = WorkerAccountFactory(worker=response.worker)
    AssignmentFactory(hit=hit, account=account)
    given = CaptionSetFactory(name=f"{name}-captions", team=team)
    GivenCaptionFactory(caption_set=given, image=response.task.image, text=SECRET)
    return {
        "response": response.pk,
        "response_key": response.key,
        "image": response.task.image_id,
        "image_key": response.task.image.key,
        "team": team.pk,
        "split": response.task.image.split,
        "selection": f"{name}-set",
        "caption_set": given.name,
    }


Table = type[models.Model]

# A number, a pseudonym, a name and a public key of the other team's rows.
IDS = ("image", "pseudonym", "selection", "response_key")


@cache
def team_paths() -> dict[Table, str]:
    """The path from each table to the team to which a row belongs."""
    paths: dict[Table, str] = {Team: "pk"}
    tables = [model for model in apps.get_models() if model is not Team]
    while True:
        found = {
            model: f"{field.name}__{paths[field.related_model]}".removesuffix("__pk")
            for model in tables
            if model not in paths
            for field in _references(model)
            if field.related_model in paths
        }
        if not found:
            return paths
        paths |= found


def _references(model: Table) -> list[Any]:
    return [f for f in model._meta.get_fields() if isinstance(f, models.ForeignKey)]


def rows_of(team: int, tables: Iterable[Table]) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the team in these tables."""
    paths = team_paths()
    return {
        model._meta.label: list(
            model._base_manager.filter(**{paths[model]: team}).order_by("pk").values_list()
        )
        for model in tables
    }


def references_across(tables: Iterable[Table]) -> list[str]:
    """Foreign keys that lead from a row of one team, in these tables, to a row of another one."""
    paths = team_paths()
    found = []
    for model in tables:
        path = paths[model]
        for field in _references(model):
            there = f"{field.name}__{paths.get(field.related_model, '')}".removesuffix("__pk")
            if field.related_model in paths and there != path:
                rows = model._base_manager.filter(~Q(**{path: F(there)}))
                rows = rows.exclude(**{f"{there}__isnull": True}).exclude(
                    **{f"{path}__isnull": True}
                )
                found += [f"{model._meta.label}.{field.name} of {row.pk}" for row in rows]
    return found


def faults(theirs: dict[str, Any], ask: Any, said: str, *, refused: bool = False) -> list[str]:
    """The faults of the answer and of the request's changes, which are undone."""
    found = []
    with transaction.atomic():
        with CaptureQueriesContext(connection) as log:
            answer = ask()
            body = b"".join(answer).decode(errors="replace")
        if answer.status_code >= 500:
            found.append(f"{said}: {answer.status_code}")
        if SECRET in body:
            found.append(f"{said} shows the other team's row")
        if refused and answer.status_code not in REFUSED:
            found.append(f"{said}: {answer.status_code}, and should be refused")
        changed = changed_by([query["sql"] for query in log])
        rows = rows_of(theirs["team"], changed)
        if rows != {table: theirs["rows"][table] for table in rows}:
            found.append(f"{said} changes the other team's rows")
        found += [f"{said}: {one}" for one in references_across(changed)]
        transaction.set_rollback(True)
    return found


CHANGE = re.compile(r'(?:INSERT(?: OR IGNORE)? INTO|UPDATE|DELETE FROM) "?(\w+)')


def changed_by(statements: list[str]) -> set[Table]:
    """The tables with teams to which the statements wrote."""
    changes = [sql for sql in statements if sql.startswith(("INSERT", "UPDATE", "DELETE"))]
    # A statement of another form is an error here.
    names = {CHANGE.match(sql)[1] for sql in changes}
    return {table for table in team_paths() if table._meta.db_table in names}


def mixed_addresses() -> Iterator[tuple[str, str]]:
    """Routes of a campaign, each with an argument in it that names a row."""
    for route, arguments in sorted(ROUTES.items()):
        if route in RULES and "slug" in arguments:
            for argument in arguments:
                if argument in {"pk", "key", "pseudonym", "file"}:
                    yield route, argument


def test_a_row_of_another_team_is_not_found_under_ones_own_campaign(world):
    mine, theirs, client = world
    found = []
    for route, argument in mixed_addresses():
        address = address_of(route, {**theirs, "slug": mine["slug"]})
        for verb in ("GET", "POST", "DELETE"):
            ask = partial(client.generic, verb, address)
            found += faults(theirs, ask, f"{verb} {address} ({argument})", refused=True)

    assert not found, "\n".join(found)


def test_a_filter_by_another_teams_id_finds_nothing_of_it(world):
    mine, theirs, client = world
    found = []
    for route in sorted(r for r, rule in RULES.items() if "GET" in rule.verbs and r in ROUTES):
        address = address_of(route, mine)
        for one in IDS:
            asked = dict.fromkeys(FILTERS, theirs[one])
            found += faults(theirs, partial(client.get, address, asked), f"GET {address} of {one}")

    assert not found, "\n".join(found)


@pytest.mark.slow
def test_another_teams_id_in_a_form_changes_and_shows_nothing_of_it(world):
    mine, theirs, client = world
    tried, found = set(), []
    for route in sorted(r for r in ROUTES if not r.startswith("api-")):
        for form in forms_on(client, address_of(route, mine)):
            for name in form.fields.keys() - {"form_key"}:
                if form.address in IN_EVERY_HEADER or (form.address, name) in tried:
                    continue
                tried.add((form.address, name))
                for one in fitting(name, form.fields[name]):
                    data = urlencoded({**form.fields, name: [theirs[one]]})
                    ask = partial(client.post, form.address, data, content_type=FORM)
                    found += faults(theirs, ask, f"POST {form.address} with {name}={one}")

    assert len(tried) > 100
    assert not found, "\n".join(found[:30])


def fitting(name: str, values: list[str]) -> list[str]:
    """The ids that a field may have, by its name and by the value that the page shows."""
    value = values[0] if values else ""
    if name.endswith("team"):
        return ["team"]
    if value.isdigit():
        return ["image"]
    if value.startswith("W-"):
        return ["pseudonym"]
    if re.fullmatch("[0-9a-f-]{36}", value):
        return ["response_key"]
    return ["selection"] if value else ["selection", "image"]


def forms_on(client: Client, address: str) -> list[PageForm]:
    page = client.get(address)
    if page.status_code != 200 or not page["Content-Type"].startswith("text/html"):
        return []
    return forms_of(b"".join(page).decode(), address)


FILE = {"name": "new", "preset": "coco-c5", "budget": "10.00"}
MY_SET = f"{MINE}-set"


def of_kind(kind: str, **keys: Any) -> dict[str, Any]:
    return {"name": "new", "kind": kind, "budget": "10.00", **keys}


def sources_of(t: dict[str, Any]) -> list[dict[str, str]]:
    own = {"name": "own", "caption_set": f"{MINE}-captions"}
    return [own, {"name": "other", "caption_set": t["caption_set"]}]


def rating_of(t: dict[str, Any]) -> dict[str, Any]:
    questions = [{"name": "q", "text": "Good?", "labels": ["no", "yes"]}]
    return {"sources": sources_of(t), "questions": questions}


def practice_of(image: str) -> dict[str, Any]:
    return {"captions": [{"image": image, "text": "A cat.", "good": True, "why": "True."}]}


# Fields of API calls that name rows; each value is a key of the other team's names.
BODIES = [
    ("api-campaign-list", lambda t: {**FILE, "selection": t["selection"]}),
    ("api-campaign-list", lambda t: of_kind("correspondence", caption_set=t["caption_set"])),
    ("api-campaign-list", lambda t: of_kind("correspondence", release=t["name"])),
    ("api-campaign-list", lambda t: of_kind("rating", selection=MY_SET, rating=rating_of(t))),
    (
        "api-campaign-list",
        lambda t: of_kind(
            "preference",
            selection=MY_SET,
            preference={"sources": sources_of(t), "criteria": [{"name": "q", "question": "Q?"}]},
        ),
    ),
    *(
        ("api-campaign-list", lambda t, k=kind: of_kind(k, selection=t["selection"]))
        for kind in ("refine", "region")
    ),
    (
        "api-campaign-list",
        lambda t: of_kind("refine", selection=MY_SET, refine={"draft_set": t["caption_set"]}),
    ),
    (
        "api-campaign-list",
        lambda t: of_kind("refine", selection=MY_SET, refine={"draft_release": t["name"]}),
    ),
    (
        "api-campaign-list",
        lambda t: {**FILE, "selection": MY_SET, "captions": {"rate_first": t["caption_set"]}},
    ),
    (
        "api-campaign-list",
        lambda t: {**FILE, "selection": MY_SET, "practice": practice_of(t["image_key"])},
    ),
    (
        "api-selection-list",
        lambda t: {"name": "s", "procedure": "picked", "images": [t["image_key"]]},
    ),
    ("api-selection-list", lambda t: {"name": "s", "procedure": "all", "split": t["split"]}),
    (
        "api-selection-list",
        lambda t: {"name": "s", "procedure": "nocaps", "split": t["split"], "count": 1},
    ),
    ("api-selection-list", lambda t: {"name": t["selection"], "procedure": "all", "split": MINE}),
    (
        "api-campaign-bonuses",
        lambda t: {"worker": t["pseudonym"], "amount": "1.00", "reason": "Thank you."},
    ),
    (
        "api-campaign-messages",
        lambda t: {"workers": [t["pseudonym"]], "subject": "Hello", "text": "Thank you."},
    ),
    ("api-campaign-appeals", lambda t: {"worker": t["pseudonym"], "text": "Why?"}),
    ("api-campaign-gold", lambda t: {"response": t["response"], "verdict": "GOOD"}),
    (
        "api-campaign-gold",
        lambda t: {"image": t["image_key"], "text": "A cat.", "reason": "It is a dog."},
    ),
    ("api-campaign-releases", lambda t: {"name": t["name"], "partial": True}),
]


@pytest.mark.parametrize(("route", "body"), BODIES)
def test_another_teams_id_in_a_body_is_refused(world, route, body):
    mine, theirs, client = world
    address, sent = address_of(route, mine), body(theirs)

    def ask():
        return client.post(address, sent, content_type="application/json")

    assert faults(theirs, ask, f"POST {address} {sent}", refused=True) == []


def photograph(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, pictures.photograph())


# What a file names, or the fields beside it.
FILES = [
    (
        "images:import",
        lambda t: {"kind": "own", "split": t["split"], "photographs": photograph("a.png")},
    ),
    ("api-image-list", lambda t: {"split": t["split"], "file": photograph("a.png")}),
    (
        "api-import-list",
        lambda t: {"kind": "own", "split": t["split"], "photographs": photograph("a.png")},
    ),
    (
        "api-import-list",
        lambda t: {
            "kind": "own",
            "split": MINE + "-2",
            "photographs": photograph("a.png"),
            "table": SimpleUploadedFile("t.csv", f"file,author\n{t['image_key']},x".encode()),
        },
    ),
    (
        "api-import-list",
        lambda t: {
            "kind": "coco",
            "split": MINE,
            "caption_set": t["caption_set"],
            "captions": SimpleUploadedFile("c.json", _captions(t["image_key"])),
        },
    ),
    (
        "hits:new_from_file",
        lambda t: {
            "text": f'name = "n"\nbudget = 9\npreset = "coco-c5"\nselection = "{t["selection"]}"'
        },
    ),
    (
        "hits:bonuses",
        lambda t: {
            "text": f"worker,amount,reason\n{t['pseudonym']},1.00,Thank you",
            "confirmed": "on",
        },
    ),
]


def _captions(key: str) -> bytes:
    image = f'{{"id": 1, "open_images_id": "{key}", "width": 9, "height": 9, "file_name": "a.jpg"}}'
    return (
        f'{{"images": [{image}], "annotations": [{{"id": 1, "image_id": 1, "caption": "A cat."}}]}}'
    ).encode()


@pytest.mark.parametrize(("route", "fields"), FILES)
def test_another_teams_id_in_a_file_or_beside_it_changes_nothing_of_it(world, route, fields):
    mine, theirs, client = world
    address = address_of(route, mine)

    def ask():
        answer = client.post(address, {**fields(theirs), "complete": "yes"})
        list(run_waiting(among=Job.objects.filter(team=mine["team"])))
        return answer

    assert faults(theirs, ask, f"POST {address}") == []
