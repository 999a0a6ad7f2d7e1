"""A study at Prolific's stand-in: its draft, its publication, its changes."""

from decimal import Decimal

import pytest

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import Study
from marketplace.panels.models import PanelStudy
from marketplace.panels.panel import PanelRefused, PanelUnclear, StudyAction
from marketplace.panels.services import studies as panel_studies
from tests.marketplace.panels.people import make_panel_study, publish, published_study, run

pytestmark = pytest.mark.django_db


def test_a_study_becomes_a_draft_and_is_published_at_the_cost_that_was_shown(world, panel_api):
    panel_study = make_panel_study(filters=[{"filter_id": "age", "selected_values": ["1"]}])

    publish(panel_study)

    [study] = world.studies.values()
    assert (study.status, panel_study.status) == ("ACTIVE", "ACTIVE")
    assert study.fields["reward"] == 150
    # In five minutes; the panel's own default is its longest time.
    assert study.fields["maximum_allowed_time"] == 17
    assert study.fields["filters"] == [{"filter_id": "age", "selected_values": ["1"]}]
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in study.fields["external_study_url"]
    codes = {
        each["code"]: each["actions"][0]["action"] for each in study.fields["completion_codes"]
    }
    assert codes == {"DONE": "MANUALLY_REVIEW", "NOWORK": "REQUEST_RETURN"}


def test_a_draft_whose_answer_was_lost_is_found_and_not_made_twice(world, panel_api):
    panel_study = make_panel_study()
    panel_api.fault = lambda method, path, when: (
        500 if (method, when) == ("POST", "after") and path.endswith("/studies/") else None
    )
    with pytest.raises(PanelUnclear):
        panel_studies.make_draft(panel_study=panel_study, at=clock.now())
    panel_api.fault = lambda *_: None

    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert [study.id for study in world.studies.values()] == [panel_study.external_id]


def test_a_draft_that_was_deleted_at_the_panel_can_be_made_again(world, panel_api):
    panel_study = make_panel_study()
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())
    world.delete(world.study(panel_study.external_id))

    run(panel_study)
    assert (panel_study.external_id, panel_study.status) == ("", "")
    assert "deleted" in panel_study.problem
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert [study.id for study in world.studies.values()] == [panel_study.external_id]
    assert run(panel_study).problem == ""


def test_of_two_drafts_made_at_once_the_first_stays_the_studys(world, panel_api):
    panel_study = make_panel_study()
    other = PanelStudy.objects.get()

    def make_another(method, path, when):
        if (method, when) == ("POST", "before") and path.endswith("/studies/"):
            panel_api.fault = lambda *_: None
            publish(other)

    panel_api.fault = make_another
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert panel_study.external_id == other.external_id
    assert panel_study.status == "ACTIVE"


@pytest.mark.parametrize("project", ["of the world", ""])
def test_a_draft_is_found_among_hundreds_of_studies(world, panel_api, settings, project):
    if not project:
        settings.PROLIFIC_PROJECT = ""
    panel_study = make_panel_study()
    panel_api.fault = lambda method, path, when: (
        500 if (method, when) == ("POST", "after") and path.endswith("/studies/") else None
    )
    with pytest.raises(PanelUnclear):
        panel_studies.make_draft(panel_study=panel_study, at=clock.now())
    panel_api.fault = lambda *_: None
    [draft] = world.studies.values()
    for number in range(250):
        world.create({**draft.fields, "internal_name": f"another {number}"})

    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    assert panel_study.external_id == draft.id
    assert len(world.studies) == 251


def test_nothing_is_published_at_another_cost_or_without_the_money(world, panel_api):
    panel_study = make_panel_study()
    panel_studies.make_draft(panel_study=panel_study, at=clock.now())

    with pytest.raises(StudyRefused, match="confirm it again"):
        panel_studies.publish(panel_study=panel_study, confirmed=Decimal("1.00"), at=clock.now())
    world.balance = 100
    with pytest.raises(StudyRefused, match="does not cover"):
        publish(panel_study)

    assert world.study(panel_study.external_id).status == "UNPUBLISHED"


def test_a_study_is_paused_started_stopped_and_gets_more_places(world, panel_api):
    panel_study = published_study(places=2)
    for action, status in (("PAUSE", "PAUSED"), ("START", "ACTIVE")):
        panel_studies.change_status(
            panel_study=panel_study, action=StudyAction(action), at=clock.now()
        )
        assert world.study(panel_study.external_id).status == status

    offer = panel_studies.offer(panel_study=panel_study, places=3)
    panel_studies.add_places(
        panel_study=panel_study, places=5, confirmed=offer.total, at=clock.now()
    )

    assert (world.study(panel_study.external_id).places, panel_study.places) == (5, 5)
    panel_studies.change_status(panel_study=panel_study, action=StudyAction.STOP, at=clock.now())
    with pytest.raises(PanelRefused, match="COMPLETED"):
        panel_studies.change_status(
            panel_study=panel_study, action=StudyAction.PAUSE, at=clock.now()
        )


def test_a_reward_below_the_panels_least_is_refused(panel_api):
    with pytest.raises(StudyRefused, match="per hour"):
        make_panel_study(reward="0.50", minutes=5)


def test_a_study_that_takes_ids_by_another_name_is_refused(panel_api):
    """The panel would send everybody to the same address, and all were one participant."""
    panel_study = make_panel_study()
    panel_study.delete()
    Study.objects.update(id_parameter="participant")
    panel_study.study.refresh_from_db()

    with pytest.raises(StudyRefused, match="PROLIFIC_PID"):
        panel_studies.plan_study(panel_study=panel_study, at=clock.now())
