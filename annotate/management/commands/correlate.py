from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from accounts.management.base import DomainCommand
from annotate.kinds.judgements import described, judged_captions, numbers_in, references_in
from annotate.management.base import captions_file, release_named
from annotate.queries.releases import check_hidden
from corpora.commands import correlate
from corpora.evaluation.references import References, read_references
from corpora.reading.files import is_json


class Command(DomainCommand):
    help = correlate.HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "release", metavar="RELEASE", help="name of a release of ratings or comparisons"
        )
        parser.add_argument(
            "--references",
            metavar="RELEASE|CAPTIONS.json",
            help="references of the same images: a release, or a captions file in COCO form with "
            "the image ids of ratings.json (default: the team's release that has them)",
        )
        correlate.add_options(parser)

    def handle(self, *, release: str, references: str | None, **options: Any) -> None:
        rated = release_named(release)
        language = options["language"] or rated.language
        captions = judged_captions(rated)
        numbers = {caption.image: caption.image for caption in captions}
        known_references: References | None = None
        if references and (path := captions_file(references)):
            known_references = read_references(path, options["language"])
        elif source := (release_named(references) if references else described(rated, language)):
            known_references = references_in(source, language)
            numbers = numbers_in(source, rated)
            check_hidden(source, numbers.values())
        elif all(map(is_json, options["results"])):
            raise CommandError(
                f"No release has references of all images that people rated in {rated}, in "
                f"{language}, and metrics need them. Name some with --references (a release, or a "
                "captions file in COCO form), or bring figures of other metrics in a CSV file with "
                "--results."
            )
        self.print_lines(
            correlate.correlate(
                correlate.Rated(captions, known_references, numbers),
                java=settings.EVALUATION_JAVA,
                **options,
            )
        )
