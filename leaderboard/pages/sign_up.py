"""The page on which submitters create their accounts, if the site allows it."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotate.accounts.request_limits import limit_posts
from annotate.accounts.sign_in_limits import client_address
from annotate.errors import DomainError
from annotate.pages.signed_in import posted
from leaderboard.pages.forms import SignUpForm
from leaderboard.services.submitters import create_account


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@limit_posts
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account that may submit to challenges, and nothing else."""
    if not settings.SUBMITTERS_MAY_SIGN_UP:
        raise Http404("Nobody can sign up at this site.")
    form = SignUpForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            create_account(**form.cleaned_data, address=client_address(request), at=timezone.now())
        except DomainError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Your account is ready. Sign in.")
            return redirect("login")
    status = 422 if form.errors else 200
    return render(request, "leaderboard/sign_up.html", {"form": form}, status=status)
