"""Submissions: what counts, what does not, and the limits."""

import io
import json
import zipfile
import zlib
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from corpora.errors import DomainError
from leaderboard.models import Challenge, Submission, SubmissionStatus
from leaderboard.queries import allowance_of
from leaderboard.services.challenges import set_closing
from leaderboard.services.scoring import SubmissionRefused
from leaderboard.services.submissions import (
    MOST_UNPACKED,
    MOST_UPLOADED,
    LimitReached,
    NotOpen,
    SubmittedBefore,
    UploadRefused,
    json_bytes,
    read_upload,
    withdraw,
)
from tests.factories import UserFactory
from tests.leaderboard.making import NOON, make_challenge, make_submission, make_submitter

pytestmark = pytest.mark.django_db


TOMORROW = NOON + timedelta(days=1)


@pytest.fixture
def grace():
    return make_submitter()


def test_a_valid_file_is_stored_and_waits(challenge, grace, results):
    submission = make_submission(challenge, grace, results())

    assert submission.status == SubmissionStatus.WAITING
    assert json.loads(zlib.decompress(submission.file.content))[0]["image_id"] == 1
    assert (submission.try_number, submission.day_number) == (1, 1)


def without_first(entries):
    return entries[1:]


def with_unknown(entries):
    return [*entries, {"image_id": 99, "caption": "A dog."}]


def twice(entries):
    return [*entries, entries[3]]


def changed(**values):
    return lambda entries: [entries[0] | values, *entries[1:]]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_first, r"without a caption: 1\."),
        (lambda entries: [], r"without a caption: 1, 2, 3"),
        (with_unknown, r"unknown images: 99\."),
        (twice, r"several captions: 4\."),
        (changed(image_id="1"), "not whole numbers: '1'"),
        (changed(image_id=1.0), "not whole numbers: 1.0"),
        (changed(image_id=True), "not whole numbers: True"),
        (changed(image_id=None), "not whole numbers: None"),
        (changed(image_id=-1), "Negative image ids: -1"),
        (changed(caption=" \n"), "empty caption: 1"),
        (changed(caption="\u200b"), "empty caption: 1"),
        (changed(caption=7), "not texts"),
        (changed(caption=["A dog."]), "not texts"),
        (changed(caption="dog " * 25_000), "more than 10,000 characters"),
        (changed(caption="a\0b"), "NUL"),
        (changed(caption="\ud83d"), "surrogate"),
        (lambda entries: {"annotations": entries}, "results are a list"),
        (lambda entries: [[1, "A dog."]], "has no `image_id` and `caption`"),
        (lambda entries: [None], "has no `image_id` and `caption`"),
        (lambda entries: [{"image_id": 1}], "has no `image_id` and `caption`"),
        (lambda entries: 3, "results are a list"),
    ],
)
def test_a_file_with_a_mistake_is_refused_and_does_not_count(
    challenge, grace, results, change, reason
):
    with pytest.raises(DomainError, match=reason):
        make_submission(challenge, grace, results(change))

    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"null",
        b"[" * 100_000,
        b"[[[[]]]]",
        b'[{"image_id": NaN, "caption": "A dog."}]',
        b'[{"image_id": Infinity, "caption": NaN}]',
        b'[{"image_id": ' + b"9" * 5000 + b', "caption": "A dog."}]',
        b"\xff\xfe\x00",
        b"\x89PNG\r\n",
        '[{"image_id": 1, "caption": "A dög."}]'.encode("latin-1"),
    ],
)
def test_a_file_that_is_not_results_is_refused_with_a_reason(challenge, grace, content):
    with pytest.raises(DomainError, match="Your file"):
        make_submission(challenge, grace, content)


def test_the_first_twenty_wrong_ids_are_named(challenge, grace, results):
    def add(entries):
        return [*entries, *({"image_id": 100 + n, "caption": "A dog."} for n in range(30))]

    with pytest.raises(DomainError) as caught:
        make_submission(challenge, grace, results(add))

    assert "100, 101" in str(caught.value)
    assert "119, … (30 in all)" in str(caught.value)
    assert "120" not in str(caught.value)


