"""Groups of a requester's own people for programs: JSON, signed with the requester's keys.

Each requester sees the groups that their own programs have made, and no others. Of the requester's
own HITs, a program says what they belong to, and learns which work people have withdrawn and, if
the consent text says so, who they are.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from marketplace import clock
from marketplace.api.calls import find_hit_type
from marketplace.api.errors import NotAuthorized, Throttled
from marketplace.api.signing import MUST_BE_SIGNED, authenticate, count_call
from marketplace.api.validation import can_be_stored
from marketplace.errors import DoesNotExist, DomainError, GroupRefused
from marketplace.models import HitType, PeopleGroup, Requester
from marketplace.services import mail_invitations, people_groups, people_work
from marketplace.services.hit_types import describe
from marketplace.services.links import group_url
from marketplace.services.operators import noted
from marketplace.services.people_groups import GroupPlan
from shared.mail import sends_email

TEXTS = ("name", "language", "organizer", "purpose", "contact", "consent")
TASKS = {"hit_type_id": str, "share": int}
Handler = Callable[..., Any]


def _signed(**by_method: Handler) -> Callable[..., JsonResponse]:
    """The view of an address: checks the signature, and calls the method's function."""

    @csrf_exempt
    def view(request: HttpRequest, **names: Any) -> JsonResponse:
        handler = by_method.get(str(request.method).lower())
        if handler is None:
            return _problem(405, f"This address takes {', '.join(by_method).upper()}.")
        try:
            now = timezone.now()
            requester = authenticate(request, at=now, signed=MUST_BE_SIGNED - {"x-amz-target"})
            count_call(requester, at=now)
            answer = handler(requester, **names, **_body(request))
        except NotAuthorized as error:
            return _problem(401, str(error))
        except Throttled as error:
            return _problem(429, str(error))
        except RequestDataTooBig:
            return _problem(413, "The request is too large.")
        except DoesNotExist as error:
            return _problem(404, str(error))
        except DomainError as error:
            return _problem(400, str(error), getattr(error, "field", ""))
        return JsonResponse(answer, status=201 if request.method == "POST" else 200, safe=False)

    return view


def _problem(status: int, message: str, field: str = "") -> JsonResponse:
    return JsonResponse({"error": message, **({"field": field} if field else {})}, status=status)


def _body(request: HttpRequest) -> dict[str, Any]:
    """The fields of the request as the argument `given`, if it has a body."""
    if request.method == "GET":
        return {}
    try:
        given = json.loads(request.body or b"{}")
    except (ValueError, RecursionError) as error:
        raise DomainError("The request is not a JSON document.") from error
    if not isinstance(given, dict):
        raise DomainError("The request must be a JSON object.")
    return {"given": given}


