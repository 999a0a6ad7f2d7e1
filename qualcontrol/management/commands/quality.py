import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from annotate.models import Campaign
from corpora.wording import counted
from qualcontrol.queries.quality_report import QualityReport, quality_report
from qualcontrol.queries.workers import (
    WORKER_COLUMNS,
    WorkerSummary,
    listed_workers,
    worker_summaries,
)
from qualcontrol.services.worker_risks import learn, recount_worker_risks


class Command(DomainCommand):
    help = (
        "Show a campaign's quality: the estimated share of bad responses, the agreement of the "
        "reviewers, and each worker's risk with its main reason."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON object: estimate, workers, agreement, reviewers, verdicts",
        )
        parser.add_argument(
            "--recount",
            action="store_true",
            help="recompute all counts first",
        )

    def handle(self, *, campaign: str, **options: Any) -> None:
        found = campaign_named(campaign)
        if options["recount"]:
            wrong = recount_worker_risks(campaign=found)
            self.stderr.write(f"Corrected the counts of {counted(wrong, 'worker')}.")
        learn(campaign=found)
        report = quality_report(found)
        ranked = listed_workers(found).order_by("-risk", "-answers", "pk")
        workers = worker_summaries(found, list(ranked.values_list("pk", flat=True)))
        if options["json"]:
            values = as_json(found, report, workers)
            self.stdout.write(json.dumps(values, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_as_text(report, workers)))


def as_json(
    campaign: Campaign, report: QualityReport, workers: list[WorkerSummary]
) -> dict[str, Any]:
    estimate = report.estimate
    return {
        "campaign": campaign.slug,
        "estimate": {
            "share": round(estimate.share, 5) if estimate.checks else None,
            "low": round(estimate.low, 5),
            "high": round(estimate.high, 5),
            "checks": estimate.checks,
            "of": report.kept,
        },
        "held_payments": report.held_payments,
        "verdicts": {"good": report.good, "bad": report.bad, "waiting": report.waiting},
        "agreement": asdict(report.agreement),
        "reviewers": [asdict(reviewer) for reviewer in report.reviewers],
        "workers": [_worker(worker) for worker in workers],
    }


def _worker(worker: WorkerSummary) -> dict[str, Any]:
    cells = {column.key: column.cell(worker) for column in WORKER_COLUMNS}
    return {
        "worker": cells.pop("pseudonym"),
        "responses": cells.pop("submitted"),
        "kept": worker.kept,
        **{key: round(cell, 4) if isinstance(cell, float) else cell for key, cell in cells.items()},
        "moved_by": [reason["sentence"] for reason in worker.reasons],
    }


def _as_text(report: QualityReport, workers: list[WorkerSummary]) -> list[str]:
    estimate, agreed = report.estimate, report.agreement
    estimated = (
        f"estimated bad share {estimate.share:.1%} (95% interval {estimate.low:.1%} to "
        f"{estimate.high:.1%}, {counted(estimate.checks, 'random check')})"
        if estimate.checks
        else "no estimate yet (no random check has been judged)"
    )
    lines = [
        f"{counted(report.kept, 'response')} kept; {estimated}.",
        f"{report.good + report.bad:,} judged: {report.good:,} good, {report.bad:,} bad; "
        f"{counted(report.waiting, 'required check')} left.",
        f"{agreed.pairs:,} judged by two or more reviewers: kappa {_number(agreed.kappa)}, "
        f"alpha {_number(agreed.alpha)}.",
    ]
    if report.held_payments:
        held = counted(report.held_payments, "held payment needs", "held payments need")
        lines.append(f"{held} a decision.")
    for reviewer in report.reviewers:
        gold = (
            f", {reviewer.gold_right} of {reviewer.gold_of} gold items correct"
            if reviewer.gold_of
            else ""
        )
        name = reviewer.name or "from a file"
        lines.append(f"  {name}: {reviewer.judged:,} judged, {reviewer.bad:,} bad{gold}")
    lines += [
        "",
        _line("worker", "kept", "gone", "good", "bad", "risk", "share"),
    ]
    lines += [_row(worker) for worker in workers]
    return lines


def _row(worker: WorkerSummary) -> str:
    # The worker's own: one about the whole campaign comes first, but not if it has few workers.
    own = worker.reasons[-2 if worker.good or worker.bad else -1 :]
    moved = max(own, key=lambda reason: abs(reason["effect"]), default={"sentence": ""})
    numbers = worker.kept, worker.discarded, worker.good, worker.bad
    line = _line(worker.pseudonym, *numbers, f"{worker.risk:.0%}", f"{worker.share:.1%}")
    return f"{line}  {worker.state:<9} {moved['sentence']}".rstrip()


def _line(worker: str, *numbers: int | str) -> str:
    return f"{worker:<11}" + "".join(f"{number:>7}" for number in numbers)


def _number(coefficient: float | None) -> str:
    return "unknown" if coefficient is None else f"{coefficient:.2f}"
