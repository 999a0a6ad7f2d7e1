"""The notices of this app: reviews wait, a worker appealed, a campaign is complete."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain

from django.db.models import Count, Exists, Min, OuterRef
from django.urls import reverse

from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus, Release, Task
from background.notices.registry import Event, NoticeKind, register
from corpora.wording import counted
from qualcontrol.models import Appeal, SecondOpinion, SpotCheck
from qualcontrol.services.releasing import open_questions

# Reviews are noticed when the oldest has waited for this long.
REVIEWS_MAY_WAIT = timedelta(hours=1)
AT_WORK = (CampaignStatus.RUNNING, CampaignStatus.PAUSED)


def waiting_reviews(at: datetime) -> Iterator[Event]:
    checks = SpotCheck.objects.open().values_list("campaign").annotate(Count("pk"), Min("drawn_at"))
    opinions = SecondOpinion.objects.without_check()
    asked = opinions.values_list("campaign").annotate(Count("pk"), Min("asked_at"))
    numbers: Counter[int] = Counter()
    oldest: dict[int, datetime] = {}
    for campaign_id, number, since in chain(checks.order_by(), asked.order_by()):
        numbers[campaign_id] += number
        oldest[campaign_id] = min(since, oldest.get(campaign_id, since))
    late = [pk for pk, since in oldest.items() if since <= at - REVIEWS_MAY_WAIT]
    for campaign in Campaign.objects.filter(pk__in=late, status__in=AT_WORK):
        kind, first = KINDS[campaign.kind], oldest[campaign.pk]
        waiting = counted(
            numbers[campaign.pk], f"{kind.answer_name} waits", f"{kind.answers_name} wait"
        )
        yield Event(
            subject=f"campaign-{campaign.pk}",
            title="Reviews wait",
            text=f"{waiting} for a review, the first since {first:%-d %b, %H:%M} UTC.",
            path=reverse("qualcontrol:queue", args=[campaign.slug]),
            about=campaign,
        )


def open_appeals(_at: datetime) -> Iterator[Event]:
    related = ("exclusion__campaign", "exclusion__worker")
    for appeal in Appeal.objects.open().select_related(*related):
        exclusion = appeal.exclusion
        yield Event(
            subject=f"appeal-{appeal.pk}",
            title="A worker appealed",
            text=f"{exclusion.worker} has appealed against the exclusion. The appeal needs an "
            "answer.",
            path=reverse(
                "qualcontrol:worker", args=[exclusion.campaign.slug, exclusion.worker.pseudonym]
            ),
            about=exclusion.campaign,
        )


def complete_campaigns(_at: datetime) -> Iterator[Event]:
    tasks = Task.objects.filter(campaign=OuterRef("pk"))
    released = Release.objects.of_outer_campaign().filter(is_partial=False)
    campaigns = Campaign.objects.filter(Exists(tasks), status__in=AT_WORK).exclude(
        Exists(tasks.filter(answers_missing__gt=0)) | Exists(released)
    )
    for campaign in campaigns:
        if open_questions(campaign):
            continue
        kind = KINDS[campaign.kind]
        yield Event(
            subject=f"campaign-{campaign.pk}",
            title="Campaign complete",
            text=f"Every {kind.subject_name} has all its {kind.answers_name}, and all required "
            "checks are done. You can create a release.",
            path=reverse("qualcontrol:releases", args=[campaign.slug]),
            about=campaign,
        )


for _kind in (
    NoticeKind(
        name="reviews-wait",
        label="Reviews wait",
        about="responses have waited for a review for an hour",
        find=waiting_reviews,
    ),
    NoticeKind(
        name="worker-appealed",
        label="A worker appealed",
        about="an excluded worker wrote an appeal that needs an answer",
        find=open_appeals,
        is_state=False,
    ),
    NoticeKind(
        name="campaign-complete",
        label="A campaign is complete",
        about="all responses are in and all required checks are done",
        find=complete_campaigns,
    ),
):
    register(_kind)
