from annotate.management.base import DomainCommand, campaign_named
from annotate.services.campaigns import recount_places


class Command(DomainCommand):
    help = "Compute each task's places left anew from its claims and responses."

    def add_arguments(self, parser):
        parser.add_argument("campaign", metavar="CAMPAIGN", help="slug of the campaign")

    def handle(self, *, campaign: str, **options):
        wrong = recount_places(campaign_named(campaign))
        self.stdout.write(f"{wrong} tasks were wrong and are right now.")
