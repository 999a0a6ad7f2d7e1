"""A worker who does not qualify is told which requirement is not met, and their own value."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from marketplace import clock
from marketplace.models import QualificationType
from marketplace.pages.sign_in import sign_in_url
from marketplace.pages.unmet import reasons_for
from marketplace.requirements import LOCALE, NUMBER_APPROVED, PERCENT_APPROVED
from marketplace.services.qualifications import grant
from marketplace.services.workers import block_worker
from tests.marketplace.factories import NOON, make_hit_type, make_requester, make_worker
from tests.marketplace.test_pages import make_current_hit

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def requirement(type_id, comparator, **values):
    return {"QualificationTypeId": type_id, "Comparator": comparator, **values}


NOCAPS = [
    requirement(NUMBER_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[5000]),
    requirement(PERCENT_APPROVED, "GreaterThan", IntegerValues=[95]),
    requirement(LOCALE, "EqualTo", LocaleValues=[{"Country": "US"}]),
]


def text_of(worker, path):
    client = Client()
    client.get("/sign-in/" + sign_in_url(worker).partition("/sign-in/")[2])
    soup = BeautifulSoup(client.get(path).content, "lxml")
    return " ".join(soup.get_text(" ").split())


@pytest.mark.parametrize("page", ["/", "/groups/{}/preview"])
def test_each_page_tells_the_requirements_and_the_workers_values(page):
    worker = make_worker(country="FR", approved=12, rate=100)
    hit_type = make_hit_type(qualification_requirements=NOCAPS)
    make_current_hit(hit_type)

    text = text_of(worker, page.format(hit_type.public_id))

    assert "Approved HITs: at least 5,000. Yours: 12." in text
    assert "Country: US. Yours: FR." in text
    assert "Approval rate" not in text


def test_a_worker_without_a_country_is_told_so():
    hit_type = make_hit_type(qualification_requirements=NOCAPS[2:])

    assert reasons_for(make_worker(country=""), [hit_type])[hit_type.pk] == [
        "Country: US. Your profile has no country."
    ]


def test_a_requesters_own_qualification_is_named():
    requester, worker = make_requester(), make_worker()
    own = QualificationType.objects.create(
        requester=requester,
        public_id="OWN",
        name="Reads maps",
        description="A test",
        created_at=NOON,
    )
    hit_type = make_hit_type(
        requester,
        qualification_requirements=[requirement("OWN", "GreaterThan", IntegerValues=[80])],
    )

    before = reasons_for(worker, [hit_type])[hit_type.pk]
    grant(qualification_type=own, worker=worker, value=60, at=clock.now())
    after = reasons_for(worker, [hit_type])[hit_type.pk]

    assert before == ["Reads maps: more than 80. You have no value."]
    assert after == ["Reads maps: more than 80. Yours: 60."]


def test_a_qualified_worker_reads_no_reasons():
    worker = make_worker(country="US", approved=6000, rate=99)
    hit_type = make_hit_type(qualification_requirements=NOCAPS)
    make_current_hit(hit_type)

    assert "Yours:" not in text_of(worker, "/")


def test_a_blocked_worker_reads_of_the_block_alone():
    requester, worker = make_requester(), make_worker()
    hit_type = make_hit_type(requester)
    block_worker(requester=requester, worker=worker, reason="careless", at=NOON)

    assert "has blocked you" in reasons_for(worker, [hit_type])[hit_type.pk][0]
