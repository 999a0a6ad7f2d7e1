"""Pages of a campaign's webhooks: add, change, test, remove, and what became of each delivery."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Right
from accounts.pages.lists import page_of
from accounts.pages.once import once
from accounts.pages.signed_in import posted, user_of
from annotate.pages.lookups import campaign_of
from background.models import Webhook, about_row
from background.notices import choices
from background.notices.registry import notice_kinds
from corpora.errors import DomainError


class WebhookForm(forms.Form):
    """The address and the kinds of notices of a webhook."""

    url = forms.CharField(
        max_length=500,
        label="Address",
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
        help_text="Gets a POST request with JSON for each notice.",
    )
    kinds = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Send",
        error_messages={"required": "Choose at least one kind of notice."},
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["kinds"].choices = [  # type: ignore[attr-defined]
            (kind.name, f"{kind.label}: {kind.about}") for kind in notice_kinds().values()
        ]


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
        try:
            added = choices.add_webhook(
                about=campaign, user=user_of(request), at=timezone.now(), **form.cleaned_data
            )
        except DomainError as error:
            form.add_error("url", str(error))
        else:
            messages.success(request, "Webhook added. Send a test to see whether it works.")
            return redirect(added)
    context = {
        "campaign": campaign,
        "webhooks": campaign.webhooks.kept(),
        "form": form,
        "labels": {kind.name: kind.label for kind in notice_kinds().values()},
    }
    status = 422 if form.errors else 200
    return render(request, "annotate/webhooks.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Show a webhook with its secret and its deliveries; change it on POST."""
    found = _webhook(request, slug, key)
    kept = {"url": found.url, "kinds": found.kinds, "is_on": found.is_on}
    form = ChangeForm(posted(request), initial=kept)
    if request.method == "POST" and form.is_valid():
        try:
            choices.change_webhook(webhook=found, **form.cleaned_data)
        except DomainError as error:
            form.add_error("url", str(error))
        else:
            messages.success(request, "Webhook changed.")
            return redirect(found)
    deliveries = found.deliveries.select_related("notice")
    context = {
        "campaign": found.about,
        "webhook": found,
        "form": form,
        "page": page_of(deliveries, request, per_page=20),
    }
    status = 422 if form.errors else 200
    return render(request, "annotate/webhook.html", context, status=status)


@require_POST
@once()
def test(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Send a test notice to the webhook."""
    found = _webhook(request, slug, key)
    choices.send_test(webhook=found, at=timezone.now())
    messages.info(request, "A test is on its way. The answer appears below.")
    return redirect(found)


@require_POST
def secret(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Replace the webhook's secret."""
    found = _webhook(request, slug, key)
    choices.renew_secret(webhook=found)
    messages.success(request, "The secret is replaced. Requests are signed with the new one.")
    return redirect(found)


@require_POST
def remove(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Remove the webhook."""
    found = _webhook(request, slug, key)
    choices.remove_webhook(webhook=found, at=timezone.now())
    messages.success(request, "Webhook removed. It gets nothing more.")
    return redirect("webhooks:webhooks", slug)


def _webhook(request: HttpRequest, slug: str, key: UUID) -> Webhook:
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    return get_object_or_404(Webhook.objects.kept().filter(about_row(campaign)), key=key)


app_name = "webhooks"

urlpatterns = [
    path("<slug:slug>/webhooks/", webhooks, name="webhooks"),
    path("<slug:slug>/webhooks/<uuid:key>/", webhook, name="webhook"),
    path("<slug:slug>/webhooks/<uuid:key>/test/", test, name="test"),
    path("<slug:slug>/webhooks/<uuid:key>/secret/", secret, name="secret"),
    path("<slug:slug>/webhooks/<uuid:key>/remove/", remove, name="remove"),
]
