"""What the ledger says, to compare with the balances that requesters have."""

from decimal import Decimal

from django.db.models import Sum

from marketplace.models import Account, Requester


def ledger_balance(requester: Requester, account: Account) -> Decimal:
    """The balance of a requester's account that the ledger's rows add up to."""
    rows = requester.transfers
    into = rows.filter(target=account).aggregate(total=Sum("amount"))["total"] or Decimal()
    out = rows.filter(source=account).aggregate(total=Sum("amount"))["total"] or Decimal()
    return into - out
