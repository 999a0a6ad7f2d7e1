from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from accounts.management.base import DomainCommand, prepare_database
from annotate.management.base import (
    add_domains_option,
    captions_file,
    release_named,
    table_of_domains,
)
from annotate.queries.releases import (
    LEAST_IMAGES,
    baseline_of_release,
    check_hidden,
    domains_of_release,
    has_few,
    language_in,
    references_of_release,
)
from corpora.commands import evaluate
from corpora.evaluation.references import make_references, read_references


class Command(DomainCommand):
    help = evaluate.HELP
    uses_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "references",
            metavar="RELEASE|CAPTIONS.json",
            help="name of a release, or path of a captions file in COCO form",
        )
        evaluate.add_options(parser)
        add_domains_option(parser)
        parser.add_argument(
            "--baseline", action="store_true", help="also score the release's human baseline"
        )

    def handle(self, *, references: str, domains: str | None, **options: Any) -> None:
        if domains and not options["by_subset"]:
            raise CommandError("--domains needs --by-subset.")
        self.print_lines(
            evaluate.evaluate(
                lambda language: self._source(
                    references, domains, language, by_subset=options["by_subset"]
                ),
                java=settings.EVALUATION_JAVA,
                **options,
            )
        )

    def _source(
        self, name: str, domains: str | None, language: str | None, *, by_subset: bool
    ) -> evaluate.Source:
        """The references of a captions file or of a release."""
        if path := captions_file(name):
            if domains:
                raise CommandError("--domains needs a release: a captions file has no classes.")
            return evaluate.Source(read_references(path, language))
        prepare_database()
        release = release_named(name)
        chosen = language_in(release, language)
        by_image = domains_of_release(release, table_of_domains(domains, self.stderr))
        subsets = {image: domain for image, domain in by_image.items() if domain}
        references = make_references(
            references_of_release(release, chosen),
            subsets,
            name=name,
            language=chosen or release.language,
        )
        check_hidden(release, references.captions)
        hidden = release.images.filter(is_hidden=True).values_list("number", flat=True)
        scored = references.captions.keys() & hidden if by_subset else ()
        if has_few(by_image[image] for image in scored):
            raise CommandError(
                f"A subset has fewer than {LEAST_IMAGES} images with hidden captions, or fewer are "
                "in no subset: figures of so few tell too much of each. Leave --by-subset out."
            )
        return evaluate.Source(references, baseline_of_release(release, chosen))
