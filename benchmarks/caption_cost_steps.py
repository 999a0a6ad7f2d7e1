"""The reconciler of `benchmarks.caption_cost`, in its own process.

It reads one JSON object a line from its input, `{"step": NAME, …}`, runs the step and answers with
one line. The step's name is that of a method of `Steps`; the other members are its arguments.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from django.contrib.auth import get_user_model
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.models import Campaign, Release
from benchmarks.campaigns import add_captions, make_campaign, make_workers
from benchmarks.counted import Counter, count_statements
from benchmarks.harness import settle_down
from hits.mturk.client import Marketplace, marketplace_of
from hits.reconcile.bar import bar
from hits.reconcile.ingest import ingest
from hits.reconcile.reconciler import Step, reconcile
from hits.reconcile.retire import retire
from hits.reconcile.settle import settle
from hits.reconcile.top_up import top_up
from qualcontrol.models import Verdict
from qualcontrol.review.judging import judge
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services import intake
from qualcontrol.services.releasing import release_campaign

NAME, RELEASED, SLOTS, CAPTIONS, WORKERS = "cost", "cost-release", 9, 11, 200


class Steps:
    """The steps, and what the flags inside `ingest` cost so far."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self.flag_seconds, self.flag_statements = 0.0, 0
        intake.assess = self._measured(intake.assess)  # type: ignore[attr-defined]

    def _measured(self, assess: Callable[..., Any]) -> Callable[..., Any]:
        def measured(**arguments: Any) -> Any:
            began, statements = process_time(), self.counter.number
            try:
                return assess(**arguments)
            finally:
                self.flag_seconds += process_time() - began
                self.flag_statements += self.counter.number - statements

        return measured

    @property
    def campaign(self) -> Campaign:
        return Campaign.objects.get(slug=NAME)

    def publish(self, images: int) -> dict[str, Any]:
        """Make the campaigns, and create the HITs of the first one."""
        campaign = make_campaign(name=NAME, images=images, wanted=CAPTIONS)
        # Approve at once, so that settling can be measured.
        config = campaign.config_json
        config["review"]["approve_after_hours"] = 0
        Campaign.objects.filter(pk=campaign.pk).update(config_json=config)
        complete = make_campaign(name=RELEASED, images=images, wanted=CAPTIONS)
        add_captions(complete, make_workers(WORKERS), each=CAPTIONS)
        get_user_model().objects.create_superuser("reviewer", password=None)
        self._sync(top_up)
        settle_down()
        return {"hits": list(self.campaign.hits.order_by("pk").values_list("hit_id", flat=True))}

    def ingest(self, hits: list[str]) -> dict[str, Any]:
        """Read the HITs that have submissions, as after the marketplace's events."""
        self.flag_seconds, self.flag_statements = 0.0, 0
        sync = self._sync(ingest, is_whole=False, named=frozenset(hits))
        flags = {"flag_seconds": self.flag_seconds, "flag_statements": self.flag_statements}
        return {"done": sync.ingested, **flags}

    def list_all(self) -> dict[str, Any]:
        self._sync(ingest)
        return {"done": self.campaign.hits.count()}

    def approve(self) -> dict[str, Any]:
        return {"done": self._sync(settle).approved}

    def rest(self) -> dict[str, Any]:
        self._sync(bar, top_up, retire)
        return {"done": 1}

    def _sync(self, *steps: Step, **options: Any) -> Any:
        campaign = self.campaign
        sync = reconcile(campaign, marketplace=self._marketplace, steps=steps, **options)
        if sync.error:
            raise RuntimeError(sync.error)
        return sync

    @property
    def _marketplace(self) -> Marketplace:
        return marketplace_of(self.campaign)

    def check(self, count: int) -> dict[str, Any]:
        """Judge items of the review queue."""
        campaign, reviewer = self.campaign, get_user_model().objects.get()
        for _ in range(count):
            at = timezone.now()
            (item, *_) = next_checks(campaign=campaign, reviewer=reviewer, count=1, at=at)
            judge(
                response=item.response,
                verdict=Verdict.GOOD,
                reason="",
                reviewer=reviewer,
                at=at,
            )
        return {"done": count}

    def release(self) -> dict[str, Any]:
        complete = Campaign.objects.get(slug=RELEASED)
        release_campaign(campaign=complete, name=RELEASED, seed=1, at=timezone.now())
        return {"done": complete.tasks.count() * CAPTIONS}

    def export(self) -> dict[str, Any]:
        release = Release.objects.select_related("campaign").get()
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            KINDS[release.campaign.kind].write(release, Path(folder))
        return {"done": release.campaign.tasks.count() * CAPTIONS}


def main(counts: Path) -> None:
    counter = Counter(counts)
    count_statements(counter)
    steps = Steps(counter)
    for line in sys.stdin:
        order = json.loads(line)
        run = partial(getattr(steps, order.pop("step")), **order)
        print(json.dumps(run()), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
