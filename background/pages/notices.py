"""The page on which a user chooses which notices to get by e-mail."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts.pages.lists import page_of
from accounts.pages.signed_in import form_page, posted, user_of
from background.models import NoticeChoice
from background.notices.choices import choose_emails, is_on_by_default
from background.notices.registry import notice_choices, notice_kinds
from shared.mail import sends_email


class NoticeForm(forms.Form):
    """The user's e-mail address and the kinds of notices that go to it. Another address needs the
    password, because a link that goes there replaces a forgotten password."""

    email = forms.EmailField(required=False, label="E-mail address", max_length=254)
    password = forms.CharField(
        required=False,
        max_length=4096,
        strip=False,
        label="Your password",
        help_text="Only to change the e-mail address.",
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    kinds = forms.MultipleChoiceField(
        choices=notice_choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Send me an e-mail when",
    )

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        password = values.pop("password", "")
        is_same = values.get("email", self.user.email) == self.user.email
        if not is_same and not self.user.check_password(password):
            self.add_error("password", "Enter your password to change the e-mail address.")
        return values


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: HttpRequest) -> HttpResponse:
    """Show the user's choices and the notices sent; store the choices on POST."""
    user = user_of(request)
    chosen = dict(NoticeChoice.objects.filter(user=user).values_list("kind", "is_on"))
    default = is_on_by_default(user)
    kinds = [name for name in notice_kinds() if chosen.get(name, default)]
    form = NoticeForm(user, posted(request), initial={"email": user.email, "kinds": kinds})
    if request.method == "POST" and form.is_valid():
        choose_emails(user=user, **form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("notices:notices")
    sent = user.deliveries.select_related("notice")
    context = {
        "sends_email": sends_email(),
        "page": page_of(sent, request, per_page=20),
    }
    return form_page(request, "background/notices.html", form, context)
