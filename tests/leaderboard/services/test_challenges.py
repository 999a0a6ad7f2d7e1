"""Create challenges, publish their boards, close them."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotate.models import Release, ReleasedImage
from leaderboard.models import Challenge, Submission, SubmissionStatus, Submitter
from leaderboard.queries import image_list, numbers_of, subsets_of
from leaderboard.services.challenges import (
    ChallengeRefused,
    close_challenge,
    hide_board,
    publish_board,
    set_closing,
    set_limits,
)
from tests.leaderboard.making import (
    NOON,
    make_challenge,
    make_release,
    make_submission,
    make_submitter,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_the_official_tokeniser_is_refused_for_another_language(release):
    release.campaign.config_json["language"] = "ja"
    release.campaign.save()
    japanese = Release.objects.get()  # read anew, because the campaign keeps its parsed file

    with pytest.raises(ChallengeRefused, match="splits English only"):
        make_challenge(japanese, tokeniser="ptb")


def test_a_new_challenge_has_a_private_board_and_its_baseline_waits(release):
    challenge = make_challenge(release)

    baseline = challenge.submissions.get()
    assert not challenge.is_published
    assert (baseline.is_baseline, baseline.status) == (True, SubmissionStatus.WAITING)
    assert baseline.try_number is None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"per_day": 0}, "at least 1"),
        ({"per_day": 6}, "no higher than the limit in total"),
        ({"closes_at": NOON}, "close after it opens"),
        ({"metrics": []}, "at least one metric"),
        ({"metrics": ["rouge"]}, "no metric 'rouge'"),
        ({"metrics": ["meteor"]}, "meteor needs the official tokeniser"),
        ({"tokeniser": "words"}, "no tokeniser 'words'"),
        ({"seconds": 0}, "at least 1 second and 1 MB"),
        ({"megabytes": -1}, "at least 1 second and 1 MB"),
        ({"name": "new"}, "cannot be called 'new'"),
    ],
)
def test_rules_that_make_no_sense_are_refused(release, values, reason):
    with pytest.raises(ChallengeRefused, match=reason):
        make_challenge(release, **values)

    assert not Challenge.objects.exists()


def test_two_challenges_cannot_have_one_name(release):
    make_challenge(release)

    with pytest.raises(ChallengeRefused, match="a challenge named 'kites' already"):
        make_challenge(release)


def test_a_release_of_few_images_is_refused():
    with pytest.raises(ChallengeRefused, match="has 9 images to score. A challenge needs at least"):
        make_challenge(make_release(images=9, name="few"))


def test_a_release_of_few_regions_is_refused_by_their_number():
    release = make_release(images=9, name="few")
    release.campaign.kind = "region"

    with pytest.raises(ChallengeRefused, match="has 9 regions to score.* of single regions"):
        make_challenge(release)


def test_few_hidden_images_among_many_are_refused(release):
    ReleasedImage.objects.filter(number__gt=3).update(is_hidden=False)

    with pytest.raises(ChallengeRefused, match="has 3 images to score"):
        make_challenge(release)


def test_hidden_images_alone_are_scored_and_all_if_none_is_hidden(release):
    ReleasedImage.objects.filter(number=5).update(is_hidden=False)
    assert 5 not in numbers_of(release)

    ReleasedImage.objects.update(is_hidden=False)

    assert numbers_of(release) == list(range(1, 13))


def test_the_list_of_images_has_no_captions(challenge):
    images = list(image_list(challenge))

    assert [image["id"] for image in images] == list(range(1, 13))
    assert set(images[0]) == {
        "id",
        "file_name",
        "width",
        "height",
        "coco_url",
        "date_captured",
    }


def test_a_challenge_on_regions_says_where_each_is(challenge):
    image = ReleasedImage.objects.get(number=1)
    image.record["region"] = {"class": "/m/dog", "x_min": 0.25}
    image.save()

    assert [each.get("region") for each in image_list(challenge)][:2] == [
        {"class": "/m/dog", "x_min": 0.25},
        None,
    ]


def test_an_image_without_an_address_has_that_of_a_copy(challenge, client):
    released = ReleasedImage.objects.get(number=1)
    released.record["coco_url"] = ""
    released.save()
    released.task.image.file = "images/kite.jpg"
    released.task.image.save()

    first, second = list(image_list(challenge))[:2]

    assert first["coco_url"].startswith("http://127.0.0.1:8000/media/copies/")
    assert second["coco_url"].startswith("https://images.example/")


def test_subsets_are_left_out_if_one_is_small(release):
    assert subsets_of(release) == {}


def test_subsets_are_given_if_all_are_large():
    release = make_release(images=20, name="many")
    assert set(subsets_of(release).values()) == {"in-domain", "out-domain"}

    image = release.images.get(number=1)
    image.record["domain"] = None
    image.save()

    # The rest of the mean of all images would be the score of this one.
    assert subsets_of(release) == {}


def test_a_board_is_published_and_made_private_once(challenge):
    publish_board(challenge=challenge, at=NOON)
    with pytest.raises(ChallengeRefused, match="public already"):
        publish_board(challenge=challenge, at=NOON)
    hide_board(challenge=challenge)
    with pytest.raises(ChallengeRefused, match="private already"):
        hide_board(challenge=challenge)


def test_a_challenge_closes_and_opens_again(challenge):
    set_closing(challenge=challenge, closes_at=NOON + timedelta(hours=1))
    assert Challenge.objects.get().is_closed(NOON + timedelta(hours=1))

    set_closing(challenge=challenge, closes_at=None)
    assert Challenge.objects.get().is_open(NOON + timedelta(days=900))

    with pytest.raises(ChallengeRefused, match="close after it opens"):
        set_closing(challenge=challenge, closes_at=NOON)


def test_a_closed_challenge_keeps_its_closing_when_it_is_closed_again(challenge):
    close_challenge(challenge=challenge, at=NOON + timedelta(hours=1))

    with pytest.raises(ChallengeRefused, match="closed on 2 Nov 2026, 13:00 UTC already"):
        close_challenge(challenge=challenge, at=NOON + timedelta(hours=2))

    assert Challenge.objects.get().closes_at == NOON + timedelta(hours=1)


def test_limits_are_changed_and_checked(challenge):
    set_limits(challenge=challenge, per_day=2, in_total=3, seconds=60, megabytes=512)

    with pytest.raises(ChallengeRefused, match="no higher than the limit in total"):
        set_limits(challenge=challenge, per_day=4, in_total=3, seconds=60, megabytes=512)
    changed = Challenge.objects.get()
    assert (changed.per_day, changed.in_total) == (2, 3)
    assert (changed.seconds, changed.megabytes) == (60, 512)


def test_the_database_refuses_two_baselines(release):
    baseline = make_challenge(release).submissions.get()
    baseline.pk = None

    with pytest.raises(IntegrityError), transaction.atomic():
        baseline.save(force_insert=True)


def test_the_database_refuses_a_submission_of_nobody(challenge, results):
    submission = make_submission(challenge, make_submitter(), results())

    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=submission.pk).update(submitter=None)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_the_command_does_not_call_a_challenge_closed_before_it_opens(release):
    run(
        *("create_challenge", "v1", "--name", "kites", "--title", "Kites"),
        *("--opens", "2099-01-31T12:00"),
    )

    assert run("challenge", "kites").startswith("kites: not open yet, board private")


def test_commands_create_show_publish_and_close_a_challenge(release, tmp_path):
    created = run(
        *("create_challenge", "v1", "--name", "kites", "--title", "Kites", "--per-day", "2"),
        *("--in-total", "9", "--closes", "2099-01-31T12:00", "--one-track"),
    )
    assert created == "kites created. Its page is /challenges/kites/.\n"
    challenge = Challenge.objects.get()
    assert (challenge.per_day, challenge.in_total, challenge.has_extra_track) == (2, 9, False)
    assert challenge.closes_at.isoformat() == "2099-01-31T12:00:00+00:00"

    assert run("challenge", "kites") == "kites: open, board private\n  waiting: 1\n"
    assert "board public" in run("challenge", "kites", "--publish")
    assert "board private" in run("challenge", "kites", "--hide")
    assert "kites: closed" in run("challenge", "kites", "--close")
    with pytest.raises(CommandError, match="already"):
        run("challenge", "kites", "--close")
    assert run("challenge", "kites", "--csv", str(tmp_path / "all.csv")).endswith("all.csv\n")
    assert (tmp_path / "all.csv").read_text().startswith("id,submitted_at,team,")
    assert [path.name for path in tmp_path.iterdir()] == ["all.csv"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["challenge", "nothing"], "There is no challenge 'nothing'. Existing names: none."),
        (["create_challenge", "v9", "--name", "a", "--title", "A"], "There is no release 'v9'"),
        (
            ["create_challenge", "v1", "--name", "a", "--title", "A", "--closes", "soon"],
            "'soon' is no date and time",
        ),
        (
            ["create_challenge", "v1", "--name", "a", "--title", "A"]
            + ["--closes", "9999-12-31T23:00:00-10:00"],
            "is no date and time",
        ),
        (
            ["create_challenge", "v1", "--name", "a b", "--title", "A"],
            "'a b' cannot be the name of a challenge",
        ),
        (["create_submitter", ""], "cannot be blank"),
        (["create_submitter", "a b"], "Enter a valid username"),
        (["create_submitter", "ada", "--team", "x" * 101], "at most 100 characters"),
        (["create_submitter", "ada", "--team", " "], "cannot be blank"),
        (
            [
                "create_challenge",
                "v1",
                "--name",
                "a",
                "--title",
                "A",
                "--opens",
                "2027-13-01T00:00",
            ],
            "is no date and time",
        ),
    ],
)
def test_a_wrong_command_ends_with_one_line(release, arguments, reason):
    with pytest.raises(CommandError, match=reason):
        run(*arguments)


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--in-total", 10_001, "at most 10,000 submissions"),
        ("--seconds", 86_401, "at most 86,400 seconds"),
        ("--megabytes", 1_000_001, "at most 1,000,000 MB"),
        ("--title", "A" * 201, "at most 200 characters"),
        ("--title", " ", "needs a title"),
    ],
)
def test_a_command_refuses_what_no_challenge_can_hold(release, option, value, reason):
    with pytest.raises(CommandError, match=reason):
        run("create_challenge", "v1", "--name", "a", "--title", "A", option, str(value))

    assert not Challenge.objects.exists()


def test_a_table_that_cannot_be_written_leaves_no_file(challenge, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")

    with pytest.raises(CommandError, match=r"^Cannot write to .*taken: File exists\.$"):
        run("challenge", "kites", "--csv", str(taken / "all.csv"))

    assert list(tmp_path.iterdir()) == [taken]
    assert taken.read_text() == "mine"


def test_a_command_creates_a_submitter_and_prints_the_password_once():
    printed = run("create_submitter", "grace", "--team", "Team Grace")

    password = printed.strip().rpartition("password: ")[2]
    submitter = Submitter.objects.get()
    assert submitter.user.check_password(password)
    assert submitter.team == "Team Grace"
    with pytest.raises(CommandError, match="The name grace is in use"):
        run("create_submitter", "grace")
