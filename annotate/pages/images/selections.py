"""List and show selections, and make new ones."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import Right, Team
from accounts.pages.lists import page_of, stretch_of
from accounts.pages.once import once
from accounts.pages.signed_in import form_page, user_of
from accounts.rights import current_team, require, team_to_change
from annotate.models import Image, Procedure, SelectedImage, Selection
from annotate.pages.images.browser import (
    PER_PAGE,
    clear_picked,
    picked_images,
    visible_images,
    visible_selections,
)
from annotate.queries.images import is_by_nocaps, pools_of, splits
from annotate.services import selections as services
from annotate.services.names import SLUG, address_of, free_name
from background.pages.jobs import begin_job
from corpora.datasets.image_names import decoded_image_ids
from corpora.errors import DomainError
from corpora.selection.choose import DEFAULT_SAMPLE
from corpora.wording import counted
from shared.number_fields import WholeNumberField

PROCEDURES = {
    Procedure.ALL: "all images of the split",
    Procedure.RANDOM: "images at random",
    Procedure.NOCAPS: "the procedure of nocaps, which balances object classes",
    Procedure.PICKED: "the images picked by hand",
    Procedure.LISTED: "the images of a list",
}
LARGEST = 2**31 - 1


class SelectionForm(forms.Form):
    """A new selection."""

    name = forms.CharField(
        max_length=100,
        help_text="Any name. Addresses and campaign files get it in letters, digits and hyphens.",
    )
    procedure = forms.ChoiceField(
        label="Which images",
        choices=[(value.value, label) for value, label in PROCEDURES.items()],
        widget=forms.RadioSelect,
        initial=Procedure.ALL.value,
    )
    split = forms.ChoiceField(required=False, help_text="Not needed for picked images.")
    ids = forms.FileField(
        label="List of images",
        required=False,
        help_text="Only for the images of a list: a file with an image id or a file name in each "
        "line, or a JSON file in the form of nocaps or COCO.",
    )
    count = WholeNumberField(
        label="Number of images",
        required=False,
        min_value=1,
        max_value=LARGEST,
        help_text="For images at random and for the procedure of nocaps.",
    )
    seed = WholeNumberField(
        required=False,
        min_value=-LARGEST,
        max_value=LARGEST,
        initial=0,
        help_text="The same seed always draws the same images.",
    )
    sample = WholeNumberField(
        label="Images compared for each choice",
        required=False,
        min_value=1,
        max_value=LARGEST,
        initial=DEFAULT_SAMPLE,
        help_text="Only for the procedure of nocaps.",
    )

    def __init__(self, request: HttpRequest, split_names: list[str], picked: int) -> None:
        data = request.POST if request.method == "POST" else None
        initial = {"split": request.GET.get("split"), "procedure": request.GET.get("procedure")}
        super().__init__(
            data,
            request.FILES if data is not None else None,
            initial={name: value for name, value in initial.items() if value},
            label_suffix="",
        )
        split = initial["split"] or (split_names[0] if len(split_names) == 1 else "")
        base = address_of(f"{split}-some" if split else "", "selection")
        self.fields["name"].initial = free_name(Selection.objects.all(), base)
        field: Any = self.fields["split"]
        field.choices = [(name, name) for name in split_names]
        if not picked:
            choices: Any = self.fields["procedure"]
            choices.choices = [
                pair for pair in choices.choices if pair[0] != Procedure.PICKED.value
            ]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        return name if SLUG.fullmatch(name) else address_of(name, "selection")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        procedure = values.get("procedure")
        needs_count = procedure in {Procedure.RANDOM, Procedure.NOCAPS}
        if needs_count and not values.get("count") and "count" not in self.errors:
            self.add_error("count", "Say how many images.")
        if procedure == Procedure.LISTED and not values.get("ids") and "ids" not in self.errors:
            self.add_error("ids", "Choose a file with the list.")
        if procedure != Procedure.PICKED and not values.get("split"):
            self.add_error("split", "Choose a split.")
        values["seed"] = values.get("seed") or 0
        values["sample"] = values.get("sample") or DEFAULT_SAMPLE
        return values


@require_safe
def selections(request: HttpRequest) -> HttpResponse:
    """List the selections, the latest first."""
    rows = visible_selections(request).annotate(campaign_count=Count("campaigns"))
    page = page_of(rows.order_by("-created_at", "-pk"), request)
    return render(request, "annotate/images/selections.html", {"page": page})


@require_safe
def selection(request: HttpRequest, name: str) -> HttpResponse:
    """A selection: how it was made, its images, and the campaigns that use it."""
    visible = Selection.objects.visible_to(user_of(request)).select_related("team")
    selection = get_object_or_404(visible, name=name)
    require(request, selection.team, Right.VIEW)
    rows = SelectedImage.objects.filter(selection=selection).select_related("image")
    images = Image.objects.of_team(selection.team)
    context = {
        "selection": selection,
        "stretch": stretch_of(rows, request, by=("position",), per_page=PER_PAGE),
        "campaigns": selection.campaigns.order_by("slug"),
        "pools": (
            pools_of(selection.split, images, selection.ignored_classes, selection)
            if is_by_nocaps(selection) and "pools" in request.GET
            else None
        ),
        "is_by_nocaps": is_by_nocaps(selection),
        "split_count": images.filter(split=selection.split).count(),
    }
    return render(request, "annotate/images/selection.html", context)


@require_safe
def pools(request: HttpRequest) -> HttpResponse:
    """The pools of a split, before a selection is made of it."""
    split = request.GET.get("split", "")
    ignored = services.ignored_names(team=current_team(request))
    pools = pools_of(split, visible_images(request), ignored)
    context = {
        "split": split,
        "pools": pools,
        "ignored": ignored,
        "count": pools.images,
    }
    return render(request, "annotate/images/pools.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def new_selection(request: HttpRequest) -> HttpResponse:
    """Make a selection, or show the form for it."""
    team = team_to_change(request)
    available = splits(visible_images(request))
    names = list(dict.fromkeys(split.name for split in available))
    picked = picked_images(request)
    form = SelectionForm(request, names, len(picked))
    if request.method == "POST" and form.is_valid():
        try:
            return _make(request, team, form.cleaned_data)
        except services.NameTaken as error:
            form.add_error("name", str(error))
        except DomainError as error:
            form.add_error(None, str(error))
    context = {"splits": available, "picked": picked}
    return form_page(request, "annotate/images/new_selection.html", form, context)


def _make(request: HttpRequest, team: Team, values: dict[str, Any]) -> HttpResponse:
    """Make the selection now, or request a job for nocaps' procedure, which takes longer."""
    name, split, at = values["name"], values["split"], timezone.now()
    procedure = values["procedure"]
    made: Selection
    if procedure == Procedure.NOCAPS:
        numbers = {key: values[key] for key in ("name", "split", "count", "seed", "sample")}
        services.check_draw(**numbers, team=team)
        return redirect(begin_job(request, kind="select_images", arguments=numbers))
    if procedure == Procedure.ALL:
        made = services.select_all(name=name, split=split, team=team, at=at)
    elif procedure == Procedure.RANDOM:
        made = services.select_random(
            name=name,
            split=split,
            count=values["count"],
            seed=values["seed"],
            team=team,
            at=at,
        )
    elif procedure == Procedure.LISTED:
        listed = values["ids"]
        ids = decoded_image_ids(listed.name, listed.read())
        made, unknown = services.select_listed(name=name, split=split, ids=ids, team=team, at=at)
        if unknown:
            messages.warning(request, services.unknown_ids(unknown, split))
    else:
        images = visible_images(request).filter(pk__in=picked_images(request))
        visible = set(images.values_list("pk", flat=True))
        chosen = [image for image in picked_images(request) if image in visible]
        made = services.select_picked(name=name, images=chosen, team=team, at=at)
        clear_picked(request)
    messages.success(request, f"{made.name}: {counted(made.count, 'image')} selected.")
    return redirect("images:selection", made.name)
