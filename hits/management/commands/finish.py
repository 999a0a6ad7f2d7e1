from annotate.management.base import DomainCommand, campaign_named
from hits.reconciler import reconcile
from hits.services.lifecycle import finish


class Command(DomainCommand):
    help = "End a campaign: nothing is opened any more; what is submitted is still settled."

    def add_arguments(self, parser):
        parser.add_argument("campaign", metavar="CAMPAIGN", help="slug of the campaign")

    def handle(self, *, campaign: str, **options):
        found = campaign_named(campaign)
        finish(campaign=found)
        reconcile(found)
        self.stdout.write(f"{found} is finished.")
