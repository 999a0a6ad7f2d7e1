"""People's ratings of submissions, beside the metrics on a challenge's board."""

import io
import json
import re
import zlib

import pytest
from django.core.management import CommandError, call_command

from annotate.kinds import KINDS
from annotate.kinds.campaign_files import parse_config
from annotate.models import Response
from annotate.services.campaigns import create_campaign
from leaderboard.queries import PEOPLE, board_of
from qualcontrol.services.releasing import release_campaign
from tests.factories import SelectionFactory, WorkerFactory
from tests.leaderboard.conftest import IMAGES
from tests.leaderboard.making import (
    NOON,
    make_challenge,
    make_submission,
    make_submitter,
    results_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

# What people and CIDEr say of each method; they disagree about cat and dog.
METHODS = {"dog": (5, 0.2), "cat": (3, 0.9), "owl": (1, 0.1)}


@pytest.fixture
def submissions(challenge):
    """A scored submission of each method, and one that nobody rated."""
    found = {}
    for word, (_, cider) in {**METHODS, "ant": (0, 0.5)}.items():
        found[word] = make_submission(
            challenge, make_submitter(word), results_of(IMAGES, word), method=word
        )
        found[word].scores = {
            "images": IMAGES,
            "overall": {"CIDEr": cider},
            "subsets": {},
            "subset_images": {},
        }
        found[word].status = "SCORED"
        found[word].save()
    return found


@pytest.fixture
def judged(release, submissions, challenge, tmp_path):
    """A release of ratings of the methods' captions, which were saved from the challenge."""
    selection = SelectionFactory(images=0, team=release.campaign.team)
    for image in release.images.all():
        selection.selected.create(image=image.task.image, position=1 + IMAGES - image.number)
    run("challenge", challenge.name, "--save", tmp_path)
    for word in METHODS:
        path = tmp_path / f"{submissions[word].pk}.json"
        run("import_results", path, "--name", word, "--release", release.name)
    values = {
        "name": "judge",
        "kind": "rating",
        "selection": selection.name,
        "budget": "50.00",
        "responses": 2,
        "rating": {"sources": [{"name": word, "caption_set": word} for word in METHODS]},
    }
    config = parse_config(values)
    campaign = create_campaign(config=config, endpoint="local", at=NOON, team=release.campaign.team)
    workers = WorkerFactory.create_batch(2)
    for task in campaign.tasks.all():
        for worker in workers:
            answer = {
                str(number): {"true": METHODS[next(iter(caption["sources"]))][0], "fluent": 3}
                for number, caption in enumerate(task.payload["captions"], start=1)
            }
            response = Response.objects.create(
                campaign=campaign, task=task, worker=worker, submitted_at=NOON
            )
            KINDS["rating"].store([(response, answer)])
    return release_campaign(campaign=campaign, name="judged", seed=1, at=NOON)


def run(*arguments: object) -> str:
    out = io.StringIO()
    call_command(*map(str, arguments), stdout=out)
    return out.getvalue()


def test_a_board_shows_peoples_ranking_and_where_a_metric_disagrees(
    challenge, submissions, judged, client
):
    assert "3 submissions found" in run("challenge", challenge.name, "--people", "judged")

    challenge.refresh_from_db()
    board = board_of(challenge, track="PLAIN")
    rows = {row.submission.method: (row.rank, row.people_rank, row.people) for row in board.rows}
    assert rows == {
        "cat": (1, 2, 3.0),
        "ant": (2, None, None),
        "dog": (3, 1, 5.0),
        "owl": (4, 3, 1.0),
    }
    assert [[one.method for one in pair] for pair in board.disagreements] == [["dog", "cat"]]
    assert board.agreements == 2
    by_people = board_of(challenge, track="PLAIN", sort=PEOPLE)
    assert [row.submission.method for row in by_people.rows] == ["dog", "cat", "owl", "ant"]
    assert by_people.metric == "CIDEr"
    run("challenge", challenge.name, "--publish")
    page = client.get(f"/challenges/{challenge.name}/board/?sort=people").content.decode()
    assert "people rate dog above cat, CIDEr the other way round" in " ".join(page.split())
    assert "<small>(rank 1)</small>" in page


def test_a_withdrawn_method_is_not_compared(challenge, submissions, judged):
    run("challenge", challenge.name, "--people", "judged", "--criterion", "true")
    submissions["cat"].status = "WITHDRAWN"
    submissions["cat"].save()

    challenge.refresh_from_db()
    board = board_of(challenge, track="PLAIN")

    assert (board.disagreements, board.agreements) == ([], 1)


def test_methods_that_people_do_not_tell_apart_are_not_compared(challenge, submissions, judged):
    run("challenge", challenge.name, "--people", "judged", "--criterion", "fluent")

    challenge.refresh_from_db()
    board = board_of(challenge, track="PLAIN")

    assert [row.people_rank for row in board.rows] == [1, None, 1, 1]
    assert (board.disagreements, board.agreements) == ([], 0)


def test_a_metric_agrees_only_about_methods_that_it_tells_apart(challenge, submissions, judged):
    for word in METHODS:
        submissions[word].scores["overall"]["CIDEr"] = 0.5
        submissions[word].save()
    run("challenge", challenge.name, "--people", "judged", "--criterion", "true")

    challenge.refresh_from_db()
    board = board_of(challenge, track="PLAIN")

    assert (board.disagreements, board.agreements) == ([], 0)


def test_methods_for_which_the_board_shows_the_same_mean_of_people_have_one_rank(
    challenge, submissions, judged
):
    run("challenge", challenge.name, "--people", "judged")
    challenge.refresh_from_db()
    challenge.people["scores"] |= {"cat": 3.001, "dog": 3.004}

    board = board_of(challenge, track="PLAIN", sort=PEOPLE)

    rows = [(row.submission.method, row.rank, row.people) for row in board.rows]
    assert sorted(rows[:2]) == [("cat", 1, 3.0), ("dog", 1, 3.0)]
    assert rows[2] == ("owl", 3, 1.0)


def test_a_release_without_ratings_of_the_criterion_is_refused(challenge, judged, release):
    with pytest.raises(CommandError, match="v1 has no ratings of captions"):
        run("challenge", challenge.name, "--people", "v1")
    with pytest.raises(CommandError, match="judged has no ratings by beauty"):
        run("challenge", challenge.name, "--people", "judged", "--criterion", "beauty")


def test_a_release_without_any_rating_is_refused(challenge, judged):
    """As of a campaign that asks people to choose from options only."""
    for file in judged.files.filter(name="ratings.json"):
        file.text = re.sub('"(true|fluent)": [0-9.]+', r'"\1": null', file.text)
        file.save()

    with pytest.raises(CommandError, match="it has no captions that people rated"):
        run("challenge", challenge.name, "--people", "judged")


def test_saved_files_are_those_that_were_submitted(challenge, submissions, tmp_path):
    run("challenge", challenge.name, "--save", tmp_path / "new")

    [*paths] = (tmp_path / "new").iterdir()
    assert {json.loads(path.read_text())[0]["caption"] for path in paths} == {
        f"A {word} runs along beach 1." for word in submissions
    }


@pytest.mark.parametrize(("is_hidden", "saved"), [(True, 0), (False, 1)])
def test_a_hidden_human_baseline_is_not_saved(release, tmp_path, is_hidden, saved):
    release.images.update(is_hidden=is_hidden)
    challenge = make_challenge(release)
    challenge.submissions.update(status="SCORED", scores={})

    run("challenge", challenge.name, "--save", tmp_path / "new")

    assert len([*tmp_path.glob("new/*")]) == saved


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_in_another_encoding_is_saved_as_utf_8(challenge, submissions, tmp_path, encoding):
    content = results_of(IMAGES, "dog")
    submissions["dog"].file.content = zlib.compress(content.decode().encode(encoding))
    submissions["dog"].file.save()

    run("challenge", challenge.name, "--save", tmp_path / "new")

    assert (tmp_path / "new" / f"{submissions['dog'].pk}.json").read_bytes() == content
