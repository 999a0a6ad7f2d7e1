"""Calls of a marketplace with addresses under `/people`: groups of one's own people, the work that
they have withdrawn, and their names.

These addresses are not part of Mechanical Turk's API. Requests are signed as boto3 signs its own.
"""

import json
from collections import defaultdict
from typing import Annotated, Any

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.httpsession import URLLib3Session
from django.conf import settings
from pydantic import Field

from annotate.models import Campaign
from hits.mturk import replies
from hits.mturk.connection import NO_ANSWER, Checked, MarketplaceError, checked, strange
from hits.mturk.endpoints import endpoint_of
from hits.mturk.replies import Count, Reply, Text

TIMEOUT_SECONDS = 20
# The statuses by which a server says that it knows no such addresses or calls.
NOT_THERE = {404, 405, 501}
# The largest share that a marketplace takes.
MOST_SHARE = 1_000_000
Link = Annotated[str, Field(strict=True, pattern=r"^https?://[!-~]+$", max_length=1000)]


class GroupTasks(Reply):
    """HITs that a group sees."""

    hit_type_id: Text
    is_open: bool


class MailCounts(Reply):
    """How many addresses are on a group's list, have got their mail, and have joined."""

    addresses: Count
    sent: Count
    joined: Count


class PeopleGroup(Reply):
    """A group of own people. Without a link nobody new can join. `sends_mail` says whether the
    marketplace can mail it."""

    id: Count
    name: Text
    page: Link
    shows_names: bool
    link: Link | None
    sends_mail: bool
    members: Count
    tasks: list[GroupTasks]
    invitations: MailCounts


class _Invited(Reply):
    new: Count
    known: Count


class Described(Reply):
    """The operators' page of a campaign's HITs, the number of their withdrawn assignments, and the
    ids of the people who see them and have not withdrawn."""

    page: Link
    withdrawn: Count
    members: list[Text]


class _Withdrawn(Reply):
    worker_id: Text
    assignment_id: Text


class _Named(Reply):
    worker_id: Text
    name: Text


class Names(Reply):
    """People who have agreed that the requester sees their names, and the number of others."""

    people: list[_Named]
    unnamed: Count


class NoPeople(MarketplaceError):
    """The marketplace has no such addresses, or does not know the HITs."""


class GroupFieldRefused(MarketplaceError):
    """The marketplace refused one of the texts of a group, whose name is `field`."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message, is_refusal=True)
        self.field = field


def describe(campaign: Campaign, hit_type_id: str) -> Described:
    """Tell the marketplace which campaign the HITs belong to. Raises MarketplaceError; NoPeople if
    the marketplace cannot be told."""
    belongs = {
        "campaign": campaign.slug,
        "language": campaign.config.language,
        "url": settings.SITE_URL + campaign.get_absolute_url(),
    }
    answer = _send(campaign, "PUT", f"/hit-types/{hit_type_id}", belongs)
    return checked(Described, answer, "describe HITs")


def members_of(campaign: Campaign) -> set[str]:
    """The ids of the people who see tasks of the campaign and have not withdrawn; raises
    MarketplaceError."""
    told = [describe(campaign, hit_type) for hit_type in hit_types(campaign)]
    return {member for group in told for member in group.members}


def withdrawn_work(campaign: Campaign, hit_type_id: str) -> dict[str, set[str]]:
    """The ids of the assignments that people have withdrawn, by worker id; raises
    MarketplaceError."""
    answer = _send(campaign, "GET", f"/hit-types/{hit_type_id}/withdrawals")
    assignments_of: dict[str, set[str]] = defaultdict(set)
    for withdrawn in _checked_list(_Withdrawn, answer, "list withdrawals"):
        assignments_of[withdrawn.worker_id].add(withdrawn.assignment_id)
    return assignments_of


def names_of(campaign: Campaign) -> Names:
    """The names of the campaign's people, by worker id, and how many are not told; raises
    MarketplaceError."""
    people: dict[str, _Named] = {}
    unnamed = 0
    for hit_type in hit_types(campaign):
        answer = _send(campaign, "GET", f"/hit-types/{hit_type}/names")
        names = checked(Names, answer, "list names")
        people |= {person.worker_id: person for person in names.people}
        unnamed = max(unnamed, names.unnamed)
    return Names(people=list(people.values()), unnamed=unnamed)


def groups_of(campaign: Campaign) -> list[PeopleGroup]:
    """The groups that see tasks of the campaign; raises MarketplaceError."""
    own = hit_types(campaign)
    return [
        group
        for group in _groups(campaign)
        if any(tasks.is_open and tasks.hit_type_id in own for tasks in group.tasks)
    ]


def make_group(campaign: Campaign, texts: dict[str, str | bool]) -> PeopleGroup:
    """Make a group that sees the campaign's tasks. Raises MarketplaceError; if a text was refused,
    GroupFieldRefused."""
    answer = _send(campaign, "POST", "/groups", {**texts, **_tasks(campaign)})
    return checked(PeopleGroup, answer, "create group")


def give_tasks(campaign: Campaign, group: int) -> PeopleGroup:
    """Let a group see the campaign's newest HITs; raises MarketplaceError."""
    answer = _send(campaign, "POST", f"/groups/{group}/tasks", _tasks(campaign))
    return checked(PeopleGroup, answer, "give tasks")


