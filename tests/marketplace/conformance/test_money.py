"""Section "Assignments and money": decisions, payments, fees and bonuses."""

import pytest

from tests.marketplace.driver import counts, create_hit, create_hit_type, error_code, new_hit

pytestmark = pytest.mark.one_database

REASON = "Not a sentence."


def submitted(marketplace, client, *, max_assignments: int = 1, **hit_type) -> tuple:
    """A HIT with one submitted assignment: type, id, worker, assignment."""
    hit_type_id = create_hit_type(client, **hit_type)
    hit_id = create_hit(client, hit_type_id, MaxAssignments=max_assignments)["HITId"]
    worker = marketplace.worker()
    return hit_type_id, hit_id, worker, worker.work(hit_type_id)


def status(client, assignment_id: str) -> str:
    return client.get_assignment(AssignmentId=assignment_id)["Assignment"]["AssignmentStatus"]


def refusal(client, operation: str, **parameters) -> str:
    with pytest.raises(client.exceptions.RequestError) as error:
        getattr(client, operation)(**parameters)
    return error_code(error)


def test_an_accepted_assignment_is_hidden(marketplace, client):
    """Conformance check 28."""
    hit_type_id, hit_id = new_hit(client)
    assignment_id = marketplace.worker().accept(hit_type_id)

    with pytest.raises(client.exceptions.RequestError, match="Reviewable,Approved,Rejected"):
        client.get_assignment(AssignmentId=assignment_id)
    assert client.list_assignments_for_hit(HITId=hit_id)["Assignments"] == []


def test_an_unknown_assignment(client):
    with pytest.raises(client.exceptions.RequestError, match="Assignment ABC does not exist."):
        client.get_assignment(AssignmentId="ABC")


def test_lists_of_assignments_filter_by_status(marketplace, client):
    """Conformance check 29."""
    hit_type_id, hit_id = new_hit(client, MaxAssignments=3)
    ids = [marketplace.worker().work(hit_type_id) for _ in range(3)]
    client.approve_assignment(AssignmentId=ids[0])
    client.reject_assignment(AssignmentId=ids[1], RequesterFeedback=REASON)

    def listed(**filters):
        answer = client.list_assignments_for_hit(HITId=hit_id, **filters)
        return [each["AssignmentId"] for each in answer["Assignments"]]

    assert listed() == ids
    assert listed(AssignmentStatuses=["Approved"]) == [ids[0]]
    assert listed(AssignmentStatuses=["Rejected", "Submitted"]) == ids[1:]


def test_fields_that_are_unset_are_absent(marketplace, client):
    assignment_id = submitted(marketplace, client)[3]

    assignment = client.get_assignment(AssignmentId=assignment_id)["Assignment"]

    assert not {"ApprovalTime", "RejectionTime", "RequesterFeedback"} & set(assignment)
    assert {"AcceptTime", "SubmitTime", "AutoApprovalTime", "Deadline", "Answer"} <= set(assignment)


def test_a_decision_is_made_once(marketplace, client):
    """Conformance check 30."""
    _type, _hit, _worker, approved = submitted(marketplace, client)
    _type, _hit, _worker, rejected = submitted(marketplace, client, Title="Another")
    client.approve_assignment(AssignmentId=approved)
    client.reject_assignment(AssignmentId=rejected, RequesterFeedback=REASON)

    for operation, parameters in (
        ("approve_assignment", {"AssignmentId": approved}),
        ("reject_assignment", {"AssignmentId": approved, "RequesterFeedback": REASON}),
        ("reject_assignment", {"AssignmentId": rejected, "RequesterFeedback": REASON}),
        ("approve_assignment", {"AssignmentId": rejected}),
    ):
        assert refusal(client, operation, **parameters) == "InvalidAssignmentState"


def test_override_is_allowed_on_a_submitted_assignment_too(marketplace, client):
    assignment_id = submitted(marketplace, client)[3]

    client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)

    assert status(client, assignment_id) == "Approved"


@pytest.mark.parametrize(("days", "works"), [(29, True), (31, False)])
def test_a_rejection_is_overridden_within_30_days(marketplace, client, days, works):
    """Conformance check 31."""
    _type, hit_id, _worker, assignment_id = submitted(marketplace, client)
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)
    marketplace.advance(days=days)
    request = {"AssignmentId": assignment_id, "OverrideRejection": True}

    if works:
        client.approve_assignment(**request)
    else:
        assert refusal(client, "approve_assignment", **request) == "InvalidAssignmentState"

    assert status(client, assignment_id) == ("Approved" if works else "Rejected")
    assert counts(client, hit_id)[3] == 1


def test_no_override_after_the_hit_is_deleted(marketplace, client):
    """Conformance check 31."""
    _type, hit_id, _worker, assignment_id = submitted(marketplace, client)
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)
    client.delete_hit(HITId=hit_id)

    code = refusal(client, "approve_assignment", AssignmentId=assignment_id, OverrideRejection=True)

    assert code == "InvalidAssignmentState"


def test_a_rejection_reopens_nothing(marketplace, client):
    """Conformance check 32."""
    _type, hit_id, _worker, assignment_id = submitted(marketplace, client, max_assignments=2)

    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)

    assert counts(client, hit_id) == ("Assignable", 1, 0, 1)


