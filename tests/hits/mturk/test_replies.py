"""Invalid replies of the marketplace raise MarketplaceError; valid ones can be stored.

The replies pass through botocore's own parser.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from hits.mturk import connection
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError, StrangeReply
from hits.mturk.endpoints import endpoint_of
from hits.mturk.replies import ListedAssignment, ListedHit

NOW = int(datetime.now(UTC).timestamp())
HIT = {
    "HITId": "HIT1",
    "HITTypeId": "TYPE1",
    "RequesterAnnotation": "token",
    "HITStatus": "Assignable",
    "CreationTime": NOW,
    "Expiration": NOW + 86_400,
    "Reward": "0.10",
    "MaxAssignments": 3,
    "NumberOfAssignmentsAvailable": 2,
    "NumberOfAssignmentsPending": 1,
    "NumberOfAssignmentsCompleted": 0,
    "QualificationRequirements": [],
}
ASSIGNMENT = {
    "AssignmentId": "ASSIGNMENT1",
    "HITId": "HIT1",
    "WorkerId": "AWORKER1",
    "AssignmentStatus": "Approved",
    "AcceptTime": NOW - 60,
    "SubmitTime": NOW,
    "ApprovalTime": NOW,
    "Answer": "<QuestionFormAnswers/>",
}


class Raw:
    """The body of a reply, as botocore streams it."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self) -> Any:
        yield self.body


