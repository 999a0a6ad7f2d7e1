"""Pages of a campaign's webhooks: add, change, test, remove, and what became of each delivery."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Right
from accounts.pages.lists import page_of
from accounts.pages.once import once
from accounts.pages.signed_in import form_page, posted, refusals_in, user_of
from annotate.lookups import campaign_of
from background.models import Webhook, about_row
from background.notices import choices
from background.notices.registry import notice_choices, notice_kinds


class WebhookForm(forms.Form):
    """The address and the kinds of notices of a webhook."""

    url = forms.CharField(
        max_length=500,
        label="Address",
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
        help_text="Gets a POST request with JSON for each notice.",
    )
    kinds = forms.MultipleChoiceField(
        choices=notice_choices,
        widget=forms.CheckboxSelectMultiple,
        label="Send",
        error_messages={"required": "Choose at least one kind of notice."},
    )


class ChangeForm(WebhookForm):
    """As WebhookForm, and whether the webhook is on."""

    is_on = forms.BooleanField(required=False, label="On")


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """List the campaign's webhooks; add one on POST."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    form = WebhookForm(posted(request), initial={"kinds": list(notice_kinds())})
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "url"):
            added = choices.add_webhook(
                about=campaign, user=user_of(request), at=timezone.now(), **form.cleaned_data
            )
            messages.success(request, "Webhook added. Send a test to see whether it works.")
            return redirect(added)
    context = {
        "campaign": campaign,
        "webhooks": campaign.webhooks.kept(),
        "labels": {kind.name: kind.label for kind in notice_kinds().values()},
    }
    return form_page(request, "annotate/webhooks.html", form, context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Show a webhook with its secret and its deliveries; change it on POST."""
    webhook = _webhook(request, slug, key)
    kept = {"url": webhook.url, "kinds": webhook.kinds, "is_on": webhook.is_on}
    form = ChangeForm(posted(request), initial=kept)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "url"):
            choices.change_webhook(webhook=webhook, **form.cleaned_data)
            messages.success(request, "Webhook changed.")
            return redirect(webhook)
    deliveries = webhook.deliveries.select_related("notice")
    context = {
        "campaign": webhook.about,
        "webhook": webhook,
        "page": page_of(deliveries, request, per_page=20),
    }
    return form_page(request, "annotate/webhook.html", form, context)


@require_POST
@once()
def test(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Send a test notice to the webhook."""
    webhook = _webhook(request, slug, key)
    choices.send_test(webhook=webhook, at=timezone.now())
    messages.info(request, "A test is on its way. The answer appears below.")
    return redirect(webhook)


@require_POST
def secret(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Replace the webhook's secret."""
    webhook = _webhook(request, slug, key)
    choices.renew_secret(webhook=webhook)
    messages.success(request, "The secret is replaced. Requests are signed with the new one.")
    return redirect(webhook)


@require_POST
def remove(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Remove the webhook."""
    webhook = _webhook(request, slug, key, Webhook.objects.all())
    choices.remove_webhook(webhook=webhook, at=timezone.now())
    messages.success(request, "Webhook removed. It gets nothing more.")
    return redirect("webhooks:webhooks", slug)


def _webhook(
    request: HttpRequest, slug: str, key: UUID, rows: QuerySet[Webhook] | None = None
) -> Webhook:
    """A webhook of the campaign, among those that were not removed or among these rows."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    rows = Webhook.objects.kept() if rows is None else rows
    return get_object_or_404(rows.filter(about_row(campaign)), key=key)
