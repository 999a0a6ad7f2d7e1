"""Teams: members and their roles, invitations, the log, and the switch between teams."""

from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client

from accounts.models import Invitation, Membership, TeamChange, TeamRole
from accounts.services import teams
from accounts.services.teams import InvitationRefused, TeamRefused
from annotate.models import CampaignDraft, Selection
from shared.second_factors.models import SecondFactor
from shared.second_factors.services import new_secret
from tests.factories import NOON, CampaignFactory, ImageFactory, TeamFactory, UserFactory

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def team():
    return TeamFactory(slug="lab", name="Lab")


@pytest.fixture
def ada(team):
    return UserFactory(username="ada", team=team)


def invited(team, actor, role=TeamRole.REVIEWER, at=NOON):
    return teams.invite(team=team, role=role, note="", actor=actor, at=at)


def test_an_invitation_makes_one_person_a_member(team, ada):
    _, text = invited(team, ada)
    grace = UserFactory(team=False)

    member = teams.accept_invitation(text=text, user=grace, at=NOON)

    assert (member.team, member.role) == (team, "REVIEWER")
    with pytest.raises(InvitationRefused):
        teams.accept_invitation(text=text, user=UserFactory(team=False), at=NOON)
    assert not Invitation.objects.filter(digest=text).exists()


def test_an_expired_or_revoked_invitation_is_refused(team, ada):
    _, late = invited(team, ada)
    invitation, revoked = invited(team, ada)
    teams.revoke_invitation(invitation=invitation, actor=ada, at=NOON)
    at = NOON + timedelta(days=teams.INVITATION_DAYS)

    for text, when in ((late, at), (revoked, NOON), ("unknown", NOON)):
        with pytest.raises(InvitationRefused):
            teams.accept_invitation(text=text, user=UserFactory(team=False), at=when)
    with pytest.raises(InvitationRefused):
        teams.revoke_invitation(invitation=invitation, actor=ada, at=NOON)


def test_an_invitation_ends_with_the_right_of_its_creator_to_invite(team, ada):
    removed, demoted, closed = (UserFactory(team=team) for _ in range(3))
    operator = UserFactory(team=False, is_superuser=True)
    texts = [invited(team, actor)[1] for actor in (removed, demoted, closed)]
    _, of_operator = invited(team, operator)
    teams.remove_member(member=removed.memberships.get(), actor=ada, at=NOON)
    # The right in another team does not count.
    teams.add_member(team=TeamFactory(), user=removed, role=TeamRole.RESEARCHER, at=NOON)
    teams.change_role(member=demoted.memberships.get(), role=TeamRole.REVIEWER, actor=ada, at=NOON)
    User.objects.filter(pk=closed.pk).update(is_active=False)

    for text in texts:
        with pytest.raises(InvitationRefused):
            teams.accept_invitation(text=text, user=UserFactory(team=False), at=NOON)
    assert team.invitations.open(NOON).count() == 1
    assert teams.accept_invitation(text=of_operator, user=UserFactory(team=False), at=NOON)


def test_the_last_researcher_stays(team, ada):
    member = ada.memberships.get()

    with pytest.raises(TeamRefused, match="last researcher"):
        teams.remove_member(member=member, actor=ada, at=NOON)
    with pytest.raises(TeamRefused, match="last researcher"):
        teams.change_role(member=member, role=TeamRole.VIEWER, actor=ada, at=NOON)

    teams.add_member(team=team, user=UserFactory(team=False), role=TeamRole.VIEWER, at=NOON)
    closed = UserFactory(team=team, is_active=False)
    with pytest.raises(TeamRefused, match="last researcher"):
        teams.remove_member(member=member, actor=ada, at=NOON)
    teams.remove_member(member=closed.memberships.get(), actor=ada, at=NOON)

    UserFactory(team=team)
    teams.remove_member(member=member, actor=ada, at=NOON)
    assert not Membership.objects.current().filter(user=ada).exists()
    with pytest.raises(TeamRefused, match="no member"):
        teams.remove_member(member=member, actor=ada, at=NOON)


