"""The reviewer's pages: the queue, a worker's work, the decision log, and releases."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.errors import DomainError
from annotate.image_files import display_url
from annotate.models import Campaign, Response
from annotate.paging import page_of
from annotate.releases import missing
from annotate.services.priming import keywords
from annotate.signed_in import posted, user_of
from qualcontrol import services
from qualcontrol.figures import decisions_about, figures_of, known_workers, ranked_workers
from qualcontrol.forms import REASONS, ReasonForm, ReleaseForm, VerdictForm
from qualcontrol.models import SpotCheck
from qualcontrol.tasks import make_release

OTHER_CAPTIONS = 20


@require_safe
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """The next caption that waits for a judgement, after the one that `after` names."""
    campaign = get_object_or_404(Campaign, slug=slug)
    return _show_next(request, campaign, after=request.GET.get("after", ""))


@require_POST
def judge(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a verdict, and go on to the next caption."""
    campaign = get_object_or_404(Campaign, slug=slug)
    check = get_object_or_404(SpotCheck.objects.of(campaign), pk=pk)
    form = VerdictForm(request.POST)
    if not form.is_valid():
        return _show(request, campaign, check, form, status=422)
    try:
        services.judge(
            spot_check=check,
            verdict=form.cleaned_data["verdict"],
            reason=form.cleaned_data["reason"],
            reviewer=user_of(request),
            at=timezone.now(),
        )
    except DomainError as error:
        messages.warning(request, str(error))
    # What was skipped comes again when the end of the queue is reached.
    return redirect(f"{reverse('qualcontrol:queue', args=[slug])}?after={pk}")


def _show_next(request: HttpRequest, campaign: Campaign, *, after: str) -> HttpResponse:
    waiting = SpotCheck.objects.of(campaign).open().order_by("pk")
    check = None
    if after.isdigit():
        check = waiting.filter(pk__gt=int(after)).first()
    check = check or waiting.first()
    if check is None:
        return render(request, "qualcontrol/queue_empty.html", {"campaign": campaign})
    return _show(request, campaign, check, VerdictForm())


def _show(
    request: HttpRequest, campaign: Campaign, check: SpotCheck, form: VerdictForm, status: int = 200
) -> HttpResponse:
    response = Response.objects.select_related("task__image", "worker", "caption").get(
        pk=check.response_id
    )
    image = response.task.image
    theirs = Response.objects.of(campaign).filter(worker=response.worker).exclude(pk=response.pk)
    context = {
        "campaign": campaign,
        "check": check,
        "response": response,
        "image": image,
        "image_url": display_url(image),
        "keywords": keywords(image),
        "others": theirs.exclude(status="STORED")
        .select_related("caption", "task__image", "spot_check")
        .order_by("-pk")[:OTHER_CAPTIONS],
        "worker": figures_of(campaign, [response.worker_id])[0],
        "left": SpotCheck.objects.of(campaign).open().count(),
        "reasons": [
            {"key": number, "value": value, "label": label}
            for number, (value, label) in enumerate(REASONS.items(), start=1)
        ],
        "form": form,
    }
    return render(request, "qualcontrol/queue.html", context, status=status)


@require_safe
def workers(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's workers, under their pseudonyms."""
    campaign = get_object_or_404(Campaign, slug=slug)
    page = page_of(ranked_workers(campaign), request)
    context = {
        "campaign": campaign,
        "page": page,
        "workers": figures_of(campaign, list(page)),
    }
    return render(request, "qualcontrol/workers.html", context)


@require_safe
def worker(request: HttpRequest, slug: str, pseudonym: str) -> HttpResponse:
    """One worker's captions in the campaign, and what was decided about them."""
    campaign = get_object_or_404(Campaign, slug=slug)
    found = get_object_or_404(known_workers(campaign), pseudonym=pseudonym)
    captions = (
        Response.objects.of(campaign)
        .filter(worker=found)
        .exclude(status="STORED")
        .select_related("caption", "task__image", "spot_check")
        .order_by("-pk")
    )
    context = {
        "campaign": campaign,
        "worker": found,
        "figures": figures_of(campaign, [found.pk])[0],
        "exclusion": campaign.exclusions.in_force().filter(worker=found).first(),
        "page": page_of(captions, request),
        "decisions": decisions_about(campaign, found)[:50],
        "form": ReasonForm(),
    }
    return render(request, "qualcontrol/worker.html", context)


@require_POST
def reinstate(request: HttpRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Let an excluded worker in again."""
    campaign = get_object_or_404(Campaign, slug=slug)
    found = get_object_or_404(known_workers(campaign), pseudonym=pseudonym)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Give a reason; it is kept in the decision log.")
        return redirect("qualcontrol:worker", slug, pseudonym)
    try:
        restored = services.reinstate_worker(
            campaign=campaign,
            worker=found,
            actor=user_of(request),
            reason=form.cleaned_data["reason"],
            at=timezone.now(),
        )
    except DomainError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"{found} is back; captions restored: {restored}.")
    return redirect("qualcontrol:worker", slug, pseudonym)


@require_safe
def decisions(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's decision log, the latest line first."""
    campaign = get_object_or_404(Campaign, slug=slug)
    log = campaign.decisions.select_related(
        "actor", "worker", "response__worker", "response__caption", "response__task__image"
    )
    context = {"campaign": campaign, "page": page_of(log, request)}
    return render(request, "qualcontrol/decisions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's releases, what the next one still lacks, and a form to make it."""
    campaign = get_object_or_404(Campaign, slug=slug)
    lacking = [*missing(campaign), *services.open_questions(campaign)]
    form = ReleaseForm(posted(request), initial={"seed": campaign.config.seed}, lacking=lacking)
    if request.method == "POST" and form.is_valid():
        if not settings.CELERY_TASK_ALWAYS_EAGER:
            make_release.delay(campaign.pk, **form.cleaned_data)
            messages.info(request, "The release is being made, and will stand here.")
            return redirect("qualcontrol:releases", slug)
        try:
            release = services.release_campaign(
                campaign=campaign, at=timezone.now(), **form.cleaned_data
            )
        except DomainError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Release {release} is frozen.")
            return redirect(release)
    context = {
        "campaign": campaign,
        "releases": campaign.releases.all(),
        "missing": lacking,
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "qualcontrol/releases.html", context, status=status)
