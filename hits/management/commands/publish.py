from annotate.management.base import DomainCommand, campaign_named
from hits.reconciler import reconcile
from hits.services.lifecycle import publish


class Command(DomainCommand):
    help = "Open a campaign's HITs at its marketplace; also continues a paused campaign."

    def add_arguments(self, parser):
        parser.add_argument("campaign", metavar="CAMPAIGN", help="slug of the campaign")
        parser.add_argument(
            "--confirm",
            action="store_true",
            help="yes, spend real money (needed at the production marketplace)",
        )

    def handle(self, *, campaign: str, confirm: bool, **options):
        found = campaign_named(campaign)
        publish(campaign=found, confirmed=confirm)
        sync = reconcile(found)
        self.stdout.write(
            f"{found} is open at the {found.endpoint} marketplace: "
            f"{sync.hits_created} HITs created."
        )
