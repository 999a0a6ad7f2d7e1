from shared.backups.commands import BackupCommand


class Command(BackupCommand):
    """The marketplace has no files beside its database."""
