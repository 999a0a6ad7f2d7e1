"""Find what a request's address names, if its user may see it."""

from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.request import Request

from accounts.api.access import right_of
from accounts.api.lists import Pages
from accounts.api.strict import ListAPIView
from accounts.models import Right
from accounts.rights import require
from annotate import lookups
from annotate.models import Campaign
from background.models import Job

Row = TypeVar("Row", bound=Model)


def account_of(request: Request) -> User:
    """The request's user. The permissions have refused requests without one."""
    assert request.user.is_authenticated
    return request.user


def campaigns_of(request: Request) -> QuerySet[Campaign]:
    """The campaigns of all the user's teams."""
    return Campaign.objects.visible_to(request.user).select_related("team")


def campaign_of(request: Request, slug: str, view: object = None) -> Campaign:
    """The campaign of an address; raises Http404, and PermissionDenied without the right that the
    view's method needs."""
    rows = Campaign.objects.select_related("selection", "caption_set")
    return lookups.campaign_of(request, slug, may=right_of(request, view), rows=rows)


def jobs_of(request: Request) -> QuerySet[Job]:
    """The jobs of all the user's teams, and for operators those of the site."""
    return Job.objects.visible_to(request.user).select_related("team")


def job_of(request: Request, key: str) -> Job:
    """A job that the user may cancel and repeat; raises Http404 and PermissionDenied."""
    job = get_object_or_404(jobs_of(request), key=key)
    if job.team:
        require(request, job.team, Right.MANAGE)
    return job


class CampaignRows(ListAPIView[Row]):
    """A list of rows of a campaign, whose address has its `slug`.

    `may_read` and `may_write` are the rights that reading and changing it need.
    """

    pagination_class = Pages
    # For the schema, which is made without a campaign.
    swagger_fake_view = False
    _campaign: Campaign | None = None

    @property
    def campaign(self) -> Campaign:
        """The campaign of the address; raises Http404."""
        if self._campaign is None:
            self._campaign = campaign_of(self.request, self.kwargs["slug"], self)
        return self._campaign

    def get_queryset(self) -> QuerySet[Row]:
        assert self.queryset is not None, "each list names its table"
        return self.queryset.none() if self.swagger_fake_view else self.rows()

    def rows(self) -> QuerySet[Row]:
        """The campaign's rows, in the order of the list."""
        raise NotImplementedError
