"""Workers as the marketplace knows them."""

from django.db import transaction

from annotate.models import Worker
from hits.models import WorkerAccount


@transaction.atomic
def account_for(*, endpoint: str, marketplace_id: str) -> WorkerAccount:
    """The account with this id at this marketplace, with its worker; made if it is new."""
    known = WorkerAccount.objects.select_related("worker").filter(
        endpoint=endpoint, marketplace_id=marketplace_id
    )
    account = known.first()
    if account is None:
        account, made = WorkerAccount.objects.get_or_create(
            endpoint=endpoint,
            marketplace_id=marketplace_id,
            defaults={"worker": Worker.objects.create()},
        )
    return account
