from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.management.base import CommandParser
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.management.base import DomainCommand, active_account_named


class Command(DomainCommand):
    help = (
        "Print a link with which somebody sets a new password, for sites without e-mail. It works "
        "once. Make sure that the person is who they say, and send it to them alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", metavar="USER", help="user name")

    def handle(self, *, user: str, **_: Any) -> None:
        account = active_account_named(user)
        names = {
            "uidb64": urlsafe_base64_encode(force_bytes(account.pk)),
            "token": default_token_generator.make_token(account),
        }
        self.stdout.write(settings.SITE_URL + reverse("password_reset_confirm", kwargs=names))
