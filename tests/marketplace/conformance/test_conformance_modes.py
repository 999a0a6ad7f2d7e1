"""Sections "Lists and events": what the service was seen to do now and then, on demand."""

from datetime import timedelta

import pytest

from tests.marketplace.driver import counts, create_hit, create_hit_type, error_code


@pytest.fixture
def client(marketplace):
    return marketplace.requester()


def test_an_assignment_id_can_come_again_with_another_worker(marketplace, client):
    """Check 48."""
    marketplace.choose(MTURK_REISSUE_ASSIGNMENT_IDS=True)
    hit_type_id = create_hit_type(client)
    hit_id = create_hit(client, hit_type_id)["HITId"]
    first, second = marketplace.worker(), marketplace.worker()
    assignment_id = first.accept(hit_type_id)
    first.give_back(assignment_id)

    assert second.accept(hit_type_id) == assignment_id

    assert first.get(f"/assignments/{assignment_id}").status_code == 404
    second.submit(assignment_id)
    [listed] = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert (listed["AssignmentId"], listed["WorkerId"]) == (assignment_id, second.worker_id)


def test_without_the_mode_every_assignment_has_an_id_of_its_own(marketplace, client):
    """Check 48."""
    hit_type_id = create_hit_type(client)
    create_hit(client, hit_type_id)
    first, second = marketplace.worker(), marketplace.worker()
    assignment_id = first.accept(hit_type_id)
    first.give_back(assignment_id)

    assert second.accept(hit_type_id) != assignment_id


def test_a_new_hit_is_listed_after_the_lag(marketplace, client):
    """Check 49."""
    marketplace.choose(MTURK_LISTING_LAG=60)
    hit_id = create_hit(client, create_hit_type(client))["HITId"]
    assert client.list_hits()["HITs"] == []
    assert client.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"

    marketplace.advance(seconds=61)

    assert [hit["HITId"] for hit in client.list_hits()["HITs"]] == [hit_id]


def test_a_new_qualification_type_is_listed_after_the_lag(marketplace, client):
    """Check 49."""
    marketplace.choose(MTURK_LISTING_LAG=60)
    client.create_qualification_type(
        Name="Expert", Description="d", QualificationTypeStatus="Active"
    )

    def listed() -> int:
        answer = client.list_qualification_types(MustBeRequestable=False, MustBeOwnedByCaller=True)
        return answer["NumResults"]

    assert listed() == 0
    marketplace.advance(seconds=61)
    assert listed() == 1


def test_a_new_hit_can_at_first_be_expired_and_nothing_else(marketplace, client):
    """Check 49."""
    marketplace.choose(MTURK_MODIFIABLE_AFTER=60)
    hit_type_id = create_hit_type(client)
    hit_id = create_hit(client, hit_type_id)["HITId"]
    later = marketplace.now() + timedelta(hours=2)
    changes = [
        ("create_additional_assignments_for_hit", {"NumberOfAdditionalAssignments": 1}),
        ("update_expiration_for_hit", {"ExpireAt": later}),
        ("update_hit_type_of_hit", {"HITTypeId": create_hit_type(client, Title="Other")}),
    ]

    for operation, parameters in changes:
        with pytest.raises(client.exceptions.RequestError, match="cannot be modified yet") as error:
            getattr(client, operation)(HITId=hit_id, **parameters)
        assert error_code(error) == "InvalidHITState"

    assert counts(client, hit_id) == ("Assignable", 1, 0, 0)
    marketplace.advance(seconds=61)
    for operation, parameters in changes:
        getattr(client, operation)(HITId=hit_id, **parameters)
    assert counts(client, hit_id) == ("Assignable", 2, 0, 0)


def test_a_new_hit_can_be_expired_at_once(marketplace, client):
    """Check 49."""
    marketplace.choose(MTURK_MODIFIABLE_AFTER=60)
    hit_id = create_hit(client, create_hit_type(client))["HITId"]

    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)

    assert counts(client, hit_id)[0] == "Reviewable"


SYSTEM_TYPES = {
    "00000000000000000040": "Worker_NumberHITsApproved",
    "00000000000000000071": "Worker_Locale",
    "00000000000000000060": "Worker_Adult",
    "000000000000000000L0": "Worker_PercentAssignmentsApproved",
}


@pytest.mark.parametrize(("public_id", "name"), SYSTEM_TYPES.items())
def test_a_system_type_can_be_looked_up_and_not_asked_for(client, public_id, name):
    found = client.get_qualification_type(QualificationTypeId=public_id)["QualificationType"]

    assert (found["Name"], found["IsRequestable"]) == (name, False)


def test_system_types_are_listed_where_neither_owner_nor_request_is_demanded(client):
    pages = client.get_paginator("list_qualification_types").paginate(
        MustBeRequestable=False, Query="Worker", PaginationConfig={"PageSize": 2}
    )

    listed = [each["QualificationTypeId"] for page in pages for each in page["QualificationTypes"]]

    assert set(SYSTEM_TYPES) <= set(listed)
    assert len(listed) == len(set(listed))
    for demand in ({"MustBeRequestable": True}, {"MustBeOwnedByCaller": True}):
        answer = client.list_qualification_types(**{"MustBeRequestable": False, **demand})
        found = {each["QualificationTypeId"] for each in answer["QualificationTypes"]}
        assert not found & set(SYSTEM_TYPES)


def test_system_types_can_be_hidden(marketplace, client):
    marketplace.choose(MTURK_SYSTEM_TYPES_READABLE=False)

    with pytest.raises(client.exceptions.RequestError, match="does not exist"):
        client.get_qualification_type(QualificationTypeId="00000000000000000071")
