"""Create, change and delete qualification types."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from marketplace.errors import DoesNotExist, DomainError
from marketplace.models import QualificationRequestStatus, QualificationType, Requester
from marketplace.questions import answers, check_test

from .qualifications import system_type_ids


def check_types_usable(requirements: list[dict[str, Any]]) -> None:
    """Raise DomainError if a requirement refers to a type that is deleted or inactive."""
    custom = {each["QualificationTypeId"] for each in requirements} - system_type_ids()
    known = QualificationType.objects.filter(public_id__in=custom, is_deleted=False)
    is_active = dict(known.values_list("public_id", "is_active"))
    for public_id in sorted(custom):
        if public_id not in is_active:
            raise no_such_type(public_id)
        if not is_active[public_id]:
            raise DomainError(
                f"QualificationType [{public_id}] is not Active; no HITs can be created with it.",
                code="InvalidQualificationTypeState",
            )


def no_such_type(public_id: str) -> DoesNotExist:
    """The error for a qualification type that does not exist or belongs to another requester."""
    return DoesNotExist(
        f"QualificationType [{public_id}] does not exist.", code="QualificationTypeDoesNotExist"
    )


@transaction.atomic
def create_qualification_type(
    *, requester: Requester, name: str, description: str, at: datetime, **properties: Any
) -> QualificationType:
    """Create a type; raises DomainError for a name in use or invalid properties."""
    qualification_type = QualificationType(
        requester=requester, name=name, description=description, created_at=at, **properties
    )
    _check_type(qualification_type)
    try:
        with transaction.atomic():
            qualification_type.save(force_insert=True)
    except IntegrityError as error:
        raise DomainError(
            "You have already created a QualificationType with this name. A QualificationType's "
            f"name must be unique among all of the QualificationTypes created by the same user. "
            f"Name: {name}",
            code="QualificationTypeAlreadyExists",
        ) from error
    return qualification_type


@transaction.atomic
def update_qualification_type(
    *, qualification_type: QualificationType, changes: dict[str, Any]
) -> QualificationType:
    """Change a type's properties; raises DomainError for invalid ones.

    A new test replaces duration and answer key too: without a key, the requester decides.
    """
    if "test" in changes:
        changes = {"answer_key": "", **changes}
        if "test_duration" not in changes:
            raise DomainError("A new Test needs TestDurationInSeconds.")
    elif changes.keys() & {"answer_key", "test_duration"}:
        raise DomainError(
            "AnswerKey and TestDurationInSeconds can only be changed together with the Test."
        )
    locked = QualificationType.objects.select_for_update().get(pk=qualification_type.pk)
    for name, value in changes.items():
        setattr(locked, name, value)
    _check_type(locked)
    locked.save(update_fields=list(changes) or None)
    return locked


def _check_type(qualification_type: QualificationType) -> None:
    for name, text, longest in (
        ("Name", qualification_type.name, 200),
        ("Description", qualification_type.description, 2000),
        ("Keywords", qualification_type.keywords, 1000),
    ):
        if len(text) > longest:
            raise DomainError(f"{name} has {len(text)} characters; at most {longest} are allowed.")
    if not qualification_type.name.strip():
        raise DomainError("Name must not be empty.")
    _check_test(qualification_type)


def _check_test(qualification_type: QualificationType) -> None:
    if qualification_type.is_auto_granted and qualification_type.test:
        raise DomainError("A QualificationType with a test cannot be granted automatically.")
    if qualification_type.test and not qualification_type.test_duration:
        raise DomainError("A test needs TestDurationInSeconds.")
    if qualification_type.answer_key and not qualification_type.test:
        raise DomainError("An answer key needs a test.")
    if qualification_type.test:
        check_test(qualification_type.test)
    if qualification_type.answer_key:
        answers.parse_key(qualification_type.answer_key)


@transaction.atomic
def delete_qualification_type(*, qualification_type: QualificationType, at: datetime) -> None:
    """Delete the type, whose name can then be used again.

    Workers keep the qualification, and existing HITs may still require it.
    """
    if not QualificationType.objects.filter(pk=qualification_type.pk, is_deleted=False).update(
        is_deleted=True, is_active=False
    ):
        raise no_such_type(qualification_type.public_id)
    qualification_type.requests.filter(
        status__in=[QualificationRequestStatus.STARTED, QualificationRequestStatus.PENDING]
    ).update(status=QualificationRequestStatus.REJECTED, decided_at=at)
