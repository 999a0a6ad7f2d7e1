from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.utils import timezone

from accounts.management.base import DomainCommand, account_named
from accounts.models import ApiToken
from accounts.services.api_tokens import withdraw_all_tokens, withdraw_token
from corpora.errors import DomainError
from shared.number_fields import STORED


class Command(DomainCommand):
    help = "List the API tokens that are valid now, or withdraw some of them."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--user", metavar="NAME", help="only tokens of this account")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--withdraw",
            type=STORED,
            nargs="+",
            metavar="NUMBER",
            help="withdraw the tokens with these numbers of the list",
        )
        which.add_argument(
            "--withdraw-all", action="store_true", help="withdraw all tokens of --user"
        )

    def handle(self, *, user: str | None, **options: Any) -> None:
        owner = account_named(user) if user else None
        if options["withdraw_all"]:
            if owner is None:
                raise CommandError("--withdraw-all needs --user.")
            self.stdout.write(f"{withdraw_all_tokens(user=owner, at=timezone.now())} withdrawn.")
        elif options["withdraw"]:
            self._withdraw(options["withdraw"], owner)
        else:
            self._list(owner)

    def _withdraw(self, numbers: list[int], owner: User | None) -> None:
        failed = []
        tokens = _tokens_of(owner).in_bulk(numbers)
        for number in numbers:
            try:
                if number not in tokens:
                    raise DomainError(f"There is no valid token {number}.")
                withdraw_token(token=tokens[number], at=timezone.now())
            except DomainError as error:
                failed.append(str(error))
            else:
                self.stdout.write(f"Token {number} withdrawn.")
        if failed:
            raise CommandError("\n".join(failed))

    def _list(self, owner: User | None) -> None:
        for token in _tokens_of(owner).order_by("user__username", "pk"):
            used = f"{token.last_used_at:%Y-%m-%d}" if token.last_used_at else "never"
            self.stdout.write(
                f"{token.pk}  {token}  {token.user.get_username()}  {token.name or '-'}  "
                f"{','.join(token.scopes)}  "
                f"created {token.created_at:%Y-%m-%d}, ends {token.expires_at:%Y-%m-%d}, "
                f"last used {used}"
            )


def _tokens_of(owner: User | None) -> Any:
    tokens = ApiToken.objects.valid(timezone.now()).select_related("user")
    return tokens.filter(user=owner) if owner else tokens
