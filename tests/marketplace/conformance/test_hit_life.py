"""Section "HIT life": states, counts and time."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.marketplace.driver import counts, create_hit, create_hit_type, error_code, new_hit

pytestmark = pytest.mark.one_database

PAST = datetime(2015, 1, 1, tzinfo=UTC)
NOW = 0


def test_the_guides_example_of_five_assignments(marketplace, client):
    """Conformance check 16."""
    hit_type_id, hit_id = new_hit(client, MaxAssignments=5)
    workers = [marketplace.worker() for _ in range(6)]

    first = [worker.accept(hit_type_id) for worker in workers[:3]]
    assert counts(client, hit_id) == ("Assignable", 2, 3, 0)

    more = [worker.accept(hit_type_id) for worker in workers[3:5]]
    workers[0].submit(first[0])
    workers[1].submit(first[1])
    assert counts(client, hit_id) == ("Unassignable", 0, 3, 0)

    workers[2].give_back(first[2])
    assert counts(client, hit_id) == ("Assignable", 1, 2, 0)

    last = workers[5].accept(hit_type_id)
    workers[3].submit(more[0])
    workers[4].submit(more[1])
    workers[5].submit(last)
    assert counts(client, hit_id) == ("Reviewable", 0, 0, 0)

    for assignment in client.list_assignments_for_hit(HITId=hit_id)["Assignments"]:
        client.approve_assignment(AssignmentId=assignment["AssignmentId"])
    assert counts(client, hit_id) == ("Reviewable", 0, 0, 5)


@pytest.mark.parametrize("decision", ["none", "approve", "reject"])
def test_a_worker_gets_a_hit_once(marketplace, client, decision):
    """Conformance check 18."""
    hit_type_id, _ = new_hit(client, MaxAssignments=3)
    worker = marketplace.worker()
    assignment_id = worker.work(hit_type_id)
    if decision == "approve":
        client.approve_assignment(AssignmentId=assignment_id)
    elif decision == "reject":
        client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="No.")

    assert worker.try_accept(hit_type_id).status_code == 409


def test_a_returned_hit_can_be_accepted_again(marketplace, client):
    """Conformance check 18."""
    hit_type_id, _ = new_hit(client)
    worker = marketplace.worker()
    worker.give_back(worker.accept(hit_type_id))

    assert worker.accept(hit_type_id)


def test_a_passed_deadline_gives_the_slot_back_before_expiry(marketplace, client):
    """Conformance check 19."""
    hit_type_id, hit_id = new_hit(client)
    worker, assignment_id = marketplace.at_work(hit_type_id)

    marketplace.advance(seconds=601)

    assert counts(client, hit_id) == ("Assignable", 1, 0, 0)
    assert worker.try_submit(assignment_id).status_code == 409


def test_a_passed_deadline_after_expiry_reopens_nothing(marketplace, client):
    """Conformance check 19."""
    hit_type_id, hit_id = new_hit(client, LifetimeInSeconds=500)
    worker = marketplace.worker()
    worker.accept(hit_type_id)

    marketplace.advance(seconds=601)

    assert counts(client, hit_id) == ("Reviewable", 1, 0, 0)
    assert worker.try_accept(hit_type_id).status_code == 409


def test_work_under_way_at_expiry_can_still_be_submitted(marketplace, client):
    """Conformance check 20."""
    hit_type_id, hit_id = new_hit(client, MaxAssignments=2)
    worker, assignment_id = marketplace.at_work(hit_type_id)

    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=NOW)

    assert counts(client, hit_id)[0] == "Unassignable"
    assert marketplace.worker().try_accept(hit_type_id).status_code == 409
    worker.submit(assignment_id)
    assert counts(client, hit_id) == ("Reviewable", 1, 0, 0)


@pytest.mark.parametrize("moment", [NOW, PAST])
def test_expiring_with_nothing_under_way_makes_a_hit_reviewable(client, moment):
    """Conformance check 21."""
    _, hit_id = new_hit(client)

    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=moment)

    assert counts(client, hit_id) == ("Reviewable", 1, 0, 0)


def test_an_expiration_cannot_come_nearer(marketplace, client):
    """Conformance check 22."""
    _, hit_id = new_hit(client)

    with pytest.raises(client.exceptions.RequestError, match="earlier"):
        client.update_expiration_for_hit(
            HITId=hit_id, ExpireAt=marketplace.now() + timedelta(seconds=600)
        )


def test_the_expiration_that_a_hit_has_changes_nothing(client):
    """Clients send whole seconds, so what comes back is a little earlier."""
    hit = create_hit(client, create_hit_type(client))

    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=hit["Expiration"])

    assert client.get_hit(HITId=hit["HITId"])["HIT"]["Expiration"] == hit["Expiration"]


def test_a_later_expiration_reopens_an_expired_hit(marketplace, client):
    """Conformance check 22."""
    hit_type_id, hit_id = new_hit(client, LifetimeInSeconds=60)
    marketplace.advance(seconds=61)
    assert counts(client, hit_id)[0] == "Reviewable"

    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=marketplace.now() + timedelta(hours=1))

    assert counts(client, hit_id) == ("Assignable", 1, 0, 0)
    assert marketplace.worker().accept(hit_type_id)


@pytest.mark.parametrize(("before", "added", "works"), [(9, 1, False), (5, 4, True), (10, 1, True)])
def test_a_small_hit_never_becomes_a_large_one(client, before, added, works):
    """Conformance check 23."""
    _, hit_id = new_hit(client, MaxAssignments=before)

    def extend():
        client.create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=added
        )

    if works:
        extend()
    else:
        with pytest.raises(client.exceptions.RequestError) as error:
            extend()
        assert error_code(error) == "InvalidMaximumAssignmentsIncrease"
    total = before + (added if works else 0)
    assert counts(client, hit_id)[1] == total
    assert client.get_hit(HITId=hit_id)["HIT"]["MaxAssignments"] == total


@pytest.mark.parametrize("before", [1, 9, 10, 50])
def test_more_assignments_than_a_hit_can_have_is_a_reason_of_its_own(client, before):
    _, hit_id = new_hit(client, MaxAssignments=before)

    with pytest.raises(client.exceptions.RequestError, match="at most 1000000000 assign") as error:
        client.create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=1_000_000_000
        )

    assert error_code(error) == "InvalidParameterValue"
    assert counts(client, hit_id)[1] == before


def test_a_token_adds_assignments_once(marketplace, client):
    """Conformance check 23."""
    _, hit_id = new_hit(client)
    request = {
        "HITId": hit_id,
        "NumberOfAdditionalAssignments": 2,
        "UniqueRequestToken": f"more {marketplace.run}",
    }
    client.create_additional_assignments_for_hit(**request)

    with pytest.raises(client.exceptions.RequestError, match="idempotency token"):
        client.create_additional_assignments_for_hit(**request)

    assert counts(client, hit_id)[1] == 3


def test_an_added_assignment_reopens_a_full_hit(marketplace, client):
    """Conformance check 24."""
    hit_type_id, hit_id = new_hit(client)
    marketplace.worker().work(hit_type_id)
    assert counts(client, hit_id)[0] == "Reviewable"

    client.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)

    assert counts(client, hit_id) == ("Assignable", 1, 0, 0)


def test_review_status_moves_between_reviewable_and_reviewing_only(marketplace, client):
    """Conformance check 25."""
    hit_type_id = create_hit_type(client, Title=f"Reviewed {marketplace.run}")
    hit_id = create_hit(client, hit_type_id)["HITId"]
    with pytest.raises(client.exceptions.RequestError, match="'Assignable'"):
        client.update_hit_review_status(HITId=hit_id)
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=NOW)

    client.update_hit_review_status(HITId=hit_id)

    assert counts(client, hit_id)[0] == "Reviewing"
    assert client.list_reviewable_hits(HITTypeId=hit_type_id)["NumResults"] == 0
    reviewing = client.list_reviewable_hits(HITTypeId=hit_type_id, Status="Reviewing")
    assert reviewing["NumResults"] == 1
    client.update_hit_review_status(HITId=hit_id, Revert=True)
    assert counts(client, hit_id)[0] == "Reviewable"
    with pytest.raises(client.exceptions.RequestError):
        client.update_hit_review_status(HITId=hit_id, Revert=True)


def test_a_hit_is_deleted_only_when_all_is_reviewed(marketplace, client):
    """Conformance check 26."""
    hit_type_id, hit_id = new_hit(client)
    with pytest.raises(client.exceptions.RequestError, match="Reviewing, Reviewable"):
        client.delete_hit(HITId=hit_id)
    worker, assignment_id = marketplace.at_work(hit_type_id)
    with pytest.raises(client.exceptions.RequestError, match="'Unassignable'"):
        client.delete_hit(HITId=hit_id)
    worker.submit(assignment_id)
    with pytest.raises(client.exceptions.RequestError, match="neither approved nor"):
        client.delete_hit(HITId=hit_id)
    client.approve_assignment(AssignmentId=assignment_id)

    client.delete_hit(HITId=hit_id)

    assert counts(client, hit_id)[0] == "Disposed"
    assert client.list_hits()["HITs"] == []
    with pytest.raises(client.exceptions.RequestError, match="state 'Disposed'"):
        client.delete_hit(HITId=hit_id)


def test_hits_are_disposed_of_after_120_days(marketplace, client):
    """Conformance check 27."""
    hit_type_id, hit_id = new_hit(client)
    marketplace.worker().work(hit_type_id)

    marketplace.advance(days=121)

    assert counts(client, hit_id) == ("Disposed", 0, 0, 1)
