"""Fill a marketplace for `benchmarks.caption_cost`: many HITs of one type, and their money.

`python -m benchmarks.marketplace_hits HIT_TYPE COUNT SLOTS QUESTION` inserts the HITs in bulk,
because creating each by a call takes longer than the benchmark, and prints their ids as JSON.
"""

import json
import sys
from datetime import timedelta

from django.utils import timezone

from marketplace.models import Hit, HitType, TransferKind
from marketplace.services import money


def main(public_id: str, hits: int, slots: int, question: str) -> None:
    now = timezone.now()
    hit_type = HitType.objects.select_related("requester").get(public_id=public_id)
    fee = money.assignment_fee(hit_type, max_assignments=slots)
    made = Hit.objects.bulk_create(
        (
            Hit(
                hit_type=hit_type,
                requester=hit_type.requester,
                question=question,
                max_assignments=slots,
                available=slots,
                fee=fee,
                expires_at=now + timedelta(days=7),
                created_at=now,
            )
            for _ in range(hits)
        ),
        batch_size=1000,
    )
    cost = hits * slots * (hit_type.reward + fee)
    # A large campaign costs more than a new requester has.
    kinds = {TransferKind.DEPOSIT: cost, TransferKind.HOLD: cost}
    money.move_money(requester=hit_type.requester, kinds=kinds, at=now)
    print(json.dumps([hit.public_id for hit in made]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