def test_the_limit_of_the_day_holds_until_midnight_utc(challenge, grace, results):
    for number in range(3):
        make_submission(challenge, grace, results(word=f"dog{number}"))

    with pytest.raises(LimitReached, match="3 per day.* from 3 Nov 2026, 00:00 UTC"):
        make_submission(challenge, grace, results(word="cat"))

    make_submission(challenge, grace, results(word="cat"), at=NOON + timedelta(hours=12))
    assert Submission.objects.count() == 4


def test_the_limit_in_total_holds_for_ever(challenge, grace, results):
    for number in range(5):
        at = NOON + timedelta(days=number)
        make_submission(challenge, grace, results(word=f"dog{number}"), at=at)

    with pytest.raises(LimitReached, match="5 in total"):
        make_submission(challenge, grace, results(word="cat"), at=NOON + timedelta(days=9))


def test_a_malformed_file_is_answered_with_the_limit_once_it_is_used(challenge, grace, results):
    for number in range(3):
        make_submission(challenge, grace, results(word=f"dog{number}"))

    with pytest.raises(LimitReached):
        make_submission(challenge, grace, b"{")


def test_the_limits_of_one_submitter_do_not_bind_another(challenge, grace, results):
    for number in range(3):
        make_submission(challenge, grace, results(word=f"dog{number}"))

    make_submission(challenge, make_submitter("ada"), results())


def test_a_failed_submission_gives_its_try_back(challenge, grace, results):
    for number in range(3):
        make_submission(challenge, grace, results(word=f"dog{number}"))
    second = Submission.objects.get(try_number=2)
    Submission.objects.filter(pk=second.pk).update(
        status=SubmissionStatus.FAILED, try_number=None, day_number=None
    )

    again = make_submission(challenge, grace, results(word="cat"))

    assert (again.try_number, again.day_number) == (2, 2)
    assert allowance_of(challenge, grace, at=NOON).left == 0


def test_the_same_file_counts_once(challenge, grace, results):
    make_submission(challenge, grace, results())

    with pytest.raises(SubmittedBefore, match="You submitted this file on 2 Nov 2026"):
        make_submission(challenge, grace, results())

    assert allowance_of(challenge, grace, at=NOON).used == 1


def test_the_same_file_may_go_to_both_tracks(challenge, grace, results):
    make_submission(challenge, grace, results())

    make_submission(challenge, grace, results(), track="EXTRA")


def test_before_its_opening_and_after_its_closing_a_challenge_takes_nothing(
    challenge, grace, results
):
    with pytest.raises(NotOpen, match="opens on 2 Nov 2026, 12:00 UTC"):
        make_submission(challenge, grace, results(), at=NOON - timedelta(seconds=1))
    set_closing(challenge=challenge, closes_at=TOMORROW)
    challenge.refresh_from_db()
    with pytest.raises(NotOpen, match="closed on 3 Nov 2026, 12:00 UTC"):
        make_submission(challenge, grace, results(), at=TOMORROW)


def test_a_submission_that_was_read_before_the_closing_is_not_stored_after_it(
    challenge, grace, results
):
    stale = type(challenge).objects.get(pk=challenge.pk)
    set_closing(challenge=challenge, closes_at=NOON + timedelta(hours=1))

    with pytest.raises(NotOpen):
        make_submission(stale, grace, results(), at=NOON + timedelta(hours=2))


def test_a_submission_that_began_before_close_now_is_not_stored_after_it(challenge, grace, results):
    stale, began_at = Challenge.objects.get(), timezone.now()
    set_closing(challenge=challenge, closes_at=timezone.now())

    with pytest.raises(NotOpen, match="closed on"):
        make_submission(stale, grace, results(), at=began_at)


def test_a_challenge_with_one_track_refuses_the_other(release, grace, results):
    challenge = make_challenge(release, name="plain", has_extra_track=False)

    with pytest.raises(SubmissionRefused, match="no track with extra"):
        make_submission(challenge, grace, results(), track="EXTRA")
    with pytest.raises(SubmissionRefused, match="There is no track 'HUMAN'"):
        make_submission(challenge, grace, results(), track="HUMAN")


def test_the_database_refuses_a_try_number_twice(challenge, grace, results):
    make_submission(challenge, grace, results())
    second = make_submission(challenge, grace, results(word="cat"))

    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=second.pk).update(try_number=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=second.pk).update(day_number=1)


def test_a_failed_submission_cannot_keep_its_try(challenge, grace, results):
    make_submission(challenge, grace, results())

    with pytest.raises(IntegrityError):
        Submission.objects.update(status=SubmissionStatus.FAILED)


