"""Section "Lists and events": behaviour that the service showed only at times, switched on here."""

from datetime import timedelta
from decimal import Decimal

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.driver import (
    QUESTION,
    counts,
    create_hit,
    create_hit_type,
    error_code,
    new_hit,
)

pytestmark = pytest.mark.one_database


def test_an_assignment_id_can_come_again_with_another_worker(marketplace, client):
    """Conformance check 48."""
    marketplace.choose(MTURK_REISSUE_ASSIGNMENT_IDS=True)
    hit_type_id, hit_id = new_hit(client)
    first, second = marketplace.worker(), marketplace.worker()
    assignment_id = first.accept(hit_type_id)
    first.give_back(assignment_id)

    assert second.accept(hit_type_id) == assignment_id

    assert first.get(f"/assignments/{assignment_id}").status_code == 404
    second.submit(assignment_id)
    [listed] = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert (listed["AssignmentId"], listed["WorkerId"]) == (assignment_id, second.worker_id)


def test_without_the_mode_every_assignment_has_an_id_of_its_own(marketplace, client):
    """Conformance check 48."""
    hit_type_id, _ = new_hit(client)
    first, second = marketplace.worker(), marketplace.worker()
    assignment_id = first.accept(hit_type_id)
    first.give_back(assignment_id)

    assert second.accept(hit_type_id) != assignment_id


def test_a_new_hit_is_listed_after_the_lag(marketplace, client):
    """Conformance check 49."""
    marketplace.choose(MTURK_LISTING_LAG=600)
    _, hit_id = new_hit(client)
    assert client.list_hits()["HITs"] == []
    assert client.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"

    marketplace.advance(seconds=601)

    assert [hit["HITId"] for hit in client.list_hits()["HITs"]] == [hit_id]


def test_a_new_qualification_type_is_listed_after_the_lag(marketplace, client):
    """Conformance check 49."""
    marketplace.choose(MTURK_LISTING_LAG=600)
    client.create_qualification_type(
        Name="Expert", Description="d", QualificationTypeStatus="Active"
    )

    def listed() -> int:
        answer = client.list_qualification_types(MustBeRequestable=False, MustBeOwnedByCaller=True)
        return answer["NumResults"]

    assert listed() == 0
    marketplace.advance(seconds=601)
    assert listed() == 1


def test_a_new_hit_can_at_first_be_expired_and_nothing_else(marketplace, client):
    """Conformance check 49."""
    marketplace.choose(MTURK_MODIFIABLE_AFTER=600)
    hit_type_id, hit_id = new_hit(client)
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
    marketplace.advance(seconds=601)
    for operation, parameters in changes:
        getattr(client, operation)(HITId=hit_id, **parameters)
    assert counts(client, hit_id) == ("Assignable", 2, 0, 0)


def test_a_new_hit_can_be_expired_at_once(marketplace, client):
    """Conformance check 49."""
    marketplace.choose(MTURK_MODIFIABLE_AFTER=600)
    _, hit_id = new_hit(client)

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


MASTERS = {
    "QualificationTypeId": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH",
    "Comparator": "Exists",
}


def cost_of(client, *requirements: dict, slots: int = 1) -> Decimal:
    """The amount held for a HIT with these requirements."""
    hit_type_id = create_hit_type(client, QualificationRequirements=list(requirements))

    def held() -> Decimal:
        return Decimal(client.get_account_balance()["OnHoldBalance"])

    before = held()
    create_hit(client, hit_type_id, MaxAssignments=slots)
    return held() - before


@pytest.mark.parametrize(("slots", "cost"), [(9, "1.17"), (10, "1.50")])
def test_masters_cost_five_per_cent_more(client, slots, cost):
    """Section 6: 25 % of $0.10 are 2.5 cents, which are rounded up; 45 % are 4.5."""
    assert cost_of(client, MASTERS, slots=slots) == Decimal(cost)


def test_a_hit_that_excludes_masters_costs_no_more(client):
    without = {**MASTERS, "Comparator": "DoesNotExist"}

    assert cost_of(client, without) == Decimal("0.12")


def test_a_premium_qualification_costs_its_sum(marketplace, client):
    marketplace.choose(MTURK_PREMIUM_FEES={"00000000000000000060": "0.30"})
    adults = {
        "QualificationTypeId": "00000000000000000060",
        "Comparator": "EqualTo",
        "IntegerValues": [1],
    }

    assert cost_of(client, adults) == Decimal("0.42")


def test_an_expiration_may_have_to_move_by_a_step(marketplace, client):
    marketplace.choose(MTURK_EXPIRATION_STEP=3600)
    hit = create_hit(client, create_hit_type(client))

    with pytest.raises(client.exceptions.RequestError, match="3600 seconds or more"):
        client.update_expiration_for_hit(
            HITId=hit["HITId"], ExpireAt=hit["Expiration"] + timedelta(seconds=3599)
        )
    later = hit["Expiration"] + timedelta(seconds=3601)
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)


