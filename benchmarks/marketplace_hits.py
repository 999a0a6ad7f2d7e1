"""Fill a marketplace for `benchmarks.caption_cost`: many HITs of one type, and their money.

`python -m benchmarks.marketplace_hits HIT_TYPE COUNT SLOTS QUESTION` inserts the HITs in bulk,
because creating each by a call takes longer than the benchmark, and prints their ids as JSON.
"""

import json
import sys

from django.utils import timezone

from benchmarks.marketplace import fill
from marketplace.models import HitType, TransferKind
from marketplace.services import money


def main(public_id: str, hits: int, slots: int, question: str) -> None:
    hit_type = HitType.objects.select_related("requester").get(public_id=public_id)
    fee = money.assignment_fee(hit_type, max_assignments=slots)
    made = fill(hit_type, hits=hits, places=slots, question=question, fee=fee)
    cost = hits * slots * (hit_type.reward + fee)
    # A large campaign costs more than a new requester has.
    kinds = {TransferKind.DEPOSIT: cost, TransferKind.HOLD: cost}
    money.move_money(requester=hit_type.requester, kinds=kinds, at=timezone.now())
    print(json.dumps([hit.public_id for hit in made]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
