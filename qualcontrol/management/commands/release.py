from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.exports.records import rule_of
from annotate.kinds import KINDS
from annotate.management.base import campaign_named
from annotate.queries.releases import domains_of_release
from corpora.selection.domains import DEFAULT_PRESET, IN_DOMAIN, NEAR_DOMAIN, OUT_OF_DOMAIN, PRESETS
from corpora.wording import counted
from qualcontrol.services.releasing import release_campaign
from shared.number_fields import STORED


class Command(DomainCommand):
    help = (
        "Create a release: a frozen copy of a campaign's responses. In a caption release, one "
        "random caption of each image becomes the human baseline, and the others become its "
        "references."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument("--name", required=True, help="name of the release")
        parser.add_argument(
            "--in-all-languages",
            action="store_true",
            help="one release of this campaign and of those that were made with it for other "
            "languages",
        )
        parser.add_argument(
            "--seed", type=STORED, help="seed for drawing responses (default: the campaign's seed)"
        )
        parser.add_argument(
            "--partial",
            action="store_true",
            help="omit incomplete images and ignore open checks",
        )
        parser.add_argument(
            "--hidden-splits",
            type=_names,
            default=[],
            metavar="SPLIT,…",
            help="keep the captions of the images of these splits out of public files",
        )
        parser.add_argument(
            "--hidden-share",
            type=float,
            metavar="SHARE",
            help="the same for a share of the images, above 0 and up to 1, drawn with the seed",
        )
        parser.add_argument(
            "--domains",
            choices=PRESETS,
            default=DEFAULT_PRESET,
            help=f"table by which the images get their domains (default: {DEFAULT_PRESET})",
        )

    def handle(self, *, campaign: str, domains: str, **options: Any) -> None:
        found = campaign_named(campaign)
        release = release_campaign(
            campaign=found,
            name=options["name"],
            seed=found.config.seed if options["seed"] is None else options["seed"],
            at=timezone.now(),
            partial=options["partial"],
            hidden=rule_of(splits=options["hidden_splits"], share=options["hidden_share"]),
            domains=domains,
            in_all_languages=options["in_all_languages"],
        )
        kind = KINDS[found.kind]
        hidden = release.images.filter(is_hidden=True).count()
        self.stdout.write(
            f"Release {release.name}: {counted(release.images.count(), kind.subject_name)}"
            + (f", {hidden:,} of them with hidden {kind.answers_name}" if hidden else "")
            + f". Next: python manage.py {kind.export_command} {release.name} --out DIR"
        )
        if kind.has_references:
            self.stdout.write(f"By {domains}: {_counts(domains_of_release(release).values())}.")


def _counts(domains: Iterable[str | None]) -> str:
    """How many images have each domain: `12 in-domain, 3 near-domain, 1 without a class`."""
    counts = Counter(domain or "without a class" for domain in domains)
    order = (IN_DOMAIN, NEAR_DOMAIN, OUT_OF_DOMAIN, "without a class")
    return ", ".join(f"{counts[name]:,} {name}" for name in order if counts[name])


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
