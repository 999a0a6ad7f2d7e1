from shared.backups.commands import BackupCommand


class Command(BackupCommand):
    """The site's files are the uploaded images."""
