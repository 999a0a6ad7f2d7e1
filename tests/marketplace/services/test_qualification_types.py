"""Requests for qualifications: granted at once, by a test, or by the requester."""

import pytest

from marketplace.errors import DoesNotExist
from marketplace.services import qualification_types
from tests.marketplace.driver import QUESTION, create_hit, create_hit_type
from tests.marketplace.factories import NOON, make_requester
from tests.marketplace.questions.forms import CHOICE, KEY, PERCENTAGE, form

HTML_QUESTION = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<p>A page</p>]]></HTMLContent>'
    "<FrameHeight>0</FrameHeight></HTMLQuestion>"
)


@pytest.fixture
def client(marketplace):
    return marketplace.requester()


def qualification(client, **properties) -> str:
    answer = client.create_qualification_type(
        Name="Knows animals", Description="d", QualificationTypeStatus="Active", **properties
    )
    return answer["QualificationType"]["QualificationTypeId"]


def score(client, public_id: str, worker) -> int:
    return client.get_qualification_score(QualificationTypeId=public_id, WorkerId=worker.worker_id)[
        "Qualification"
    ]["IntegerValue"]


def test_a_qualification_that_is_granted_at_once(marketplace, client):
    public_id, worker = (
        qualification(client, AutoGranted=True, AutoGrantedValue=7),
        marketplace.worker(),
    )

    worker.post(f"/qualifications/{public_id}/request")

    assert score(client, public_id, worker) == 7


@pytest.mark.parametrize("accepts", [True, False])
def test_the_requester_decides(marketplace, client, accepts):
    public_id, worker = qualification(client), marketplace.worker()
    worker.post(f"/qualifications/{public_id}/request")
    [request] = client.list_qualification_requests(QualificationTypeId=public_id)[
        "QualificationRequests"
    ]
    request_id = request["QualificationRequestId"]

    if accepts:
        client.accept_qualification_request(QualificationRequestId=request_id, IntegerValue=3)
        assert score(client, public_id, worker) == 3
    else:
        client.reject_qualification_request(QualificationRequestId=request_id, Reason="Not yet")
        assert "Not yet" in worker.get("/messages").text

    with pytest.raises(client.exceptions.RequestError):
        client.accept_qualification_request(QualificationRequestId=request_id)
    assert client.list_qualification_requests()["NumResults"] == 0


def with_test(client, **properties) -> str:
    return qualification(
        client,
        Test=form(CHOICE),
        TestDurationInSeconds=600,
        AnswerKey=KEY.replace("{mapping}", PERCENTAGE),
        **properties,
    )


def test_a_test_is_scored_by_its_key(marketplace, client):
    public_id, worker = with_test(client), marketplace.worker()
    worker.post(f"/qualifications/{public_id}/request")
    assert "What is it?" in worker.get(f"/qualifications/{public_id}").text

    response = worker.post(f"/qualifications/{public_id}/test", animal="dog")

    assert response.status_code == 303
    assert score(client, public_id, worker) == 50


def test_a_test_handed_in_too_late_counts_for_nothing(marketplace, client):
    public_id, worker = with_test(client), marketplace.worker()
    worker.post(f"/qualifications/{public_id}/request")
    marketplace.advance(seconds=600)

    worker.post(f"/qualifications/{public_id}/test", animal="dog")

    with pytest.raises(client.exceptions.RequestError):
        score(client, public_id, worker)


def test_an_incomplete_test_handed_in_too_late_is_told_to_be_late(marketplace, client):
    public_id, worker = with_test(client), marketplace.worker()
    worker.post(f"/qualifications/{public_id}/request")
    marketplace.advance(seconds=600)

    answer = worker.post(f"/qualifications/{public_id}/test")

    assert answer.status_code == 303
    assert "The time for this test is over." in worker.get(f"/qualifications/{public_id}").text


def test_a_worker_with_a_score_may_try_for_a_better_one_after_the_delay(marketplace, client):
    public_id, worker = with_test(client, RetryDelayInSeconds=3600), marketplace.worker()
    hit_type_id = create_hit_type(client, QualificationRequirements=[at_least(public_id, 100)])
    create_hit(client, hit_type_id, LifetimeInSeconds=86_400)
    here = f"/qualifications/{public_id}"
    worker.post(f"{here}/request")
    worker.post(f"{here}/test", animal="dog")
    marketplace.advance(seconds=3600)
    assert here in worker.get(f"/groups/{hit_type_id}/preview").text

    worker.post(f"{here}/request")
    assert "data-seconds-left" in worker.get(here).text
    worker.post(f"{here}/test", animal=["dog", "cat"])

    assert score(client, public_id, worker) == 100
    assert worker.accept(hit_type_id)


def at_least(public_id: str, value: int) -> dict:
    return {
        "QualificationTypeId": public_id,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [value],
    }