def test_the_log_says_who_changed_what_and_is_final(team, ada):
    bob = UserFactory(username="bob", team=team)
    teams.change_role(member=bob.memberships.get(), role=TeamRole.VIEWER, actor=ada, at=NOON)

    teams.remove_member(member=bob.memberships.get(), actor=ada, at=NOON)

    entry, removal = TeamChange.objects.filter(team=team).order_by("pk")

    assert removal.text == "bob removed (viewer)"
    assert (entry.actor, entry.at) == (ada, NOON)
    assert entry.text == "bob: researcher changed to viewer"
    with pytest.raises(DatabaseError), transaction.atomic():
        TeamChange.objects.filter(pk=entry.pk).update(text="nothing")
    with pytest.raises(DatabaseError), transaction.atomic():
        TeamChange.objects.filter(pk=entry.pk).delete()


def test_the_logs_of_the_users_own_teams_say_that_the_app_was_removed(team, ada):
    UserFactory(team=TeamFactory())
    SecondFactor.objects.create(user=ada, secret=new_secret(), created_at=NOON, last_step=0)

    teams.remove_second_factor_of(user=ada, at=NOON)

    (entry,) = TeamChange.objects.all()
    assert (entry.team, entry.text) == (team, "Authenticator app of ada removed by an operator")


def link_on(page):
    code = BeautifulSoup(page.content, "html.parser").select_one("code.token")
    return code.text.removeprefix("http://127.0.0.1:8000")


def test_a_new_person_joins_by_the_link_of_the_team_page(client, team, ada):
    client.force_login(ada)
    link = link_on(client.post("/account/team/", {"role": "REVIEWER", "note": "Grace"}))
    CampaignFactory(slug="ours", team=team)
    CampaignFactory(slug="theirs")
    guest = Client()

    assert "Join the team Lab" in guest.get(link).content.decode()
    weak = guest.post(link, {"name": "grace", "password": "123"})
    joined = guest.post(link, {"name": "grace", "password": PASSWORD}, follow=True)

    assert weak.status_code == 422
    page = joined.content.decode()
    assert "You are a reviewer of the team Lab." in page
    assert "ours" in page
    assert "theirs" not in page
    assert User.objects.get(username="grace").memberships.get().role == "REVIEWER"
    assert Client().get(link).status_code == 409


def test_a_form_that_is_sent_twice_makes_one_account_and_signs_in_twice(team, ada):
    link = f"/account/invitations/{invited(team, ada)[1]}/"
    Invitation.objects.update(expires_at="2999-01-01T00:00Z")
    fields = {"name": "grace", "password": PASSWORD}

    answers = [Client().post(link, fields, follow=True) for _ in range(2)]

    assert all("reviewer of the team Lab." in answer.content.decode() for answer in answers)
    assert User.objects.filter(username="grace").count() == 1
    Invitation.objects.update(accepted_at=NOON)
    assert Client().post(link, fields).status_code == 409
    assert Client().post(link, {**fields, "password": "guessed by somebody"}).status_code == 409


def test_a_second_click_on_an_invitation_leads_on_who_has_joined_with_it(client, team, ada):
    link = f"/account/invitations/{invited(team, ada)[1]}/"
    Invitation.objects.update(expires_at="2999-01-01T00:00Z")
    client.post(link, {"name": "grace", "password": PASSWORD})

    again = [client.get(link), client.post(link)]

    assert [(answer.status_code, answer.url) for answer in again] == [(302, "/")] * 2
    assert client.get("/account/invitations/other/").status_code == 409
    client.force_login(ada)
    assert client.get(link).status_code == 409


def test_an_existing_account_joins_once_and_switches_teams(client, team, ada):
    _, text = invited(team, ada)
    _, second = invited(team, ada)
    grace = UserFactory(username="grace")
    Invitation.objects.update(expires_at="2999-01-01T00:00Z")
    client.force_login(grace)

    client.post(f"/account/invitations/{text}/")
    again = client.post(f"/account/invitations/{second}/")

    assert again.status_code == 409
    assert "member of the team Lab already" in again.content.decode()
    assert "<h1>Lab</h1>" in client.get("/account/team/").content.decode()
    first = grace.memberships.order_by("pk").first().team
    client.post("/account/team/switch/", {"team": first.pk})
    assert f"<h1>{first}</h1>" in client.get("/account/team/").content.decode()
    other = TeamFactory()
    assert client.post("/account/team/switch/", {"team": other.pk}).status_code == 404
    for key in ("x", "²", "9" * 5000):  # Python reads no number of so many digits
        assert client.post("/account/team/switch/", {"team": key}).status_code == 404
        assert client.post("/new/", {"form_team": key}).status_code == 403


