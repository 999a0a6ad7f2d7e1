"""Review policies: scores and actions."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace import clock
from marketplace.models import Assignment, Hit, HitStatus, ReviewAction, ReviewResult
from marketplace.policies import find_plurality, score_known_answers
from marketplace.questions.answers import build
from marketplace.services import assignments, hits, review_policies, reviews
from marketplace.services.sweep import sweep
from tests.marketplace.driver import counts, create_hit, create_hit_type, new_hit
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_worker

WARDROBE = {
    "one": {"A": ["coat"], "B": ["blue"], "C": ["large"], "D": ["Furry"]},
    "two": {"A": ["sweater"], "B": ["blue"], "C": ["large"], "D": ["fur"]},
    "three": {"A": ["coat "], "B": ["green"], "C": ["large"], "D": ["furr"]},
}


def test_the_documented_example_of_plurality():
    found = find_plurality(list("ABCD"), WARDROBE, threshold=50)

    assert found.agreed == {
        "A": frozenset({"coat"}), "B": frozenset({"blue"}), "C": frozenset({"large"}),
    }  # fmt: skip
    assert found.levels == {"A": 66, "B": 66, "C": 100}
    assert found.worker_scores == {"one": 100, "two": 66, "three": 66}
    assert found.hit_score == 75


def test_a_question_that_is_named_twice_counts_once():
    named_once = find_plurality(list("ABCD"), WARDROBE, threshold=50)

    assert find_plurality(list("AABCDB"), WARDROBE, threshold=50) == named_once


@pytest.mark.parametrize(
    ("key", "given_answers", "score"),
    [
        ({"a": ["1"], "b": ["2"]}, {"a": ["1"], "b": ["3"]}, 50),
        ({"a": ["1", "2"]}, {"a": ["2", " 1 "]}, 100),
        ({"a": ["1"]}, {"a": ["1", "2"]}, 0),
        ({"a": [""]}, {"a": [""]}, 0),
        ({"a": ["Yes"]}, {"a": ["yes"]}, 0),
        ({"a": ["1"]}, {}, 0),
    ],
)
def test_known_answers(key, given_answers, score):
    assert score_known_answers(key, given_answers).score == score


answers = st.dictionaries(
    st.sampled_from("ABC"), st.lists(st.sampled_from("xyz"), min_size=1, max_size=2)
)


@given(st.dictionaries(st.text("w", max_size=5), answers, max_size=5), st.integers(0, 100))
def test_agreement_above_half_is_one_answer_and_scores_are_percentages(given_answers, threshold):
    found = find_plurality(list("ABC"), given_answers, threshold=threshold)

    assert all(level > threshold for level in found.levels.values())
    for score in (found.hit_score, *found.levels.values(), *found.worker_scores.values()):
        assert 0 <= score <= 100


@pytest.fixture
def client(marketplace):
    return marketplace.requester()


def parameters(**values) -> list[dict]:
    return [{"Key": key, "Values": [str(value)]} for key, value in values.items()]


# How far a HIT is extended.
UP_TO_THREE = {"ExtendMaximumAssignments": 3, "ExtendMinimumTimeInSeconds": 3600}


def known_answers(**values) -> dict:
    key = {"Key": "AnswerKey", "MapEntries": [{"Key": "gold", "Values": ["cat"]}]}
    return {
        "PolicyName": "ScoreMyKnownAnswers/2011-09-01",
        "Parameters": [key, *parameters(**values)],
    }


def plurality(**values) -> dict:
    return {
        "PolicyName": "SimplePlurality/2011-09-01",
        "Parameters": parameters(QuestionIds="animal", QuestionAgreementThreshold=50, **values),
    }


def answer(marketplace, hit_type_id: str, **fields: str) -> str:
    worker, assignment_id = marketplace.at_work(hit_type_id)
    worker.submit(assignment_id, **fields)
    return assignment_id


def statuses(client, hit_id: str) -> dict[str, str]:
    found = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    return {each["AssignmentId"]: each["AssignmentStatus"] for each in found}


def test_known_answers_approve_reject_and_extend(marketplace, client):
    hit_type_id = create_hit_type(client)
    policy = known_answers(
        ApproveIfKnownAnswerScoreIsAtLeast=100,
        RejectIfKnownAnswerScoreIsLessThan=50,
        RejectReason="The known question was wrong.",
        ExtendIfKnownAnswerScoreIsLessThan=50,
        **UP_TO_THREE,
    )
    hit_id = create_hit(client, hit_type_id, MaxAssignments=2, AssignmentReviewPolicy=policy)[
        "HITId"
    ]

    good = answer(marketplace, hit_type_id, gold="cat")
    bad = answer(marketplace, hit_type_id, gold="dog")
    marketplace.advance(seconds=1)

    assert statuses(client, hit_id) == {good: "Approved", bad: "Rejected"}
    assert counts(client, hit_id) == ("Assignable", 1, 0, 2)
    report = client.list_review_policy_results_for_hit(HITId=hit_id, MaxResults=100)
    found = {
        (each["SubjectId"], each["Key"]): each["Value"]
        for each in report["AssignmentReviewReport"]["ReviewResults"]
    }
    assert found == {
        (good, "KnownAnswerCorrect"): "1", (good, "KnownAnswerScore"): "100",
        (bad, "KnownAnswerCorrect"): "0", (bad, "KnownAnswerScore"): "0",
    }  # fmt: skip
    actions = report["AssignmentReviewReport"]["ReviewActions"]
    assert [(each["ActionName"], each["Status"]) for each in actions] == [
        ("approve", "Succeeded"), ("reject", "Succeeded"), ("extend", "Succeeded"),
    ]  # fmt: skip
    assert report["AssignmentReviewPolicy"] == {"PolicyName": policy["PolicyName"]}
    assert "HITReviewReport" not in report


def test_a_policy_of_a_clock_that_was_ahead_does_not_wait_until_then(marketplace, client):
    hit_type_id = create_hit_type(client)
    policy = known_answers(ApproveIfKnownAnswerScoreIsAtLeast=100)
    hit_id = create_hit(client, hit_type_id, AssignmentReviewPolicy=policy)["HITId"]
    good = answer(marketplace, hit_type_id, gold="cat")
    Hit.objects.update(policy_due_at=clock.now() + timedelta(days=365))

    marketplace.advance(seconds=1)

    assert statuses(client, hit_id) == {good: "Approved"}


def test_plurality_approves_who_agrees_and_rejects_who_does_not(marketplace, client):
    hit_type_id = create_hit_type(client)
    policy = plurality(
        ApproveIfWorkerAgreementScoreIsAtLeast=100, RejectIfWorkerAgreementScoreIsLessThan=100
    )
    hit_id = create_hit(client, hit_type_id, MaxAssignments=3, HITReviewPolicy=policy)["HITId"]

    cats = [answer(marketplace, hit_type_id, animal="cat") for _ in range(2)]
    dog = answer(marketplace, hit_type_id, animal="dog")
    marketplace.advance(seconds=1)

    assert statuses(client, hit_id) == {**dict.fromkeys(cats, "Approved"), dog: "Rejected"}
    results = client.list_review_policy_results_for_hit(HITId=hit_id, MaxResults=100)
    found = {each["Key"]: each["Value"] for each in results["HITReviewReport"]["ReviewResults"]}
    assert (found["PluralityAnswer"], found["PluralityLevel"]) == ("cat", "66")


def test_disagreement_extends_until_the_maximum(marketplace, client):
    hit_type_id = create_hit_type(client)
    policy = plurality(ExtendIfHITAgreementScoreIsLessThan=100, **UP_TO_THREE)
    hit_id = create_hit(client, hit_type_id, MaxAssignments=2, HITReviewPolicy=policy)["HITId"]

    for animal in ("cat", "dog"):
        answer(marketplace, hit_type_id, animal=animal)
    marketplace.advance(seconds=1)
    assert counts(client, hit_id)[:2] == ("Assignable", 1)
    answer(marketplace, hit_type_id, animal="owl")
    marketplace.advance(seconds=1)

    assert counts(client, hit_id)[:2] == ("Reviewable", 0)


@pytest.mark.parametrize(
    "policy",
    [
        {"PolicyName": "SimplePlurality/2011-09-01"},
        {"PolicyName": "ScoreMyKnownAnswers/2011-09-01"},
        known_answers(Nonsense=1),
        known_answers(ApproveIfKnownAnswerScoreIsAtLeast="many"),
        known_answers(ExtendIfKnownAnswerScoreIsLessThan=5),
        known_answers(ExtendMaximumAssignments=2, ExtendMinimumTimeInSeconds=0),
        known_answers(ExtendMaximumAssignments=2, ExtendMinimumTimeInSeconds=31_536_001),
        known_answers(RejectIfKnownAnswerScoreIsLessThan=1, RejectReason="x" * 1025),
        known_answers(ApproveReason="x" * 1025),
        {
            "PolicyName": "ScoreMyKnownAnswers/2011-09-01",
            "Parameters": [{"Key": "AnswerKey", "Values": ["cat"]}],
        },
        {
            "PolicyName": "ScoreMyKnownAnswers/2011-09-01",
            "Parameters": [
                {"Key": "AnswerKey", "MapEntries": [{"Key": "q" * 256, "Values": ["cat"]}]}
            ],
        },
    ],
)
def test_impossible_policies_are_refused(client, policy):
    hit_type_id = create_hit_type(client)

    with pytest.raises(client.exceptions.RequestError):
        create_hit(client, hit_type_id, AssignmentReviewPolicy=policy)


def test_the_longest_texts_of_a_policy_can_be_carried_out(marketplace, client):
    """A longer text could not be stored, and its error would stop the sweep."""
    hit_type_id = create_hit_type(client)
    policy = known_answers(RejectIfKnownAnswerScoreIsLessThan=50, RejectReason="r" * 1024)
    policy["Parameters"][0]["MapEntries"][0]["Key"] = "q" * 255
    hit_id = create_hit(client, hit_type_id, AssignmentReviewPolicy=policy)["HITId"]

    bad = answer(marketplace, hit_type_id, gold="dog")
    marketplace.advance(seconds=1)

    assert statuses(client, hit_id) == {bad: "Rejected"}


def test_results_that_are_stored_again_while_a_program_reads_them_are_listed_once(
    marketplace, client
):
    hit_type_id = create_hit_type(client)
    policy = plurality(ExtendIfHITAgreementScoreIsLessThan=100, **UP_TO_THREE)
    hit_id = create_hit(client, hit_type_id, MaxAssignments=2, HITReviewPolicy=policy)["HITId"]
    for animal in ("cat", "dog"):
        answer(marketplace, hit_type_id, animal=animal)
    marketplace.advance(seconds=1)
    page = client.list_review_policy_results_for_hit(HITId=hit_id, MaxResults=1)
    listed = page["HITReviewReport"]["ReviewResults"]

    answer(marketplace, hit_type_id, animal="cat")
    marketplace.advance(seconds=1)
    while "NextToken" in page:
        page = client.list_review_policy_results_for_hit(
            HITId=hit_id, NextToken=page["NextToken"], MaxResults=2
        )
        listed += page["HITReviewReport"].get("ReviewResults", [])

    keys = sorted(each["Key"] for each in listed)
    agreed = ["AgreedWithPlurality"] * 3 + ["HITAgreementScore"]
    assert keys == [*agreed, "PluralityAnswer", "PluralityLevel", *["WorkerAgreementScore"] * 3]


def test_levels_that_are_named_many_times_can_be_read_in_pages(marketplace, client):
    hit_type_id, hit_id = new_hit(client, HITReviewPolicy=plurality())
    answer(marketplace, hit_type_id, animal="cat")
    marketplace.advance(seconds=1)
    request = {"HITId": hit_id, "PolicyLevels": ["HIT", "Assignment"] * 10, "MaxResults": 1}

    page = client.list_review_policy_results_for_hit(**request)
    page = client.list_review_policy_results_for_hit(**request, NextToken=page["NextToken"])

    assert len(page["HITReviewReport"]["ReviewResults"]) == 1


def submit_animal(hit: Hit, animal: str = "cat", place: str = "park") -> Assignment:
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    document = build([("animal", [animal]), ("place", [place])])
    assignments.submit(assignment=assignment, answer=document, at=NOON)
    return assignment


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.django_db
@pytest.mark.parametrize("step", ["reject", "extend"])
def test_a_process_that_is_killed_before_the_action_loses_no_decision(monkeypatch, step):
    """Not even if the work would be approved automatically at the same time."""
    policy = known_answers(
        RejectIfKnownAnswerScoreIsLessThan=50,
        ExtendIfKnownAnswerScoreIsLessThan=50,
        ExtendMaximumAssignments=2,
        ExtendMinimumTimeInSeconds=3600,
    )
    hit_type = make_hit_type(auto_approval_delay=timedelta(seconds=1))
    hit = make_hit(hit_type, assignment_review_policy=policy)
    assignment = submit_animal(hit)

    def killed(**_arguments):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(
            *((reviews, "reject") if step == "reject" else (hits, "add_assignments")), killed
        )
        with pytest.raises(Killed):
            sweep(at=NOON)
    sweep(at=NOON + timedelta(seconds=2))
    sweep(at=clock.now() + 2 * review_policies.LEASE)

    assignment.refresh_from_db()
    hit.refresh_from_db()
    assert assignment.status == "Rejected"
    assert hit.max_assignments == 2
    actions = ReviewAction.objects.order_by("pk").values_list("name", "status")
    assert list(actions) == [("reject", "Succeeded"), ("extend", "Succeeded")]
    assert ReviewResult.objects.filter(key="KnownAnswerScore").count() == 1


@pytest.mark.django_db
def test_a_process_that_is_killed_between_two_rejections_changes_no_score(monkeypatch):
    """Without the first rejected assignment, the second one would agree with all that count."""
    policy = {
        "PolicyName": "SimplePlurality/2011-09-01",
        "Parameters": [
            {"Key": "QuestionIds", "Values": ["animal", "place"]},
            *parameters(
                QuestionAgreementThreshold=50,
                DisregardAssignmentIfRejected="true",
                ApproveIfWorkerAgreementScoreIsAtLeast=60,
                RejectIfWorkerAgreementScoreIsLessThan=60,
            ),
        ],
    }
    hit = make_hit(hit_review_policy=policy, max_assignments=3)
    given_answers = [("cat", "park"), ("cat", "street"), ("dog", "park")]
    made = [submit_animal(hit, animal, place) for animal, place in given_answers]
    reject = reviews.reject

    def killed_at_the_second(**values):
        if values["assignment"] == made[2]:
            raise Killed
        reject(**values)

    with monkeypatch.context() as patch:
        patch.setattr(reviews, "reject", killed_at_the_second)
        with pytest.raises(Killed):
            sweep(at=NOON)
    sweep(at=clock.now() + 2 * review_policies.LEASE)

    for assignment in made:
        assignment.refresh_from_db()
    assert [assignment.status for assignment in made] == ["Approved", "Rejected", "Rejected"]


@pytest.mark.django_db
def test_a_policy_that_always_fails_does_not_keep_work_from_being_approved(monkeypatch):
    """Until then it is tried again: its error may be mended."""
    policy = known_answers(RejectIfKnownAnswerScoreIsLessThan=50)
    hit = make_hit(assignment_review_policy=policy)
    assignment = submit_animal(hit)
    tries = []

    def broken(*_arguments):
        tries.append(1)
        raise ValueError("an answer that nobody can score")

    monkeypatch.setattr(review_policies, "score_known_answers", broken)
    sweep(at=NOON)
    soon = clock.now() + 2 * review_policies.LEASE
    Assignment.objects.update(auto_approval_at=soon + timedelta(seconds=1))
    sweep(at=soon)
    assignment.refresh_from_db()
    assert (assignment.status, len(tries)) == ("Submitted", 2)

    sweep(at=soon + 2 * review_policies.LEASE)

    assignment.refresh_from_db()
    assert (assignment.status, len(tries)) == ("Approved", 3)


@pytest.mark.django_db
def test_work_is_scored_once_although_two_processes_read_it():
    hit = make_hit(assignment_review_policy=known_answers(ApproveIfKnownAnswerScoreIsAtLeast=0))
    submit_animal(hit)
    hit.refresh_from_db()
    [read] = review_policies._submitted(hit)
    policy = review_policies.Policy(hit.assignment_review_policy)
    review_policies.apply_policy(hit, NOON)

    review_policies._score_assignment(hit, read, policy, NOON)

    assert ReviewAction.objects.count() == 1
    assert ReviewResult.objects.filter(key="KnownAnswerScore").count() == 1


@pytest.mark.django_db
def test_a_policy_that_a_slow_sweep_has_begun_is_begun_by_no_other_process(monkeypatch):
    hit = make_hit(assignment_review_policy=known_answers(ApproveIfKnownAnswerScoreIsAtLeast=0))
    submit_animal(hit)
    approve, due_meanwhile = reviews.approve, []

    def look_and_approve(**arguments):
        due_meanwhile.extend(review_policies.hits_with_due_policy(clock.now()))
        approve(**arguments)

    monkeypatch.setattr(reviews, "approve", look_and_approve)
    # The sweep has read the time long before it comes to this HIT.
    sweep(at=NOON)

    assert ReviewAction.objects.get().status == "Succeeded"
    assert due_meanwhile == []


@pytest.mark.django_db
def test_a_hit_that_is_being_reviewed_is_scored_too():
    """The requester may have taken it up before the sweep came, or after a process was killed."""
    policy = plurality(ApproveIfWorkerAgreementScoreIsAtLeast=0)
    hit = make_hit(hit_review_policy=policy)
    assignment = submit_animal(hit)
    hits.update_review_status(hit=hit, revert=False)

    sweep(at=NOON)

    assignment.refresh_from_db()
    assert assignment.status == "Approved"


@pytest.mark.django_db
def test_an_extension_gives_a_slot_and_the_time_or_neither(settings):
    policy = plurality(
        ExtendIfHITAgreementScoreIsLessThan=101,
        ExtendMaximumAssignments=2,
        ExtendMinimumTimeInSeconds=31_536_000,
    )
    hit = make_hit(hit_review_policy=policy)
    settings.MTURK_LIFETIME_SECONDS = (30, 31_535_999)
    submit_animal(hit)

    sweep(at=NOON)

    hit.refresh_from_db()
    assert ReviewAction.objects.get().status == "Failed"
    assert (hit.max_assignments, hit.available) == (1, 0)


@pytest.mark.django_db
def test_a_policy_decides_before_an_automatic_approval_at_once():
    policy = known_answers(RejectIfKnownAnswerScoreIsLessThan=50)
    hit_type = make_hit_type(auto_approval_delay=timedelta(0))
    make_hit(hit_type, max_assignments=2, assignment_review_policy=policy)
    for gold in ("dog", "cat"):
        assignment = assignments.accept(worker=make_worker(), hit_type=hit_type, at=NOON)
        assignments.submit(assignment=assignment, answer=build([("gold", [gold])]), at=NOON)

    sweep(at=NOON)

    found = Assignment.objects.order_by("pk").values_list("status", flat=True)
    assert list(found) == ["Rejected", "Approved"]


@pytest.mark.django_db
@pytest.mark.parametrize("values", [
    {"MTURK_EXPIRATION_STEP": timedelta(minutes=1)}, {"MTURK_SLOTS_REOPEN_EXPIRED": True},
])  # fmt: skip
def test_an_extension_fits_the_rules_for_expirations(settings, values):
    """Here it moves the time by a second, and comes when the slot has reopened the HIT."""
    for name, value in values.items():
        setattr(settings, name, value)
    policy = plurality(
        ExtendIfHITAgreementScoreIsLessThan=101,
        ExtendMaximumAssignments=2,
        ExtendMinimumTimeInSeconds=301,
    )
    hit = make_hit(hit_review_policy=policy, lifetime=timedelta(minutes=5))
    submit_animal(hit)
    if settings.MTURK_SLOTS_REOPEN_EXPIRED:
        hits.expire(hit=hit, at=NOON)

    sweep(at=NOON)

    hit.refresh_from_db()
    assert ReviewAction.objects.get().status == "Succeeded", ReviewAction.objects.get().result
    assert (hit.status, hit.available) == (HitStatus.ASSIGNABLE, 1)
    assert hit.expires_at >= NOON + timedelta(seconds=301)


@pytest.mark.django_db
def test_an_extension_opens_a_hit_again_that_the_requester_has_expired():
    """Amazon applies a policy whenever a HIT becomes reviewable, up to the policy's maximum."""
    policy = plurality(ExtendIfHITAgreementScoreIsLessThan=101, **UP_TO_THREE)
    hit = make_hit(max_assignments=2, hit_review_policy=policy)
    submit_animal(hit)
    seen = []

    for _ in range(2):
        hits.update_expiration(hit=hit, expires_at=NOON - timedelta(days=1), at=NOON)
        sweep(at=NOON)
        hit.refresh_from_db()
        seen.append((hit.status, hit.available))

    assert seen == [("Assignable", 2), ("Reviewable", 2)]