def test_auto_approval_comes_at_its_time(marketplace, client):
    """Conformance check 33."""
    assignment_id = submitted(marketplace, client, AutoApprovalDelayInSeconds=3600)[3]
    marketplace.advance(seconds=3000)
    assert status(client, assignment_id) == "Submitted"

    marketplace.advance(seconds=601)

    assignment = client.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert assignment["AssignmentStatus"] == "Approved"
    assert assignment["ApprovalTime"] == assignment["AutoApprovalTime"]


def test_no_delay_approves_at_once(marketplace, client):
    """Conformance check 33."""
    assignment_id = submitted(marketplace, client, AutoApprovalDelayInSeconds=0)[3]

    assert status(client, assignment_id) == "Approved"


def test_a_rejected_assignment_is_never_approved_by_time(marketplace, client):
    """Conformance check 33."""
    assignment_id = submitted(marketplace, client, AutoApprovalDelayInSeconds=3600)[3]
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)

    marketplace.advance(days=2)

    assert status(client, assignment_id) == "Rejected"


def balances(client) -> tuple[str, str]:
    answer = client.get_account_balance()
    return answer["AvailableBalance"], answer["OnHoldBalance"]


@pytest.mark.parametrize(
    ("reward", "slots", "cost"),
    [("0.10", 9, "0.12"), ("0.10", 10, "0.14"), ("0.01", 1, "0.02"), ("0.00", 1, "0.00")],
)
def test_an_approval_costs_reward_and_fee(marketplace, reward, slots, cost):
    """Conformance check 34."""
    client = marketplace.requester(balance="100.00")
    hit = submitted(marketplace, client, max_assignments=slots, Reward=reward)
    client.approve_assignment(AssignmentId=hit[3])
    client.update_expiration_for_hit(HITId=hit[1], ExpireAt=0)

    client.delete_hit(HITId=hit[1])

    assert balances(client) == (f"{100 - float(cost):.2f}", "0.00")


def test_the_whole_hit_is_held_from_its_creation(marketplace):
    client = marketplace.requester(balance="2.00")
    create_hit(client, create_hit_type(client), MaxAssignments=9)

    assert balances(client) == ("0.92", "1.08")


def test_a_rejection_costs_nothing(marketplace):
    """Conformance check 34."""
    client = marketplace.requester(balance="1.00")
    assignment_id = submitted(marketplace, client)[3]
    assert balances(client) == ("0.88", "0.12")

    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)

    assert balances(client) == ("1.00", "0.00")


def test_an_override_without_funds_changes_nothing(marketplace):
    """Conformance check 34."""
    client = marketplace.requester(balance="1.00")
    assignment_id = submitted(marketplace, client)[3]
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)
    marketplace.keys(balance="0.11")

    code = refusal(client, "approve_assignment", AssignmentId=assignment_id, OverrideRejection=True)

    assert code == "InsufficientFunds"
    assert status(client, assignment_id) == "Rejected"


def test_a_bonus_costs_its_fee_and_is_listed_under_hit_and_assignment(marketplace):
    """Conformance check 35."""
    client = marketplace.requester(balance="10.00")
    _type, hit_id, worker, assignment_id = submitted(marketplace, client)
    client.approve_assignment(AssignmentId=assignment_id)
    client.send_bonus(
        WorkerId=worker.worker_id, AssignmentId=assignment_id, BonusAmount="0.50", Reason="Good"
    )

    by_hit, by_assignment, by_both = (
        client.list_bonus_payments(**by)["BonusPayments"]
        for by in (
            {"HITId": hit_id},
            {"AssignmentId": assignment_id},
            {"HITId": hit_id, "AssignmentId": assignment_id},
        )
    )

    assert by_hit == by_assignment == by_both
    assert [(each["BonusAmount"], each["Reason"]) for each in by_hit] == [("0.50", "Good")]
    assert balances(client) == ("9.28", "0.00")


def test_a_bonus_token_pays_once(marketplace):
    """Conformance check 35."""
    client = marketplace.requester(balance="10.00")
    _type, hit_id, worker, assignment_id = submitted(marketplace, client)
    request = {
        "WorkerId": worker.worker_id,
        "AssignmentId": assignment_id,
        "BonusAmount": "0.01",
        "Reason": "Good",
        "UniqueRequestToken": "bonus",
    }
    client.send_bonus(**request)
    marketplace.advance(days=3)

    with pytest.raises(client.exceptions.RequestError, match="idempotency"):
        client.send_bonus(**request)

    assert client.list_bonus_payments(HITId=hit_id)["NumResults"] == 1
    assert balances(client) == ("9.86", "0.12")


def test_a_bonus_goes_to_the_worker_of_the_assignment(marketplace, client):
    """Conformance check 35."""
    assignment_id = submitted(marketplace, client)[3]

    code = refusal(
        client,
        "send_bonus",
        WorkerId=marketplace.worker().worker_id,
        AssignmentId=assignment_id,
        BonusAmount="0.10",
        Reason="Good",
    )

    assert code == "InvalidParameterValue"


def test_bonus_lists_need_a_hit_or_an_assignment(client):
    assert refusal(client, "list_bonus_payments") == "InvalidParameterValue"


def test_feedback_with_control_characters_is_refused(marketplace, client):
    assignment_id = submitted(marketplace, client)[3]

    code = refusal(
        client, "reject_assignment", AssignmentId=assignment_id, RequesterFeedback="\x07"
    )

    assert code == "InvalidParameterValue"
    assert status(client, assignment_id) == "Submitted"
