"""Section "Protocol": requests and responses over HTTP."""

import json
import re
from datetime import datetime

import pytest
import requests
from botocore.exceptions import ClientError

from tests.marketplace.driver import create_hit, create_hit_type, error_code, hits_of

pytestmark = pytest.mark.one_database

TARGET = "MTurkRequesterServiceV20170117"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Amz-Target": f"{TARGET}.MakeCoffee"},
        {"X-Amz-Target": "SomethingElse.GetHIT"},
        {"X-Amz-Target": f"{TARGET}.GetHIT", "Content-Type": "text/plain"},
        {"X-Amz-Target": f"{TARGET}.GetHIT", "Content-Type": "application/x-amz-json-1.1"},
    ],
)
def test_a_post_that_is_not_a_signed_call_is_answered_in_json(marketplace, headers):
    """Conformance check 1."""
    response = requests.post(marketplace.url + "/", data="{}", headers=headers)

    assert 400 <= response.status_code < 500
    assert response.json()["__type"]


def test_an_operation_without_result_yields_metadata_alone(client):
    """Conformance check 2."""
    hit = create_hit(client, create_hit_type(client))

    answer = client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=datetime(2015, 1, 1))

    assert list(answer) == ["ResponseMetadata"]
    assert answer["ResponseMetadata"]["RequestId"]


def test_times_are_numbers_on_the_wire_and_aware_datetimes_in_the_client(client):
    """Conformance check 3."""
    bodies = []
    client.meta.events.register(
        "response-received.mturk.CreateHITWithHITType",
        lambda response_dict, **_: bodies.append(json.loads(response_dict["body"])),
    )

    hit = create_hit(client, create_hit_type(client))

    assert hit["CreationTime"].tzinfo is not None
    assert isinstance(bodies[0]["HIT"]["CreationTime"], float)


def test_an_unknown_hit_is_a_request_error_after_one_attempt(client):
    """Conformance check 4."""
    with pytest.raises(client.exceptions.RequestError, match="Hit ABC does not exist.") as error:
        client.get_hit(HITId="ABC")

    assert error_code(error) == "HITDoesNotExist"
    metadata = error.value.response["ResponseMetadata"]
    assert (metadata["HTTPStatusCode"], metadata["RetryAttempts"]) == (400, 0)


@pytest.mark.parametrize(
    ("operation", "parameters", "told"),
    [
        ("get_hit", {"HITId": "no-such"}, "regular expression"),
        ("get_hit", {"HITId": "A" * 65}, "less than or equal to 64"),
        ("list_hits", {"MaxResults": 101}, "less than or equal to 100"),
        ("list_reviewable_hits", {"Status": "Bad"}, "enum value set"),
        ("create_worker_block", {"WorkerId": "B12", "Reason": "x"}, "at 'workerId'"),
        (
            "send_bonus",
            {"WorkerId": "A1", "AssignmentId": "B", "BonusAmount": "0.9752", "Reason": "x"},
            "Value '0.9752' at 'bonusAmount'",
        ),
    ],
)
def test_parameters_that_break_the_model_raise_a_validation_exception(
    client, operation, parameters, told
):
    """Conformance check 7."""
    with pytest.raises(ClientError, match=told) as error:
        getattr(client, operation)(**parameters)

    assert error.value.response["Error"]["Code"] == "ValidationException"


def test_requesters_see_nothing_of_each_other(marketplace):
    """Conformance check 8."""
    one, other = marketplace.requester("one"), marketplace.requester("other")
    hit = create_hit(one, create_hit_type(one))

    with pytest.raises(other.exceptions.RequestError, match="does not exist"):
        other.get_hit(HITId=hit["HITId"])
    assert other.list_hits()["HITs"] == []


@pytest.mark.parametrize(
    ("key", "code"), [("", "InvalidSignatureException"), ("AKIAU", "UnrecognizedClientException")]
)
def test_a_wrong_secret_or_an_unknown_access_key_is_refused(marketplace, key, code):
    client = marketplace.client(key or marketplace.keys()["access_key"], "wrong")

    with pytest.raises(ClientError) as error:
        client.get_account_balance()

    assert error.value.response["Error"]["Code"] == code


