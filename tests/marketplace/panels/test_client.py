"""Requests to Prolific: each is in its reference, and lists are read to their last page."""

from dataclasses import replace
from decimal import Decimal

import pytest

from marketplace.panels.client import prolific
from marketplace.panels.models import PanelStudy
from simulation.prolific.state import new_id
from tests.marketplace.panels.people import published_study, run
from tests.marketplace.panels.prolific_requests import DOCUMENTED

pytestmark = pytest.mark.django_db


def test_all_submissions_and_subscriptions_are_read_from_all_pages(world, panel_api, settings):
    panel_study = published_study(places=45)
    for _ in range(45):
        world.take_place(world.study(panel_study.external_id), new_id())
    panel = prolific()
    panel.make_hook_secret()
    for number in range(45):
        panel.subscribe("study.status.change", f"https://site.example/{number}")

    assert len(panel.submissions(panel_study.external_id)[0]) == 45
    assert len({each.address for each in panel.subscriptions()}) == 45


def test_a_study_whose_later_pages_are_refused_is_not_read(world, panel_api):
    """Those on the other pages would seem to hold no place."""
    panel_study = published_study(places=45)
    for _ in range(45):
        world.take_place(world.study(panel_study.external_id), new_id())

    def refuse_second(_method, path, when):
        is_list = path.endswith("/submissions/")
        pages = sum(call.endswith("/submissions/") for call in panel_api.calls)
        return 403 if is_list and when == "before" and pages == 2 else None

    panel_api.fault = refuse_second
    run(panel_study)

    assert "Prolific refused" in panel_study.problem
    assert panel_study.read_at is None


def test_each_request_of_the_client_is_in_the_panels_reference(world, panel_api, settings):
    panel_study = published_study(is_signed=True, devices=["mobile"])
    panel, study = prolific(), world.study(panel_study.external_id)
    done = [world.take_place(study, new_id()) for _ in range(3)]
    for each in done:
        world.complete(each, "DONE")
    panel.ask_to_return(done[0].id, "You did not finish the study.")
    panel.approve([done[1].id])
    panel.reject(done[2].id, category="LOW_EFFORT", reason="The text was empty. " * 6)
    panel.pay_bonuses(panel.set_up_bonuses(study.id, {done[1].id: Decimal("0.50")}).id)
    panel.bonuses_of(done[1].id)
    panel.submissions(study.id)
    panel.spent(study.id)
    panel.set_places(study.id, 9)
    panel.make_hook_secret()
    panel.hook_secret()
    panel.unsubscribe(panel.subscribe("study.status.change", "https://site.example/").id)
    panel.subscriptions()
    replace(panel, project="").find_study("none")

    # Each was checked when it was sent; this is all that there is.
    assert panel_api.documented == DOCUMENTED.keys()


def test_the_token_is_in_no_row_and_in_no_problem(world, panel_api):
    panel_study = published_study()
    panel_api.fault = lambda *_: 500
    run(panel_study)

    assert "500" in panel_study.problem
    assert "a token of the test" not in str(PanelStudy.objects.values())
    assert "a token of the test" not in repr(prolific())