def test_a_user_name_that_looks_like_another_is_refused(team, ada):
    link = f"/account/invitations/{invited(team, ada)[1]}/"
    Invitation.objects.update(expires_at="2999-01-01T00:00Z")

    answer = Client().post(link, {"name": "\N{CYRILLIC SMALL LETTER A}da", "password": PASSWORD})

    assert answer.status_code == 422
    assert "unaccented" in answer.content.decode()
    assert User.objects.count() == 1


def test_no_two_user_names_differ_only_in_case(ada):
    with pytest.raises(IntegrityError):
        UserFactory(username="ADA")


def test_a_taken_user_name_is_refused_and_the_invitation_stays_open(client, team, ada):
    link = f"/account/invitations/{invited(team, ada)[1]}/"
    Invitation.objects.update(expires_at="2999-01-01T00:00Z")

    answer = client.post(link, {"name": "ADA", "password": PASSWORD})

    assert answer.status_code == 422
    assert "is taken" in answer.content.decode()
    assert client.get(link).status_code == 200


def test_a_reviewer_sees_the_members_and_changes_none(client, team, ada):
    client.force_login(UserFactory(team=team, team__role="REVIEWER"))

    page = client.get("/account/team/").content.decode()
    refused = client.post(f"/account/team/members/{ada.memberships.get().pk}/", {"remove": "yes"})

    assert "ada" in page
    assert "Invite somebody" not in page
    assert refused.status_code == 403
    assert "Your role in the team Lab is reviewer" in refused.content.decode()


def test_a_member_is_removed_by_a_double_click(client, team, ada):
    member = UserFactory(username="grace", team=team).memberships.get()
    client.force_login(ada)
    address = f"/account/team/members/{member.pk}/"

    answers = [client.post(address, {"remove": "yes"}) for _ in range(2)]

    assert [answer.url for answer in answers] == ["/account/team/"] * 2
    assert "grace is no member of Lab any more." in client.get("/account/team/").content.decode()
    assert not team.memberships.current().filter(pk=member.pk).exists()


# Invitations by e-mail


def form_key_on(client):
    page = BeautifulSoup(client.get("/account/team/").content, "html.parser")
    return page.select_one("input[name=form_key]")["value"]


def test_an_invitation_is_sent_by_e_mail_and_its_address_becomes_the_accounts(
    client, team, ada, mailoutbox
):
    client.force_login(ada)

    page = client.post("/account/team/", {"role": "REVIEWER", "email": "grace@example.org"})

    (mail,) = mailoutbox
    assert mail.to == ["grace@example.org"]
    assert mail.subject == "Invitation to the team Lab"
    assert f"http://127.0.0.1:8000{link_on(page)}" in mail.body
    assert "The link was sent to grace@example.org." in page.content.decode()
    guest = Client()
    form = BeautifulSoup(guest.get(link_on(page)).content, "html.parser")
    assert form.select_one("input[name=email]")["value"] == "grace@example.org"
    assert not TeamChange.objects.filter(text__contains="grace@").exists()


def test_an_invitation_goes_to_the_domain_that_was_entered(client, team, ada, mailoutbox):
    """Not to strasse.de, which somebody else may own."""
    client.force_login(ada)

    client.post("/account/team/", {"role": "REVIEWER", "email": "anna@Straße.de"})

    (mail,) = mailoutbox
    assert mail.to == ["anna@xn--strae-oqa.de"]


def test_a_form_that_is_posted_twice_invites_once(client, team, ada, mailoutbox):
    client.force_login(ada)
    fields = {"role": "VIEWER", "email": "grace@example.org", "form_key": form_key_on(client)}

    pages = [client.post("/account/team/", fields) for _ in range(2)]

    assert [page.status_code for page in pages] == [200, 409]
    assert "revoke it on the page of the team" in pages[1].content.decode()
    assert (Invitation.objects.count(), len(mailoutbox)) == (1, 1)
    assert form_key_on(client) != fields["form_key"]


