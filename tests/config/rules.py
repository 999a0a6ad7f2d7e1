"""The right that each verb of each route needs, and a request that tries it.

A route without a line in RULES fails in test_rights.py. Add a line with what each verb needs:

    "hits:pause": team(get=MANAGE, post=MANAGE),

`team` is for what belongs to a team: members of another one get 404, and members without the right
403. `members` is for lists of the current team and for forms that create rows. `account` is for
pages that each account has, `operators` for pages of the whole site, `public` for those without
sign-in, and `draft` for the user's own drafts. If the route needs an argument that `world` does not
have, add it to `make_world`.
"""

from dataclasses import dataclass, field

from django.db import transaction
from django.test import Client

from accounts.models import Right

VIEW, MONEY, REVIEW, MANAGE, PAY, MEMBERS = (
    Right.VIEW,
    Right.SEE_MONEY,
    Right.REVIEW,
    Right.MANAGE,
    Right.PAY,
    Right.MEMBERS,
)


@dataclass(frozen=True)
class Rule:
    scope: str
    verbs: dict[str, Right] = field(default_factory=dict)
    # Whether the row or file that the address names does not exist in this test.
    is_missing: bool = False


def team(*, missing: bool = False, **verbs: Right) -> Rule:
    return Rule("team", _verbs(verbs), missing)


def members(**verbs: Right) -> Rule:
    return Rule("members", _verbs(verbs))


def operators(**verbs: Right) -> Rule:
    return Rule("operators", _verbs(verbs))


def draft(**verbs: Right) -> Rule:
    return Rule("draft", _verbs(verbs))


def _verbs(verbs: dict[str, Right]) -> dict[str, Right]:
    found = {verb.upper(): right for verb, right in verbs.items()}
    return {**found, "HEAD": found["GET"]} if "GET" in found else found


account, public = Rule("account"), Rule("public")

