"""The page of a campaign's releases."""

from itertools import count

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from accounts.models import Right
from accounts.pages.signed_in import form_page, posted, refusals_in
from annotate.lookups import campaign_of
from annotate.models import Campaign, Release
from background.pages.jobs import begin_job
from qualcontrol.pages.forms import ReleaseForm
from qualcontrol.services.releasing import missing


@require_http_methods(["GET", "HEAD", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's releases, what the next one lacks, and the form to create it."""
    may = Right.MANAGE if request.method == "POST" else Right.VIEW
    campaign = campaign_of(request, slug, may=may)
    lacking = missing(campaign)
    together = missing(campaign, in_all_languages=True) if campaign.family else []
    form = ReleaseForm(
        campaign,
        posted(request),
        initial={
            "name": _free_name(campaign),
            "seed": campaign.config.seed,
            "in_all_languages": bool(campaign.family),
        },
        lacking=lacking,
        lacking_together=together,
    )
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            arguments = form.cleaned_data
            return redirect(begin_job(request, kind="release", arguments=arguments, about=campaign))
    context = {
        "campaign": campaign,
        "releases": Release.objects.of_campaign(campaign),
        "missing": together or lacking,
    }
    return form_page(request, "qualcontrol/releases.html", form, context)


def _free_name(campaign: Campaign) -> str:
    """The name that the form proposes: the campaign's, with the first number that is free."""
    start = f"{campaign.family or campaign.slug}"[:90]
    taken = set(
        Release.objects.filter(name__startswith=f"{start}-v").values_list("name", flat=True)
    )
    names = (f"{start}-v{number}" for number in count(1))
    return next(name for name in names if name not in taken)
