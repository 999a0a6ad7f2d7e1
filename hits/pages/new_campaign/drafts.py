"""The pages of *New campaign*: begin a draft, its steps, the file, creating the campaign, and the
task page of the draft."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import tomli_w
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Right, Team
from accounts.pages.lists import page_of, stretch_of
from accounts.pages.once import once
from accounts.pages.signed_in import form_page, posted, refusals_in, refusals_shown, user_of
from accounts.rights import require, team_to_change, teams_with
from annotate.api.campaign_schema import campaign_file_schema
from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.kinds.campaign_files import parse_first
from annotate.kinds.practice import Question, practice_images
from annotate.kinds.wording import in_language
from annotate.lookups import campaign_of
from annotate.models import Campaign, CampaignDraft, Selection, Task
from annotate.services.campaigns import CampaignChanged, create_campaigns
from annotate.services.drafts import (
    DraftChanged,
    DraftEnded,
    DraftIncomplete,
    begin_draft,
    change_draft,
    delete_draft,
    detach_draft,
    file_so_far,
    fingerprint,
    replace_file,
)
from annotate.services.names import address_of, free_name
from annotate.services.selections import select_whole
from corpora.errors import DomainError
from hits.mturk.endpoints import endpoint_of, is_amazons
from hits.pages.new_campaign.file_form import CampaignFileForm
from hits.pages.new_campaign.forms import StepForm
from hits.pages.new_campaign.sides import side_of
from hits.pages.new_campaign.steps import (
    BY_NAME,
    FORMS,
    SHORT,
    STEPS,
    Step,
    faults_of,
    next_of,
    previous_of,
    states,
)
from hits.pages.task_page.page import (
    common,
    framed,
    item,
    shown_question,
    with_instructions,
)
from hits.services.hit_pages import FrameParameters
from hits.services.lifecycle import save_draft

PER_LIST = 20
# Captions of images that somebody has just chosen, by their own people.
SMALL = {
    "references": 3,
    "baselines": 0,
    "priming": {"by": "none"},
    "hit": {"reward": "0.00"},
}
# The preview may run its scripts, and neither send its form nor act as this site.
SANDBOX = "allow-scripts"


def drafts_of(request: HttpRequest) -> QuerySet[CampaignDraft]:
    """The user's own drafts that were not used or deleted, for teams whose campaigns they may
    change."""
    own = CampaignDraft.objects.of(user_of(request)).open()
    return own.filter(team__in=teams_with(request, Right.MANAGE)).select_related("team")


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def new_campaign(request: HttpRequest) -> HttpResponse:
    """Offer the user's drafts, campaigns to copy and the file; a POST begins an empty draft.

    A POST with a campaign file is handled as on the page for files.
    """
    team = team_to_change(request)
    if "text" in request.POST or request.FILES:
        return _from_file(request, team)
    if request.method == "POST":
        file = _begun_with(request.POST, team)
        if not is_amazons(settings.MTURK_ENDPOINT):
            # Requirements of Mechanical Turk would keep everybody out of one's own marketplace.
            file["workers"] = {"who": "own"}
            if "selection" in file:
                file |= SMALL
        draft = begin_draft(owner=user_of(request), file=file, team=team, at=timezone.now())
        first = SHORT if SMALL.items() <= file.items() else STEPS[0]
        return redirect("hits:new_step", draft.pk, first.name)
    drafts = drafts_of(request).filter(team=team).select_related("campaign")
    context = {
        "page": page_of(drafts, request, per_page=PER_LIST),
        "has_selections": Selection.objects.of_team(team).exists(),
        "stretch": stretch_of(
            Campaign.objects.of_team(team), request, by=("-pk",), per_page=PER_LIST
        ),
    }
    return render(request, "hits/new_campaign/start.html", context)


def _begun_with(data: QueryDict, team: Team) -> dict[str, Any]:
    """The images that a button named, all of a split or a selection, and a name after them."""
    selections = Selection.objects.of_team(team)
    if split := data.get("split"):
        try:
            selection = select_whole(split=split, team=team, at=timezone.now())
        except DomainError:
            return {}
        return {"selection": selection.name, "name": _free(address_of(split, "campaign"))}
    chosen = selections.filter(name=data.get("selection", "")).first()
    if chosen is None:
        return {}
    return {"selection": chosen.name, "name": _free(address_of(chosen.name, "campaign"))}


def _free(name: str) -> str:
    return free_name(Campaign.objects.all(), name, field="slug")


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def new_from_file(request: HttpRequest) -> HttpResponse:
    """Fill the steps from a campaign file, or create the draft campaign at once."""
    return _from_file(request, team_to_change(request))


def _from_file(request: HttpRequest, team: Team) -> HttpResponse:
    form = CampaignFileForm(posted(request), request.FILES or None)
    if request.method == "POST" and form.is_valid():
        if "steps" in request.POST:
            draft = begin_draft(
                owner=user_of(request),
                file=form.cleaned_data["values"],
                team=team,
                at=timezone.now(),
            )
            replace_file(
                draft=draft,
                file=draft.file,
                visited=[step.name for step in FORMS],
                at=timezone.now(),
            )
            return redirect("hits:new_step", draft.pk, STEPS[-1].name)
        with refusals_in(form):
            campaign, *others = create_campaigns(
                plan=form.cleaned_data["plan"],
                endpoint=settings.MTURK_ENDPOINT,
                team=team,
                at=timezone.now(),
            )
            further = f" Further drafts: {', '.join(map(str, others))}." if others else ""
            messages.success(
                request, f"Draft {campaign} created.{further} Check its cost, then publish it."
            )
            return redirect(campaign)
    return form_page(request, "hits/new_campaign/from_file.html", form)


@require_http_methods(["GET", "HEAD", "POST"])
def step(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Show a step of a draft, or store its entries; with htmx, check them while they are typed. The
    entries of a draft that has ended meanwhile are shown again."""
    draft, step = _own_draft(request, pk), BY_NAME.get(name)
    is_entry = request.method == "POST" and step is not None and step.form is not None
    if step is None or (draft.ended_at is not None and not is_entry):
        raise Http404
    if step.form is None:
        return _checklist(request, draft)
    if request.method == "POST":
        return _store(request, draft, step, step.form)
    return _show(request, draft, step, step.form.of(draft))


