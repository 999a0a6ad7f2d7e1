"""The task page of a campaign that is still a draft, for the steps of *New campaign*."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from accounts.models import Right, Team
from accounts.pages.signed_in import user_of
from accounts.rights import require
from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.kinds.campaign_files import parse_first
from annotate.kinds.practice import Question, practice_images
from annotate.kinds.wording import in_language
from annotate.models import Campaign, CampaignDraft, Task
from annotate.services.drafts import file_so_far
from corpora.errors import DomainError
from hits.mturk.endpoints import endpoint_of
from hits.pages.task_page.page import common, framed, item, with_instructions
from hits.pages.task_page.practice import shown
from hits.services.hit_pages import FrameParameters

STATES = {"preview", "accepted", "practice"}
# What the page needs and a draft may not have yet.
PLACEHOLDERS = {"name": "preview", "budget": "0"}


@xframe_options_exempt
@require_safe
def draft_preview(request: HttpRequest, pk: int, state: str) -> HttpResponse:
    """Show the task page as workers will see it, before or after they accept, or the first page
    of the practice.

    The form cannot be sent: the frame that shows the page is sandboxed, and the token is empty.
    """
    if state not in STATES:
        raise Http404
    own = CampaignDraft.objects.of(user_of(request)).open().select_related("team")
    draft = get_object_or_404(own, pk=pk)
    require(request, draft.team, Right.MANAGE)
    endpoint = endpoint_of(settings.MTURK_ENDPOINT)
    try:
        config = parse_first({**PLACEHOLDERS, **file_so_far(draft)})
        config = KINDS[config.kind].with_language(config, draft.team)
        with in_language(config.language):
            context = _context(config, state, draft.team)
    except DomainError:
        context = None
    if context is None:
        return framed(render(request, "hits/new_campaign/no_preview.html"), endpoint)
    template = "hits/practice.html" if state == "practice" else "hits/task.html"
    with in_language(config.language):
        return framed(render(request, template, context), endpoint)


def _context(config: CampaignConfig, state: str, team: Team) -> dict[str, Any] | None:
    """The page's context, or None if there is nothing to show. Nothing is stored."""
    at = timezone.now()
    kind = KINDS[config.kind]
    with transaction.atomic():
        campaign = Campaign(
            team=team,
            slug=config.name,
            kind=config.kind,
            **kind.material(config, at, team),
            endpoint=settings.MTURK_ENDPOINT,
            budget=config.budget,
            config_json=config.model_dump(mode="json"),
            created_at=at,
        )
        example: Task | None = next(kind.tasks(campaign), None)
        if example is None:
            return None
        if kind.takes_text and config.priming.share > 0:
            example.shows_keywords = True
        example.primed = config.priming.share > 0
        items = [item(campaign, example, 1)]
        practised = practice_images(config, campaign) if state == "practice" else {}
        transaction.set_rollback(True)
    if state == "practice":
        if not practised:
            return None
        captions = config.practice.items[0]
        step = shown(campaign, Question(practised[captions[0].image], captions))
        fixed = with_instructions(campaign, shows_instructions=True)
        return {**common(campaign), **fixed, **step, "number": 1, "is_preview": True}
    return {
        **common(campaign),
        **with_instructions(campaign, shows_instructions=True),
        "items": items,
        "practice": config.practice,
        "is_preview": state == "preview",
        "token": "",
        "frame": FrameParameters("EXAMPLE", "EXAMPLE", "", ""),
    }
