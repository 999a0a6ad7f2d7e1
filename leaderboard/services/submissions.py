"""Create accounts of submitters, take their submissions within the limits, and withdraw them."""

import hashlib
import zlib
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from corpora.errors import DomainError
from corpora.reading.zip_files import check_zip, unpack
from leaderboard.models import (
    Challenge,
    Submission,
    SubmissionStatus,
    SubmittedFile,
    Submitter,
    Track,
)
from leaderboard.queries import allowance_of, check_results, day_of, next_day
from leaderboard.services.scoring import SubmissionRefused
from shared.database.locks import transaction_lock


class NotOpen(DomainError):
    """The challenge takes no submissions now."""


class LimitReached(DomainError):
    """The submitter has used all submissions of the day or of the challenge."""


class SubmittedBefore(DomainError):
    """The submitter has submitted the same file to the same track before."""


def submit(
    *,
    challenge: Challenge,
    submitter: User,
    file: IO[bytes],
    track: str,
    method: str,
    training_data: str,
    at: datetime,
) -> Submission:
    """Check an uploaded results file and queue it for scoring.

    The file is checked in full before it counts. Raises NotOpen, LimitReached, SubmittedBefore and
    SubmissionRefused, and what `json_bytes` and `check_results` raise. Nothing is stored then.
    """
    upload = read_upload(file)
    _check_open(challenge, at)
    _check_track(challenge, track)
    _check_limits(challenge, submitter, at)
    results = json_bytes(upload)
    check_results(challenge, results)
    digest = hashlib.sha256(upload).hexdigest()
    with transaction.atomic():
        # Rival submissions wait here, so that each sees those before it.
        locked = Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
        # By the clock: it may have closed since `at`, while the file was checked.
        _check_open(locked, max(at, timezone.now()))
        _check_new(locked, submitter, track, digest)
        submission = Submission.objects.create(
            challenge=locked,
            submitter=submitter,
            track=track,
            method=method,
            training_data=training_data,
            sha256=digest,
            created_at=at,
            due_at=at,
            **_numbers(locked, submitter, at),
        )
        SubmittedFile.objects.create(submission=submission, content=zlib.compress(results))
    return submission


def _check_open(challenge: Challenge, at: datetime) -> None:
    if challenge.is_closed(at):
        raise NotOpen(f"{challenge.title} closed on {challenge.closes_at:%-d %b %Y, %H:%M} UTC.")
    if not challenge.is_open(at):
        raise NotOpen(f"{challenge.title} opens on {challenge.opens_at:%-d %b %Y, %H:%M} UTC.")


def _check_track(challenge: Challenge, track: str) -> None:
    if track not in Track.values:
        raise SubmissionRefused(f"There is no track {track!r}; use PLAIN or EXTRA.")
    if track == Track.EXTRA and not challenge.has_extra_track:
        raise SubmissionRefused(f"{challenge.title} has no track with extra training data.")


def _check_limits(challenge: Challenge, submitter: User, at: datetime) -> None:
    """Raise LimitReached without waiting for a lock, before the file is read."""
    allowance = allowance_of(challenge, submitter, at=at)
    if not allowance.left_in_total:
        raise _no_more(challenge)
    if not allowance.left:
        raise _no_more_today(challenge, at)


def _no_more(challenge: Challenge) -> LimitReached:
    return LimitReached(
        f"You have used all your submissions to {challenge.title}: {challenge.in_total} in total."
    )


def _no_more_today(challenge: Challenge, at: datetime) -> LimitReached:
    return LimitReached(
        f"You have used your submissions of today: {challenge.per_day} per day. You can submit "
        f"again from {next_day(at):%-d %b %Y, %H:%M} UTC."
    )


def _check_new(challenge: Challenge, submitter: User, track: str, digest: str) -> None:
    same = challenge.submissions.filter(submitter=submitter, track=track, sha256=digest)
    earlier = same.exclude(status=SubmissionStatus.FAILED).first()
    if earlier is not None:
        raise SubmittedBefore(
            f"You submitted this file on {earlier.created_at:%-d %b %Y, %H:%M} UTC as "
            f"“{earlier.method}”. It does not count again."
        )


def _numbers(challenge: Challenge, submitter: User, at: datetime) -> dict[str, object]:
    """The day, and the lowest free numbers of a try; raises LimitReached if there is none."""
    mine = Submission.objects.counting().filter(challenge=challenge, submitter=submitter)
    today = day_of(at)
    used = set(mine.values_list("try_number", flat=True))
    used_today = set(mine.filter(day=today).values_list("day_number", flat=True))
    if len(used) >= challenge.in_total:
        raise _no_more(challenge)
    if len(used_today) >= challenge.per_day:
        raise _no_more_today(challenge, at)
    return {"day": today, "day_number": _lowest(used_today), "try_number": _lowest(used)}


def _lowest(used: set[int | None]) -> int:
    """The lowest number from 1 on that is not used."""
    return next(number for number in range(1, len(used) + 2) if number not in used)


