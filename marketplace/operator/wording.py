"""The activity log in words: what was done, and the names of the things that it was done to."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from marketplace.models import Activity, Assignment, Hit, HitType, QualificationType, Worker

# What a call of the API does, after the requester's name. The operators' actions are words already.
WORDS = {
    "AcceptQualificationRequest": "granted a requested qualification",
    "ApproveAssignment": "approved an assignment",
    "AssociateQualificationWithWorker": "gave a worker a qualification",
    "CreateAdditionalAssignmentsForHIT": "added assignments to a HIT",
    "CreateHIT": "created a HIT",
    "CreateHITType": "created a group of HITs",
    "CreateHITWithHITType": "created a HIT",
    "CreateQualificationType": "created a qualification type",
    "CreateWorkerBlock": "blocked a worker",
    "DeleteHIT": "deleted a HIT",
    "DeleteQualificationType": "deleted a qualification type",
    "DeleteWorkerBlock": "ended a worker's block",
    "DisassociateQualificationFromWorker": "took a qualification from a worker",
    "NotifyWorkers": "sent a message to workers",
    "RejectAssignment": "rejected an assignment",
    "RejectQualificationRequest": "refused a requested qualification",
    "SendBonus": "paid a bonus",
    "SendTestEventNotification": "sent a test notification",
    "UpdateExpirationForHIT": "changed when a HIT expires",
    "UpdateHITReviewStatus": "changed whether a HIT is being reviewed",
    "UpdateHITTypeOfHIT": "moved a HIT to another group",
    "UpdateNotificationSettings": "changed the notifications of a group",
    "UpdateQualificationType": "changed a qualification type",
}


@dataclass(frozen=True)
class Thing:
    """What an entry is about: its name, and the address of its page if it has one."""

    name: str
    url: str = ""


@dataclass(frozen=True)
class Entry:
    row: Activity
    words: str
    about: Thing


def told(rows: Sequence[Activity]) -> list[Entry]:
    """The rows in words, with as many queries for any number of rows."""
    things = _things({row.about for row in rows})
    return [
        Entry(row, WORDS.get(row.action, row.action), things.get(row.about, Thing(row.about)))
        for row in rows
    ]


def _things(ids: set[str]) -> dict[str, Thing]:
    found: dict[str, Thing] = {}
    for hit in Hit.objects.filter(public_id__in=ids).select_related("hit_type").defer("question"):
        found[hit.public_id] = Thing(hit.hit_type.title, _hit_url(hit))
    for assignment in Assignment.objects.filter(public_id__in=ids).select_related("hit__hit_type"):
        title = assignment.hit.hit_type.title
        found[assignment.public_id] = Thing(title, _hit_url(assignment.hit))
    for group in HitType.objects.filter(public_id__in=ids):
        url = f"{reverse('operator:groups')}?q={group.public_id}"
        found[group.public_id] = Thing(group.title, url)
    for worker in Worker.objects.filter(public_id__in=ids):
        url = reverse("operator:worker", args=[worker.public_id])
        found[worker.public_id] = Thing(worker.name, url)
    for kind in QualificationType.objects.filter(public_id__in=ids):
        found[kind.public_id] = Thing(kind.name)
    return found


def _hit_url(hit: Hit) -> str:
    return reverse("operator:hit", args=[hit.public_id])
