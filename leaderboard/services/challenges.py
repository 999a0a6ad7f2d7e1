"""Create challenges, publish their boards and close them."""

import hashlib
import json
import zlib
from datetime import datetime
from statistics import fmean

from django.db import IntegrityError, transaction

from annotate.kinds import KINDS
from annotate.kinds.judgements import judged_captions, numbers_in
from annotate.models import Release, Role
from annotate.queries.releases import LEAST_IMAGES
from annotate.services import names
from corpora.errors import DomainError
from corpora.evaluation.correlation import judged_of, told_apart
from corpora.evaluation.judgements import criteria_of, systems_in
from corpora.evaluation.metrics import METRICS, OFFICIAL_ONLY
from corpora.evaluation.tokenisers import ENGLISH_ONLY, OFFICIAL, PLAIN
from corpora.language.languages import is_english
from corpora.wording import counted
from leaderboard.models import Challenge, Submission, SubmittedFile, Track
from leaderboard.queries import baseline_results, captions_of, captions_submitted, day_of, images_of

BASELINE = "Human baseline"
# The criterion that stands for all others, if a release has it.
TOTAL = "total"


class ChallengeRefused(DomainError):
    """The challenge cannot be created or changed like this."""


# The plain track of nocaps takes COCO's captions only (Agrawal et al. 2019, section 3). Java, which
# the official tokeniser needs, is not on each machine.
DEFAULTS = {
    "plain_data": "COCO Captions 2017, training split",
    "has_extra_track": True,
    "per_day": 5,
    "in_total": 50,
    "metrics": ["bleu", "rouge-l", "cider"],
    "tokeniser": PLAIN,
    "seconds": 600,
    "megabytes": 4096,
}
MOST_IN_TOTAL = 10_000
MOST_SECONDS = 86_400
MOST_MEGABYTES = 1_000_000
MOST_TITLE = 200
# Names that stand for pages under /challenges/.
RESERVED = {"new", "sign-up"}


def create_challenge(challenge: Challenge, *, at: datetime) -> Challenge:
    """Save a new challenge, and queue its human baseline for scoring; raises ChallengeRefused."""
    release = challenge.release
    _check_name(challenge.name)
    if not challenge.title.strip():
        raise ChallengeRefused("A challenge needs a title: pages link to it by the title.")
    if len(challenge.title) > MOST_TITLE:
        raise ChallengeRefused(f"The title of a challenge has at most {MOST_TITLE} characters.")
    _check_release(release)
    _check_limits(challenge.per_day, challenge.in_total, challenge.seconds, challenge.megabytes)
    _check_metrics(challenge)
    _check_closing(challenge.opens_at, challenge.closes_at)
    if challenge.tokeniser == OFFICIAL and not is_english(release.language):
        raise ChallengeRefused(f"{release} has captions in another language. {ENGLISH_ONLY}")
    challenge.created_at = at
    try:
        with transaction.atomic():
            challenge.save(force_insert=True)
            _add_baseline(challenge, at)
    except IntegrityError as error:
        raise ChallengeRefused(f"There is a challenge named {challenge.name!r} already.") from error
    return challenge


def _check_name(name: str) -> None:
    if name in RESERVED:
        raise ChallengeRefused(f"A challenge cannot be called {name!r}. Choose another name.")
    names.check(name, "challenge")


def _check_release(release: Release) -> None:
    """Raise ChallengeRefused unless each of enough images has a reference."""
    if release.languages:
        raise ChallengeRefused(
            f"{release} has captions in {', '.join(release.languages)}. A challenge needs a "
            "release of one campaign."
        )
    count, subject = images_of(release).count(), KINDS[release.campaign.kind].subject_name
    if count < LEAST_IMAGES:
        raise ChallengeRefused(
            f"{release} has {counted(count, subject)} to score. A challenge needs at least "
            f"{LEAST_IMAGES}, because the mean of fewer would tell the scores of single {subject}s."
        )
    described = {image for image, _ in captions_of(release, Role.REFERENCE)}
    if lacking := count - len(described):
        raise ChallengeRefused(f"{release} has {counted(lacking, subject)} without references.")


def _check_limits(per_day: int, in_total: int, seconds: int, megabytes: int) -> None:
    if not 1 <= per_day <= in_total:
        raise ChallengeRefused(
            "The limit per day must be at least 1 and no higher than the limit in total."
        )
    if seconds < 1 or megabytes < 1:
        raise ChallengeRefused("Scoring needs limits of at least 1 second and 1 MB.")
    if in_total > MOST_IN_TOTAL:
        raise ChallengeRefused(f"An account can make at most {MOST_IN_TOTAL:,} submissions.")
    if seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES:
        raise ChallengeRefused(
            f"Scoring can have at most {MOST_SECONDS:,} seconds and at most {MOST_MEGABYTES:,} MB."
        )


