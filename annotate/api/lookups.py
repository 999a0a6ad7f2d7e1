"""Find what a request's address names, if its user may see it."""

from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.generics import ListAPIView
from rest_framework.request import Request

from annotate.api.paging import Pages
from annotate.models import Campaign, Image, Job, Release, Selection

Row = TypeVar("Row", bound=Model)


def account_of(request: Request) -> User:
    """The request's user. The permissions have refused requests without one."""
    assert request.user.is_authenticated
    return request.user


def campaigns_of(request: Request) -> QuerySet[Campaign]:
    """The campaigns that the request's user may see."""
    return Campaign.objects.all()


def campaign_of(request: Request, slug: str) -> Campaign:
    """The campaign of an address; raises Http404."""
    found = campaigns_of(request).select_related("selection", "caption_set")
    return get_object_or_404(found, slug=slug)


def releases_of(request: Request) -> QuerySet[Release]:
    """The releases that the request's user may see."""
    return Release.objects.all()


def images_of(request: Request) -> QuerySet[Image]:
    """The images that the request's user may see."""
    return Image.objects.all()


def selections_of(request: Request) -> QuerySet[Selection]:
    """The selections that the request's user may see."""
    return Selection.objects.all()


def jobs_of(request: Request) -> QuerySet[Job]:
    """The jobs that the request's user may see."""
    return Job.objects.all()


class CampaignRows(ListAPIView[Row]):
    """A list of rows of a campaign, whose address has its `slug`."""

    pagination_class = Pages
    # For the schema, which is made without a campaign.
    swagger_fake_view = False
    _campaign: Campaign | None = None

    @property
    def campaign(self) -> Campaign:
        """The campaign of the address; raises Http404."""
        if self._campaign is None:
            self._campaign = campaign_of(self.request, self.kwargs["slug"])
        return self._campaign

    def get_queryset(self) -> QuerySet[Row]:
        assert self.queryset is not None, "each list names its table"
        return self.queryset.none() if self.swagger_fake_view else self.rows()

    def rows(self) -> QuerySet[Row]:
        """The campaign's rows, in the order of the list."""
        raise NotImplementedError