def test_a_new_test_without_a_key_leaves_the_decision_to_the_requester(marketplace, client):
    public_id, worker = with_test(client), marketplace.worker()

    changed = client.update_qualification_type(
        QualificationTypeId=public_id, Test=form(CHOICE), TestDurationInSeconds=60
    )["QualificationType"]

    assert "AnswerKey" not in changed
    worker.post(f"/qualifications/{public_id}/request")
    worker.post(f"/qualifications/{public_id}/test", animal="dog")
    assert client.list_qualification_requests()["NumResults"] == 1


def test_a_worker_finishes_the_test_that_was_begun_although_the_type_has_another(
    marketplace, client
):
    public_id, worker = with_test(client), marketplace.worker()
    here = f"/qualifications/{public_id}"
    worker.post(f"{here}/request")

    client.update_qualification_type(
        QualificationTypeId=public_id,
        Test=form(CHOICE).replace("What is it?", "What colour is it?"),
        TestDurationInSeconds=60,
    )
    marketplace.advance(seconds=300)

    assert "What is it?" in worker.get(here).text
    worker.post(f"{here}/test", animal="dog")
    assert score(client, public_id, worker) == 50


def test_a_pending_request_has_the_test_that_was_answered(marketplace, client):
    public_id, worker = qualification(client), marketplace.worker()
    test = {"TestDurationInSeconds": 600, "QualificationTypeId": public_id}
    client.update_qualification_type(Test=form(CHOICE), **test)
    worker.post(f"/qualifications/{public_id}/request")
    worker.post(f"/qualifications/{public_id}/test", animal="dog")

    client.update_qualification_type(
        Test=form(CHOICE).replace("What is it?", "What colour is it?"), **test
    )

    [request] = client.list_qualification_requests()["QualificationRequests"]
    assert request["Test"] == form(CHOICE)


def test_a_test_cannot_be_removed_so_workers_who_take_it_can_submit_it(marketplace, client):
    public_id, worker = with_test(client), marketplace.worker()
    worker.post(f"/qualifications/{public_id}/request")

    with pytest.raises(client.exceptions.RequestError, match="no way to remove a Test"):
        client.update_qualification_type(
            QualificationTypeId=public_id, Test="", TestDurationInSeconds=600
        )

    worker.post(f"/qualifications/{public_id}/test", animal="dog")
    assert score(client, public_id, worker) == 50


@pytest.mark.parametrize(
    "change",
    [
        {"Test": form(CHOICE)},
        {"AnswerKey": KEY.replace("{mapping}", "")},
        {"TestDurationInSeconds": 60},
        {"AutoGranted": True},
    ],
    ids=["test alone", "key alone", "duration alone", "granted at once"],
)
def test_parts_of_a_test_are_changed_together(client, change):
    public_id = with_test(client)

    with pytest.raises(client.exceptions.RequestError):
        client.update_qualification_type(QualificationTypeId=public_id, **change)


@pytest.mark.parametrize(
    ("delay", "hours", "again"), [(3600, 2, True), (3600, 0.5, False), (None, 99, False)]
)
def test_a_second_try_after_the_retry_delay(marketplace, client, delay, hours, again):
    more = {} if delay is None else {"RetryDelayInSeconds": delay}
    public_id, worker = with_test(client, **more), marketplace.worker()
    worker.post(f"/qualifications/{public_id}/request")
    marketplace.advance(hours=hours)

    worker.post(f"/qualifications/{public_id}/request")

    assert ("Submit test" in worker.get(f"/qualifications/{public_id}").text) is again


def test_the_preview_says_what_can_be_asked_for(marketplace, client):
    public_id, worker = qualification(client), marketplace.worker()
    hit_type_id = create_hit_type(
        client,
        QualificationRequirements=[{"QualificationTypeId": public_id, "Comparator": "Exists"}],
    )
    create_hit(client, hit_type_id)

    page = worker.get(f"/groups/{hit_type_id}/preview").text

    assert f"/qualifications/{public_id}" in page
    assert client.list_hits_for_qualification_type(QualificationTypeId=public_id)["NumResults"] == 1


def test_a_test_needs_a_form_and_a_duration(client):
    for page in (QUESTION, HTML_QUESTION):
        with pytest.raises(client.exceptions.RequestError, match="must be a QuestionForm"):
            qualification(client, Test=page, TestDurationInSeconds=60)
    with pytest.raises(client.exceptions.RequestError, match="TestDurationInSeconds"):
        qualification(client, Test=form(CHOICE))
    with pytest.raises(client.exceptions.RequestError, match="needs a test"):
        qualification(client, AnswerKey=KEY)


@pytest.mark.django_db
def test_a_type_that_was_deleted_meanwhile_does_not_become_active_again():
    made = qualification_types.create_qualification_type(
        requester=make_requester(), name="Knows animals", description="d", at=NOON
    )
    qualification_types.delete_qualification_type(qualification_type=made, at=NOON)

    with pytest.raises(DoesNotExist):
        qualification_types.update_qualification_type(
            qualification_type=made, changes={"is_active": True}
        )
