"""Importing withdrawn work: what it discards for good, and which releases it names."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotate.kinds.campaign_files import parse_config
from annotate.kinds.correspondence.caption_sets import set_of_release
from annotate.models import Response, ResponseStatus
from annotate.queries.releases import withdrawn_in
from annotate.services import responses as response_services
from annotate.services.campaigns import create_campaign
from hits.models import Assignment, AssignmentStatus, WorkerAccount
from hits.services.accounts import digest_of
from hits.services.claims import recount_places
from hits.services.worker_data import erase_worker
from qualcontrol.models import Act, Decision
from qualcontrol.review.undoing import restore_response
from qualcontrol.services.errors import CannotRestore
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    AssignmentFactory,
    BoxFactory,
    CampaignFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    TaskPageFactory,
    UserFactory,
    WorkerAccountFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory(config={"references": 2, "baselines": 0})


@pytest.fixture
def task(campaign):
    return TaskFactory(campaign=campaign)


def response_of(task, account=None, **fields) -> Response:
    account = account or WorkerAccountFactory()
    assignment = AssignmentFactory(hit__hit_type__campaign=task.campaign, account=account)
    return ResponseFactory(task=task, worker=account.worker, assignment=assignment, **fields)


def line_of(response: Response) -> str:
    made = response.submission.assignment
    return f"{made.account.marketplace_id},{made.assignment_id},2026-03-02T12:00:00+00:00"


def file_of(folder, *lines: str) -> str:
    path = folder / "withdrawals.csv"
    path.write_text("\n".join(["worker_id,assignment_id,withdrawn_at", *lines]) + "\n")
    return str(path)


def run(path: str) -> str:
    out = io.StringIO()
    call_command("import_withdrawals", path, stdout=out)
    return out.getvalue()


def test_withdrawn_responses_are_discarded_and_their_places_open_again(tmp_path, task):
    gone, other = response_of(task), response_of(task)
    task.refresh_from_db()
    assert task.answers_missing == 0

    said = run(file_of(tmp_path, line_of(gone)))

    gone.refresh_from_db()
    other.refresh_from_db()
    task.refresh_from_db()
    assert (gone.status, other.status) == (ResponseStatus.DISCARDED, ResponseStatus.SUBMITTED)
    assert gone.withdrawn_at is not None
    assert other.withdrawn_at is None
    assert task.answers_missing == task.places_left == 1
    assert recount_places(task.campaign) == 0
    decision = Decision.objects.get(response=gone)
    assert (decision.act, decision.reason) == (Act.DISCARD, "withdrawn")
    assert "1 response withdrawn." in said
    assert task.campaign.slug in said


SOURCE = {"name": "people", "per_image": 2}
RATING = {
    "questions": [{"name": "q", "text": "Good?", "labels": ["no", "yes"]}],
}


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "rating", "rating": {**RATING, "sources": [{**SOURCE, "release": "r1"}]}},
        {"kind": "rating", "rating": {**RATING, "sources": [{**SOURCE, "caption_set": "r1"}]}},
        {"kind": "refine", "refine": {"draft_release": "r1", "joins_captions": True}},
        {"kind": "refine", "refine": {"draft_set": "r1", "joins_captions": True}},
        {"kind": "correspondence", "release": "r1"},
        {"kind": "correspondence", "caption_set": "r1"},
        {"captions": {"rate_first": "r1", "rate_first_captions": 3}},
    ],
)
def test_a_new_campaign_on_an_earlier_release_shows_no_withdrawn_caption(tmp_path, task, values):
    BoxFactory(image=task.image)
    gone, _ = [response_of(task, text=text) for text in ("A withdrawn one.", "A lasting one.")]
    release_campaign(campaign=task.campaign, name="r1", seed=1, at=NOON)
    set_of_release(name="r1", team=task.campaign.team, at=NOON)
    file = {"budget": "100.00", **values}
    if file.get("kind") != "correspondence":
        file["selection"] = SelectionFactory(images=[task.image]).name

    def shown_by(name) -> str:
        config = parse_config({"name": name, **file})
        made = create_campaign(config=config, endpoint="local", at=NOON)
        return str(list(made.tasks.values_list("payload", "subject__text")))

    before = shown_by("before")
    run(file_of(tmp_path, line_of(gone)))
    after = shown_by("after")

    assert "A lasting one" in before
    assert "A lasting one" in after
    assert "A withdrawn one" not in after


def test_importing_the_same_file_again_changes_nothing(tmp_path, task):
    path = file_of(tmp_path, line_of(response_of(task)))
    run(path)
    before = list(Response.objects.values()), Decision.objects.count()

    said = run(path)

    assert (list(Response.objects.values()), Decision.objects.count()) == before
    assert "0 responses withdrawn." in said
    assert "1 response had been withdrawn before." in said


def test_nothing_restores_a_withdrawn_response(tmp_path, task):
    gone = response_of(task)
    user = UserFactory()
    exclude_worker(campaign=task.campaign, worker=gone.worker, reason="bad", actor=user, at=NOON)
    run(file_of(tmp_path, line_of(gone)))

    reinstate_worker(campaign=task.campaign, worker=gone.worker, reason="good", actor=user, at=NOON)
    assert response_services.restore(responses=[gone]) == []
    with pytest.raises(CannotRestore, match="has withdrawn it"):
        restore_response(response=gone, reason="please", actor=user, at=NOON)
    gone.refresh_from_db()
    assert gone.status == ResponseStatus.DISCARDED
    with (
        pytest.raises(IntegrityError, match="response_withdrawn_is_discarded"),
        transaction.atomic(),
    ):
        Response.objects.update(status=ResponseStatus.SUBMITTED)


def test_frozen_releases_are_named_and_a_new_one_leaves_the_responses_out(tmp_path, task, client):
    gone, kept = response_of(task), response_of(task)
    first = release_campaign(campaign=task.campaign, name="first", seed=1, at=NOON)
    before = list(first.images.get().captions.values_list("response", flat=True))

    said = run(file_of(tmp_path, line_of(gone)))
    new = response_of(task)
    second = release_campaign(campaign=task.campaign, name="second", seed=1, at=NOON)

    assert "Release first has 1 of these responses." in said
    assert list(first.images.get().captions.values_list("response", flat=True)) == before
    assert (withdrawn_in(first), withdrawn_in(second)) == (1, 0)
    drawn = set(second.images.get().captions.values_list("response", flat=True))
    assert drawn == {kept.pk, new.pk}
    client.force_login(UserFactory())
    assert "1 of the captions of this release was withdrawn" in (
        client.get(first.get_absolute_url()).content.decode()
    )
    assert "withdrawn" not in client.get(second.get_absolute_url()).content.decode()


def test_a_file_with_a_fault_is_not_imported_in_part(tmp_path, task):
    gone = response_of(task)

    with pytest.raises(CommandError, match="Nothing was imported"):
        run(file_of(tmp_path, line_of(gone), "WORKER,,"))
    without = tmp_path / "without.json"
    without.write_text('[{"worker_id": null, "assignment_id": "A"}]')
    with pytest.raises(CommandError, match="Nothing was imported"):
        run(str(without))
    other = tmp_path / "other.csv"
    other.write_text("worker_id,when\nA,B\n")
    with pytest.raises(CommandError, match="assignment_id"):
        run(str(other))

    gone.refresh_from_db()
    assert gone.status == ResponseStatus.SUBMITTED


def test_an_id_of_another_worker_or_requester_changes_nothing(tmp_path, task):
    mine, theirs = response_of(task), response_of(task)
    worker = theirs.submission.assignment.account.marketplace_id
    path = file_of(tmp_path, f"{worker},{mine.submission.assignment.assignment_id},", "AX,OTHER,")

    said = run(path)

    assert "2 assignments not known here." in said
    assert not Response.objects.exclude(withdrawn_at=None).exists()


def test_work_that_no_sync_has_read_is_named_apart_and_the_rest_is_withdrawn(tmp_path, task):
    gone, page = response_of(task), TaskPageFactory(answered_at=NOON)
    TaskPageFactory(assignment_id="OPENED", marketplace_id="A2")
    waiting = f"{page.marketplace_id},{page.assignment_id},"

    said = run(file_of(tmp_path, waiting, line_of(gone), "A2,OPENED,"))

    assert "1 response withdrawn." in said
    assert "1 assignment answered here, but not read from the marketplace yet." in said
    assert "1 assignment not known here." in said


def digest_instead_of_id(account):
    digest = digest_of(account.endpoint, account.marketplace_id)
    WorkerAccount.objects.filter(pk=account.pk).update(marketplace_id=digest, id_deleted_at=NOON)


def digest_by_an_earlier_key(account):
    digest = digest_of(account.endpoint, account.marketplace_id, secret="earlier")
    WorkerAccount.objects.filter(pk=account.pk).update(marketplace_id=digest, id_deleted_at=NOON)


def erase(account):
    Assignment.objects.update(status=AssignmentStatus.APPROVED, decided_at=NOON)
    erase_worker(worker=account.worker, by=None, at=NOON)


@pytest.mark.parametrize("delete_id", [digest_instead_of_id, digest_by_an_earlier_key, erase])
def test_work_is_withdrawn_although_the_workers_id_was_deleted(tmp_path, task, settings, delete_id):
    settings.SECRET_KEY_FALLBACKS = ["earlier"]
    gone, other = response_of(task), response_of(task)
    line = line_of(gone)
    delete_id(gone.submission.assignment.account)

    said = run(file_of(tmp_path, line))

    gone.refresh_from_db()
    other.refresh_from_db()
    assert "1 response withdrawn." in said
    assert (gone.status, other.status) == (ResponseStatus.DISCARDED, ResponseStatus.SUBMITTED)
    assert "1 response had been withdrawn before." in run(file_of(tmp_path, line))


def test_a_digest_in_a_file_is_nobodys_id(tmp_path, task):
    response = response_of(task)
    digest_instead_of_id(response.submission.assignment.account)
    response.submission.assignment.account.refresh_from_db()

    said = run(file_of(tmp_path, line_of(response)))

    response.refresh_from_db()
    assert response.status == ResponseStatus.SUBMITTED
    assert "0 responses withdrawn." in said
