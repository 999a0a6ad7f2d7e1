from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.management.base import DomainCommand
from annotate.management.base import release_named
from corpora.evaluation.metrics import METRICS
from corpora.evaluation.tokenisers import OFFICIAL, PLAIN
from leaderboard.models import Challenge
from leaderboard.services.challenges import DEFAULTS, create_challenge

# Options with the names of a challenge's fields.
AS_GIVEN = (
    *("name", "title", "description", "plain_data", "per_day", "in_total"),
    *("metrics", "tokeniser", "seconds", "megabytes"),
)


def utc_time(text: str) -> datetime:
    """The time that an option names, in UTC; raises CommandError."""
    try:
        if time := parse_datetime(text):
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise CommandError(f"{text!r} is no date and time. Write it as 2027-01-31T12:00.")


class Command(DomainCommand):
    help = (
        "Create a challenge from a release. Its human baseline is scored by score_submissions, and "
        "its board is private."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name of the release")
        parser.add_argument("--name", required=True, help="name of the challenge in addresses")
        parser.add_argument("--title", required=True, help="title on the pages")
        parser.add_argument("--description", default="", help="what submitters should do")
        parser.add_argument(
            "--plain-data",
            default=DEFAULTS["plain_data"],
            metavar="TEXT",
            help="the training data of the plain track (default: %(default)s)",
        )
        parser.add_argument(
            "--one-track", action="store_true", help="no track for extra training data"
        )
        for name, limit in (
            ("per_day", "submissions per day"),
            ("in_total", "submissions in total"),
        ):
            parser.add_argument(
                f"--{name.replace('_', '-')}",
                type=int,
                default=DEFAULTS[name],
                metavar="N",
                help=f"{limit} of each account (default: %(default)s)",
            )
        parser.add_argument("--opens", metavar="TIME", help="in UTC (default: now)")
        parser.add_argument("--closes", metavar="TIME", help="in UTC (default: it stays open)")
        parser.add_argument(
            "--metrics",
            nargs="+",
            choices=[*METRICS],
            default=DEFAULTS["metrics"],
            help="metrics to compute (default: bleu rouge-l cider)",
        )
        parser.add_argument(
            "--tokeniser",
            choices=[PLAIN, OFFICIAL],
            default=DEFAULTS["tokeniser"],
            help=f"{OFFICIAL}: the official one, which needs Java (default: %(default)s)",
        )
        parser.add_argument(
            "--seconds",
            type=int,
            default=DEFAULTS["seconds"],
            metavar="N",
            help="time limit for scoring one submission (default: %(default)s)",
        )
        parser.add_argument(
            "--megabytes",
            type=int,
            default=DEFAULTS["megabytes"],
            metavar="N",
            help="memory limit of each scoring process (default: %(default)s)",
        )

    def handle(self, *, release: str, **options: Any) -> None:
        at = timezone.now()
        asked = Challenge(
            release=release_named(release),
            has_extra_track=not options["one_track"],
            opens_at=utc_time(options["opens"]) if options["opens"] else at,
            closes_at=utc_time(options["closes"]) if options["closes"] else None,
            **{name: options[name] for name in AS_GIVEN},
        )
        challenge = create_challenge(asked, at=at)
        self.stdout.write(f"{challenge} created. Its page is {challenge.get_absolute_url()}.")