def _tasks(campaign: Campaign) -> dict[str, str | int | None]:
    # A person can do each task once, so this limit keeps nobody from any. People see it as the
    # number of their tasks, of which a paid practice is one. Pages for several images can have
    # fewer, so their number is not known.
    practice, is_single = campaign.config.practice, campaign.config.hit.images == 1
    share = campaign.tasks.count() + bool(practice.captions and practice.paid) if is_single else 0
    return {"hit_type_id": hit_types(campaign)[-1], "share": min(share, MOST_SHARE) or None}


def lacks_newest(campaign: Campaign, group: PeopleGroup) -> bool:
    """Whether the group does not see the newest HITs, for example after a change of the reward."""
    seen = {tasks.hit_type_id for tasks in group.tasks if tasks.is_open}
    return hit_types(campaign)[-1] not in seen


def invite(campaign: Campaign, group: int, addresses: list[str]) -> tuple[int, int]:
    """Have the marketplace mail the group's link to addresses: how many are new, and how many were
    on its list before. Raises MarketplaceError."""
    answer = _send(campaign, "POST", f"/groups/{group}/invitations", {"addresses": addresses})
    counts = checked(_Invited, answer, "invite people")
    return counts.new, counts.known


def _groups(campaign: Campaign) -> list[PeopleGroup]:
    return _checked_list(PeopleGroup, _send(campaign, "GET", "/groups"), "list groups")


def _checked_list(model: type[Checked], answer: Any, operation: str) -> list[Checked]:
    if not isinstance(answer, list):
        raise strange(operation, "it is not a list")
    return [checked(model, entry, operation) for entry in answer]


def hit_types(campaign: Campaign) -> list[str]:
    """The ids of the campaign's HIT types, that of its new HITs last; raises MarketplaceError if
    it has none."""
    in_use_last = campaign.hit_types.in_use_last(campaign)
    ids = list(in_use_last.values_list("hit_type_id", flat=True))
    if not ids:
        raise MarketplaceError("The campaign has no tasks at the marketplace yet.")
    return ids


def _send(campaign: Campaign, method: str, path: str, body: Any = None) -> Any:
    """The JSON of the answer; raises MarketplaceError."""
    url = f"{endpoint_of(campaign.endpoint).url}/people{path}"
    content = b"" if body is None else json.dumps(body).encode()
    request = AWSRequest(method, url, {"Content-Type": "application/json"}, content)
    try:
        keys = boto3.Session().get_credentials()
        if keys is None:
            raise MarketplaceError("This site has no keys of a requester.", is_refusal=True)
        SigV4Auth(keys, "mturk-requester", "us-east-1").add_auth(request)
        answer = URLLib3Session(timeout=TIMEOUT_SECONDS).send(request.prepare())
        given = json.loads(answer.content)
    except BotoCoreError as error:
        raise MarketplaceError(f"The marketplace at {url} did not answer.", NO_ANSWER) from error
    except (ValueError, RecursionError) as error:
        if answer.status_code in NOT_THERE:
            raise NoPeople(f"The marketplace has no groups of people at {url}.") from error
        # Such as the page of a proxy.
        raise MarketplaceError(
            f"The marketplace at {url} failed (status {answer.status_code})."
        ) from error
    if answer.status_code < 300:
        return given
    problem = given if isinstance(given, dict) else {}
    message = replies.storable(str(problem.get("error", f"status {answer.status_code}")))[:500]
    if field := problem.get("field"):
        raise GroupFieldRefused(message, str(field))
    kind = NoPeople if answer.status_code in NOT_THERE else MarketplaceError
    is_busy = answer.status_code == 429 or answer.status_code >= 500
    raise kind(f"The marketplace refused: {message}", is_refusal=not is_busy)
