from annotate.management.base import DomainCommand, campaign_named
from hits.reconciler import reconcile
from hits.services.lifecycle import pause


class Command(DomainCommand):
    help = "Take no new workers into a campaign; those at work may finish. `publish` continues it."

    def add_arguments(self, parser):
        parser.add_argument("campaign", metavar="CAMPAIGN", help="slug of the campaign")

    def handle(self, *, campaign: str, **options):
        found = campaign_named(campaign)
        pause(campaign=found)
        reconcile(found)
        self.stdout.write(f"{found} is paused.")
