"""Reads for the pages: what a campaign's workers did, and what is said about them."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Campaign, ResponseStatus, Worker
from qualcontrol.models import Decision, Exclusion


def workers_of(campaign: Campaign) -> QuerySet[Worker]:
    """The workers who submitted something, with their figures, the busiest first."""
    theirs = Q(responses__task__campaign=campaign) & ~Q(responses__status=ResponseStatus.STORED)
    return (
        Worker.objects.filter(theirs)
        .annotate(
            submitted=Count("responses"),
            discarded=Count("responses", filter=Q(responses__status=ResponseStatus.DISCARDED)),
            good=Count("responses", filter=Q(responses__spot_check__verdict="GOOD")),
            bad=Count("responses", filter=Q(responses__spot_check__verdict="BAD")),
            is_excluded=Exists(
                Exclusion.objects.in_force().filter(campaign=campaign, worker=OuterRef("pk"))
            ),
        )
        .order_by("-submitted", "pk")
    )


def decisions_about(campaign: Campaign, worker: Worker) -> QuerySet[Decision]:
    """The log's lines on the worker or on what they wrote, the latest first."""
    return campaign.decisions.filter(Q(worker=worker) | Q(response__worker=worker)).select_related(
        "actor", "response__caption", "response__task__image", "worker"
    )