def test_an_address_has_one_open_invitation(client, team, ada, mailoutbox):
    client.force_login(ada)
    client.post("/account/team/", {"role": "VIEWER", "email": "grace@example.org"})

    again = client.post("/account/team/", {"role": "VIEWER", "email": "Grace@Example.org"})

    assert "has an open invitation" in again.content.decode()
    assert len(mailoutbox) == 1


def test_a_mail_server_that_fails_leaves_the_link_on_the_page(client, team, ada, monkeypatch):
    def fail(*_, **__):
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr("accounts.services.teams.send_mail", fail)
    client.force_login(ada)

    page = client.post("/account/team/", {"role": "VIEWER", "email": "grace@example.org"})

    assert "did not take the mail" in page.content.decode()
    assert Client().get(link_on(page)).status_code == 200


def test_a_site_without_e_mail_asks_for_no_address(client, team, ada, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = ""
    client.force_login(ada)

    page = client.post("/account/team/", {"role": "VIEWER", "email": "grace@example.org"})

    assert page.status_code == 200
    assert Invitation.objects.get().email == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "OWNER"},
        {},
        {"role": "VIEWER", "note": "x" * 101},
        {"role": "VIEWER", "email": "nobody"},
        {"role": "VIEWER", "email": "a@b.example\nBcc: c@d.example"},
        {"role": "VIEWER", "email": f"{'a' * 300}@example.org"},
    ],
)
def test_a_wrong_invitation_is_refused(client, team, ada, mailoutbox, fields):
    client.force_login(ada)

    assert client.post("/account/team/", fields).status_code == 422
    assert not Invitation.objects.exists()
    assert mailoutbox == []


# Two tabs


@pytest.fixture
def two_teams(team):
    """A researcher of the team and of another one, who sees the first one."""
    user = UserFactory(username="ida", team=team)
    teams.add_member(team=TeamFactory(slug="other"), user=user, role=TeamRole.RESEARCHER, at=NOON)
    return user


def the_form(client, address, *, button):
    """The fields of the form with this button, as the page shows it."""
    page = BeautifulSoup(client.get(address).content, "html.parser")
    (form,) = [each for each in page.select("form") if button in each.get_text()]
    return {one["name"]: one.get("value", "") for one in form.select("input[type=hidden]")}


@pytest.mark.parametrize(
    ("address", "button", "entries", "made"),
    [
        ("/account/team/", "Create invitation", {"role": "VIEWER"}, Invitation),
        ("/new/", "Begin", {}, CampaignDraft),
        (
            "/images/selections/new/",
            "selection",
            {"name": "s", "split": "train", "procedure": "all"},
            Selection,
        ),
    ],
)
def test_a_form_creates_in_the_team_that_it_was_shown_for(
    client, team, two_teams, address, button, entries, made
):
    ImageFactory(team=None, split="train")
    client.force_login(two_teams)
    form = the_form(client, address, button=button)

    client.post("/account/team/switch/", {"team": two_teams.memberships.last().team_id})
    client.post(address, {**form, **entries})

    assert made.objects.get().team == team


def test_a_form_of_a_team_that_the_user_has_left_is_refused(client, team, ada, two_teams):
    client.force_login(two_teams)
    form = the_form(client, "/account/team/", button="Create invitation")
    teams.remove_member(member=two_teams.memberships.first(), actor=ada, at=NOON)

    refused = client.post("/account/team/", {**form, "role": "VIEWER"})

    assert refused.status_code == 403
    assert "not a member any more" in refused.content.decode()
    assert not Invitation.objects.exists()


def test_every_form_of_a_signed_in_user_names_its_team(client, team, two_teams):
    client.force_login(two_teams)
    for address in ("/account/team/", "/images/import/", "/new/", "/new/file/"):
        forms = BeautifulSoup(client.get(address).content, "html.parser").select(
            "main form[method=post]"
        )
        assert forms
        for form in forms:
            assert form.select_one("[name=form_team]")["value"] == str(team.pk), address
