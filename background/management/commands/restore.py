from shared.backups.commands import RestoreCommand


class Command(RestoreCommand):
    """The site's files are the uploaded images."""
