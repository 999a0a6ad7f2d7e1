import json
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.kinds import KINDS
from annotate.management.base import campaign_named
from annotate.models import Campaign
from qualcontrol.review.items import Item
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services.worker_risks import learn
from shared.number_fields import whole


class Command(DomainCommand):
    help = (
        "List the responses to judge next: the most useful checks, with random checks in between. "
        "Read-only: reserves nothing. The list changes only when responses are judged or arrive."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument(
            "--next",
            type=whole(1, 10_000),
            default=10,
            metavar="N",
            help="number of responses (default: 10)",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON array: response, image, worker, caption (and answer, for word–box "
            "links), risk, flags, is_random",
        )

    def handle(self, *, campaign: str, **options: Any) -> None:
        found = campaign_named(campaign)
        learn(campaign=found)
        items = next_checks(campaign=found, reviewer=None, count=options["next"], at=timezone.now())
        rows = [as_json(found, item) for item in items]
        if options["json"]:
            self.stdout.write(json.dumps(rows, ensure_ascii=False))
        else:
            kind = KINDS[found.kind]
            lines = [
                _as_text(row, kind.judge_line(item.response))
                for row, item in zip(rows, items, strict=True)
            ]
            self.stdout.write("\n".join(lines) or "No responses to judge.")


def as_json(campaign: Campaign, item: Item) -> dict[str, Any]:
    """A check as JSON values. The worker is a pseudonym; `response` is what `judge` takes."""
    response = item.response
    return {
        "response": response.pk,
        "image": response.task.image.key,
        "worker": response.worker.pseudonym,
        **KINDS[campaign.kind].judge_payload(response),
        "risk": round(item.risk, 4),
        "flags": [
            {
                "code": flag["code"],
                "value": flag["value"],
                "threshold": flag["threshold"],
                "sentence": flag["why"],
            }
            for flag in item.flags
        ],
        "is_random": item.is_random,
    }


def _as_text(row: dict[str, Any], said: str) -> str:
    """A check as lines of text: its place and risk, its text, and a line for each flag."""
    drawn = ", random" if row["is_random"] else ""
    lines = [
        f"{row['response']}  image {row['image']}, {row['worker']}, risk {row['risk']:.0%}{drawn}",
        f"    {said}",
        *(f"    - {flag['sentence']}" for flag in row["flags"]),
    ]
    return "\n".join(lines)
