"""The panels beside the steps: advice, and the known workers."""

import pytest
from bs4 import BeautifulSoup

from annotate.services.drafts import begin_draft
from tests.factories import (
    NOON,
    AssignmentFactory,
    CaptionSetFactory,
    SelectionFactory,
    WorkerAccountFactory,
)
from tests.hits.pages.new_campaign.entries import ENTRIES, page_of, save, typed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_the_checklist_advises_on_what_is_unwise(signed_in, draft):
    SelectionFactory(name="streets", images=100)
    for step in ENTRIES:
        save(signed_in, draft, step)
    save(signed_in, draft, "reward", hit__reward="0.02", budget="1", hit__minutes="1")
    save(signed_in, draft, "checks", review__share="0", review__first="0")

    text = signed_in.get(page_of(draft, "checklist")).content.decode()

    for advice in (
        "less than the federal minimum wage",
        "does not cover the whole campaign",
        "Nobody checks any of the captions.",
        "Workers have 1 minute",
        "this site knows 0",
    ):
        assert advice in text


@pytest.mark.parametrize(("kind", "is_said"), [("caption", True), ("rating", False)])
def test_classes_are_missed_only_where_object_names_are_shown(signed_in, user, kind, is_said):
    SelectionFactory(name="streets", images=1)
    source = CaptionSetFactory(name="a model")
    sources = {"sources": [{"name": "model", "caption_set": source.name}]}
    file = {"kind": kind, "selection": "streets", "name": "a", "budget": "1"}
    file |= {"rating": sources} if kind == "rating" else {}
    draft = begin_draft(owner=user, file=file, at=NOON)

    page = signed_in.get(page_of(draft, "checklist")).content.decode()

    assert "Everything that is needed is there." in page
    assert ("The images have no classes" in page) == is_said


def test_known_workers_are_counted_by_our_own_records(signed_in, draft):
    approved = AssignmentFactory(status="APPROVED", decided_at=NOON)
    WorkerAccountFactory()
    requirement = {"workers__approved_hits": "1", "workers__countries": "US"}
    save(signed_in, draft, "workers", workers__who="panel")

    page = typed(signed_in, draft, "workers", workers__who="panel", **requirement)

    side = " ".join(BeautifulSoup(page.content, "html.parser").find(id="side").get_text().split())
    assert approved.account.endpoint == "local"
    assert "1 of 2 known workers" in side