RULES = {
    # The user's own account.
    "notices:notices": account,
    "account:password": account,
    "account:second_factor": account,
    "account:tokens": account,
    "account:withdraw_token": account,
    "account:team": members(get=VIEW, post=MEMBERS),
    "account:switch_team": Rule("account", is_missing=True),
    "account:member": team(post=MEMBERS),
    "account:revoke_invitation": Rule("account", is_missing=True),
    "account:invitation": public,
    "logout": account,
    "jobs:count": account,
    "api-root": account,
    "api-documentation": account,
    "healthz": public,
    "readyz": public,
    # A page for programs with its own token, which the test's site does not have.
    "metrics": Rule("public", is_missing=True),
    "login": public,
    "password_reset": public,
    "password_reset_done": public,
    "password_reset_confirm": public,
    "api-token": public,
    "api-schema": public,
    "hits:task": public,
    "hits:told": public,
    "image-copy": public,
    "leaderboard:sign_up": public,
    "leaderboard:board": public,
    "media": Rule("account", is_missing=True),
    # Challenges are for everybody from their opening on. The one of this test has not opened.
    "leaderboard:challenges": account,
    "leaderboard:challenge": team(get=VIEW, post=VIEW),
    "leaderboard:images": team(get=VIEW),
    "leaderboard:new": members(get=MANAGE, post=MANAGE),
    "leaderboard:manage": team(get=VIEW),
    "leaderboard:csv": team(get=VIEW),
    "leaderboard:publish": team(post=MANAGE),
    "leaderboard:closing": team(post=MANAGE),
    "leaderboard:limits": team(post=MANAGE),
    "leaderboard:score_again": team(missing=True, post=MANAGE),
    "leaderboard:withdraw": team(missing=True, get=MANAGE, post=MANAGE),
    "api-challenge-list": account,
    "api-challenge-detail": team(get=VIEW),
    "api-challenge-images": team(get=VIEW),
    "api-challenge-board": team(get=VIEW),
    "api-challenge-submissions": team(get=VIEW, post=VIEW),
    "api-challenge-submission": team(missing=True, get=VIEW),
    # Campaigns.
    "hits:campaigns": members(get=VIEW),
    "hits:campaign": team(get=VIEW),
    "hits:campaign_file": team(get=MONEY),
    "hits:images": team(get=VIEW),
    "hits:image": team(get=VIEW),
    "hits:responses": team(get=VIEW),
    "hits:sync_progress": team(get=VIEW),
    "hits:overview_live": team(get=VIEW),
    "hits:course": team(get=VIEW),
    "jobs:backups": operators(get=VIEW),
    "hits:find_worker": operators(get=VIEW, post=VIEW),
    "hits:worker_data": operators(get=VIEW, post=VIEW),
    "hits:worker_file": operators(get=VIEW),
    "hits:hand_over": Rule("account", is_missing=True),
    "hits:at_marketplace": team(get=MANAGE),
    "hits:invite": team(get=MANAGE, post=MANAGE),
    "hits:who_is_who": team(get=MANAGE),
    "hits:publish": team(get=MANAGE, post=MANAGE),
    "hits:change": team(get=MANAGE, post=MANAGE),
    "hits:pause": team(get=MANAGE, post=MANAGE),
    "hits:finish": team(get=MANAGE, post=MANAGE),
    "hits:sync": team(post=MANAGE),
    "hits:copy": team(post=MANAGE),
    "hits:edit": team(post=MANAGE),
    "hits:exclude": team(get=REVIEW, post=REVIEW),
    "hits:selected_workers": team(missing=True, get=VIEW, post=VIEW),
    "hits:reject": team(get=PAY, post=PAY),
    "hits:payments": team(get=MONEY),
    "hits:statement": team(get=MONEY),
    "hits:bonuses": team(post=PAY),
    "hits:held_payments": team(get=PAY),
    "hits:pay_held": team(missing=True, get=PAY, post=PAY),
    "hits:reject_held": team(missing=True, get=PAY, post=PAY),
    "hits:new_campaign": members(get=MANAGE, post=MANAGE),
    "hits:new_from_file": members(get=MANAGE, post=MANAGE),
    "hits:new_create": draft(post=MANAGE),
    "hits:new_delete": draft(post=MANAGE),
    "hits:new_detach": draft(post=MANAGE),
    "hits:new_file": draft(get=MANAGE),
    "hits:new_preview": draft(get=MANAGE),
    "hits:new_step": draft(get=MANAGE, post=MANAGE),
    "webhooks:webhooks": team(get=MANAGE, post=MANAGE),
    "webhooks:webhook": team(get=MANAGE, post=MANAGE),
    "webhooks:test": team(post=MANAGE),
    "webhooks:secret": team(post=MANAGE),
    "webhooks:remove": team(post=MANAGE),
    # Quality control.
    "qualcontrol:queue": team(get=REVIEW, post=REVIEW),
    "qualcontrol:judge": team(missing=True, post=REVIEW),
    "qualcontrol:ask": team(missing=True, post=REVIEW),
    "qualcontrol:take_back": team(missing=True, post=REVIEW),
    "qualcontrol:take_back_last": team(post=REVIEW),
    "qualcontrol:response": team(get=REVIEW, post=REVIEW),
    "qualcontrol:gold": team(get=REVIEW, post=REVIEW),
    "qualcontrol:quality": team(get=VIEW),
    "qualcontrol:decisions": team(get=VIEW),
    "qualcontrol:workers": team(get=VIEW),
    "qualcontrol:worker": team(get=VIEW),
    "qualcontrol:act": team(post=REVIEW),
    "qualcontrol:appeal": team(post=REVIEW),
    "qualcontrol:answer_appeal": team(missing=True, post=REVIEW),
    "qualcontrol:releases": team(get=VIEW, post=MANAGE),
    # Releases, jobs, images.
    "annotate:releases": members(get=VIEW),
    "annotate:release": team(get=VIEW),
    "annotate:release_archive": team(get=VIEW),
    "annotate:release_file": team(get=VIEW),
    "annotate:export": team(post=VIEW),
    "annotate:report": team(missing=True, get=VIEW, post=MANAGE),
    "annotate:report_file": team(missing=True, get=VIEW),
    "jobs:jobs": members(get=VIEW),
    "jobs:failures": members(get=VIEW),
    "jobs:try_again": team(post=MANAGE),
    "jobs:dismiss": team(post=MANAGE),
    "jobs:job": team(get=VIEW),
    "jobs:file": team(missing=True, get=VIEW),
    "jobs:cancel": team(post=MANAGE),
    "jobs:again": team(post=MANAGE),
    "images:images": members(get=VIEW),
    "images:image": team(get=VIEW),
    "images:pick": members(post=VIEW),
    "images:import": members(get=MANAGE, post=MANAGE),
    "images:pools": members(get=VIEW),
    "images:selections": members(get=VIEW),
    "images:selection": team(get=VIEW),
    "images:new_selection": members(get=MANAGE, post=MANAGE),
    # The API.
    "api-campaign-list": members(get=VIEW, post=MANAGE),
    "api-campaign-detail": team(get=VIEW),
    "api-campaign-estimate": team(get=MONEY),
    "api-campaign-publish": team(post=MANAGE),
    "api-campaign-pause": team(post=MANAGE),
    "api-campaign-finish": team(post=MANAGE),
    "api-campaign-sync": team(get=VIEW, post=MANAGE),
    "api-campaign-budget": team(post=PAY),
    "api-campaign-bonuses": team(get=MONEY, post=PAY),
    "api-campaign-tasks": team(get=VIEW),
    "api-campaign-responses": team(get=VIEW),
    "api-campaign-decisions": team(get=VIEW),
    "api-campaign-releases": team(get=VIEW, post=MANAGE),
    "api-spot-check-list": team(get=VIEW),
    "api-spot-check-next": team(post=REVIEW),
    "api-ask": team(missing=True, post=REVIEW, delete=REVIEW),
    "api-spot-check-verdict": team(missing=True, post=REVIEW, delete=REVIEW),
    "api-campaign-appeals": team(get=VIEW, post=REVIEW),
    "api-appeal-answer": team(missing=True, post=REVIEW),
    "api-campaign-gold": team(get=REVIEW, post=REVIEW),
    "api-campaign-messages": team(get=REVIEW, post=MANAGE),
    "api-held-payment-list": team(get=PAY),
    "api-held-payment-payment": team(missing=True, post=PAY),
    "api-held-payment-rejection": team(missing=True, post=PAY),
    "api-response-rejection": team(missing=True, post=PAY),
    "api-import-list": members(post=MANAGE),
    "api-webhook-list": team(get=MANAGE, post=MANAGE),
    "api-webhook-detail": team(get=MANAGE, put=MANAGE, delete=MANAGE),
    "api-webhook-test": team(post=MANAGE),
    "api-worker-list": team(get=VIEW),
    "api-worker-detail": team(get=VIEW),
    "api-worker-exclusion": team(get=REVIEW, post=REVIEW),
    "api-worker-reinstatement": team(post=REVIEW),
    "api-worker-pause": team(post=REVIEW),
    "api-worker-resume": team(post=REVIEW),
    "api-worker-dismissal": team(post=REVIEW),
    "api-image-list": members(get=VIEW, post=MANAGE),
    "api-selection-list": members(get=VIEW, post=MANAGE),
    "api-selection-detail": team(get=VIEW),
    "api-selection-images": team(get=VIEW),
    "api-job-list": members(get=VIEW),
    "api-job-detail": team(get=VIEW),
    "api-job-cancel": team(post=MANAGE),
    "api-job-again": team(post=MANAGE),
    "api-release-list": members(get=VIEW),
    "api-release-detail": team(get=VIEW),
    "api-release-archive": team(get=VIEW),
    "api-release-text": team(missing=True, get=VIEW),
    "api-release-file": team(get=VIEW),
}


def ask(client: Client, verb: str, address: str):
    """The answer; what the request changes is undone."""
    with transaction.atomic():
        if address.startswith("/api/") and verb in {"POST", "PUT", "PATCH"}:
            answer = client.generic(verb, address, "{}", content_type="application/json")
        else:
            answer = client.generic(verb, address)
        body = b"" if answer.streaming and verb == "HEAD" else b"".join(answer)
        transaction.set_rollback(True)
    return answer, body.decode(errors="replace")