def _check_metrics(challenge: Challenge) -> None:
    tokeniser, metrics = challenge.tokeniser, challenge.metrics
    if tokeniser not in {PLAIN, OFFICIAL}:
        raise ChallengeRefused(f"There is no tokeniser {tokeniser!r}; use {PLAIN} or {OFFICIAL}.")
    if unknown := [metric for metric in metrics if metric not in METRICS]:
        raise ChallengeRefused(f"There is no metric {unknown[0]!r}; use {', '.join(METRICS)}.")
    if not metrics:
        raise ChallengeRefused("Choose at least one metric.")
    lacking = OFFICIAL_ONLY.intersection(metrics)
    if lacking and tokeniser != OFFICIAL:
        raise ChallengeRefused(f"{', '.join(sorted(lacking))} needs the official tokeniser.")


def _check_closing(opens_at: datetime, closes_at: datetime | None) -> None:
    if closes_at is not None and closes_at <= opens_at:
        raise ChallengeRefused("The challenge must close after it opens.")


def _add_baseline(challenge: Challenge, at: datetime) -> None:
    """Add the human baseline of the release, if it has one for each image, as a submission."""
    results = baseline_results(challenge.release)
    if len(results) < images_of(challenge.release).count():
        return
    content = json.dumps(results).encode()
    submission = Submission.objects.create(
        challenge=challenge,
        is_baseline=True,
        track=Track.PLAIN,
        method=BASELINE,
        training_data="",
        sha256=hashlib.sha256(content).hexdigest(),
        day=day_of(at),
        created_at=at,
        due_at=at,
    )
    SubmittedFile.objects.create(submission=submission, content=zlib.compress(content))


def set_people(*, challenge: Challenge, release: Release, criterion: str | None) -> int:
    """Show on the board what people said of submissions in a release; returns of how many.

    A submission is found by its captions: it has all that people rated of one source. Without a
    criterion it is the total, or the first that the release has. Raises DomainError.
    """
    captions = judged_captions(release)
    criteria = criteria_of(captions)
    if criterion is None:
        criterion = TOTAL if TOTAL in criteria else criteria[0]
    rated = [caption for caption in captions if criterion in caption.ratings]
    if release.campaign.team != challenge.release.campaign.team or not rated:
        raise ChallengeRefused(
            f"{release} has no ratings by {criterion} for this team's challenge."
        )
    systems = sorted({caption.source for caption in rated})
    means = [fmean(caption.ratings[criterion]) for caption in rated]
    scores, pairs = told_apart(judged_of(rated, means, systems))
    numbers = numbers_in(challenge.release, release)
    sources = {}
    for submission in challenge.submissions.scored().select_related("file"):
        texts = captions_submitted(submission)
        own = {image: texts.get(number, "") for image, number in numbers.items()}
        if matching := systems_in(rated, own):
            sources[submission.pk] = min(matching)
    people = {
        "release": release.name,
        "criterion": criterion,
        "scores": dict(zip(systems, scores.tolist(), strict=True)),
        "apart": [[systems[place] for place in pair] for pair in pairs],
        "sources": sources,
    }
    Challenge.objects.filter(pk=challenge.pk).update(people=people)
    return len(sources)


def publish_board(*, challenge: Challenge, at: datetime) -> None:
    """Show the board to everybody; raises ChallengeRefused if it is public already."""
    private = Challenge.objects.filter(pk=challenge.pk, published_at=None)
    if not private.update(published_at=at):
        raise ChallengeRefused(f"The board of {challenge.title} is public already.")


def hide_board(*, challenge: Challenge) -> None:
    """Make the board private again; raises ChallengeRefused if it is private."""
    public = Challenge.objects.filter(pk=challenge.pk, published_at__isnull=False)
    if not public.update(published_at=None):
        raise ChallengeRefused(f"The board of {challenge.title} is private already.")


@transaction.atomic
def set_closing(*, challenge: Challenge, closes_at: datetime | None) -> None:
    """Change when the challenge closes; None keeps it open. Raises ChallengeRefused.

    Waits for submissions that are being stored, so that none is stored after the answer.
    """
    locked = Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
    _check_closing(locked.opens_at, closes_at)
    Challenge.objects.filter(pk=locked.pk).update(closes_at=closes_at)


@transaction.atomic
def close_challenge(*, challenge: Challenge, at: datetime) -> None:
    """Close the challenge now; raises ChallengeRefused if it is closed already. Waits as
    `set_closing` does."""
    locked = Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
    if locked.is_closed(at):
        raise ChallengeRefused(
            f"{locked.title} closed on {locked.closes_at:%-d %b %Y, %H:%M} UTC already."
        )
    set_closing(challenge=locked, closes_at=at)


@transaction.atomic
def set_limits(
    *, challenge: Challenge, per_day: int, in_total: int, seconds: int, megabytes: int
) -> None:
    """Change the limits of submissions per account and of scoring; raises ChallengeRefused.

    Waits for submissions that are being stored, so that all later ones are counted by the new
    limits. Submissions that were accepted stay accepted.
    """
    _check_limits(per_day, in_total, seconds, megabytes)
    locked = Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
    Challenge.objects.filter(pk=locked.pk).update(
        per_day=per_day, in_total=in_total, seconds=seconds, megabytes=megabytes
    )
