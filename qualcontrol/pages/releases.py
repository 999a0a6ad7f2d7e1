"""The page of a campaign's releases."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotate.errors import DomainError
from annotate.models import Campaign
from annotate.pages.signed_in import posted
from annotate.services.releases import missing
from annotate.site.background import hand_on
from qualcontrol.pages.forms import ReleaseForm
from qualcontrol.services.releasing import open_questions, release_campaign
from qualcontrol.tasks import make_release


@require_http_methods(["GET", "HEAD", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's releases, what the next one lacks, and the form to create it."""
    campaign = get_object_or_404(Campaign, slug=slug)
    lacking = [*missing(campaign), *open_questions(campaign)]
    form = ReleaseForm(
        campaign, posted(request), initial={"seed": campaign.config.seed}, lacking=lacking
    )
    if request.method == "POST" and form.is_valid():
        if not settings.CELERY_TASK_ALWAYS_EAGER:
            if hand_on(make_release, campaign.pk, **form.cleaned_data):
                messages.info(request, "Creating the release. It will appear here.")
            else:
                messages.error(request, "The task queue does not answer. Try again in a minute.")
            return redirect("qualcontrol:releases", slug)
        try:
            release = release_campaign(campaign=campaign, at=timezone.now(), **form.cleaned_data)
        except DomainError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Release {release} created.")
            return redirect(release)
    context = {
        "campaign": campaign,
        "releases": campaign.releases.all(),
        "missing": lacking,
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "qualcontrol/releases.html", context, status=status)
