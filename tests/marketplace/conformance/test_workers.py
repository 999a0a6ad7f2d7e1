"""Section "Workers": qualifications, blocks and messages."""

import uuid

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.driver import create_hit, create_hit_type, error_code, new_hit

pytestmark = pytest.mark.one_database

HIDE = "DiscoverPreviewAndAccept"


def new_qualification(client, name: str = "", **properties) -> str:
    answer = client.create_qualification_type(
        Name=name or f"Excluded {uuid.uuid4()}",
        Description="d",
        QualificationTypeStatus="Active",
        **properties,
    )
    return answer["QualificationType"]["QualificationTypeId"]


def guarded_hit(client, **requirement) -> str:
    """A HIT type with one requirement, and a HIT of it."""
    hit_type_id = create_hit_type(client, QualificationRequirements=[requirement])
    create_hit(client, hit_type_id, MaxAssignments=9)
    return hit_type_id


@pytest.mark.parametrize(
    ("guarded", "listed", "previews"),
    [("Accept", True, True), ("PreviewAndAccept", True, False), (HIDE, False, False)],
)
def test_a_requirement_guards_listing_and_preview(marketplace, client, guarded, listed, previews):
    """Conformance check 36."""
    qualification = new_qualification(client)
    hit_type_id = guarded_hit(
        client, QualificationTypeId=qualification, Comparator="Exists", ActionsGuarded=guarded
    )
    worker = marketplace.worker()

    preview = worker.get(f"/groups/{hit_type_id}/preview")

    assert worker.sees(hit_type_id) is listed
    assert ("<iframe" in preview.text) is previews
    assert preview.status_code == (200 if listed else 404)
    assert worker.try_accept(hit_type_id).status_code in (403, 404)


def test_a_soft_block_hides_the_hits_until_it_is_revoked(marketplace, client):
    """Conformance check 37."""
    qualification = new_qualification(client)
    hit_type_id = guarded_hit(
        client, QualificationTypeId=qualification, Comparator="DoesNotExist", ActionsGuarded=HIDE
    )
    worker = marketplace.worker()
    assert worker.sees(hit_type_id)
    client.associate_qualification_with_worker(
        QualificationTypeId=qualification, WorkerId=worker.worker_id, SendNotification=False
    )
    assert not worker.sees(hit_type_id)
    # Not a page that names the qualification.
    assert worker.try_accept(hit_type_id).status_code == 404
    assert "Excluded" not in worker.get("/messages").text

    client.disassociate_qualification_from_worker(
        QualificationTypeId=qualification, WorkerId=worker.worker_id
    )

    assert worker.sees(hit_type_id)
    assert worker.accept(hit_type_id)


@pytest.mark.parametrize(
    ("profile", "may_accept"),
    [
        ({"country": "US", "approved": 5000, "rate": 96}, True),
        ({"country": "US", "approved": 4999, "rate": 96}, False),
        ({"country": "US", "approved": 5000, "rate": 95}, False),
        ({"country": "CA", "approved": 5000, "rate": 96}, False),
        ({}, False),
    ],
)
def test_system_qualifications_follow_the_workers_history(marketplace, client, profile, may_accept):
    """Conformance check 36."""
    hit_type_id = create_hit_type(
        client,
        QualificationRequirements=[
            {
                "QualificationTypeId": "00000000000000000071",
                "Comparator": "EqualTo",
                "LocaleValues": [{"Country": "US"}],
            },
            {
                "QualificationTypeId": "00000000000000000040",
                "Comparator": "GreaterThanOrEqualTo",
                "IntegerValues": [5000],
            },
            {
                "QualificationTypeId": "000000000000000000L0",
                "Comparator": "GreaterThan",
                "IntegerValues": [95],
            },
        ],
    )
    create_hit(client, hit_type_id)

    response = marketplace.worker(**profile).try_accept(hit_type_id)

    assert response.status_code == (303 if may_accept else 403)


def test_approvals_here_count_towards_the_workers_history(marketplace, client):
    entrance = create_hit_type(client)
    create_hit(client, entrance)
    hit_type_id = guarded_hit(
        client,
        QualificationTypeId="00000000000000000040",
        Comparator="GreaterThanOrEqualTo",
        IntegerValues=[1],
    )
    worker = marketplace.worker()
    assignment_id = worker.work(entrance)
    assert worker.try_accept(hit_type_id).status_code == 403

    client.approve_assignment(AssignmentId=assignment_id)

    assert worker.accept(hit_type_id)


def test_a_blocked_worker_accepts_nothing_of_the_requester(marketplace, client):
    """Conformance check 38."""
    mine, other = create_hit_type(client), marketplace.requester("other")
    theirs = create_hit_type(other)
    create_hit(client, mine)
    create_hit(other, theirs)
    worker = marketplace.worker()
    client.create_worker_block(WorkerId=worker.worker_id, Reason="Spam")

    assert worker.try_accept(mine).status_code == 403
    assert worker.accept(theirs)
    blocks = client.list_worker_blocks()["WorkerBlocks"]
    assert blocks == [{"WorkerId": worker.worker_id, "Reason": "Spam"}]
    client.delete_worker_block(WorkerId=worker.worker_id)
    client.delete_worker_block(WorkerId=worker.worker_id)
    assert worker.accept(mine)