def test_the_same_expiration_again_may_be_a_repeated_request(marketplace, client):
    hit = create_hit(client, create_hit_type(client))
    same = {"HITId": hit["HITId"], "ExpireAt": hit["Expiration"]}
    client.update_expiration_for_hit(**same)
    marketplace.choose(MTURK_REPEATED_EXPIRATION_REFUSED=True)

    with pytest.raises(client.exceptions.RequestError, match="has already been processed"):
        client.update_expiration_for_hit(**same)
    client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    with pytest.raises(client.exceptions.RequestError, match="has already been processed"):
        client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)


def test_a_question_may_count_before_a_layout(marketplace, client):
    marketplace.choose(MTURK_ONE_QUESTION_ONLY=False)

    hit = create_hit(client, create_hit_type(client), HITLayoutId="3LAYOUT")

    assert hit["Question"] == QUESTION


@pytest.mark.parametrize("is_kept", [True, False])
def test_an_overridden_rejection_may_keep_its_time(marketplace, client, is_kept):
    marketplace.choose(MTURK_REJECTION_TIME_KEPT=is_kept)
    hit_type_id, _ = new_hit(client)
    assignment_id = marketplace.worker().work(hit_type_id)
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="Empty")
    rejected = client.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert "RejectionTime" in rejected

    client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)

    approved = client.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert ("RejectionTime" in approved) is is_kept


@pytest.mark.parametrize(("days", "works"), [(182, True), (184, False)])
def test_a_bonus_may_need_recent_work(marketplace, client, days, works):
    marketplace.choose(MTURK_BONUS_WITHIN=183 * 24 * 3600)
    hit_type_id, _ = new_hit(client)
    worker = marketplace.worker()
    bonus = {
        "WorkerId": worker.worker_id,
        "AssignmentId": worker.work(hit_type_id),
        "BonusAmount": "1",
        "Reason": "Thank you",
    }
    marketplace.advance(days=days)

    if works:
        client.send_bonus(**bonus)
    else:
        with pytest.raises(client.exceptions.RequestError, match="nothing for you for 183 days"):
            client.send_bonus(**bonus)


@pytest.mark.parametrize(("lacked", "may_accept"), [([], False), (["NotEqualTo"], True)])
def test_a_worker_without_the_qualification_may_meet_not_equal_to(
    marketplace, client, lacked, may_accept
):
    marketplace.choose(MTURK_LACKED_MEETS=lacked)
    elsewhere = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "NotEqualTo",
        "LocaleValues": [{"Country": "US"}],
    }
    hit_type_id = create_hit_type(client, QualificationRequirements=[elsewhere])
    create_hit(client, hit_type_id)

    response = marketplace.worker().try_accept(hit_type_id)

    assert response.status_code == (303 if may_accept else 403)


@pytest.mark.parametrize(("shown", "listed"), [(["Granted"], 1), (["Granted", "Revoked"], 2)])
def test_whose_qualifications_are_listed(marketplace, client, shown, listed):
    marketplace.choose(MTURK_HOLDERS_LISTED=shown)
    public_id = client.create_qualification_type(
        Name="Expert", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    holder, former = marketplace.worker(), marketplace.worker()
    for worker in (holder, former):
        client.associate_qualification_with_worker(
            QualificationTypeId=public_id, WorkerId=worker.worker_id
        )
    client.disassociate_qualification_from_worker(
        QualificationTypeId=public_id, WorkerId=former.worker_id
    )

    answer = client.list_workers_with_qualification_type(QualificationTypeId=public_id)

    assert answer["NumResults"] == listed


def test_a_requester_blocks_a_limited_number_of_workers(marketplace, client):
    marketplace.choose(MTURK_MOST_BLOCKS=1)
    first, second = marketplace.worker(), marketplace.worker()
    client.create_worker_block(WorkerId=first.worker_id, Reason="Spam")

    with pytest.raises(client.exceptions.RequestError, match="At most 1"):
        client.create_worker_block(WorkerId=second.worker_id, Reason="Spam")
    client.create_worker_block(WorkerId=first.worker_id, Reason="Another reason")


def test_calls_beyond_the_rate_are_throttled(marketplace, without_pauses):
    client = marketplace.requester(retries={"total_max_attempts": 1})
    other = marketplace.requester("other")
    # One call, and the next in a quarter of an hour.
    marketplace.choose(MTURK_CALLS_PER_SECOND=0.001)
    client.get_account_balance()

    with pytest.raises(ClientError, match="Rate exceeded") as error:
        client.get_account_balance()

    assert error.value.response["Error"]["Code"] == "ThrottlingException"
    other.get_account_balance()
