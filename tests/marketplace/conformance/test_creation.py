"""Section "Creation": HIT types and HITs."""

import re

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.driver import (
    HIT_TYPE,
    QUESTION,
    counts,
    create_hit,
    create_hit_type,
    error_code,
    hits_of,
)

pytestmark = pytest.mark.one_database


def test_the_same_properties_are_the_same_type(client):
    """Conformance check 9."""
    first = create_hit_type(client)

    assert create_hit_type(client) == first


@pytest.mark.parametrize("default", [{"ActionsGuarded": "Accept"}, {"RequiredToPreview": False}])
def test_a_requirement_with_its_default_is_the_same_type(client, default):
    """Conformance check 9."""
    needed = {"QualificationTypeId": LOCALE, "Comparator": "Exists"}
    first = create_hit_type(client, QualificationRequirements=[needed])

    assert create_hit_type(client, QualificationRequirements=[{**needed, **default}]) == first


@pytest.mark.parametrize(
    "change",
    [
        {"Title": "Other"},
        {"Description": "Other"},
        {"Reward": "0.11"},
        {"Keywords": "other"},
        {"AssignmentDurationInSeconds": 601},
        {"AutoApprovalDelayInSeconds": 5},
        {
            "QualificationRequirements": [
                {
                    "QualificationTypeId": "00000000000000000040",
                    "Comparator": "GreaterThan",
                    "IntegerValues": [5],
                }
            ]
        },
    ],
)
def test_any_change_is_another_type(client, change):
    """Conformance check 9."""
    assert create_hit_type(client, **change) != create_hit_type(client)


def test_create_hit_joins_the_type_and_group_of_its_properties(client):
    """Conformance check 9."""
    first = create_hit(client, create_hit_type(client))

    hit = client.create_hit(**HIT_TYPE, LifetimeInSeconds=60, Question=QUESTION)["HIT"]

    assert hit["HITTypeId"] == first["HITTypeId"]
    assert hit["HITGroupId"] == first["HITGroupId"]


def _refused(marketplace, question: str) -> str:
    client = marketplace.requester()
    hit_type_id = create_hit_type(client, Title=f"Refused {marketplace.run}")
    with pytest.raises(client.exceptions.RequestError) as error:
        create_hit(client, hit_type_id, Question=question)
    assert hits_of(client, hit_type_id) == []
    return str(error.value)


@pytest.mark.parametrize("given", [{}, {"Question": QUESTION, "HITLayoutId": "3LAYOUT"}])
def test_a_hit_needs_a_question_or_a_layout_and_not_both(client, given):
    """Conformance check 10."""
    hit_type_id = create_hit_type(client)

    with pytest.raises(client.exceptions.RequestError, match="Question or a HITLayoutId"):
        client.create_hit_with_hit_type(HITTypeId=hit_type_id, LifetimeInSeconds=60, **given)


def test_malformed_xml_is_refused(marketplace):
    """Conformance check 10."""
    assert "parsing the XML Question" in _refused(marketplace, QUESTION[:-5])


def test_a_wrong_namespace_is_refused(marketplace):
    """Conformance check 10."""
    assert "namespace" in _refused(marketplace, QUESTION.replace("2006-07-14", "2006-07-15"))


@pytest.mark.parametrize("height", ["", "tall", "-1", "9" * 30, "9" * 5000])
def test_a_question_against_its_schema_is_refused(marketplace, height):
    """Conformance check 10."""
    element = f"<FrameHeight>{height}</FrameHeight>" if height else ""
    broken = QUESTION.replace("<FrameHeight>600</FrameHeight>", element)

    assert "schema" in _refused(marketplace, broken)


def test_plain_http_is_refused(marketplace):
    """Conformance check 10."""
    assert "https" in _refused(marketplace, QUESTION.replace("https://ex", "http://ex"))


def test_an_address_with_a_space_in_its_host_is_refused(marketplace):
    assert "https" in _refused(marketplace, QUESTION.replace("https://ex", "https://ex ex"))


def test_plain_http_on_this_machine_is_allowed(client):
    question = QUESTION.replace("https://example.org", "http://127.0.0.1:8000")

    hit = create_hit(client, create_hit_type(client), Question=question)

    assert hit["Question"] == question


def test_an_entity_bomb_is_refused(marketplace):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>' + QUESTION

    assert "not allowed" in _refused(marketplace, bomb)


def test_a_question_may_have_65535_bytes_and_not_one_more(client):
    """Conformance check 10."""
    room = 65_535 - len(QUESTION.encode())

    hit = create_hit(client, create_hit_type(client), Question=QUESTION + " " * room)

    assert len(hit["Question"]) == 65_535
    with pytest.raises(client.exceptions.RequestError, match="65536 bytes"):
        create_hit(client, create_hit_type(client), Question=QUESTION + " " * (room + 1))


def test_a_request_token_makes_one_hit_in_24_hours(marketplace):
    """Conformance check 11."""
    client, token = marketplace.requester(), f"once {marketplace.run}"
    hit_type_id = create_hit_type(client, Title=f"Once {marketplace.run}")
    first = create_hit(client, hit_type_id, UniqueRequestToken=token)

    with pytest.raises(client.exceptions.RequestError, match=first["HITId"]) as error:
        create_hit(client, hit_type_id, UniqueRequestToken=token)

    assert error_code(error) == "HitAlreadyExists"
    assert hits_of(client, hit_type_id) == [first["HITId"]]
    marketplace.advance(hours=24, seconds=1)
    second = create_hit(client, hit_type_id, UniqueRequestToken=token)
    assert second["HITId"] != first["HITId"]


