from django.contrib.auth.management.commands.createsuperuser import Command as CreateSuperuser
from django.contrib.auth.models import User


class Command(CreateSuperuser):
    """Django's command, which also refuses a name that differs from another only in case."""

    def _validate_username(self, username: str, noun: str, database: str) -> str | None:
        if User.objects.using(database).filter(username__iexact=username).exists():
            return f"Error: That {noun} is already taken."
        return super()._validate_username(username, noun, database)  # type: ignore[misc,no-any-return]