class Replies:
    """Gives the client these replies in turn; the last one is repeated."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, bytes, dict[str, str]]] = []
        self.calls = 0

    def give(self, *bodies: Any, status: int = 200, **headers: str) -> None:
        self.waiting = [(status, as_bytes(body), headers) for body in bodies]

    def __call__(self, request: Any, **_: Any) -> AWSResponse:
        self.calls += 1
        status, body, headers = self.waiting[0]
        if len(self.waiting) > 1:
            self.waiting.pop(0)
        headers = {"content-type": "application/x-amz-json-1.1", **headers}
        return AWSResponse(request.url, status, headers, Raw(body))


def as_bytes(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.fixture(scope="module")
def module_patch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def marketplace(module_patch) -> Marketplace:
    """A client with its own keys and without network access."""
    module_patch.setenv("AWS_ACCESS_KEY_ID", "KEYFORREPLIES")
    module_patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    module_patch.setattr(settings, "MTURK_MAX_ATTEMPTS", 2)
    return Marketplace(endpoint_of("http://replies.example"))


@pytest.fixture
def replies(marketplace) -> Replies:
    made = Replies()
    marketplace._client.meta.events.register_first("before-send.mturk", made)
    yield made
    marketplace._client.meta.events.unregister("before-send.mturk", made)


# One call of each kind that reads something of its reply.
READING: dict[str, Callable[[Marketplace], Any]] = {
    "balance": lambda m: m.balance(),
    "hits": lambda m: list(m.hits()),
    "hit": lambda m: m.hit("HIT1"),
    "assignments": lambda m: list(m.assignments("HIT1")),
    "assignment": lambda m: m.assignment("ASSIGNMENT1"),
    "hit_type": lambda m: m.hit_type(
        Title="a", Description="b", Reward="0.10", AssignmentDurationInSeconds=60
    ),
    "create_hit": lambda m: m.create_hit(
        hit_type_id="TYPE1",
        slots=3,
        lifetime_seconds=60,
        question="<q/>",
        annotation="a",
        token="t",
    ),
    "qualification_type": lambda m: m.qualification_type(name="name", description="words"),
    "notify": lambda m: m.notify(worker_ids=["AWORKER1"], subject="a", text="b"),
}
# And one of each kind that only wants to know that it was done.
DOING: dict[str, Callable[[Marketplace], Any]] = {
    "approve": lambda m: m.approve("ASSIGNMENT1"),
    "reject": lambda m: m.reject("ASSIGNMENT1", "why"),
    "expire_hit": lambda m: m.expire_hit("HIT1"),
    "delete_hit": lambda m: m.delete_hit("HIT1"),
    "grant": lambda m: m.grant(qualification_type_id="Q1", worker_id="AWORKER1"),
}
NOT_JSON = [
    b"<html><body>Please sign in to the hotel's network.</body></html>",
    b'{"HITs": [{"HITId": "HIT1",',
    b"null",
    b"[]",
    b'"text"',
    b"17",
    b"\xff\xfe{}",
    b"[" * 100_000,
    b'{"HITs":' * 100_000,
]


@pytest.mark.parametrize("call", [*READING.values(), *DOING.values()], ids=[*READING, *DOING])
@pytest.mark.parametrize("body", NOT_JSON, ids=range(len(NOT_JSON)))
def test_a_reply_that_is_not_a_json_object_is_an_error_with_a_sentence(
    marketplace, replies, call, body
):
    replies.give(body)

    with pytest.raises(StrangeReply, match=r"reply to \w+ cannot be used: it "):
        call(marketplace)


@pytest.mark.parametrize("call", READING.values(), ids=READING)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"HITs": None, "Assignments": None},
        {"HITs": 3, "Assignments": "x", "HIT": [], "Assignment": 1, "HITTypeId": {}},
        {"HIT": {}, "Assignment": {}, "HITTypeId": "", "AvailableBalance": "much"},
        {"HITs": [], "Assignments": [], "NextToken": 5, "AvailableBalance": "-1"},
    ],
)
def test_a_reply_without_what_is_read_of_it_is_an_error(marketplace, replies, call, body):
    replies.give(body)

    with pytest.raises(StrangeReply):
        call(marketplace)


@pytest.mark.parametrize("call", DOING.values(), ids=DOING)
def test_a_call_that_was_done_may_answer_nothing(marketplace, replies, call):
    for body in (b"", {}):
        replies.give(body)

        call(marketplace)


STRANGE_HITS = [
    {"NumberOfAssignmentsAvailable": 4},
    {"NumberOfAssignmentsPending": -1},
    {"NumberOfAssignmentsCompleted": 10**30},
    {"MaxAssignments": "3"},
    {"MaxAssignments": True},
    {"HITStatus": "Levitating"},
    {"HITStatus": None},
    {"HITId": "H" * 65},
    {"HITId": "HIT 1"},
    {"HITId": "HIT1\n"},
    {"Expiration": None},
    {"Expiration": "soon"},
    {"Expiration": 10**18},
    {"Expiration": -(10**11)},
    {"Expiration": [1]},
    {"CreationTime": NOW + 400 * 86_400},
    {"Reward": "a cent"},
]


@pytest.mark.parametrize("change", STRANGE_HITS)
def test_a_strange_hit_is_left_out_of_the_list_and_tells_by_itself_what_is_wrong(
    marketplace, replies, change
):
    strange = {**HIT, **change}
    replies.give({"HITs": [strange, {**HIT, "HITId": "HIT2"}]})

    listed = list(marketplace.hits())
    replies.give({"HIT": strange})

    assert [hit.hit_id for hit in listed] == ["HIT2"]
    with pytest.raises(StrangeReply):
        marketplace.hit("HIT1")


STRANGE_ASSIGNMENTS = [
    {"WorkerId": "A" * 80},
    {"WorkerId": "AWORKER1,AWORKER1"},
    {"WorkerId": "AWORKER\x00"},
    {"WorkerId": None},
    {"AssignmentStatus": "Accepted"},
    {"SubmitTime": None},
    {"SubmitTime": NOW + 400 * 86_400},
    {"SubmitTime": "0002-02-22"},
    {"ApprovalTime": None},
    {"HITId": "HIT2"},
    {"Answer": ["a", "list"]},
]


@pytest.mark.parametrize("change", STRANGE_ASSIGNMENTS)
def test_a_strange_assignment_spoils_no_other(marketplace, replies, change):
    good = {**ASSIGNMENT, "AssignmentId": "ASSIGNMENT2"}
    replies.give({"Assignments": [{**ASSIGNMENT, **change}, good]})

    strange, listed = marketplace.assignments("HIT1", most=2)

    assert isinstance(strange, StrangeReply)
    assert "AWORKER" not in str(strange)
    assert isinstance(listed, ListedAssignment)
    assert listed.decided_at == listed.approved_at


def test_texts_that_no_database_stores_are_made_storable(marketplace, replies):
    body = json.dumps({"Assignment": {**ASSIGNMENT, "Answer": "a\x00b\ud800c \U0001f415"}})
    replies.give(body)

    listed = marketplace.assignment("ASSIGNMENT1")

    assert listed.answer == "a\ufffdb\ufffdc \U0001f415"


def test_a_reply_about_something_else_is_not_believed(marketplace, replies):
    replies.give({"Assignment": ASSIGNMENT, "HIT": HIT})

    with pytest.raises(StrangeReply, match="another assignment"):
        marketplace.assignment("ASSIGNMENT2")
    with pytest.raises(StrangeReply, match="another HIT"):
        marketplace.hit("HIT2")


def test_a_list_that_leads_back_is_an_error(marketplace, replies):
    replies.give({"HITs": [HIT], "NextToken": "one"})

    with pytest.raises(StrangeReply, match="back to an earlier page"):
        list(marketplace.hits())

    assert replies.calls == 2


def test_a_list_without_an_end_is_an_error(marketplace, replies, monkeypatch):
    monkeypatch.setattr(connection, "MOST_PAGES", 5)
    replies.give(*({"HITs": [HIT], "NextToken": f"page {n}"} for n in range(100)))

    with pytest.raises(StrangeReply, match="goes on after 5 pages"):
        list(marketplace.hits())

    assert replies.calls <= 7


def test_a_list_ends_with_an_empty_page_whatever_its_token(marketplace, replies):
    replies.give(*({"HITs": [], "NextToken": f"page {n}"} for n in range(9)))

    assert list(marketplace.hits()) == []
    assert replies.calls == 1


def test_an_errors_message_fits_a_page_and_names_no_worker(marketplace, replies):
    told = "AWORKER12345 \x00\ud800 " + 10_000 * "x"
    replies.give(json.dumps({"__type": "RequestError", "Message": told}), status=400)

    with pytest.raises(MarketplaceError) as caught:
        marketplace.approve("ASSIGNMENT1")

    sentence = str(caught.value)
    assert "(a worker)" in sentence
    assert "WORKER12345" not in sentence
    assert len(sentence) < 600
    sentence.encode()
    assert "\x00" not in sentence
    assert caught.value.is_refusal


@pytest.mark.parametrize("body", [[], "text", {"__type": 5, "Message": ["a"]}, b"<html>", b"\xff"])
def test_a_strange_error_is_an_error_too(marketplace, replies, body):
    replies.give(body, status=400)

    with pytest.raises(MarketplaceError):
        marketplace.approve("ASSIGNMENT1")


@pytest.mark.parametrize("status", [403, 404, 429])
def test_the_error_page_of_a_proxy_is_no_last_word(marketplace, replies, status):
    replies.give(b"404 page not found", status=status)

    with pytest.raises(MarketplaceError) as caught:
        marketplace.approve("ASSIGNMENT1")

    assert caught.value.is_refusal
    assert caught.value.may_pass


@pytest.mark.parametrize("minutes", [-14, 14])
def test_the_marketplaces_clock_is_read_off_its_replies(marketplace, replies, minutes):
    there = datetime.now(UTC) + timedelta(minutes=minutes)
    replies.give({"AvailableBalance": "1.00"}, date=f"{there:%a, %d %b %Y %H:%M:%S} GMT")

    marketplace.balance()

    assert abs(marketplace.skew() - timedelta(minutes=minutes)) < timedelta(seconds=30)


@pytest.mark.parametrize("date", ["", "soon", "Mon, 32 Foo 2026 99:00:00 GMT", "1"])
def test_a_strange_date_is_no_date(marketplace, replies, date):
    now = f"{datetime.now(UTC):%a, %d %b %Y %H:%M:%S} GMT"
    replies.give({"AvailableBalance": "1.00"}, date=now)
    marketplace.balance()
    assert marketplace.skew() == timedelta()
    replies.give({"AvailableBalance": "1.00"}, date=date)

    assert marketplace.balance() == Decimal("1.00")
    assert marketplace.skew() == timedelta()


# Values of every sort that JSON has, put in the place of any member of a right reply.
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None), max_size=80)
    | st.sampled_from(["Submitted", "Rejected", "Disposed", "A" * 80, "\x00", "\ud800", NOW]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
RIGHT = {"HITs": HIT, "Assignments": ASSIGNMENT, "HIT": HIT, "Assignment": ASSIGNMENT}


@st.composite
def spoilt(draw: st.DrawFn) -> dict[str, Any]:
    """A valid reply to any reading call with some members changed or missing."""
    reply: dict[str, Any] = {}
    for key, right in RIGHT.items():
        item: Any = dict(right)
        for name in draw(st.lists(st.sampled_from(sorted(right)), max_size=3)):
            item.pop(name, None)
            if draw(st.booleans()):
                item[name] = draw(anything)
        if draw(st.integers(0, 9)) == 0:
            item = draw(anything)
        reply[key] = [item] if key.endswith("s") else item
    for name in ("NextToken", "HITTypeId", "AvailableBalance", "QualificationType"):
        if draw(st.booleans()):
            reply[name] = draw(anything)
    return reply


def texts_of(value: Any) -> Any:
    if isinstance(value, ListedHit | ListedAssignment):
        yield from (text for text in value.model_dump().values() if isinstance(text, str))
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each)


@given(reply=spoilt())
def test_whatever_comes_is_read_or_is_an_error(marketplace, reply):
    given_replies = Replies()
    given_replies.give(json.dumps(reply))
    events = marketplace._client.meta.events
    events.register_first("before-send.mturk", given_replies)
    try:
        for call in READING.values():
            try:
                found = call(marketplace)
            except MarketplaceError as error:
                texts = [str(error)]
            else:
                texts = list(texts_of(found))
            for text in texts:
                text.encode()  # A lone surrogate cannot be.
                assert "\x00" not in text
    finally:
        events.unregister("before-send.mturk", given_replies)