def test_a_withdrawn_submission_still_counts(challenge, grace, results):
    submission = make_submission(challenge, grace, results())

    withdraw(submission=submission, reason="Trained on it.", actor=UserFactory(), at=NOON)

    assert Submission.objects.get().status == SubmissionStatus.WITHDRAWN
    assert allowance_of(challenge, grace, at=NOON).used == 1
    with pytest.raises(SubmissionRefused):
        withdraw(submission=submission, reason="Again.", actor=UserFactory(), at=NOON)


FIRST_DAY = (1980, 1, 1, 0, 0, 0)
JSON = b'[{"image_id": 1, "caption": "A dog."}]'


def archive(*files: tuple[str, bytes], method=zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as out:
        for name, content in files:
            # A fixed time, so that every process makes the same bytes.
            out.writestr(zipfile.ZipInfo(name, FIRST_DAY), content, method)
    return made.getvalue()


def test_a_plain_file_is_taken_as_it_is():
    assert json_bytes(JSON) == JSON


@pytest.mark.parametrize("name", ["results.json", "folder/results.JSON", "übung…json.json"])
def test_the_only_file_of_an_archive_is_unpacked(name):
    assert json_bytes(archive((name, JSON))) == JSON


def test_the_folders_that_macos_adds_do_not_count():
    content = archive(("run/", b""), ("run/r.json", JSON), ("__MACOSX/run/._r.json", b"\0"))

    assert json_bytes(content) == JSON


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file is empty"),
        (b" \n", "The file is empty"),
        (archive(), "has 0 files"),
        (archive(("a.json", JSON), ("b.json", JSON)), "has 2 files"),
        (archive(("a.json", JSON), ("./a.json", JSON)), "has 2 files"),
        (archive(("results.txt", JSON)), "must end in .json"),
        (archive(("../results.json", JSON)), "leads out of its folder"),
        (archive(("a/../../results.json", JSON)), "leads out of its folder"),
        (archive(("/etc/results.json", JSON)), "leads out of its folder"),
        (archive(("..\\results.json", JSON)), "leads out of its folder"),
        (archive(("C:/results.json", JSON)), "leads out of its folder"),
        (archive(("r.json", JSON))[:40], "not a complete ZIP file"),
        (b"PK\x03\x04 and nothing of an archive", "not a complete ZIP file"),
    ],
)
def test_a_wrong_upload_is_refused_with_the_reason(content, reason):
    with pytest.raises(DomainError, match=reason):
        json_bytes(content)


def test_damage_inside_the_archive_is_found():
    content = bytearray(archive(("r.json", JSON), method=zipfile.ZIP_STORED))
    content[content.index(b"A dog")] ^= 1

    with pytest.raises(DomainError, match="not a complete ZIP file"):
        json_bytes(bytes(content))


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_an_archive_with_another_compression_is_refused_before_it_is_unpacked(method):
    content = bytearray(archive(("r.json", JSON), method=method))
    content[50] ^= 255

    with pytest.raises(DomainError, match="use the usual one"):
        json_bytes(bytes(content))


def test_an_archive_with_a_password_is_refused():
    content = bytearray(archive(("r.json", JSON)))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1

    with pytest.raises(DomainError, match="protected by a password"):
        json_bytes(bytes(content))


def test_an_archive_that_unpacks_to_too_much_is_refused():
    bomb = archive(("r.json", b" " * (MOST_UNPACKED + 1)))

    assert len(bomb) < 1_000_000
    with pytest.raises(DomainError, match="unpack to more than 10 MB"):
        json_bytes(bomb)


def test_the_size_that_an_archive_states_is_not_believed():
    bomb = bytearray(archive(("r.json", b" " * (MOST_UNPACKED + 1))))
    at = bomb.index(b"PK\x01\x02") + 24
    bomb[at : at + 4] = (10).to_bytes(4, "little")

    with pytest.raises(DomainError):
        json_bytes(bytes(bomb))


def test_a_large_upload_is_not_read_to_its_end():
    file = io.BytesIO(b" " * (MOST_UPLOADED + 5_000_000))

    with pytest.raises(UploadRefused, match="more than 10 MB"):
        read_upload(file)

    assert file.tell() == MOST_UPLOADED + 1
