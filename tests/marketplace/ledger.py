"""Balances computed from the ledger, to compare with the stored ones."""

from decimal import Decimal

from django.db.models import Sum

from marketplace.models import Account, Requester


def ledger_balance(requester: Requester, account: Account) -> Decimal:
    """The balance of a requester's account, as the sum of the ledger's rows."""
    rows = requester.transfers
    into = rows.filter(target=account).aggregate(total=Sum("amount"))["total"] or Decimal()
    out = rows.filter(source=account).aggregate(total=Sum("amount"))["total"] or Decimal()
    return into - out
