"""Keep drafts of campaign files, and make campaigns of them."""

import hashlib
import json
from collections.abc import Collection, Mapping
from copy import deepcopy
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import ValidationError

from accounts.models import Team
from accounts.services.teams import first_team
from annotate.campaign_file import fair_hit
from annotate.kinds.campaign_files import CampaignFileError, filled, merged, parse_plan, preset_of
from annotate.models import Campaign, CampaignDraft
from annotate.services.campaigns import change_campaign, create_campaigns
from corpora.errors import DomainError
from corpora.language.text import SENTENCE_WORDS, CaptionRules


class DraftChanged(DomainError):
    """Another tab changed the same step of the draft meanwhile."""


class DraftEnded(DomainError):
    """The draft was used or deleted meanwhile."""


class DraftIncomplete(DomainError):
    """The draft is not yet a valid campaign file."""


@transaction.atomic
def begin_draft(
    *,
    owner: User,
    file: Mapping[str, Any],
    at: datetime,
    campaign: Campaign | None = None,
    team: Team | None = None,
) -> CampaignDraft:
    """A new draft of the team, or else of the first one, with these values.

    With `campaign`, it changes this campaign, and a draft of the same user that does so already is
    returned instead, unless nothing was entered in it and the campaign has changed since.
    """
    begun_from = campaign.config_json if campaign is not None else None
    values = {
        "team": campaign.team if campaign is not None else team or first_team(at=at),
        "file": dict(file),
        "begun_from": begun_from,
        "created_at": at,
        "changed_at": at,
    }
    if campaign is None:
        return CampaignDraft.objects.create(owner=owner, **values)
    draft, _ = CampaignDraft.objects.get_or_create(
        owner=owner, campaign=campaign, ended_at=None, defaults=values
    )
    if draft.begun_from != begun_from and draft.file == draft.begun_from and not draft.unfinished:
        unchanged = CampaignDraft.objects.filter(pk=draft.pk, changed_at=draft.changed_at)
        unchanged.update(file=dict(file), begun_from=begun_from, changed_at=at)
        draft.refresh_from_db()
    return draft


def value_at(file: Mapping[str, Any], path: str) -> Any:
    """The value of a key such as `hit.reward`; None if the file does not have it."""
    value: Any = file
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def proposed_hit(draft: CampaignDraft) -> dict[str, Any]:
    """Proposed values of `hit.` keys that the draft does not have yet: a reward and a time that
    suit long captions, and no reward for one's own people. Empty once a step that asks for the
    reward was stored."""
    if {"reward", "short"} & {*draft.visited}:
        return {}
    whole, proposed = filled(draft.file), dict[str, Any]()
    try:
        captions = CaptionRules.model_validate(whole["captions"])
    except ValidationError:
        captions = None
    has_own = "reward" in preset_of(draft.file).get("hit", {})
    if captions is not None and captions.usual_words > SENTENCE_WORDS and not has_own:
        proposed = fair_hit(captions)
    if whole["workers"].get("who") == "own":
        proposed["reward"] = "0.00"
    return {
        key: value
        for key, value in proposed.items()
        if value_at(draft.file, f"hit.{key}") is None and f"hit.{key}" not in draft.unfinished
    }


def file_so_far(draft: CampaignDraft) -> dict[str, Any]:
    """The draft's file with what is proposed."""
    proposed = proposed_hit(draft)
    return merged(draft.file, {"hit": proposed}) if proposed else dict(draft.file)