def _store(
    request: HttpRequest, draft: CampaignDraft, step: Step, form_class: type[StepForm]
) -> HttpResponse:
    form = form_class(request.POST, draft=draft)
    entries = form.entries()
    creates = step is SHORT and "to" not in request.POST and not _is_while_typing(request)
    try:
        change_draft(
            draft=draft,
            step=step.name,
            values=entries.values,
            unfinished=entries.unfinished,
            removed=entries.removed,
            seen=None if "anyway" in request.POST else request.POST.get("seen", ""),
            at=timezone.now(),
        )
    except (DraftChanged, DraftEnded) as error:
        draft.refresh_from_db(fields=["campaign"])
        if creates and isinstance(error, DraftEnded) and draft.campaign is not None:
            return _create(request, draft, is_short=True)  # a second click
        return _show(request, draft, step, form, conflict=error)
    if _is_while_typing(request):
        return _show(request, draft, step, form)
    if form.errors:
        return _show(request, draft, step, form, status=422)
    if creates:
        return _create(request, draft, is_short=True)
    # The pressed button leads to the next step, or to the one that it names.
    wanted = BY_NAME.get(request.POST.get("to", ""), next_of(step))
    return redirect("hits:new_step", draft.pk, wanted.name)


def _is_while_typing(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def _show(
    request: HttpRequest,
    draft: CampaignDraft,
    step: Step,
    form: StepForm,
    *,
    conflict: DomainError | None = None,
    status: int = 200,
) -> HttpResponse:
    seen = request.POST.get("seen", "") if conflict else fingerprint(draft, form.paths())
    context = {
        **_frame(draft, step),
        **side_of(step, draft),
        "form": form,
        "seen": seen,
        "shows_errors": request.method == "POST" or step.name in draft.visited,
        "is_refused": status == 422,
        "conflict": conflict,
        "is_over": isinstance(conflict, DraftEnded),
        "is_while_typing": _is_while_typing(request),
        "stored_at": timezone.now(),
    }
    if _is_while_typing(request):
        context["replaced"] = [
            field.as_widget(attrs={"hx-swap-oob": "true"}) for field in form.in_new_language()
        ]
        return render(request, "hits/new_campaign/checked.html", context)
    # The base itself for a step without a template of its own.
    templates = [f"hits/new_campaign/{name}.html" for name in (step.name, "base")]
    return render(request, templates, context, status=409 if conflict else status)


def _frame(draft: CampaignDraft, step: Step) -> dict[str, Any]:
    faults = faults_of(draft)
    return {
        "draft": draft,
        "step": step,
        "steps": states(draft, step.name, faults),
        "faults": faults,
        "previous": previous_of(step),
        "sandbox": SANDBOX,
        "next": next_of(step),
    }


def _checklist(
    request: HttpRequest, draft: CampaignDraft, *, conflict: DomainError | None = None
) -> HttpResponse:
    checklist = BY_NAME["checklist"]
    context = {
        **_frame(draft, checklist),
        **side_of(checklist, draft),
        "conflict": conflict,
        "text": toml_text(draft.file),
    }
    status = 409 if conflict else 200
    return render(request, "hits/new_campaign/checklist.html", context, status=status)


@require_POST
def create(request: HttpRequest, pk: int) -> HttpResponse:
    """Create the draft's campaign, or change the one that it edits."""
    return _create(request, _own_draft(request, pk))


def _own_draft(request: HttpRequest, pk: int) -> CampaignDraft:
    """The user's draft, also one that has ended; raises Http404 and PermissionDenied."""
    own = CampaignDraft.objects.of(user_of(request)).select_related("team", "campaign")
    draft = get_object_or_404(own, pk=pk)
    require(request, draft.team, Right.MANAGE)
    return draft


def _create(request: HttpRequest, draft: CampaignDraft, *, is_short: bool = False) -> HttpResponse:
    """Use the draft. After the one page for one's own people, publishing and inviting follow."""
    try:
        campaign = save_draft(draft=draft, endpoint=settings.MTURK_ENDPOINT, at=timezone.now())
    except CampaignChanged as error:
        return _checklist(request, draft, conflict=error)
    except DraftIncomplete:
        messages.warning(
            request, "The draft is not complete yet. The checklist says what is missing."
        )
        return redirect("hits:new_step", draft.pk, "checklist")
    except DomainError as error:
        messages.warning(request, str(error))
        return redirect("hits:new_step", draft.pk, "checklist")
    messages.success(request, f"{campaign} is saved as a draft. Nothing is published yet.")
    if is_short:
        return redirect(f"{reverse('hits:publish', args=[campaign.slug])}?invite")
    return redirect(campaign)


@require_POST
def detach(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a draft that edits a campaign one for a new campaign."""
    draft = _own_draft(request, pk)
    with refusals_shown(request):
        detach_draft(draft=draft, at=timezone.now())
        messages.info(request, "This is now a draft of a new campaign. Give it another name.")
        return redirect("hits:new_step", draft.pk, STEPS[0].name)
    return redirect("hits:new_campaign")


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a draft."""
    draft = _own_draft(request, pk)
    with refusals_shown(request):
        delete_draft(draft=draft, at=timezone.now())
        messages.info(request, f"{draft}: draft deleted.")
    return redirect("hits:new_campaign")


@require_safe
def file(request: HttpRequest, pk: int) -> HttpResponse:
    """The draft as a campaign file, for downloading."""
    draft = get_object_or_404(drafts_of(request), pk=pk)
    return toml_file(draft.file, str(draft.file.get("name") or "campaign"))


@require_safe
def campaign_file(request: HttpRequest, slug: str) -> HttpResponse:
    """A campaign's checked file, for downloading."""
    campaign = campaign_of(request, slug, may=Right.SEE_MONEY)
    return toml_file(campaign.config_json, campaign.slug)


def toml_text(values: dict[str, Any]) -> str:
    """The values as a campaign file, with its keys in the order of the schema. Values that are None
    are left out."""
    return tomli_w.dumps(_given(values, _schema()))


@cache
def _schema() -> dict[str, Any]:
    return campaign_file_schema()


def _given(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        # Not every database keeps the order of a JSON object's keys.
        inner: Mapping[str, Any] = schema.get("properties", {})
        keys = [*(key for key in inner if key in value), *sorted(value.keys() - inner.keys())]
        parts = ((key, _given(value[key], inner.get(key, {}))) for key in keys)
        return {key: part for key, part in parts if part is not None}
    if isinstance(value, list | tuple):
        return [_given(part, schema.get("items", {})) for part in value]
    return value


def toml_file(values: dict[str, Any], name: str) -> HttpResponse:
    response = HttpResponse(toml_text(values), content_type="application/toml; charset=utf-8")
    safe = "".join(letter if letter.isalnum() or letter == "-" else "-" for letter in name)[:100]
    response.headers["Content-Disposition"] = f'attachment; filename="{safe}.toml"'
    return response


@require_POST
@once()
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin a draft with the settings of a campaign and a name that is free."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    draft = begin_draft(
        owner=user_of(request),
        team=campaign.team,
        file={**campaign.config_json, "name": _free(campaign.slug)},
        at=timezone.now(),
    )
    return redirect("hits:new_step", draft.pk, STEPS[0].name)


@require_POST
@once()
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the steps for a draft campaign."""
    campaign = campaign_of(request, slug, may=Right.MANAGE)
    draft = begin_draft(
        owner=user_of(request), file=campaign.config_json, at=timezone.now(), campaign=campaign
    )
    return redirect("hits:new_step", draft.pk, STEPS[-1].name)


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
        step = shown_question(campaign, Question(practised[captions[0].image], captions))
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