def test_a_qualification_types_name_is_taken_once(marketplace, client):
    """Conformance check 39."""
    name = f"Expert {marketplace.run}"
    first = new_qualification(client, name)

    with pytest.raises(
        client.exceptions.RequestError,
        match="You have already created a QualificationType with this name",
    ):
        new_qualification(client, name)
    client.delete_qualification_type(QualificationTypeId=first)
    assert new_qualification(client, name) != first


def test_a_deleted_qualification_type_still_keeps_workers_out(marketplace, client):
    qualification, worker = new_qualification(client), marketplace.worker()
    hit_type_id = guarded_hit(client, QualificationTypeId=qualification, Comparator="DoesNotExist")
    client.associate_qualification_with_worker(
        QualificationTypeId=qualification, WorkerId=worker.worker_id
    )

    client.delete_qualification_type(QualificationTypeId=qualification)

    assert worker.try_accept(hit_type_id).status_code == 403
    assert marketplace.worker().accept(hit_type_id)


@pytest.mark.parametrize(
    ("is_deleted", "code"),
    [(True, "QualificationTypeDoesNotExist"), (False, "InvalidQualificationTypeState")],
)
def test_no_hit_is_made_with_a_qualification_type_out_of_use(client, is_deleted, code):
    qualification = new_qualification(client)
    requirement = {"QualificationTypeId": qualification, "Comparator": "Exists"}
    hit_type_id = create_hit_type(client, QualificationRequirements=[requirement])

    if is_deleted:
        client.delete_qualification_type(QualificationTypeId=qualification)
    else:
        client.update_qualification_type(
            QualificationTypeId=qualification, QualificationTypeStatus="Inactive"
        )

    with pytest.raises(client.exceptions.RequestError) as error:
        create_hit(client, hit_type_id)
    assert error_code(error) == code
    with pytest.raises(client.exceptions.RequestError) as error:
        create_hit_type(client, Title="Other", QualificationRequirements=[requirement])
    assert error_code(error) == code


def test_qualification_types_are_found_by_a_part_of_their_text(marketplace, client):
    wanted = new_qualification(client, f"Image captions {marketplace.run}: trusted")
    new_qualification(client)

    found = client.list_qualification_types(
        Query=f"captions {marketplace.run}", MustBeRequestable=False, MustBeOwnedByCaller=True
    )["QualificationTypes"]

    assert [each["QualificationTypeId"] for each in found] == [wanted]


def test_a_query_with_a_thousand_words_is_refused(client):
    with pytest.raises(client.exceptions.RequestError, match="at most 1000 characters"):
        client.list_qualification_types(Query="a " * 1000, MustBeRequestable=False)


def test_scores_and_their_holders(marketplace, client):
    qualification, worker = new_qualification(client), marketplace.worker()
    who = {"QualificationTypeId": qualification, "WorkerId": worker.worker_id}
    with pytest.raises(client.exceptions.RequestError, match="that does not exist") as error:
        client.get_qualification_score(**who)
    assert error_code(error) == "QualificationDoesNotExist"
    client.associate_qualification_with_worker(**who, IntegerValue=3)
    client.associate_qualification_with_worker(**who, IntegerValue=7)

    score = client.get_qualification_score(**who)["Qualification"]

    assert (score["IntegerValue"], score["Status"]) == (7, "Granted")
    assert "granted" in worker.get("/messages").text

    client.disassociate_qualification_from_worker(**who, Reason="Too slow")

    assert "Too slow" in worker.get("/messages").text
    holders = client.list_workers_with_qualification_type
    assert holders(QualificationTypeId=qualification)["Qualifications"] == []
    assert holders(QualificationTypeId=qualification, Status="Revoked")["NumResults"] == 1
    with pytest.raises(client.exceptions.RequestError, match="status of: Granted"):
        client.get_qualification_score(**who)
    with pytest.raises(client.exceptions.RequestError):
        client.disassociate_qualification_from_worker(**who)


def test_a_worker_who_is_unknown_here_is_a_parameter_error(client):
    qualification = new_qualification(client)

    with pytest.raises(ClientError, match='The value "ANOBODY" is not valid') as error:
        client.associate_qualification_with_worker(
            QualificationTypeId=qualification, WorkerId="ANOBODY"
        )

    assert error.value.response["Error"]["Code"] == "ParameterValidationError"


def test_messages_reach_workers_whose_work_was_reviewed(marketplace, client):
    """Conformance check 40."""
    hit_type_id, _ = new_hit(client)
    known, stranger = marketplace.worker(), marketplace.worker()
    client.approve_assignment(AssignmentId=known.work(hit_type_id))

    def notify(*worker_ids):
        answer = client.notify_workers(
            Subject="Thank you", MessageText="More soon.", WorkerIds=list(worker_ids)
        )
        return [each["WorkerId"] for each in answer["NotifyWorkersFailureStatuses"]]

    assert notify(known.worker_id) == []
    assert notify(known.worker_id, stranger.worker_id, "ANOBODY") == [
        stranger.worker_id,
        "ANOBODY",
    ]
    assert known.get("/messages").text.count("More soon.") == 2
    assert "More soon." not in stranger.get("/messages").text


def test_101_recipients_are_refused(client):
    """Conformance check 40."""
    with pytest.raises(client.exceptions.RequestError) as error:
        client.notify_workers(
            Subject="x", MessageText="x", WorkerIds=[f"A{number}" for number in range(101)]
        )

    assert error_code(error) == "InvalidParameterValue"