def fingerprint(draft: CampaignDraft, paths: Collection[str]) -> str:
    """A code for what the draft has under these keys. It changes if the values do."""
    shown = [
        (path, value_at(draft.file, path), draft.unfinished.get(path)) for path in sorted(paths)
    ]
    text = json.dumps(shown, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@transaction.atomic
def change_draft(
    *,
    draft: CampaignDraft,
    step: str,
    values: Mapping[str, Any],
    unfinished: Mapping[str, str],
    seen: str | None,
    at: datetime,
    removed: Collection[str],
) -> None:
    """Store the values of one step; None removes a key, `unfinished` has what is not valid yet.

    `removed` are keys of other steps that no longer apply.

    `seen` is the fingerprint of the step as the page showed it; None overwrites any change. Raises
    DraftChanged or DraftEnded.
    """
    locked = _locked(draft)
    paths = {*values, *unfinished}
    before = fingerprint(locked, paths)
    file = deepcopy(locked.file)
    for path, value in values.items():
        _put(file, path, value)
    for path in removed:
        _put(file, path, None)
    kept = {
        path: text for path, text in locked.unfinished.items() if path not in {*paths, *removed}
    }
    locked.file, locked.unfinished = file, {**kept, **unfinished}
    if seen is not None and seen != before and fingerprint(locked, paths) != before:
        raise DraftChanged(
            "This step was changed in another tab or window after this page was loaded."
        )
    if step not in locked.visited:
        locked.visited = [*locked.visited, step]
    locked.changed_at = at
    locked.save(update_fields=["file", "unfinished", "visited", "changed_at"])
    for name in ("file", "unfinished", "visited", "changed_at"):
        setattr(draft, name, getattr(locked, name))


@transaction.atomic
def replace_file(
    *, draft: CampaignDraft, file: Mapping[str, Any], visited: Collection[str], at: datetime
) -> None:
    """Replace all values of the draft, for example by those of an uploaded file. Raises
    DraftEnded."""
    locked = _locked(draft)
    locked.file, locked.unfinished = dict(file), {}
    locked.visited, locked.changed_at = list(visited), at
    locked.save(update_fields=["file", "unfinished", "visited", "changed_at"])


@transaction.atomic
def use_draft(*, draft: CampaignDraft, endpoint: str, at: datetime) -> Campaign:
    """Create the draft's campaign, or change it, and end the draft. Safe to repeat.

    Of a draft for several languages, returns the first campaign.

    Raises DraftIncomplete, DraftEnded, CampaignNotPossible or CampaignChanged.
    """
    locked = CampaignDraft.objects.select_for_update(of=("self",)).get(pk=draft.pk)
    if locked.ended_at is not None and locked.campaign is not None:
        return locked.campaign
    if locked.ended_at is not None:
        raise DraftEnded("This draft was deleted.")
    if locked.unfinished:
        raise DraftIncomplete("Some entries are not valid yet. The checklist names them.")
    try:
        plan = parse_plan(locked.file)
    except CampaignFileError as error:
        raise DraftIncomplete(str(error)) from error
    if locked.campaign is None:
        campaign = create_campaigns(plan=plan, endpoint=endpoint, team=locked.team, at=at)[0]
    elif len(plan.configs) > 1:
        raise DraftIncomplete("languages: a campaign that exists has one language.")
    else:
        campaign = change_campaign(
            campaign=locked.campaign, config=plan.configs[0], begun_from=locked.begun_from or {}
        )
    locked.campaign, locked.ended_at, locked.changed_at = campaign, at, at
    locked.save(update_fields=["campaign", "ended_at", "changed_at"])
    return campaign


@transaction.atomic
def detach_draft(*, draft: CampaignDraft, at: datetime) -> None:
    """Make the draft one for a new campaign, with the same values. Raises DraftEnded."""
    locked = _locked(draft)
    locked.campaign, locked.begun_from, locked.changed_at = None, None, at
    locked.save(update_fields=["campaign", "begun_from", "changed_at"])


@transaction.atomic
def delete_draft(*, draft: CampaignDraft, at: datetime) -> None:
    """End the draft without a campaign. Raises DraftEnded."""
    locked = _locked(draft)
    locked.campaign, locked.ended_at = None, at
    locked.save(update_fields=["campaign", "ended_at"])


def _locked(draft: CampaignDraft) -> CampaignDraft:
    locked = CampaignDraft.objects.select_for_update(of=("self",)).get(pk=draft.pk)
    if locked.ended_at is not None:
        raise DraftEnded("This draft was already used for a campaign, or deleted.")
    return locked


def _put(file: dict[str, Any], path: str, value: Any) -> None:
    *sections, key = path.split(".")
    place = file
    for section in sections:
        inner = place.get(section)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = place[section] = {}
        place = inner
    if value is None:
        place.pop(key, None)
    else:
        place[key] = value
    if sections and not place:
        _put(file, ".".join(sections), None)
