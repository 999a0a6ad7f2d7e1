"""Queries that Django compiles once."""

import pytest

from annotate.models import Response
from qualcontrol.models import Assessment
from qualcontrol.services.prepared import prepared
from tests.factories import NOON, LinkResponseFactory, ResponseFactory

pytestmark = pytest.mark.django_db


def assessed(response, position):
    return Assessment.objects.create(
        response=response,
        campaign=response.task.campaign,
        worker=response.worker,
        position=position,
        flags=[{"code": "quick", "value": 1.5}],
    )


def flags_of(*responses):
    return Assessment.objects.filter(response__in=responses).values_list("position", "flags")


def test_rows_are_those_of_the_query_for_any_number_of_values():
    one, other = (assessed(ResponseFactory(), position).pk for position in (7, 8))
    run = prepared(flags_of)

    assert run(one) == list(flags_of(one)) == [(7, [{"code": "quick", "value": 1.5}])]
    assert sorted(run(one, other)) == sorted(flags_of(one, other))
    assert run(0) == []


def test_fields_are_converted_as_by_any_query():
    response = LinkResponseFactory()
    run = prepared(
        lambda pk: Response.objects.filter(pk=pk).values_list(
            "key", "submitted_at", "correspondence__words"
        )
    )

    assert run(response.pk) == [(response.key, NOON, response.correspondence.words)]


def test_a_query_is_compiled_once(django_assert_num_queries):
    built = []

    def build(pk):
        built.append(pk)
        return Response.objects.filter(pk=pk).values_list("pk")

    run, responses = prepared(build), ResponseFactory.create_batch(3)

    with django_assert_num_queries(3):
        assert [run(one.pk) for one in responses] == [[(one.pk,)] for one in responses]
    assert len(built) == 1