def test_access_errors_have_the_services_own_codes_too(marketplace):
    """boto3 shows only codes of modelled errors; other clients read the body."""
    sent = _signed_request(marketplace.requester())
    signed = _text(sent["headers"])
    stranger = re.sub("Credential=[^/]*", "Credential=AKIAUNKNOWN", signed["Authorization"])

    def code(**changes: str) -> str:
        headers = {**signed, **changes}
        return requests.post(marketplace.url, data=sent["body"], headers=headers).json()[
            "TurkErrorCode"
        ]

    assert code(Authorization=stranger) == "AWS.BadCredentialSupplied"
    assert code(Authorization="") == "AWS.NotAuthorized"


def _signed_request(client) -> dict:
    sent = {}

    def keep(request, **_):
        sent.update(headers=dict(request.headers), body=request.body)

    client.meta.events.register("before-send.mturk.GetAccountBalance", keep)
    client.get_account_balance()
    return sent


def test_a_changed_body_breaks_the_signature(marketplace):
    sent = _signed_request(marketplace.requester())

    response = requests.post(
        marketplace.url + "/", data=b'{"HITId": "A"}', headers=_text(sent["headers"])
    )

    assert response.json()["__type"] == "InvalidSignatureException"


def test_a_stale_signature_is_refused(client, monkeypatch):
    long_ago = datetime(2020, 1, 1)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: long_ago)

    with pytest.raises(ClientError, match="Signature expired"):
        client.get_account_balance()


def _text(headers: dict) -> dict[str, str]:
    return {
        name: value.decode() if isinstance(value, bytes) else str(value)
        for name, value in headers.items()
    }


@pytest.mark.parametrize(("mode", "attempts"), [("legacy", 5), ("standard", 3)])
def test_a_service_fault_is_tried_again(marketplace, without_pauses, mode, attempts):
    """Conformance check 5."""
    client = marketplace.requester(retries={"mode": mode})
    marketplace.hook("faults", operation="GetAccountBalance", kind="fault_before", times=9)

    with pytest.raises(client.exceptions.ServiceFault) as error:
        client.get_account_balance()

    metadata = error.value.response["ResponseMetadata"]
    assert (metadata["HTTPStatusCode"], metadata["RetryAttempts"]) == (500, attempts - 1)


def test_throttling_is_tried_again_and_ends_as_a_client_error(marketplace, without_pauses):
    """Conformance check 6."""
    client = marketplace.requester(retries={"mode": "standard"})
    marketplace.hook("faults", operation="*", kind="throttle", times=2)
    assert client.get_account_balance()
    marketplace.hook("faults", operation="*", kind="throttle", times=3)

    with pytest.raises(ClientError) as error:
        client.get_account_balance()

    assert error.value.response["Error"]["Code"] == "ThrottlingException"


def test_a_fault_after_the_effect_makes_the_retry_meet_its_own_token(marketplace, without_pauses):
    client = marketplace.requester(retries={"mode": "standard"})
    hit_type_id = create_hit_type(client)
    marketplace.hook("faults", operation="CreateHITWithHITType", kind="fault_after")

    with pytest.raises(client.exceptions.RequestError) as error:
        create_hit(client, hit_type_id, UniqueRequestToken="mine")

    assert error_code(error) == "HitAlreadyExists"
    assert client.list_hits()["NumResults"] == 1


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_an_operation_runs_by_post_alone(client, method):
    """A signature covers the method, so a call signed for another method has a valid signature."""
    hit_type_id = create_hit_type(client)
    answers = []

    def change_method(request, **_):
        request.method = method

    client.meta.events.register_first("before-sign.mturk", change_method)
    client.meta.events.register(
        "response-received.mturk", lambda response_dict, **_: answers.append(response_dict)
    )
    with pytest.raises(ClientError):
        create_hit(client, hit_type_id)

    client.meta.events.unregister("before-sign.mturk", change_method)
    assert {answer["status_code"] for answer in answers} == {405}
    assert {answer["headers"]["Allow"] for answer in answers} == {"GET, HEAD, POST"}
    assert hits_of(client, hit_type_id) == []
