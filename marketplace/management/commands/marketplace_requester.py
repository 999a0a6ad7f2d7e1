"""The command that creates a requester or shows their keys."""

import json
from argparse import ArgumentTypeError
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from marketplace import clock
from marketplace.management.base import DomainCommand
from marketplace.services.operators import get_or_create_requester
from shared.number_fields import dollars


def balance(text: str) -> Decimal:
    """The type of an option: dollars and cents, from 0 on."""
    amount = dollars(text)
    if not 0 <= amount < 10**12 or amount != round(amount, 2):
        raise ArgumentTypeError(f"{text} is no balance in dollars and cents")
    return amount


class Command(DomainCommand):
    help = "Create a requester and print its access keys. The same name gives the same keys."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the requester, as workers see it")
        parser.add_argument(
            "--balance",
            type=balance,
            help="set the available balance, in dollars "
            f"(a new requester has {settings.MTURK_STARTING_BALANCE} otherwise)",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON object instead of Python code for a boto3 client",
        )

    def handle(self, *, name: str, balance: Decimal | None, **options: Any) -> None:
        if not name.strip() or len(name) > 100:
            raise CommandError("A requester's name must have 1 to 100 characters.")
        requester = get_or_create_requester(name=name, balance=balance, at=clock.now())
        keys = {
            "access_key": requester.access_key,
            "secret_key": requester.secret_key,
            "endpoint_url": settings.MARKETPLACE_URL,
        }
        if options["json"]:
            self.stdout.write(json.dumps(keys))
            return
        self.stdout.write(
            "import boto3\n\n"
            'client = boto3.client(\n    "mturk",\n    region_name="us-east-1",\n'
            f'    endpoint_url="{keys["endpoint_url"]}",\n'
            f'    aws_access_key_id="{keys["access_key"]}",\n'
            f'    aws_secret_access_key="{keys["secret_key"]}",\n)'
        )
