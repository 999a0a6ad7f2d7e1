"""Create and change groups of people, their consent texts and the tasks that they see."""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F

from marketplace.errors import GroupRefused
from marketplace.models import ConsentText, HitType, Offer, PeopleGroup, Requester

MOST_SHARE = 1_000_000


@dataclass(frozen=True)
class GroupPlan:
    """What people read before they join: who asks, what for, and whom to ask."""

    name: str
    organizer: str
    purpose: str
    contact: str
    consent: str
    language: str = "en"
    # Whether the consent text says that the requester sees names beside answers.
    shows_names: bool = False


@transaction.atomic
def create_group(
    *, plan: GroupPlan, at: datetime, requester: Requester | None = None
) -> PeopleGroup:
    """Create a group with version 1 of its consent text; raises GroupRefused.

    `requester` is who may change it by the API; a group of operators has none.
    """
    fields = _checked(plan)
    text = {"text": fields.pop("consent"), "shows_names": plan.shows_names}
    try:
        with transaction.atomic():
            group = PeopleGroup.objects.create(created_at=at, requester=requester, **fields)
    except IntegrityError as error:
        raise GroupRefused(
            f"There is a group called {plan.name!r} already. Choose another name.", field="name"
        ) from error
    ConsentText.objects.create(group=group, version=1, created_at=at, **text)
    return group


@transaction.atomic
def change_group(*, group: PeopleGroup, plan: GroupPlan, at: datetime) -> None:
    """Change the group's texts; raises GroupRefused.

    Another consent text becomes a new version, and members are asked again before their next task.
    """
    fields = _checked(plan)
    text = {"text": fields.pop("consent"), "shows_names": plan.shows_names}
    # The lock keeps two changes at the same time from making the same version.
    PeopleGroup.objects.select_for_update().get(pk=group.pk)
    try:
        with transaction.atomic():
            PeopleGroup.objects.filter(pk=group.pk).update(**fields)
    except IntegrityError as error:
        raise GroupRefused(
            f"There is another group called {plan.name!r}. Choose another name.", field="name"
        ) from error
    latest = latest_text(group)
    if text != {name: getattr(latest, name) for name in text}:
        ConsentText.objects.create(group=group, version=latest.version + 1, created_at=at, **text)


def latest_text(group: PeopleGroup) -> ConsentText:
    """The current version of the group's consent text."""
    return group.consent_texts.order_by("-version")[0]


def plan_of(group: PeopleGroup) -> GroupPlan:
    """The group's present texts."""
    names = ("name", "language", "organizer", "purpose", "contact")
    text = latest_text(group)
    own = {name: getattr(group, name) for name in names}
    return GroupPlan(**own, consent=text.text, shows_names=text.shows_names)


def _checked(plan: GroupPlan) -> dict[str, str]:
    texts = {name: value for name, value in vars(plan).items() if isinstance(value, str)}
    fields = {name: value.replace("\r\n", "\n").strip() for name, value in texts.items()}
    for name, value in fields.items():
        if not value or "\0" in value:
            raise GroupRefused("This text is needed: people read it before they join.", field=name)
    for name, longest in (("name", 100), ("organizer", 200), ("contact", 200)):
        if len(fields[name]) > longest or not fields[name].isprintable():
            raise GroupRefused(f"At most {longest} printable characters.", field=name)
    return fields


def offer(*, group: PeopleGroup, hit_type: HitType, share: int | None) -> Offer:
    """Show the group of HITs to the people, with a limit for each person; change an earlier offer.

    Raises GroupRefused if the share is not positive.
    """
    if share is not None and not 1 <= share <= MOST_SHARE:
        raise GroupRefused(f"A share is 1 to {MOST_SHARE} tasks, or empty.", field="share")
    return Offer.objects.update_or_create(
        group=group, hit_type=hit_type, defaults={"share": share, "is_open": True}
    )[0]


def close_offer(*, offer: Offer) -> None:
    """Stop showing the tasks. Tasks that people have begun can be finished."""
    Offer.objects.filter(pk=offer.pk).update(is_open=False)


def set_open(*, group: PeopleGroup, is_open: bool) -> None:
    """Let new people join, or not. Members stay."""
    PeopleGroup.objects.filter(pk=group.pk).update(is_open=is_open)


def replace_link(*, group: PeopleGroup) -> None:
    """Give the group a new link. The earlier one stops working; links in mails go on working."""
    PeopleGroup.objects.filter(pk=group.pk).update(link_number=F("link_number") + 1)