def _takes(**types: type) -> Callable[[Handler], Handler]:
    """Refuse a body with other fields, or values of other types."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def checked(*args: Any, given: Mapping[str, Any], **names: Any) -> Any:
            for name, value in given.items():
                if name not in types:
                    known = ", ".join(types) or "none"
                    message = f"There is no field {name[:40]!r}, only {known}."
                    raise GroupRefused(message, field=name)
                # A share that is null is no limit.
                if type(value) is not types[name] and (value, types[name]) != (None, int):
                    raise GroupRefused(f"This must be a {types[name].__name__}.", field=name)
                if isinstance(value, str) and not can_be_stored(value):
                    message = "This has a character that cannot be stored."
                    raise GroupRefused(message, field=name)
            return handler(*args, given=given, **names)

        return checked

    return decorate


def _find(requester: Requester, pk: int) -> PeopleGroup:
    group = requester.people_groups.filter(pk=pk).first()
    if group is None:
        raise DoesNotExist(f"There is no group {pk} of yours.")
    return group


def _plan(given: Mapping[str, Any]) -> GroupPlan:
    for name in TEXTS:
        if name not in given and name != "language":
            message = "This text is needed: people read it before they join."
            raise GroupRefused(message, field=name)
    if given.get("language", "en") not in dict(settings.LANGUAGES):
        known = ", ".join(dict(settings.LANGUAGES))
        raise GroupRefused(f"Use one of {known}.", field="language")
    return GroupPlan(**given)


def _shown(group: PeopleGroup) -> dict[str, Any]:
    invited = group.mail_invitations
    return {
        "id": group.pk,
        **vars(people_groups.plan_of(group)),
        "page": settings.MARKETPLACE_URL + reverse("operator:people_group", args=[group.pk]),
        "is_open": group.is_open,
        "link": group_url(group) if group.is_open else None,
        "sends_mail": sends_email(),
        "members": group.memberships.filter(withdrawn_at=None, worker__erased_at=None).count(),
        "tasks": [
            {
                "hit_type_id": offer.hit_type.public_id,
                "share": offer.share,
                "is_open": offer.is_open,
            }
            for offer in group.offers.select_related("hit_type").order_by("pk")
        ],
        "invitations": {
            "addresses": invited.count(),
            "sent": invited.exclude(sent_at=None).count(),
            "joined": invited.exclude(worker=None).count(),
        },
    }


def _list(requester: Requester) -> list[dict[str, Any]]:
    return [_shown(group) for group in requester.people_groups.order_by("pk")]


@_takes(**dict.fromkeys(TEXTS, str), shows_names=bool, **TASKS)
def _create(requester: Requester, *, given: Mapping[str, Any]) -> dict[str, Any]:
    at, name = clock.now(), given.get("name", "")
    plan = {field: value for field, value in given.items() if field not in TASKS}
    with noted(actor=requester.name, action="CreateGroup", about=name, at=at), transaction.atomic():
        made = people_groups.create_group(plan=_plan(plan), at=at, requester=requester)
        if given.keys() & TASKS:
            _give_tasks(made, requester, given)
    return _shown(made)


def _show(requester: Requester, pk: int) -> dict[str, Any]:
    return _shown(_find(requester, pk))


@_takes(**dict.fromkeys(TEXTS, str), shows_names=bool, is_open=bool)
def _change(requester: Requester, pk: int, *, given: Mapping[str, Any]) -> dict[str, Any]:
    group, at = _find(requester, pk), clock.now()
    changes = {name: value for name, value in given.items() if name != "is_open"}
    with noted(actor=requester.name, action="ChangeGroup", about=group.name, at=at):
        if changes:
            _change_texts(group, changes, at)
        if "is_open" in given:
            people_groups.set_open(group=group, is_open=given["is_open"])
    return _show(requester, pk)


@transaction.atomic
def _change_texts(group: PeopleGroup, changes: Mapping[str, Any], at: datetime) -> None:
    # Locked before the other texts are read: of two changes at once, neither undoes the other.
    group = PeopleGroup.objects.select_for_update().get(pk=group.pk)
    plan = _plan({**vars(people_groups.plan_of(group)), **changes})
    people_groups.change_group(group=group, plan=plan, at=at)


@_takes(**TASKS)
def _offer(requester: Requester, pk: int, *, given: Mapping[str, Any]) -> dict[str, Any]:
    group = _find(requester, pk)
    with noted(actor=requester.name, action="GiveTasks", about=group.name, at=clock.now()):
        _give_tasks(group, requester, given)
    return _shown(group)


def _give_tasks(group: PeopleGroup, requester: Requester, given: Mapping[str, Any]) -> None:
    hit_type = find_hit_type(requester, given.get("hit_type_id", ""))
    people_groups.offer(group=group, hit_type=hit_type, share=given.get("share"))


def _close_tasks(requester: Requester, pk: int, hit_type: str, **_: Any) -> dict[str, Any]:
    group = _find(requester, pk)
    offer = group.offers.filter(hit_type__public_id=hit_type).first()
    if offer is None:
        raise DoesNotExist("The group has no such tasks.")
    with noted(actor=requester.name, action="CloseTasks", about=group.name, at=clock.now()):
        people_groups.close_offer(offer=offer)
    return _shown(group)


@_takes(addresses=list)
def _invite(requester: Requester, pk: int, *, given: Mapping[str, Any]) -> dict[str, Any]:
    group, at = _find(requester, pk), clock.now()
    if not sends_email():
        raise GroupRefused("This marketplace sends no e-mail. Send people the link instead.")
    addresses = mail_invitations.addresses_in(" ".join(map(str, given.get("addresses", []))))
    with noted(actor=requester.name, action="InvitePeople", about=group.name, at=at):
        new = mail_invitations.add_addresses(group=group, addresses=addresses, at=at)
    return {"new": new, "known": len(addresses) - new}


@_takes()
def _replace_link(requester: Requester, pk: int, *, given: Mapping[str, Any]) -> dict[str, Any]:
    group = _find(requester, pk)
    with noted(actor=requester.name, action="ReplaceLink", about=group.name, at=clock.now()):
        people_groups.replace_link(group=group)
    return _show(requester, pk)


@_takes(campaign=str, language=str, url=str)
def _describe(requester: Requester, hit_type: str, *, given: Mapping[str, str]) -> dict[str, Any]:
    """Note what HITs belong to; answer with the operators' page of them, what was withdrawn, and
    who can do more."""
    found_type = find_hit_type(requester, hit_type)
    describe(
        hit_type=found_type,
        **{name: given.get(name, "") for name in ("campaign", "language", "url")},
    )
    return {
        "page": _operators_page(found_type),
        "withdrawn": sum(1 for _ in people_work.withdrawals(found_type.offers.all())),
        "members": people_work.members_of(found_type),
    }


def _operators_page(hit_type: HitType) -> str:
    """The page of the people who see the HITs; of the HITs, if these are several groups or none."""
    groups = PeopleGroup.objects.filter(offers__hit_type=hit_type, offers__is_open=True)[:2]
    path = (
        reverse("operator:people_group", args=[groups[0].pk])
        if len(groups) == 1
        else f"{reverse('operator:groups')}?q={hit_type.public_id}"
    )
    return settings.MARKETPLACE_URL + path


def _withdrawals(requester: Requester, hit_type: str) -> list[dict[str, str]]:
    rows = people_work.withdrawals(find_hit_type(requester, hit_type).offers.all())
    return [dict(zip(people_work.WITHDRAWAL_COLUMNS, row, strict=True)) for row in rows]


def _names(requester: Requester, hit_type: str) -> dict[str, Any]:
    """The people who have agreed that the requester sees their names, and how many have not."""
    named, unnamed = people_work.people_of(find_hit_type(requester, hit_type))
    people = [{"worker_id": worker.public_id, "name": worker.name} for worker in named]
    return {"people": people, "unnamed": unnamed}


urlpatterns = [
    path("groups", _signed(get=_list, post=_create), name="api_groups"),
    path("groups/<int:pk>", _signed(get=_show, patch=_change), name="api_group"),
    path("groups/<int:pk>/tasks", _signed(post=_offer), name="api_group_tasks"),
    path(
        "groups/<int:pk>/tasks/<str:hit_type>",
        _signed(delete=_close_tasks),
        name="api_group_closed_tasks",
    ),
    path("groups/<int:pk>/invitations", _signed(post=_invite), name="api_group_invitations"),
    path("groups/<int:pk>/link", _signed(post=_replace_link), name="api_group_link"),
    path("hit-types/<str:hit_type>", _signed(put=_describe), name="api_described"),
    path("hit-types/<str:hit_type>/withdrawals", _signed(get=_withdrawals), name="api_withdrawals"),
    path("hit-types/<str:hit_type>/names", _signed(get=_names), name="api_names"),
]
