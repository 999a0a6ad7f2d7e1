"""Random requests of the model's shapes never cause an internal error."""

import json
from collections.abc import Callable

import botocore.parsers
import pytest
import requests
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marketplace.api import dispatch
from marketplace.api.calls import HANDLERS, Call
from marketplace.api.errors import ApiError
from marketplace.api.shapes import shaped
from marketplace.api.signing import SERVICE
from marketplace.api.validation import operation, service, validate
from marketplace.errors import DomainError
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker

assert dispatch, "importing the module registers the operations"


def test_every_operation_of_the_model_has_a_handler():
    assert set(HANDLERS) == set(service().operation_names)


PLAIN_VALUES = {
    "boolean": [False, True],
    "integer": [-1, 0, 1, 2, 10, 100, 2**31 - 1, -(2**31)],
    "long": [-1, 0, 1, 30, 3600, 2**63 - 1, -(2**63)],
    "timestamp": [0, 1.5, -1, 4e9, 1e11, 1e18, NOON.timestamp() + 60],
}


def values_of(shape, known: dict[str, list[str]]) -> st.SearchStrategy:
    """Values of a shape, mostly valid, including ids that exist."""
    if shape.type_name == "structure":
        members = {name: values_of(member, known) for name, member in shape.members.items()}
        for name in members.keys() & known.keys():
            members[name] = st.sampled_from(known[name]) | members[name]
        required = {name: members.pop(name) for name in shape.required_members}
        return st.fixed_dictionaries(required, optional=members)
    if shape.type_name == "list":
        return st.lists(values_of(shape.member, known), max_size=3)
    if shape.type_name in PLAIN_VALUES:
        return st.sampled_from(PLAIN_VALUES[shape.type_name])
    if shape.enum:
        return st.sampled_from(shape.enum)
    if "pattern" in shape.metadata and "[A-Z0-9]" not in shape.metadata["pattern"]:
        return st.sampled_from(["0", "0.01", "5.", "1.50", "9" * 30, "1" + "0" * 20])
    return st.text(max_size=20) | st.sampled_from(
        ["A1", "x" * 5000, "\u2028", "<x/>", "0", "\ud800", "\0"]
    )


@pytest.fixture
def known(db) -> dict[str, list[str]]:
    requester = make_requester()
    hit_type = make_hit_type(requester)
    hit = make_hit(hit_type, max_assignments=3)
    return {
        "HITTypeId": [hit_type.public_id],
        "HITId": [hit.public_id],
        "WorkerId": [make_worker().public_id],
        "QualificationTypeId": ["00000000000000000040", "00000000000000000071"],
        "Question": [hit.question],
        "requester": [requester],
    }


@pytest.mark.parametrize("name", sorted(service().operation_names))
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_no_request_makes_the_service_fail(known, name, data):
    model = operation(name)
    body = data.draw(values_of(model.input_shape, known))
    requester = known["requester"][0]

    try:
        params = validate(model.input_shape, body)
        call = Call(requester=requester, params=params, at=NOON, operation=name)
        answer = shaped(model.output_shape, HANDLERS[name](call))
    except (ApiError, DomainError):
        return

    assert_botocore_reads(name, answer)


def assert_botocore_reads(name: str, answer: dict) -> None:
    """Check that botocore's shapes parse every member of the response."""
    parser = botocore.parsers.create_parser("json")
    response = {"body": json.dumps(answer).encode(), "status_code": 200, "headers": {}}
    parsed = parser.parse(response, operation(name).output_shape)
    assert set(answer) <= set(parsed)


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@st.composite
def bodies(draw, name: str, known: dict[str, list[str]]):
    """Requests of the operation's shape, with one member replaced, or with another shape."""
    body = draw(values_of(operation(name).input_shape, known))
    what = draw(st.sampled_from(["as the model has it", "one member wrong", "anything"]))
    if what == "anything":
        return draw(any_json)
    if what == "one member wrong" and body:
        body = {**body, draw(st.sampled_from(sorted(body))): draw(any_json)}
    return body


@pytest.fixture
def send(marketplace, known) -> Callable[[str, bytes], requests.Response]:
    """Sends a call over HTTP, signed by botocore and not validated."""
    requester, session = known["requester"][0], requests.Session()
    signer = SigV4Auth(
        Credentials(requester.access_key, requester.secret_key), SERVICE, "us-east-1"
    )

    def send_signed(name: str, body: bytes) -> requests.Response:
        headers = {
            "Content-Type": dispatch.CONTENT_TYPE,
            "X-Amz-Target": f"{service().metadata['targetPrefix']}.{name}",
        }
        signed = AWSRequest("POST", f"{marketplace.url}/", headers=headers, data=body)
        signer.add_auth(signed)
        return session.post(signed.url, data=body, headers=dict(signed.headers))

    return send_signed


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(name=st.sampled_from(sorted(service().operation_names)), data=st.data())
def test_no_signed_request_over_http_makes_the_service_fail(send, known, name, data):
    body = json.dumps(data.draw(bodies(name, known))).encode()

    answer = send(name, body)

    assert answer.headers["Content-Type"] == dispatch.CONTENT_TYPE
    assert answer.headers["x-amzn-RequestId"]
    if answer.status_code == 200:
        assert_botocore_reads(name, answer.json())
    else:
        assert answer.status_code == 400, answer.text
        assert answer.json()["__type"] not in ("ServiceFault", "InvalidSignatureException")


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(body=st.binary(max_size=200))
def test_a_body_that_is_not_json_is_refused_in_json(send, body):
    answer = send("ListHITs", body)

    assert answer.status_code in (200, 400)
    assert isinstance(answer.json(), dict)
