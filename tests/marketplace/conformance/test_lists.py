"""Section "Lists and events"."""

import pytest

from tests.marketplace.driver import create_hit, create_hit_type

pytestmark = pytest.mark.one_database


@pytest.fixture
def made(client):
    hit_type_id = create_hit_type(client)
    return [create_hit(client, hit_type_id)["HITId"] for _ in range(25)]


def pages_of(client, size: int) -> list[dict]:
    return list(client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": size}))


def sizes(count: int, size: int) -> list[int]:
    """The sizes of full pages, of the last page, and of the empty page at the end."""
    left = [count % size] if count % size else []
    return [size] * (count // size) + left + [0]


def assert_pages_hold(pages: list[dict], made: list[str], size: int) -> None:
    """Check that pages have the right sizes and contain everything once.

    The requester may have further HITs.
    """
    listed = [hit["HITId"] for page in pages for hit in page["HITs"]]
    assert [page["NumResults"] for page in pages] == sizes(len(listed), size)
    assert ["NextToken" in page for page in pages] == [True] * (len(pages) - 1) + [False]
    assert len(listed) == len(set(listed))
    assert set(made) <= set(listed)


def test_pages_end_with_an_empty_one_that_has_no_token(client, made):
    """Conformance check 46."""
    assert_pages_hold(pages_of(client, 10), made, 10)


def test_a_row_that_is_created_while_paging_is_listed_once(client, made):
    """Conformance check 46."""
    page = client.list_hits(MaxResults=20)
    seen = [hit["HITId"] for hit in page["HITs"]]
    create_hit(client, create_hit_type(client))

    while page["HITs"]:
        page = client.list_hits(MaxResults=20, NextToken=page["NextToken"])
        seen += [hit["HITId"] for hit in page["HITs"]]

    assert len(seen) == len(set(seen))
    assert set(made) <= set(seen)


def test_a_bad_token_is_a_request_error(client, made):
    """Conformance check 46."""
    with pytest.raises(client.exceptions.RequestError, match="NextToken"):
        client.list_hits(NextToken="no token")


def test_a_token_belongs_to_its_list(marketplace, client, made):
    token = client.list_hits()["NextToken"]

    with pytest.raises(client.exceptions.RequestError, match="another list"):
        client.list_reviewable_hits(NextToken=token)
    other = marketplace.requester("other")
    with pytest.raises(other.exceptions.RequestError, match="another list"):
        other.list_hits(NextToken=token)


def test_the_largest_page_has_a_hundred_hits(client):
    """Conformance check 46."""
    hit_type_id = create_hit_type(client)
    made = [create_hit(client, hit_type_id)["HITId"] for _ in range(101)]

    assert_pages_hold(pages_of(client, 100), made, 100)
