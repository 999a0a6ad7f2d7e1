from annotate.management.base import CorporaCommand
from corpora.commands import splits


class Command(CorporaCommand):
    help = splits.HELP
    module = splits
