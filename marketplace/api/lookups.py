"""Find a requester's own objects by public id. Other requesters' objects do not exist for them."""

from marketplace import queries
from marketplace.errors import DoesNotExist, InvalidAssignmentState, UnknownWorker
from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    Hit,
    HitLayout,
    HitType,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.services.qualification_types import no_such_type


def find_hit(requester: Requester, public_id: str) -> Hit:
    """The HIT, including disposed ones; raises DoesNotExist."""
    found = queries.hits_of_requester(requester=requester.pk, public_id=public_id)
    if not found:
        raise DoesNotExist(f"Hit {public_id} does not exist.", code="HITDoesNotExist")
    return found[0]


def find_hit_type(requester: Requester, public_id: str) -> HitType:
    """The HIT type; raises DoesNotExist."""
    hit_type = requester.hit_types.filter(public_id=public_id).first()
    if hit_type is None:
        raise DoesNotExist(f"HITType {public_id} does not exist.", code="HITTypeDoesNotExist")
    return hit_type


def find_layout(requester: Requester, public_id: str) -> HitLayout:
    """The HIT layout; raises DoesNotExist."""
    layout = requester.layouts.filter(public_id=public_id).first()
    if layout is None:
        raise DoesNotExist(f"HITLayout {public_id} does not exist.", code="HITLayoutDoesNotExist")
    return layout


def find_assignment(requester: Requester, public_id: str) -> Assignment:
    """A submitted assignment; raises DoesNotExist or InvalidAssignmentState."""
    found = queries.assignments_of_requester(requester=requester.pk, public_id=public_id)
    ended = (AssignmentStatus.RETURNED, AssignmentStatus.ABANDONED)
    if not found or found[0].status in ended:
        raise DoesNotExist(f"Assignment {public_id} does not exist.", code="AssignmentDoesNotExist")
    (assignment,) = found
    if assignment.status not in REVEALED:
        raise InvalidAssignmentState(
            "This operation can be called with a status of: Reviewable,Approved,Rejected"
        )
    return assignment


def find_worker(public_id: str) -> Worker:
    """The worker; raises UnknownWorker."""
    worker = Worker.objects.filter(public_id=public_id).first()
    if worker is None:
        raise UnknownWorker(public_id)
    return worker


def find_qualification_type(requester: Requester, public_id: str) -> QualificationType:
    """The requester's own qualification type; raises DoesNotExist."""
    found = requester.qualification_types.filter(public_id=public_id, is_deleted=False).first()
    if found is None:
        raise no_such_type(public_id)
    return found
