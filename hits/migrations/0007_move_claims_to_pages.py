from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

from django.db import migrations
from django.db.models import Count, F, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

COUNTS = ['keystrokes', 'pastes', 'pasted_characters', 'seconds_writing', 'times_left']
LOT = 1000


def forwards(apps, schema_editor):
    """Link responses to their assignments; keep held claims, and what was stored and not submitted,
    as pages; drop the rest of what the marketplace never reported."""
    alias = schema_editor.connection.alias
    Assignment = apps.get_model('hits', 'Assignment')
    Claim = apps.get_model('annotate', 'Claim')
    Response = apps.get_model('annotate', 'Response')
    links = Assignment.claims.through.objects.using(alias)
    latest = (
        links.filter(claim=OuterRef('claim')).exclude(assignment__status='OPENED')
        .order_by('-assignment').values('assignment')[:1]
    )
    responses = Response.objects.using(alias)
    responses.exclude(status='STORED').exclude(claim=None).update(assignment=Subquery(latest))
    opened = Assignment.objects.using(alias).filter(status='OPENED').select_related('account', 'hit')
    for assignment in opened.order_by('pk'):
        keep_page(apps, alias, assignment)
    responses.filter(status='STORED').delete()
    responses.update(claim=None)
    links.all()._raw_delete(alias)
    Claim.objects.using(alias).filter(page=None)._raw_delete(alias)
    Assignment.objects.using(alias).filter(status='OPENED').delete()
    recount(apps, alias)


def keep_page(apps, alias, assignment):
    """A page for an assignment that was opened and still holds claims."""
    Response = apps.get_model('annotate', 'Response')
    TaskPage = apps.get_model('hits', 'TaskPage')
    claims = list(assignment.claims.filter(status='HELD', page=None).order_by('pk'))
    if not claims:
        return
    stored = Response.objects.using(alias).filter(status='STORED', claim__in=claims)
    answers = list(stored.select_related('task', 'caption', 'correspondence', 'behaviour'))
    behaviours = [answer.behaviour for answer in answers if hasattr(answer, 'behaviour')]
    fields: dict[str, str] = {}
    for answer in answers:
        fields |= fields_of(answer)
    page = TaskPage.objects.using(alias).create(
        hit=assignment.hit,
        assignment_id=assignment.assignment_id,
        marketplace_id=assignment.account.marketplace_id,
        opened_at=min(claim.claimed_at for claim in claims),
        expires_at=max(claim.expires_at for claim in claims),
        answered_at=max((answer.stored_at for answer in answers), default=None),
        fields=fields,
        counts={str(answer.task.number): counts_of(answer) for answer in answers},
        device=behaviours[0].device if behaviours else '',
    )
    assignment.claims.filter(pk__in=[claim.pk for claim in claims]).update(page=page)


def fields_of(response: Any) -> dict[str, str]:
    """The fields of the task page's form, as they were when this migration was written."""
    number = response.task.number
    if hasattr(response, 'caption'):
        return {f'caption-{number}': response.caption.text}
    if not hasattr(response, 'correspondence'):
        return {}
    return {
        f'word-{word}-{number}': said if isinstance(said, str) else ' '.join(f'box:{box}' for box in said)
        for word, said in response.correspondence.words.items()
    }


def counts_of(response: Any) -> dict[str, float]:
    behaviour = getattr(response, 'behaviour', None)
    found = {name: getattr(behaviour, name, None) for name in COUNTS}
    return {name: value for name, value in found.items() if value is not None}


def recount(apps, alias):
    Task = apps.get_model('annotate', 'Task')
    Claim = apps.get_model('annotate', 'Claim')
    Response = apps.get_model('annotate', 'Response')
    counting = Response.objects.using(alias).filter(status='SUBMITTED')
    tasks = Task.objects.using(alias)
    tasks.update(answers_missing=F('wanted') - number_of(counting))
    tasks.update(places_left=F('answers_missing') - number_of(Claim.objects.using(alias)))


def number_of(rows):
    counted = rows.filter(task=OuterRef('pk')).order_by().values('task').annotate(n=Count('pk'))
    return Coalesce(Subquery(counted.values('n'), output_field=IntegerField()), 0)


def backwards(apps, schema_editor):
    """Give each response of an assignment a used claim; pages, of which the marketplace reported
    nothing, are dropped."""
    alias = schema_editor.connection.alias
    Assignment = apps.get_model('hits', 'Assignment')
    Claim = apps.get_model('annotate', 'Claim')
    Response = apps.get_model('annotate', 'Response')
    Claim.objects.using(alias).exclude(page=None)._raw_delete(alias)
    apps.get_model('hits', 'TaskPage').objects.using(alias).all().delete()
    responses = Response.objects.using(alias)
    responses.update(stored_at=F('submitted_at'))
    rows = responses.exclude(assignment=None).order_by('pk').iterator()
    for lot in lots(rows):
        claims = Claim.objects.using(alias).bulk_create(
            Claim(
                task_id=response.task_id,
                worker_id=response.worker_id,
                status='USED',
                claimed_at=response.submitted_at,
                expires_at=response.submitted_at + timedelta(seconds=1),
            )
            for response in lot
        )
        for response, claim in zip(lot, claims, strict=True):
            response.claim = claim
        responses.bulk_update(lot, ['claim'])
        Through = Assignment.claims.through
        Through.objects.using(alias).bulk_create(
            Through(assignment_id=response.assignment_id, claim_id=response.claim_id)
            for response in lot
        )
    Task = apps.get_model('annotate', 'Task').objects.using(alias)
    Task.update(places_left=F('answers_missing'))


def lots(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while lot := list(islice(rows, LOT)):
        yield lot


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0009_claims_belong_to_pages'),
        ('hits', '0006_task_pages'),
    ]

    operations = [migrations.RunPython(forwards, backwards)]
