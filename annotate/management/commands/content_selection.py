from annotate.management.base import CorporaCommand
from corpora.commands import content_selection


class Command(CorporaCommand):
    help = content_selection.HELP
    module = content_selection
