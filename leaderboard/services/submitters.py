"""Create the accounts of submitters."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from corpora.errors import DomainError
from leaderboard.models import Submitter

ACCOUNTS_PER_ADDRESS = 5
PER = timedelta(days=1)


class SignUpRefused(DomainError):
    """The account cannot be created."""


def create_account(*, name: str, password: str, team: str, address: str, at: datetime) -> Submitter:
    """Create a submitter's account for somebody at this address; raises SignUpRefused."""
    if not settings.SUBMITTERS_MAY_SIGN_UP:
        raise SignUpRefused("Ask the owner of the challenge for an account.")
    digest = salted_hmac("leaderboard.sign_up", address, algorithm="sha256").hexdigest()
    recent = Submitter.objects.filter(address=digest, created_at__gt=at - PER)
    if recent.count() >= ACCOUNTS_PER_ADDRESS:
        raise SignUpRefused(
            f"{ACCOUNTS_PER_ADDRESS} accounts were created from your network within a day. Try "
            "again tomorrow, or ask the owner of the challenge for an account."
        )
    return create_submitter(name=name, password=password, team=team, address=digest, at=at)


def create_submitter(
    *, name: str, password: str, team: str, at: datetime, address: str = ""
) -> Submitter:
    """Create an account that may use the evaluation server only; raises SignUpRefused.

    `address` is the digest of the network address of a person who signed up.
    """
    if User.objects.filter(username__iexact=name).exists():
        raise SignUpRefused(f"The name {name} is in use. Choose another one.")
    try:
        with transaction.atomic():
            user = User.objects.create_user(name, password=password)
            return Submitter.objects.create(user=user, team=team, address=address, created_at=at)
    except IntegrityError as error:
        raise SignUpRefused(f"The name {name} is in use. Choose another one.") from error
