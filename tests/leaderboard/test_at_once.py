"""Many submissions and several scorers at the same time."""

import json
import re
from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.services.api_tokens import issue_token
from annotate.models import Role
from corpora.evaluation.scoring import Plan, score
from leaderboard.models import Submission, SubmissionStatus, Submitter
from leaderboard.queries import captions_of
from leaderboard.services.scoring import score_waiting, take
from leaderboard.services.submissions import ACCOUNTS_PER_ADDRESS, SignUpRefused, create_account
from tests.leaderboard.making import (
    make_challenge,
    make_release,
    make_submission,
    make_submitter,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE, EACH, PER_DAY = 10, 20, 2
WORDS = ("dog", "kite", "brown", "follow", "number", "dawn", "two", "runs", "beach", "at", "a")


@pytest.fixture
def release():
    return make_release(images=12)


def varied(number: int) -> list[dict[str, object]]:
    """Results whose images have different scores; `number` makes each file another one."""
    return [
        {"image_id": image, "caption": " ".join([*WORDS[: 1 + (image + number) % 11], str(number)])}
        for image in range(1, 13)
    ]


def malformed(number: int) -> bytes:
    """One of five kinds of wrong files."""
    entries = varied(number)
    kinds = (
        json.dumps(entries[1:]),
        json.dumps([*entries, entries[0]]),
        json.dumps([{"image_id": "one", "caption": "x"}]),
        '[{"image_id": 1, "caption": NaN}]',
        "PK\x03\x04",
    )
    return kinds[number % 5].encode()


def is_malformed(number: int) -> bool:
    """One in five, four of each person's twenty."""
    return number // PEOPLE % 5 == 0


def content_of(number: int) -> bytes:
    return malformed(number) if is_malformed(number) else json.dumps(varied(number)).encode()


def test_two_hundred_submissions_at_once_keep_the_limits_and_get_an_answer_each(release):
    challenge = make_challenge(release, per_day=PER_DAY, in_total=3)
    challenge.submissions.all().delete()
    people = [make_submitter(f"team{number}") for number in range(PEOPLE)]
    tokens = [issue_token(user=person, at=timezone.now())[1] for person in people]

    def send(number: int):
        return Client().post(
            "/api/challenges/kites/submissions/",
            {
                "file": SimpleUploadedFile("results.json", content_of(number)),
                "method": f"Kitenet {number}",
                "track": "PLAIN",
                "training_data": "COCO",
            },
            headers={"Authorization": f"Token {tokens[number % PEOPLE]}"},
        )

    answers = at_once(send, range(PEOPLE * EACH))

    assert Counter(answer.status_code for answer in answers) == {
        201: PEOPLE * PER_DAY,
        409: PEOPLE * (EACH - PER_DAY),
    }
    for number, answer in enumerate(answers):
        if answer.status_code == 409:
            reason = answer.json()["detail"]
            mistakes = "|Your file: |not a complete ZIP file" if is_malformed(number) else ""
            assert re.search(f"used your submissions of today{mistakes}", reason), reason
        else:
            assert not is_malformed(number)
            assert answer.json()["method"] == f"Kitenet {number}"
    stored = Submission.objects.values_list("submitter", "try_number", "day_number")
    assert sorted(stored) == sorted(
        (person.pk, number, number) for person in people for number in (1, 2)
    )
    assert_nothing_leaks(challenge, [answer.content.decode() for answer in answers])


@pytest.mark.slow
def test_no_answer_has_a_reference_or_the_score_of_an_image(release, client, caplog):
    challenge = make_challenge(release)
    person = make_submitter()
    for number in (11, 12):
        make_submission(challenge, person, content_of(number), at=timezone.now())
    [*score_waiting()]
    client.force_login(person)
    own = [
        client.get(f"/challenges/kites/{path}").content.decode()
        for path in ("", "images.json", "board/", "manage/", "manage/submissions.csv")
    ]
    own += [
        client.get(f"/api/challenges/kites/{path}").content.decode()
        for path in ("", "images/", "submissions/", "board/")
    ]
    challenge.published_at = timezone.now()
    challenge.save()
    public = Client()
    boards = [
        public.get("/challenges/kites/board/", {"track": track, "subset": subset}).content.decode()
        for track in ("PLAIN", "EXTRA")
        for subset in ("", "in-domain", "near-domain")
    ]

    assert Submission.objects.filter(status=SubmissionStatus.SCORED).count() == 3
    assert "Kitenet" in boards[0]
    assert_nothing_leaks(challenge, [*own, *boards, caplog.text])


def assert_nothing_leaks(challenge, texts: list[str]) -> None:
    """Search for each reference, for the baseline, and for each score of an image."""
    references: dict[int, list[str]] = {}
    for image, text in captions_of(challenge.release, Role.REFERENCE):
        references.setdefault(image, []).append(text)
    baseline = dict(captions_of(challenge.release, Role.BASELINE))
    secret = {text for several in references.values() for text in several} | {*baseline.values()}
    figures = secret_figures(references, baseline)
    assert len(secret) == 36
    assert len(figures) > 20

    for text in texts:
        assert "Secretly" not in text
        assert not [caption for caption in secret if caption in text]
        assert not {*re.findall(r"\d\.\d{2,4}", text)} & figures


def secret_figures(references, baseline) -> set[str]:
    """Scores of single images with two to four decimals, except those that are also means."""
    results = [
        {entry["image_id"]: entry["caption"] for entry in varied(number)} for number in range(200)
    ]
    single, means = set(), set()
    for captions in [baseline, *results[11:13]]:
        scored = score(references, captions, Plan(tokeniser="plain"))
        for by_image in scored.per_image.values():
            single |= {f"{value:.{digits}f}" for value in by_image.values() for digits in (3, 4)}
        means |= {f"{value:.4f}" for value in scored.overall.values()}
    return {figure for figure in single if figure.strip("0.") and figure not in means | {"1.000"}}


def test_sign_ups_at_once_keep_the_limit_of_their_address(settings):
    settings.SUBMITTERS_MAY_SIGN_UP = True

    def sign_up(number: int) -> bool:
        try:
            create_account(
                name=f"grace{number}",
                password="five brown kites",
                team="Kites",
                address="192.0.2.1",
                at=timezone.now(),
            )
        except SignUpRefused:
            return False
        return True

    made = at_once(sign_up, range(2 * ACCOUNTS_PER_ADDRESS))

    assert made.count(True) == Submitter.objects.count() == ACCOUNTS_PER_ADDRESS


def test_ten_scorers_at_once_start_no_more_runs_than_allowed(release, settings):
    settings.SCORES_AT_ONCE = 3
    challenge = make_challenge(release, per_day=5, in_total=5)
    person = make_submitter()
    for number in (11, 12, 13, 14):
        make_submission(challenge, person, content_of(number), at=timezone.now())

    taken = at_once(lambda _: take(at=timezone.now()), range(10))

    assert 1 <= len([each for each in taken if each]) <= 3
    assert Submission.objects.running().count() == len([each for each in taken if each])


@pytest.mark.slow
def test_two_scorers_score_each_submission_once(release):
    challenge = make_challenge(release, per_day=4, in_total=5)
    person = make_submitter()
    for number in (11, 12, 13):
        make_submission(challenge, person, content_of(number), at=timezone.now())

    done = at_once(lambda _: [each.pk for each in score_waiting()], range(3))

    assert sorted(pk for each in done for pk in each) == sorted(
        Submission.objects.values_list("pk", flat=True)
    )
    ended = set(Submission.objects.values_list("status", "attempts"))
    assert ended == {(SubmissionStatus.SCORED, 1)}