@pytest.mark.parametrize("by_type", [True, False])
def test_a_repeated_request_names_its_hit_after_its_qualification_was_deleted(
    marketplace, client, by_type
):
    qualification = client.create_qualification_type(
        Name=f"Deleted {marketplace.run} {by_type}",
        Description="A",
        QualificationTypeStatus="Active",
    )["QualificationType"]["QualificationTypeId"]
    needed = {"QualificationTypeId": qualification, "Comparator": "Exists"}
    properties = {**HIT_TYPE, "QualificationRequirements": [needed]}
    request = {
        "LifetimeInSeconds": 3600,
        "Question": QUESTION,
        "UniqueRequestToken": f"deleted {marketplace.run} {by_type}",
    }

    def create():
        if by_type:
            return client.create_hit_with_hit_type(HITTypeId=hit_type_id, **request)["HIT"]
        return client.create_hit(**properties, **request)["HIT"]

    hit_type_id = create_hit_type(client, QualificationRequirements=[needed])
    first = create()
    client.delete_qualification_type(QualificationTypeId=qualification)

    with pytest.raises(client.exceptions.RequestError, match=first["HITId"]) as error:
        create()

    assert error_code(error) == "HitAlreadyExists"
    request["UniqueRequestToken"] += " again"
    with pytest.raises(client.exceptions.RequestError) as error:
        create()
    assert error_code(error) == "QualificationTypeDoesNotExist"


def test_a_token_of_a_refused_request_is_not_used_up(marketplace):
    client = marketplace.requester(balance="0.05")
    hit_type_id = create_hit_type(client)
    with pytest.raises(client.exceptions.RequestError):
        create_hit(client, hit_type_id, UniqueRequestToken="once")
    marketplace.keys(balance="10")

    hit = create_hit(client, hit_type_id, UniqueRequestToken="once")

    assert counts(client, hit["HITId"])[0] == "Assignable"


def test_defaults_of_a_new_hit(client):
    """Conformance check 12."""
    hit = create_hit(client, create_hit_type(client))

    assert hit["MaxAssignments"] == 1
    assert hit["AutoApprovalDelayInSeconds"] == 2_592_000
    assert hit["HITReviewStatus"] == "NotReviewed"
    assert hit["QualificationRequirements"] == []
    assert "RequesterAnnotation" not in hit
    assert "Keywords" not in hit
    assert counts(client, hit["HITId"]) == ("Assignable", 1, 0, 0)


@pytest.mark.parametrize(("given", "echoed"), [("0.1", "0.10"), ("1", "1.00"), ("0.", "0.00")])
def test_the_reward_comes_back_with_two_decimals(client, given, echoed):
    """Conformance check 13."""
    assert create_hit(client, create_hit_type(client, Reward=given))["Reward"] == echoed


def test_a_reward_with_three_decimals_is_refused(marketplace):
    """Conformance check 13."""
    with pytest.raises(ClientError, match="'0.105' at 'reward'"):
        create_hit_type(marketplace.requester(), Reward="0.105")


def _requirement(**values) -> dict:
    return {"QualificationTypeId": "00000000000000000040", **values}


LOCALE = "00000000000000000071"


@pytest.mark.parametrize(
    ("requirements", "told"),
    [
        ([_requirement(Comparator="EqualTo", IntegerValues=[1])] * 11, "at most 10"),
        ([_requirement(Comparator="Exists", IntegerValues=[1])], "takes no values"),
        ([_requirement(Comparator="In", IntegerValues=list(range(16)))], "At most 15"),
        ([_requirement(Comparator="EqualTo", IntegerValues=[1, 2])], "exactly one"),
        ([_requirement(Comparator="EqualTo")], "needs IntegerValues"),
        (
            [{"QualificationTypeId": LOCALE, "Comparator": "In",
              "LocaleValues": [{"Country": "US"}] * 31}],
            "At most 30",
        ),
        (
            [{"QualificationTypeId": LOCALE, "Comparator": "LessThan",
              "LocaleValues": [{"Country": "US"}]}],
            "cannot be used with a locale",
        ),
        (
            [{"QualificationTypeId": LOCALE, "Comparator": "EqualTo",
              "LocaleValues": [{"Country": "UK"}]}],
            "UK is no locale",
        ),
        (
            [{"QualificationTypeId": LOCALE, "Comparator": "In",
              "LocaleValues": [{"Country": "NL"}, {"Country": "US", "Subdivision": "pa"}]}],
            "US-pa is no locale",
        ),
        ([{"QualificationTypeId": "3NOSUCH", "Comparator": "Exists"}], "does not exist"),
    ],
)  # fmt: skip
def test_impossible_requirements_are_refused(client, requirements, told):
    """Conformance check 14."""
    with pytest.raises(client.exceptions.RequestError, match=re.escape(told)):
        create_hit_type(client, QualificationRequirements=requirements)


def test_a_hit_beyond_the_balance_is_refused(marketplace):
    """Conformance check 15."""
    client = marketplace.requester(balance="1.19")
    hit_type_id = create_hit_type(client, Reward="1.00")

    with pytest.raises(client.exceptions.RequestError, match="insufficient funds") as error:
        create_hit(client, hit_type_id)

    assert error_code(error) == "InsufficientFunds"
    assert client.get_account_balance()["AvailableBalance"] == "1.19"


@pytest.mark.parametrize(
    "change",
    [
        {"LifetimeInSeconds": 29},
        {"LifetimeInSeconds": 31_536_001},
        {"MaxAssignments": 0},
        {"MaxAssignments": 1_000_000_001},
        {"RequesterAnnotation": "x" * 256},
    ],
)
def test_a_hit_out_of_range_is_refused(client, change):
    hit_type_id = create_hit_type(client)

    with pytest.raises(client.exceptions.RequestError) as error:
        create_hit(client, hit_type_id, **change)

    assert error_code(error) == "InvalidParameterValue"
