"""Section "Lists and events"."""

import pytest

from tests.marketplace.driver import create_hit, create_hit_type


@pytest.fixture
def client(marketplace):
    return marketplace.requester()


@pytest.fixture
def made(client):
    hit_type_id = create_hit_type(client)
    return [create_hit(client, hit_type_id)["HITId"] for _ in range(25)]


def test_pages_end_with_an_empty_one_that_has_no_token(client, made):
    """Check 46."""
    pages = list(client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 10}))

    assert [page["NumResults"] for page in pages] == [10, 10, 5, 0]
    assert ["NextToken" in page for page in pages] == [True, True, True, False]
    assert {hit["HITId"] for page in pages for hit in page["HITs"]} == set(made)


def test_what_is_made_while_paging_comes_nowhere_twice(client, made):
    """Check 46."""
    first = client.list_hits(MaxResults=20)
    create_hit(client, create_hit_type(client))

    second = client.list_hits(MaxResults=20, NextToken=first["NextToken"])

    seen = [hit["HITId"] for page in (first, second) for hit in page["HITs"]]
    assert sorted(seen) == sorted(made)


def test_a_bad_token_is_a_request_error(client, made):
    """Check 46."""
    with pytest.raises(client.exceptions.RequestError, match="NextToken"):
        client.list_hits(NextToken="no token")


def test_a_token_belongs_to_its_list(marketplace, client, made):
    token = client.list_hits()["NextToken"]

    with pytest.raises(client.exceptions.RequestError, match="another list"):
        client.list_reviewable_hits(NextToken=token)
    other = marketplace.requester("other")
    with pytest.raises(other.exceptions.RequestError, match="another list"):
        other.list_hits(NextToken=token)


def test_250_hits_come_on_three_pages_and_an_empty_one(client):
    """Check 46."""
    hit_type_id = create_hit_type(client)
    made = {create_hit(client, hit_type_id)["HITId"] for _ in range(250)}

    pages = list(client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100}))

    assert [page["NumResults"] for page in pages] == [100, 100, 50, 0]
    assert "NextToken" not in pages[-1]
    assert {hit["HITId"] for page in pages for hit in page["HITs"]} == made
