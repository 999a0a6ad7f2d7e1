"""The captions of a campaign that a new one may be a copy of, looked up in the database."""

from collections import Counter
from collections.abc import Iterable, Sequence

from annotate.kinds import KINDS
from annotate.models import Campaign, Response
from qualcontrol.flags import Neighbour
from qualcontrol.flags.neighbours import KEY_HOLDS, LATEST, Found, most_shared
from qualcontrol.models import Assessment, Copying, CopyKey


class FiledCaptions:
    """What `qualcontrol.flags.Neighbours` asks for, during one transaction."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._kind = KINDS[campaign.kind]
        self._latest: dict[int, list[Neighbour]] = {}
        self._places: dict[int, int] = {}

    def own(self, keys: Iterable[int]) -> list[int]:
        """The campaign's own of keys of 32 bits: campaigns do not meet each other's captions."""
        return [self._campaign.pk << 32 | key for key in keys]

    def take_place(self, worker: int) -> int:
        """The place of the worker's next answer in their work, from 1."""
        self._read(worker)
        self._places[worker] += 1
        return self._places[worker]

    def look_up(self, keys: Sequence[int]) -> Found:
        own = self.own(keys)
        held: Counter[int] = Counter()
        found: Counter[Neighbour] = Counter()
        filed = CopyKey.objects.filter(key__in=own)
        columns = ("key", "response_id", "response__worker_id")
        for key, response, worker, answer in self._kind.with_answers(
            filed, *columns, response="response__"
        ):
            held[key] += 1
            found[Neighbour(response, worker, self._kind.text(answer) or "")] += 1
        return Found(most_shared(found), [key for key in own if held[key] < KEY_HOLDS])

    def latest_of(self, worker: int) -> list[Neighbour]:
        self._read(worker)
        return self._latest[worker][-LATEST:]

    def whole(self, caption: Neighbour) -> Neighbour:
        made = Response.objects.values_list("submitted_at", "behaviour__device")
        at, device = made.get(pk=caption.key)
        return caption._replace(at=at, device=device or "")

    def copies_of(self, worker: int, other: int) -> int:
        copies = Copying.objects.filter(
            response__worker=worker,
            original__worker=other,
            original__task__campaign=self._campaign,
        )
        return copies.count()

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        self._latest[caption.worker].append(caption)
        CopyKey.objects.bulk_create(
            [CopyKey(key=key, response_id=caption.key) for key in keys], ignore_conflicts=True
        )

    def note_copy(self, caption: Neighbour, original: Neighbour, similarity: float) -> None:
        Copying.objects.create(
            response_id=caption.key, original_id=original.key, similarity=similarity
        )

    def _read(self, worker: int) -> None:
        """The worker's latest answers and how many there are, from one query."""
        if worker in self._latest:
            return
        assessed = Assessment.objects.filter(campaign=self._campaign, worker=worker)
        latest = assessed.order_by("-position")[:LATEST]
        rows = list(
            self._kind.with_answers(latest, "position", "response_id", response="response__")
        )
        self._places[worker] = rows[0][0] if rows else 0
        self._latest[worker] = [
            Neighbour(key, worker, self._kind.text(answer) or "")
            for _, key, answer in reversed(rows)
        ]
