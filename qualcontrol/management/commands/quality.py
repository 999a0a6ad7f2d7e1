"""`quality CAMPAIGN`: print a campaign's quality report."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import DomainCommand, campaign_named
from annotate.models import Campaign
from annotate.pages.wording import counted
from qualcontrol.queries.quality_report import (
    Quality,
    WorkerFigures,
    figures_of,
    quality,
    ranked_workers,
)
from qualcontrol.services import learn, recount_worker_risks


class Command(DomainCommand):
    help = (
        "Show a campaign's quality: the estimated share of bad responses, the agreement of the "
        "reviewers, and each worker's risk with its main reason."
    )
    requires_system_checks: list[str] = []

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
            help="recompute all counts first, and flag responses that have no flags yet",
        )

    def handle(self, *, campaign: str, **options: Any) -> None:
        found = campaign_named(campaign)
        if options["recount"]:
            wrong = recount_worker_risks(campaign=found)
            self.stderr.write(f"Corrected the counts of {counted(wrong, 'worker')}.")
        learn(campaign=found)
        figures = quality(found)
        workers = figures_of(found, ranked_workers(found))
        if options["json"]:
            report = as_json(found, figures, workers)
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_told(figures, workers)))


def as_json(campaign: Campaign, figures: Quality, workers: list[WorkerFigures]) -> dict[str, Any]:
    """The report as JSON values."""
    found = figures.estimate
    return {
        "campaign": campaign.slug,
        "estimate": {
            "share": round(found.share, 5) if found.checks else None,
            "low": round(found.low, 5),
            "high": round(found.high, 5),
            "checks": found.checks,
            "of": figures.kept,
        },
        "held_payments": figures.held_payments,
        "verdicts": {"good": figures.good, "bad": figures.bad, "waiting": figures.waiting},
        "agreement": asdict(figures.agreement),
        "reviewers": [asdict(reviewer) for reviewer in figures.reviewers],
        "workers": [
            {
                "worker": worker.pseudonym,
                "responses": worker.submitted,
                "kept": worker.kept,
                "discarded": worker.discarded,
                "good": worker.good,
                "bad": worker.bad,
                "risk": round(worker.risk, 4),
                "share": round(worker.share, 4),
                "low": round(worker.low, 4),
                "high": round(worker.high, 4),
                "state": worker.state,
                "moved_by": [reason["sentence"] for reason in worker.reasons],
            }
            for worker in workers
        ],
    }


def _told(figures: Quality, workers: list[WorkerFigures]) -> list[str]:
    found, agreed = figures.estimate, figures.agreement
    estimated = (
        f"estimated bad share {found.share:.1%} (95% interval {found.low:.1%} to "
        f"{found.high:.1%}, {counted(found.checks, 'random check')})"
        if found.checks
        else "no estimate yet (no random check has been judged)"
    )
    lines = [
        f"{counted(figures.kept, 'response')} kept; {estimated}.",
        f"{figures.good + figures.bad:,} judged: {figures.good:,} good, {figures.bad:,} bad; "
        f"{counted(figures.waiting, 'required check')} left.",
        f"{agreed.pairs:,} judged by two or more reviewers: kappa {_number(agreed.kappa)}, "
        f"alpha {_number(agreed.alpha)}.",
    ]
    if figures.held_payments:
        held = counted(figures.held_payments, "held payment needs", "held payments need")
        lines.append(f"{held} a decision.")
    for one in figures.reviewers:
        gold = f", {one.gold_right} of {one.gold_of} gold items correct" if one.gold_of else ""
        lines.append(f"  {one.name or 'from a file'}: {one.judged:,} judged, {one.bad:,} bad{gold}")
    lines += [
        "",
        f"{'worker':<11}{'kept':>7}{'gone':>7}{'good':>6}{'bad':>6}{'risk':>7}{'share':>7}",
    ]
    lines += [_row(worker) for worker in workers]
    return lines


def _row(worker: WorkerFigures) -> str:
    # The first reason concerns the whole campaign and is the same for all workers.
    moved = next((reason["sentence"] for reason in worker.reasons[1:]), "")
    return (
        f"{worker.pseudonym:<11}{worker.kept:>7}{worker.discarded:>7}{worker.good:>7}"
        f"{worker.bad:>7}{worker.risk:>7.0%}{worker.share:>7.1%}  {worker.state:<9} {moved}"
    ).rstrip()


def _number(coefficient: float | None) -> str:
    return "unknown" if coefficient is None else f"{coefficient:.2f}"
