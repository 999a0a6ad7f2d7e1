"""Meeting qualification requirements: a table of cases, and general properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.requirements import Action, guards, meets, problems, unmet
from shared.countries import Place

HELD = {"Q": 5, "EMPTY": None, "PLACE": Place("US", "PA")}


def requirement(comparator: str, *integers: int, type_id: str = "Q", **more) -> dict:
    values = {"IntegerValues": list(integers)} if integers else {}
    return {"QualificationTypeId": type_id, "Comparator": comparator, **values, **more}


@pytest.mark.parametrize(
    ("comparator", "integers", "expected"),
    [
        ("LessThan", [6], True),
        ("LessThan", [5], False),
        ("LessThanOrEqualTo", [5], True),
        ("LessThanOrEqualTo", [4], False),
        ("GreaterThan", [4], True),
        ("GreaterThan", [5], False),
        ("GreaterThanOrEqualTo", [5], True),
        ("GreaterThanOrEqualTo", [6], False),
        ("EqualTo", [5], True),
        ("EqualTo", [6], False),
        ("NotEqualTo", [6], True),
        ("NotEqualTo", [5], False),
        ("In", [1, 5], True),
        ("In", [1, 6], False),
        ("NotIn", [1, 6], True),
        ("NotIn", [1, 5], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_a_worker_with_the_value_five(comparator, integers, expected):
    """Conformance check 36."""
    assert meets(requirement(comparator, *integers), HELD) is expected


@pytest.mark.parametrize("comparator", ["LessThan", "NotEqualTo", "NotIn", "EqualTo", "Exists"])
def test_a_worker_who_lacks_it_meets_nothing(comparator):
    """Conformance check 36."""
    assert not meets(requirement(comparator, 5), {})


def test_a_worker_who_lacks_it_meets_does_not_exist():
    """Conformance check 36."""
    assert meets(requirement("DoesNotExist"), {})


def test_a_qualification_without_value_exists_and_equals_nothing():
    """Conformance check 36."""
    assert meets(requirement("Exists", type_id="EMPTY"), HELD)
    assert not meets(requirement("NotEqualTo", 3, type_id="EMPTY"), HELD)


@pytest.mark.parametrize(
    ("comparator", "places", "expected"),
    [
        ("EqualTo", [("US", "")], True),
        ("EqualTo", [("US", "PA")], True),
        ("EqualTo", [("US", "CA")], False),
        ("In", [("CA", ""), ("US", "")], True),
        ("In", [("CA", ""), ("DE", "")], False),
        ("NotIn", [("CA", ""), ("DE", "")], True),
        ("NotEqualTo", [("US", "")], False),
        ("NotEqualTo", [("US", "CA")], True),
    ],
)
def test_a_worker_in_pennsylvania(comparator, places, expected):
    """Conformance check 36."""
    locales = [
        {"Country": country, **({"Subdivision": part} if part else {})} for country, part in places
    ]

    wanted = requirement(comparator, type_id="PLACE", LocaleValues=locales)

    assert meets(wanted, HELD) is expected


@pytest.mark.parametrize(
    ("guarded", "actions"),
    [
        ({"ActionsGuarded": "Accept"}, {Action.ACCEPT}),
        ({"ActionsGuarded": "PreviewAndAccept"}, {Action.PREVIEW, Action.ACCEPT}),
        ({"ActionsGuarded": "DiscoverPreviewAndAccept"}, set(Action)),
        ({"RequiredToPreview": True}, {Action.PREVIEW, Action.ACCEPT}),
        ({}, {Action.ACCEPT}),
    ],
)
def test_a_requirement_guards_the_actions_that_it_names(guarded, actions):
    """Conformance check 36."""
    wanted = requirement("Exists", **guarded)

    assert {action for action in Action if guards(wanted, action)} == actions


values = st.integers(-5, 5)
comparators = st.sampled_from(
    ["LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo", "EqualTo",
     "NotEqualTo"]
)  # fmt: skip
OPPOSITES = {
    "LessThan": "GreaterThanOrEqualTo",
    "GreaterThanOrEqualTo": "LessThan",
    "GreaterThan": "LessThanOrEqualTo",
    "LessThanOrEqualTo": "GreaterThan",
    "EqualTo": "NotEqualTo",
    "NotEqualTo": "EqualTo",
}


@given(comparators, values, values)
def test_a_value_meets_a_comparator_or_its_opposite(comparator, value, wanted):
    """Conformance check 36."""
    held = {"Q": value}

    one = meets(requirement(comparator, wanted), held)

    assert one is not meets(requirement(OPPOSITES[comparator], wanted), held)


requirements = st.lists(
    st.builds(
        requirement,
        comparators,
        values,
        type_id=st.sampled_from(["Q", "R"]),
        ActionsGuarded=st.sampled_from(["Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept"]),
    ),
    max_size=10,
)


@given(requirements, st.dictionaries(st.sampled_from(["Q", "R"]), values))
def test_workers_who_may_accept_may_preview_and_those_who_may_preview_may_discover(wanted, held):
    """Conformance check 36."""
    missing = [len(unmet(wanted, held, action)) for action in sorted(Action)]

    assert missing == sorted(missing)
    assert problems(wanted) == []