@transaction.atomic
def withdraw(*, submission: Submission, reason: str, actor: User, at: datetime) -> None:
    """Take a submission off the board; raises SubmissionRefused.

    It still counts towards its submitter's limits.
    """
    moved = (
        Submission.objects.filter(pk=submission.pk, is_baseline=False)
        .exclude(status__in=[SubmissionStatus.FAILED, SubmissionStatus.WITHDRAWN])
        .update(
            status=SubmissionStatus.WITHDRAWN,
            run=None,
            withdrawn_by=actor,
            withdrawn_because=reason,
            ended_at=at,
        )
    )
    if not moved:
        raise SubmissionRefused(
            "Only a submission that waits, runs or has scores can be withdrawn."
        )


ACCOUNTS_PER_ADDRESS = 5
PER = timedelta(days=1)


class SignUpRefused(DomainError):
    """The account cannot be created."""


@transaction.atomic
def create_account(*, name: str, password: str, team: str, address: str, at: datetime) -> None:
    """Create a submitter's account for somebody at this address; raises SignUpRefused."""
    if not settings.SUBMITTERS_MAY_SIGN_UP:
        raise SignUpRefused("Ask the owner of the challenge for an account.")
    digest = salted_hmac("leaderboard.sign_up", address, algorithm="sha256").hexdigest()
    # Sign-ups from this address wait here, so that each sees those before it.
    transaction_lock(f"sign-up-{digest}")
    # Later ones are of a clock that was ahead.
    made = Submitter.objects.filter(address=digest)
    recent = made.filter(created_at__gt=at - PER, created_at__lt=at + PER)
    if recent.count() >= ACCOUNTS_PER_ADDRESS:
        raise SignUpRefused(
            f"{ACCOUNTS_PER_ADDRESS} accounts were created from your network within a day. Try "
            "again tomorrow, or ask the owner of the challenge for an account."
        )
    create_submitter(name=name, password=password, team=team, address=digest, at=at)


def create_submitter(
    *, name: str, password: str, team: str, at: datetime, address: str = ""
) -> Submitter:
    """Create an account that may use the evaluation server only; raises SignUpRefused.

    `address` is the digest of the network address of a person who signed up.
    """
    team = team.strip()
    try:
        User(username=name, password="-").clean_fields()
        Submitter(team=team).clean_fields(exclude=["user", "created_at"])
        with transaction.atomic():
            user = User.objects.create_user(name, password=password)
            return Submitter.objects.create(user=user, team=team, address=address, created_at=at)
    except ValidationError as error:
        raise SignUpRefused(f"{name!r}: {' '.join(error.messages)}") from error
    except IntegrityError as error:
        raise SignUpRefused(f"The name {name} is in use. Choose another one.") from error


MEGABYTE = 1_000_000
# nocaps' 10,600 test images with captions of 60 characters make 1.1 MB.
MOST_UPLOADED = 10 * MEGABYTE
# Reading hostile JSON takes some thirty times its size in memory.
MOST_UNPACKED = 10 * MEGABYTE
ZIP_BEGINS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
ARCHIVE = "The ZIP archive"
# Archives may have files besides the JSON file: macOS adds this folder to those that it makes.
IGNORED, MOST_FILES = "__MACOSX/", 100


class UploadRefused(DomainError):
    """The uploaded file cannot be scored; the message says why."""


def read_upload(file: IO[bytes]) -> bytes:
    """The content of an uploaded file; raises UploadRefused if it is too large."""
    content = file.read(MOST_UPLOADED + 1)
    if len(content) > MOST_UPLOADED:
        raise UploadRefused(
            f"The file has more than {MOST_UPLOADED // MEGABYTE} MB. Zip it, or check that it is "
            "the right one."
        )
    return content


def json_bytes(content: bytes) -> bytes:
    """The JSON file in an upload, which is this file itself or a ZIP archive of it alone.

    Raises UploadRefused, and MalformedFile if the archive is not safe to unpack.
    """
    if not content.strip():
        raise UploadRefused("The file is empty.")
    return _unpacked(content) if content.startswith(ZIP_BEGINS) else content


def _unpacked(content: bytes) -> bytes:
    with TemporaryDirectory() as folder:
        archive = Path(folder, "archive")
        archive.write_bytes(content)
        check_zip(archive, ARCHIVE, most_files=MOST_FILES, most_bytes=MOST_UNPACKED)
        files: list[tuple[str, Path]] = []

        def target(name: str) -> Path:
            path = Path(folder, str(len(files)))
            files.append((name, path))
            return path

        unpack(archive, ARCHIVE, target, most_bytes=MOST_UNPACKED)
        files = [(name, path) for name, path in files if not name.startswith(IGNORED)]
        if len(files) != 1:
            raise UploadRefused(
                f"{ARCHIVE} has {len(files)} files. It must have exactly one, a JSON file."
            )
        [(name, path)] = files
        if not name.lower().endswith(".json"):
            raise UploadRefused(
                f"The file in the ZIP archive is called {name[:100]!a}. Its name must end in .json."
            )
        return path.read_bytes()
