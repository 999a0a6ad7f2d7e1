"""Pages about the signed-in user's own account: password, authenticator app and API tokens."""

from django import forms
from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import ApiToken, Scope
from accounts.pages.once import once
from accounts.pages.signed_in import form_page, posted, refusals_shown, user_of
from accounts.services.api_tokens import MOST_DAYS, issue_token, withdraw_token
from shared.number_fields import WholeNumberField
from shared.second_factors.pages import SecondFactorView


class TokenForm(forms.Form):
    """Name, lifetime and scopes of a new token."""

    name = forms.CharField(
        max_length=100,
        help_text="The program or script that uses it, for example “nightly export”.",
    )
    days = WholeNumberField(min_value=1, max_value=MOST_DAYS, label="Days until it expires")
    scopes = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Besides reading, the program may",
        choices=[choice for choice in Scope.choices if choice[0] != Scope.READ],
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@once(
    unseen="If you did not see the new token, withdraw it on the page of your tokens, and create "
    "another one."
)
def tokens(request: HttpRequest) -> HttpResponse:
    """List the user's valid tokens; create one on POST and show its text, which is not stored."""
    user, at = user_of(request), timezone.now()
    form = TokenForm(posted(request), initial={"days": MOST_DAYS})
    text = ""
    if request.method == "POST" and form.is_valid():
        _, text = issue_token(user=user, at=at, **form.cleaned_data)
        form = TokenForm(initial={"days": MOST_DAYS})
    valid = ApiToken.objects.valid(at).filter(user=user).order_by("-created_at", "-pk")
    context = {"tokens": valid, "new_token": text}
    return form_page(request, "accounts/tokens.html", form, context)


second_factor = once(
    unseen="If you did not see your recovery codes, make new ones with the next code of your app."
)(SecondFactorView.as_view(template_name="accounts/second_factor.html", issuer="Caption campaigns"))


@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw one of the user's tokens."""
    token = get_object_or_404(ApiToken, pk=pk, user=user_of(request))
    with refusals_shown(request):
        withdraw_token(token=token, at=timezone.now())
        messages.success(request, f"Token {token} withdrawn. Programs that use it are refused.")
    return redirect("account:tokens")


class PasswordView(PasswordChangeView):
    """Changes the user's password, given the current one. The user's other sessions end."""

    template_name = "accounts/password.html"
    success_url = reverse_lazy("account:password")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        response = super().form_valid(form)
        messages.success(
            self.request, "Password changed. Your sessions in other browsers have ended."
        )
        return response

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)
