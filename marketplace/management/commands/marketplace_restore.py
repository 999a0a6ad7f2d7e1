from shared.backups.commands import RestoreCommand


class Command(RestoreCommand):
    """The marketplace has no files beside its database."""
