"""Look-ups of a campaign's earlier captions, to find copies, in the database."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from itertools import chain
from operator import or_

from django.db.models import Max, Q

from annotate.kinds import KINDS
from annotate.models import Campaign, Response
from qualcontrol.flags import Neighbour
from qualcontrol.flags.copies import KEY_HOLDS, LATEST, Found, keys_of, most_shared
from qualcontrol.models import Assessment, Copying, CopyKey

# The most keys in one query, and the most rows in one insert.
READ_AT_ONCE, WRITTEN_AT_ONCE = 1_000, 5_000
# Workers whose latest answers one query reads.
WORKERS_AT_ONCE = 100


class FiledCaptions:
    """An implementation of `qualcontrol.flags.Neighbours` for one transaction.

    `texts` are all captions that will be looked up. The first look-up reads everything that is
    filed under their keys, and `write` stores what was filed, so that an import of thousands takes
    few queries.
    """

    def __init__(self, campaign: Campaign, texts: Iterable[str]) -> None:
        self._campaign = campaign
        self._kind = KINDS[campaign.kind]
        self._latest: dict[int, list[Neighbour]] = {}
        self._places: dict[int, int] = {}
        self._filed: defaultdict[int, list[Neighbour]] = defaultdict(list)
        self._unwritten: list[CopyKey] = []
        keys = sorted({key for text in texts for key in self.own(keys_of(text))})
        for start in range(0, len(keys), READ_AT_ONCE):
            self._read_keys(keys[start : start + READ_AT_ONCE])

    def own(self, keys: Iterable[int]) -> list[int]:
        """The campaign's own keys, from keys of 32 bits: a campaign finds its own captions only."""
        return [self._campaign.pk << 32 | key for key in keys]

    def take_place(self, worker: int) -> int:
        """Take the next position in the worker's work, counted from 1."""
        self._read(worker)
        self._places[worker] += 1
        return self._places[worker]

    def look_up(self, keys: Sequence[int]) -> Found:
        filed = {key: self._filed[key] for key in self.own(keys)}
        found = Counter(chain.from_iterable(filed.values()))
        return Found(
            most_shared(found), [key for key, held in filed.items() if len(held) < KEY_HOLDS]
        )

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
        found_as = Neighbour(caption.key, caption.worker, caption.text)
        for key in keys:
            self._filed[key].append(found_as)
            self._unwritten.append(CopyKey(key=key, response_id=caption.key))

    def write(self) -> None:
        """Store what was filed."""
        CopyKey.objects.bulk_create(
            self._unwritten, ignore_conflicts=True, batch_size=WRITTEN_AT_ONCE
        )
        self._unwritten.clear()

    def note_copy(self, caption: Neighbour, original: Neighbour, similarity: float) -> None:
        Copying.objects.create(
            response_id=caption.key, original_id=original.key, similarity=similarity
        )

    def _read_keys(self, keys: Sequence[int]) -> None:
        filed = CopyKey.objects.filter(key__in=keys)
        columns = ("key", "response_id", "response__worker_id")
        rows = self._kind.with_answers(filed, *columns, response="response__")
        for key, response, worker, answer in rows:
            text = self._kind.text(answer) or ""
            self._filed[key].append(Neighbour(response, worker, text))

    def read_latest(self, workers: Collection[int]) -> None:
        """Read the latest answers of many workers in a few queries; later ones of these workers
        need none."""
        assessed = Assessment.objects.filter(campaign=self._campaign)
        counts = assessed.filter(worker__in=workers).values_list("worker").annotate(Max("position"))
        self._places |= dict.fromkeys(workers, 0) | dict(counts)
        self._latest |= {worker: [] for worker in workers}
        written = [worker for worker in workers if self._places[worker]]
        for start in range(0, len(written), WORKERS_AT_ONCE):
            of_some = written[start : start + WORKERS_AT_ONCE]
            # Each part names the campaign, so that the database looks up each in the index.
            latest = [
                Q(campaign=self._campaign, worker=w, position__gt=self._places[w] - LATEST)
                for w in of_some
            ]
            rows = Assessment.objects.filter(reduce(or_, latest)).order_by("worker", "position")
            columns = ("worker_id", "response_id")
            for worker, key, answer in self._kind.with_answers(
                rows, *columns, response="response__"
            ):
                text = self._kind.text(answer) or ""
                self._latest[worker].append(Neighbour(key, worker, text))

    def _read(self, worker: int) -> None:
        """The worker's latest answers and their total number, from one query."""
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
