"""Worker requirements in the API's structure, validated with botocore's model."""

import botocore.session
import pytest
from botocore.validate import ParamValidator

from annotate.campaign_file import Workers
from corpora.errors import DomainError
from hits.reconcile.hit_types import qualification_requirements
from shared.countries import CODES

EXCLUSION = {
    "QualificationTypeId": "3EXCLUSION",
    "Comparator": "DoesNotExist",
    "ActionsGuarded": "DiscoverPreviewAndAccept",
}


def requirements(endpoint="local", **workers):
    return qualification_requirements(
        Workers(**workers), exclusion_type_id="3EXCLUSION", endpoint=endpoint
    )


def test_the_default_is_that_of_nocaps():
    assert requirements() == [
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "EqualTo",
            "LocaleValues": [{"Country": "US"}],
            "ActionsGuarded": "Accept",
        },
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [5000],
            "ActionsGuarded": "Accept",
        },
        {
            "QualificationTypeId": "000000000000000000L0",
            "Comparator": "GreaterThan",
            "IntegerValues": [95],
            "ActionsGuarded": "Accept",
        },
        EXCLUSION,
    ]


def test_a_campaign_open_to_all_still_has_its_exclusion():
    assert requirements(countries=(), approved_hits=0, approval_rate=0) == [EXCLUSION]


def test_several_countries_are_one_requirement():
    locale = requirements(countries=("US", "CA", "US"))[0]

    assert locale["Comparator"] == "In"
    assert locale["LocaleValues"] == [{"Country": "CA"}, {"Country": "US"}]


def test_more_countries_than_the_marketplace_takes_are_refused():
    with pytest.raises(DomainError, match="31 countries"):
        requirements(countries=sorted(CODES)[:31])


@pytest.mark.parametrize(
    ("endpoint", "masters"),
    [
        ("production", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"),
        ("sandbox", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"),
        ("local", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"),
        ("https://marketplace.example", "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"),
    ],
)
def test_masters_have_another_id_in_the_sandbox(endpoint, masters):
    found = requirements(endpoint=endpoint, masters=True)

    assert {
        "QualificationTypeId": masters,
        "Comparator": "Exists",
        "ActionsGuarded": "Accept",
    } in found


def test_the_requirements_fit_botocores_model():
    model = botocore.session.get_session().get_service_model("mturk")
    shape = model.shape_for("QualificationRequirementList")
    full = requirements(countries=("US", "GB"), masters=True)

    report = ParamValidator().validate(full, shape)

    assert not report.has_errors(), report.generate_report()
