"""Pages in English say of each answer in another language in which language it is."""

import pytest
from bs4 import BeautifulSoup, NavigableString

from annotate.kinds import KINDS
from annotate.templatetags.campaigns import show_answer
from qualcontrol.models import Appeal
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    ExclusionFactory,
    LinkCampaignFactory,
    LinkResponseFactory,
    LinkTaskFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import judge, key_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

CAPTION = "كلب بني يركض في الحقل."
APPEAL = "لقد كتبت بعناية."


@pytest.fixture
def response():
    """A caption in Arabic that waits for a verdict, and another one of its image."""
    file = {"language": "ar", "references": 1, "baselines": 1, "review": {"share": 1}}
    campaign = CampaignFactory(slug="pilot", config=file)
    task = TaskFactory(campaign=campaign, number=1)
    found = ResponseFactory.create_batch(2, task=task, text=CAPTION)
    review_submitted(campaign=campaign, responses=found, at=NOON)
    return found[0]


def places(page, text):
    """The language and the direction of each place of a page that has the text."""
    soup = BeautifulSoup(page, "html.parser")
    found = soup.find_all(string=lambda some: isinstance(some, NavigableString) and text in some)
    return [
        (
            place.find_parent(lang=True)["lang"],
            (place.find_parent(dir=True) or {}).get("dir"),
        )
        for place in found
        if place.parent.name not in ("title", "option", "textarea")
    ]


@pytest.mark.parametrize(
    "address",
    [
        "/review/pilot/",
        "/review/pilot/responses/{response.pk}/",
        "/review/pilot/workers/{response.worker.pseudonym}/",
        "/review/pilot/gold/?response={response.pk}",
        "/campaigns/pilot/images/1/",
        "/campaigns/pilot/responses/",
    ],
)
def test_answers_have_their_language(signed_in, response, address):
    key_of(response)

    page = signed_in.get(address.format(response=response)).content.decode()

    assert {*places(page, CAPTION)} == {("ar", "auto")}


@pytest.mark.parametrize(
    "address", ["decisions/", "responses/{response.pk}/", "workers/{response.worker.pseudonym}/"]
)
def test_answers_in_the_log_of_decisions_have_their_language(signed_in, response, address):
    judge(response, "GOOD", reviewer=UserFactory())

    page = signed_in.get(f"/review/pilot/{address.format(response=response)}").content.decode()
    log = BeautifulSoup(page, "html.parser").find("div", {"aria-label": "Decision log"})

    assert places(str(log), CAPTION) == [("ar", "auto")]


@pytest.mark.parametrize("address", ["/review/pilot/", "/campaigns/pilot/images/1/"])
def test_keywords_have_their_language(signed_in, response, address):
    task = response.task
    task.payload = {"keywords": ["Fence", "قطة"], "english_keywords": ["Fence"]}
    task.save()

    page = signed_in.get(address).content.decode()

    assert {*places(page, "Fence")} == {("en", "auto")}
    assert {*places(page, "قطة")} == {("ar", "auto")}


def test_captions_of_a_release_have_their_language(signed_in, response):
    values = {"name": "v1", "seed": 1, "at": NOON}
    release_campaign(campaign=response.task.campaign, partial=True, **values)

    page = signed_in.get("/releases/v1/").content.decode()

    assert places(page, CAPTION) == [("ar", "auto")] * 2


@pytest.mark.parametrize("address", ["quality", "workers/{}"])
def test_appeals_have_the_language_of_the_task(signed_in, response, address):
    worker = WorkerFactory()
    exclusion = ExclusionFactory(campaign=response.task.campaign, worker=worker)
    Appeal.objects.create(exclusion=exclusion, text=APPEAL, received_at=NOON)

    page = signed_in.get(f"/review/pilot/{address.format(worker.pseudonym)}/").content.decode()

    assert {*places(page, APPEAL)} == {("ar", "auto")}


def test_sentences_with_links_have_their_language(signed_in):
    task = LinkTaskFactory(campaign=LinkCampaignFactory(slug="pilot"), boxes=["Dog"])
    response = LinkResponseFactory(task=task)

    shown = show_answer(KINDS["correspondence"], response, "en")

    assert BeautifulSoup(shown, "html.parser").select_one("p[lang=en][dir=auto]")
