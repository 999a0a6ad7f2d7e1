"""Studies: joining them, and which HITs count for which."""

from datetime import timedelta

import pytest
from django.test import Client

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import Assignment, Hit, HitType
from marketplace.services import assignments, studies
from marketplace.services.assignments import progress_of
from tests.marketplace.factories import make_hit, make_hit_type, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def hit_type() -> HitType:
    """A group of six HITs, with two studies of two of them: `first` and `second`."""
    hit_type = make_hit_type()
    for _ in range(6):
        make_hit(hit_type, max_assignments=5)
    Hit.objects.update(expires_at=clock.now() + timedelta(hours=1))
    for name in ("first", "second"):
        make_study(hit_type, name=name, assignments=2, completion_code=f"CODE-{name}")
    return hit_type


def join(hit_type: HitType, slug: str):
    return studies.join(
        study=hit_type.studies.get(slug=slug), identifier="p1", address="192.0.2.1", at=clock.now()
    )


def do_next(participation) -> None:
    assignment = studies.next_assignment(participation=participation, at=clock.now())
    assignments.submit(assignment=assignment, answer="<a/>", at=clock.now())


def test_each_hit_counts_for_one_of_two_studies_of_the_same_hits(hit_type):
    first = join(hit_type, "first")
    do_next(first)
    second = join(hit_type, "second")

    do_next(second)

    assert (progress_of(first).done, progress_of(second).done) == (1, 1)
    with pytest.raises(StudyRefused, match="another study"):
        studies.next_assignment(participation=first, at=clock.now())
    do_next(second)
    assert progress_of(second).is_complete
    assert not progress_of(first).is_complete


def test_a_hit_begun_in_one_study_is_not_the_next_one_of_the_other(hit_type):
    first = join(hit_type, "first")
    begun = studies.next_assignment(participation=first, at=clock.now())
    second = join(hit_type, "second")

    own = studies.next_assignment(participation=second, at=clock.now())

    assert own != begun
    assert own in second.assignments()
    # What was begun in the first study can be finished.
    assert studies.next_assignment(participation=first, at=clock.now()) == begun


def test_the_page_of_the_older_study_refers_to_the_newer_one(hit_type):
    older, newer = Client(), Client()
    older.post("/join/first", {"PROLIFIC_PID": "p1"})
    newer.post("/join/second", {"PROLIFIC_PID": "p1"})
    for assignment in Assignment.objects.accepted():
        assignments.submit(assignment=assignment, answer="<a/>", at=clock.now())

    page = older.post("/studies/first/next")

    assert page.status_code == 403
    assert "another study with the same tasks" in page.content.decode()
    assert older.get("/studies/first/complete").status_code == 404


def test_a_study_needs_another_code_for_those_who_find_no_hits(hit_type):
    """At a panel, who has done all HITs would be asked to return the submission."""
    with pytest.raises(StudyRefused, match="another one"):
        make_study(hit_type, name="third", completion_code="SAME", no_work_code="SAME")
