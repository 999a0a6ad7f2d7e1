"""Jobs: work in the background, such as making a release."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.lists import Filters, Pages
from accounts.api.strict import APIView, ListAPIView, RetrieveAPIView
from accounts.models import Team
from annotate.api.lookups import account_of, job_of, jobs_of
from annotate.models import Campaign, Release
from background.jobs import requests
from background.models import Job, JobStatus, about_any
from background.tasks import announce_job


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job: its progress, and how it ended."""

    id = serializers.UUIDField(source="key", read_only=True)
    campaign = serializers.SerializerMethodField(help_text="the campaign that it is about, if any")
    is_being_cancelled = serializers.BooleanField(read_only=True)

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "title",
            "campaign",
            "status",
            "step",
            "done",
            "total",
            "asked_at",
            "started_at",
            "ended_at",
            "is_being_cancelled",
            "result_text",
            "result_url",
            "error",
        ]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_campaign(self, job: Job) -> str | None:
        campaign = job.about.campaign if isinstance(job.about, Release) else job.about
        return campaign.slug if campaign else None


class JobDetailSerializer(JobSerializer):
    """A job with its log."""

    log = serializers.SerializerMethodField(help_text="lines of the log, the earliest first")

    class Meta:
        model = Job
        fields = [*JobSerializer.Meta.fields, "log"]

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_log(self, job: Job) -> list[str]:
        return [line.text for line in job.lines.all()]


class JobFilter(Filters):
    status = django_filters.ChoiceFilter(choices=JobStatus.choices, label="only jobs in this state")
    kind = django_filters.CharFilter(label="only jobs of this kind, such as `release`")
    campaign = django_filters.CharFilter(
        method="of_campaign", label="only jobs of this campaign and its releases"
    )

    def of_campaign(self, rows: QuerySet[Job], _name: str, slug: str) -> QuerySet[Job]:
        campaigns = Campaign.objects.filter(slug=slug)
        releases = Release.objects.filter(campaign__in=campaigns)
        return rows.filter(about_any(campaigns) | about_any(releases))


@extend_schema(summary="Jobs, the latest first")
class JobList(ListAPIView[Job]):
    """Work in the background."""

    serializer_class = JobSerializer
    pagination_class = Pages
    filterset_class = JobFilter

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_of(self.request).prefetch_related("about").order_by("-asked_at", "-pk")


@extend_schema(summary="One job, with its log")
class JobDetail(RetrieveAPIView[Job]):
    """A job: ask for it again until `status` is DONE, FAILED or CANCELLED."""

    serializer_class = JobDetailSerializer
    lookup_field = "key"

    def get_queryset(self) -> QuerySet[Job]:
        return jobs_of(self.request).prefetch_related("about")


class CancelJob(APIView):
    """Cancel a job."""

    @extend_schema(
        operation_id="jobs_cancel",
        summary="Cancel a job",
        request=None,
        responses={202: JobDetailSerializer},
    )
    def post(self, request: Request, key: str) -> Response:
        """A job that runs stops when its work looks the next time."""
        asked = job_of(request, key)
        job = requests.cancel_job(job=asked, user=account_of(request), at=timezone.now())
        return accepted(job)


class RepeatJob(APIView):
    """Run a job again."""

    @extend_schema(
        operation_id="jobs_again",
        summary="Run a job again",
        request=None,
        responses={202: JobDetailSerializer},
    )
    def post(self, request: Request, key: str) -> Response:
        """Request the same work again, as a new job."""
        asked = job_of(request, key)
        job = requests.run_again(job=asked, user=account_of(request), at=timezone.now())
        announce_job()
        return accepted(job)


def begin(
    request: Request,
    *,
    kind: str,
    arguments: dict[str, Any],
    about: Campaign | None = None,
    team: Team | None = None,
) -> Job:
    """Request a job of a campaign or a team, and let a worker start it."""
    job = requests.request_job(
        kind=kind,
        arguments=arguments,
        user=account_of(request),
        at=timezone.now(),
        about=about,
        team=team,
    )
    announce_job()
    return job


def accepted(job: Job) -> Response:
    """The answer to a request for work in the background."""
    return Response(JobDetailSerializer(job).data, status=status.HTTP_202_ACCEPTED)
