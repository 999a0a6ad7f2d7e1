"""Campaigns of any size in the scratch database: images with boxes, tasks, workers, captions.

SQL statements create the rows inside the database, because inserting them from Python takes long.
"""

from datetime import UTC, datetime

from django.db import connection
from django.db.models import Model

from accounts.services.teams import first_team
from annotate.kinds.campaign_files import parse_config
from annotate.models import (
    Box,
    Campaign,
    CampaignStatus,
    Caption,
    ClassRelation,
    Image,
    ImageSource,
    ObjectClass,
    RelationKind,
    Response,
    ResponseStatus,
    SelectedImage,
    Selection,
    Task,
    Worker,
)
from annotate.queries.keywords import KEYWORDS

AT = datetime(2026, 11, 2, 12, tzinfo=UTC)
BUDGET = "99999.00"
CLASSES = 600  # boxable classes of Open Images
CLASSES_PER_IMAGE = 4  # as in nocaps (Agrawal et al. 2019, section 3.1)
RANDOM_KEY = {"postgresql": "gen_random_uuid()", "sqlite": "lower(hex(randomblob(16)))"}
SENTENCE = "Two children with red umbrellas wait beside an old stone bridge, "


def make_campaign(*, name: str, images: int, wanted: int = 11) -> Campaign:
    """A running campaign with a task for each of this many new images, which have boxes of four
    classes."""
    selection = Selection.objects.create(
        team=first_team(at=AT),
        name=name,
        split=name,
        count=images,
        sample=10,
        seed=0,
        created_at=AT,
    )
    config = parse_config(
        {
            "name": name,
            "preset": "nocaps",
            "selection": name,
            "budget": BUDGET,
            "references": wanted - 1,
        }
    )
    campaign = Campaign.objects.create(
        team=first_team(at=AT),
        slug=name,
        kind=config.kind,
        selection=selection,
        status=CampaignStatus.RUNNING,
        endpoint="local",
        budget=config.budget,
        config_json=config.model_dump(mode="json"),
        created_at=AT,
    )
    first_class = _make_classes()
    insert(
        Image,
        numbers(images),
        source=f"'{ImageSource.OPEN_IMAGES}'",
        key=f"'{name}-' || i",
        split=f"'{name}'",
        rotation="0",
        width="1024",
        height="768",
        url=f"'https://images.example/{name}/' || i || '.jpg'",
        author="'A. Photographer'",
        license_url="'https://creativecommons.org/licenses/by/2.0/'",
    )
    first = Image.objects.filter(split=name).order_by("pk").values_list("pk", flat=True)[0]
    insert(
        Box,
        f"{numbers(images)} CROSS JOIN {numbers(CLASSES_PER_IMAGE, 'k')}",
        image_id=f"{first} + i - 1",
        object_class_id=f"{first_class} + (i * 7 + k * 151) % {CLASSES}",
        x_min="0.1",
        x_max="0.4",
        y_min="0.2",
        y_max="0.8",
    )
    places = {"image_id": f"{first} + i - 1"}
    insert(SelectedImage, numbers(images), selection_id=str(selection.pk), position="i", **places)
    insert(
        Task,
        numbers(images),
        campaign_id=str(campaign.pk),
        number="i",
        wanted=str(wanted),
        answers_missing=str(wanted),
        places_left=str(wanted),
        payload=_keywords(),
        **places,
    )
    return campaign


def make_workers(count: int) -> list[Worker]:
    return Worker.objects.bulk_create([Worker() for _ in range(count)])


def add_captions(
    campaign: Campaign, workers: list[Worker], *, each: int, tasks: int | None = None
) -> None:
    """Add submitted captions for the campaign's first tasks (default: all), `each` of them by
    different workers, and update counters. The workers must have been created by one call."""
    last = Response.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    chosen = f"campaign_id = {campaign.pk} AND number <= {tasks or campaign.tasks.count()}"
    at = f"'{AT:%Y-%m-%d %H:%M:%S}+00:00'"
    if connection.vendor == "sqlite":
        at = at.replace("+00:00", "")
    insert(
        Response,
        f"annotate_task AS task CROSS JOIN {numbers(each, 'k')} WHERE {chosen}",
        campaign_id=str(campaign.pk),
        task_id="task.id",
        worker_id=f"{workers[0].pk} + (task.number + k) % {len(workers)}",
        key=RANDOM_KEY[connection.vendor],
        status=f"'{ResponseStatus.SUBMITTED}'",
        submitted_at=at,
        seconds="40",
    )
    insert(
        Caption,
        f"annotate_response AS response WHERE response.id > {last}",
        response_id="response.id",
        text=f"'{SENTENCE}number ' || response.id || '.'",
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE annotate_task SET answers_missing = answers_missing - {each}, "
            f"places_left = places_left - {each} WHERE {chosen}"
        )


def numbers(last: int, name: str = "i") -> str:
    """SQL for a table of the numbers from 1 to `last`, in a column of this name."""
    return (
        f"(WITH RECURSIVE count_{name}({name}) AS (SELECT 1 UNION ALL "
        f"SELECT {name} + 1 FROM count_{name} WHERE {name} < {last}) "
        f"SELECT {name} FROM count_{name}) AS numbers_{name}"
    )


def _keywords() -> str:
    """SQL for the payload of task `i`: the names of the classes of its image's boxes."""
    numbers = (f"(i * 7 + {k * 151}) % {CLASSES} + 1" for k in range(1, CLASSES_PER_IMAGE + 1))
    names = " || ', ' || ".join(f"'\"Class ' || ({number}) || '\"'" for number in numbers)
    column = {"postgresql": "jsonb", "sqlite": "text"}[connection.vendor]
    return f"CAST('{{\"{KEYWORDS}\": [' || {names} || ']}}' AS {column})"


def _make_classes() -> int:
    """Create as many classes as Open Images boxes, under one root, unless they exist. Returns the
    first one's key."""
    if not ObjectClass.objects.exists():
        classes = ObjectClass.objects.bulk_create(
            ObjectClass(label=f"/m/{number:05x}", name=f"Class {number}")
            for number in range(CLASSES + 1)
        )
        ClassRelation.objects.bulk_create(
            ClassRelation(
                parent=classes[0],
                child=child,
                kind=RelationKind.PART if number % 30 == 0 else RelationKind.SUBCATEGORY,
            )
            for number, child in enumerate(classes[1:])
        )
    return ObjectClass.objects.order_by("pk").values_list("pk", flat=True)[1]


def insert(model: type[Model], source: str, /, **columns: str) -> None:
    """Insert a row for each row of `source`. `columns` are SQL; other columns get their
    defaults."""
    names, values, defaults = [], [], []
    for field in model._meta.local_concrete_fields:
        if field.column in columns:
            values.append(columns[field.column])
        elif field.primary_key:
            continue
        else:
            values.append("%s")
            defaults.append(field.get_db_prep_save(field.get_default(), connection))
        names.append(f'"{field.column}"')
    with connection.cursor() as cursor:
        # Percent signs are doubled, because the defaults are parameters.
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({', '.join(names)}) "
            f"SELECT {', '.join(v if v == '%s' else v.replace('%', '%%') for v in values)} "
            f"FROM {source.replace('%', '%%')}",
            defaults,
        )
