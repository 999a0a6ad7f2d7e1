from shared.backup_commands import BackupCommand


class Command(BackupCommand):
    """The marketplace has no files beside its database."""
