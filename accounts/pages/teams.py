"""Pages of the user's team: members, roles, invitations, the log, and the switch of teams."""

from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.limits import limit_posts
from accounts.models import Membership, Right, Team, TeamRole
from accounts.pages.lists import page_of
from accounts.pages.once import once
from accounts.pages.sign_in import NewAccountForm
from accounts.pages.signed_in import form_page, posted, refusals_in, refusals_shown, user_of
from accounts.rights import CHOSEN_TEAM, memberships_of, require, team_to_change, team_with_key
from accounts.services import teams as services
from accounts.services.teams import send_invitation
from corpora.errors import DomainError
from shared.mail import sends_email
from shared.requests import refusal

BACKEND = "shared.second_factors.services.PasswordAndCode"


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=TeamRole.choices, initial=TeamRole.REVIEWER)
    note = forms.CharField(
        required=False,
        max_length=100,
        label="Whom it is for",
        help_text="Optional; only the team sees it.",
    )
    email = forms.EmailField(
        required=False,
        max_length=254,
        label="E-mail address",
        help_text="Optional. The site sends the link to this address.",
    )

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)
        if not sends_email():
            del self.fields["email"]


class AccountForm(NewAccountForm):
    """A new account for an invited person."""

    field_order = ["name", "email", "password"]
    email = forms.EmailField(
        required=False,
        max_length=254,
        label="E-mail address",
        help_text="Optional. Needed to reset a forgotten password.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@once(
    unseen="If you did not see the link of the invitation, revoke it on the page of the team, and "
    "create another one."
)
def team(request: HttpRequest) -> HttpResponse:
    """The current team's members, invitations and log; a POST creates an invitation."""
    needed = Right.MEMBERS if request.method == "POST" else Right.VIEW
    team, at, made = team_to_change(request, needed), timezone.now(), {}
    form = InvitationForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            made = _invite(request, team, form.cleaned_data, at)
            form = InvitationForm()
    context = {
        "shown_team": team,
        "members": team.memberships.current().select_related("user"),
        "roles": TeamRole.choices,
        "invitations": team.invitations.open(at).select_related("created_by"),
        "page": page_of(team.changes.select_related("actor"), request, per_page=20),
        "teams": _teams(request),
        "days": services.INVITATION_DAYS,
        **made,
    }
    return form_page(request, "accounts/team.html", form, context)


def _invite(request: HttpRequest, team: Team, values: dict[str, Any], at: datetime) -> Any:
    """Create the invitation, and send it if it has an address; return the page's message about
    it."""
    made, text = services.invite(
        team=team,
        role=TeamRole(values["role"]),
        note=values["note"],
        email=values.get("email", ""),
        actor=user_of(request),
        at=at,
    )
    link = settings.SITE_URL + reverse("account:invitation", args=[text])
    is_sent = bool(made.email) and send_invitation(made, link)
    return {"link": link, "address": made.email, "is_sent": is_sent}


def _teams(request: HttpRequest) -> list[Team]:
    """The teams that the user can switch to."""
    if user_of(request).is_superuser:
        return list(Team.objects.all())
    return [member.team for member in memberships_of(request)]


@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Show the lists of another of the user's teams."""
    chosen = team_with_key(user_of(request), request.POST.get("team", ""))
    if chosen is None:
        raise Http404
    request.session[CHOSEN_TEAM] = chosen.pk
    messages.success(request, f"You see the team {chosen} now.")
    return redirect("account:team")


@require_POST
def member(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a member's role, or remove them."""
    visible = Membership.objects.filter(team__in=Team.objects.of(user_of(request)))
    membership = get_object_or_404(visible.select_related("team", "user"), pk=pk)
    require(request, membership.team, Right.MEMBERS)
    actor, at = user_of(request), timezone.now()
    wanted = request.POST.get("role", "")
    with refusals_shown(request):
        if "remove" in request.POST:
            services.remove_member(member=membership, actor=actor, at=at)
            messages.success(
                request, f"{membership.user} is no member of {membership.team} any more."
            )
        elif wanted in TeamRole.values:
            services.change_role(member=membership, role=TeamRole(wanted), actor=actor, at=at)
            messages.success(request, f"{membership.user} is {TeamRole(wanted).label} now.")
        else:
            messages.warning(request, "Choose a role.")
    return redirect("account:team")


@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    team = team_to_change(request, Right.MEMBERS)
    invitation = get_object_or_404(team.invitations.select_related("team"), pk=pk)
    with refusals_shown(request):
        services.revoke_invitation(invitation=invitation, actor=user_of(request), at=timezone.now())
        messages.success(request, "Invitation revoked. Its link does not work any more.")
    return redirect("account:team")


@sensitive_post_parameters("password")
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
@limit_posts
def invitation(request: HttpRequest, text: str) -> HttpResponse:
    """Accept an invitation with the account that is signed in, or with a new one."""
    at = timezone.now()
    try:
        is_known = request.user.is_authenticated
        form = None if is_known else AccountForm(posted(request), label_suffix="")
        if request.method == "POST" and (form is None or form.is_valid()):
            try:
                return _accept(request, text, form)
            except services.TeamRefused as error:
                if form is None:
                    raise
                form.add_error(None, str(error))
        invitation = services.open_invitation(text=text, at=at)
        if form is not None:
            form.initial = {"email": invitation.email}
    except DomainError as error:
        # A second click on a link, or on its button, leads where the first one did.
        if is_known and services.has_joined(text=text, user=user_of(request)):
            return redirect(settings.LOGIN_REDIRECT_URL)
        return refusal(request, 409, "Invitation", str(error))
    context = {"invitation": invitation, "form": form}
    status = 422 if form is not None and form.errors else 200
    return render(request, "accounts/invitation.html", context, status=status)


def _accept(request: HttpRequest, text: str, form: AccountForm | None) -> HttpResponse:
    at = timezone.now()
    if form is None:
        joined = services.accept_invitation(text=text, user=user_of(request), at=at)
    else:
        joined = services.accept_as_new_user(text=text, at=at, **form.cleaned_data)
        login(request, joined.user, backend=BACKEND)
    request.session[CHOSEN_TEAM] = joined.team_id
    messages.success(request, f"You are a {joined.get_role_display()} of the team {joined.team}.")
    return redirect(settings.LOGIN_REDIRECT_URL)
