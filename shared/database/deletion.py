"""Delete many rows without a long transaction."""

from typing import Any

from django.db import models

BATCH = 1000


def delete_in_batches(rows: models.QuerySet[Any], *, size: int = BATCH) -> int:
    """Delete the rows, lowest key first; return their number.

    Each batch is one transaction, so other writers never wait for the whole deletion.
    """
    deleted = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:size]):
        rows.model._base_manager.filter(pk__in=keys).delete()
        deleted += len(keys)
    return deleted
