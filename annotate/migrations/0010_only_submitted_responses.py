import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0009_claims_belong_to_pages'),
        ('hits', '0008_only_reported_assignments'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='claim',
            name='claim_held_once_per_worker_and_task',
        ),
        migrations.RemoveConstraint(
            model_name='claim',
            name='claim_lasts',
        ),
        migrations.RemoveConstraint(
            model_name='response',
            name='response_submitted_at_matches_status',
        ),
        migrations.RemoveConstraint(
            model_name='task',
            name='task_places_within_wanted',
        ),
        migrations.RemoveIndex(
            model_name='claim',
            name='claim_lapsing',
        ),
        migrations.RemoveIndex(
            model_name='task',
            name='task_emptiest_first',
        ),
        migrations.RemoveField(
            model_name='claim',
            name='claimed_at',
        ),
        migrations.RemoveField(
            model_name='claim',
            name='expires_at',
        ),
        migrations.RemoveField(
            model_name='claim',
            name='status',
        ),
        migrations.RemoveField(
            model_name='claim',
            name='worker',
        ),
        migrations.RemoveField(
            model_name='response',
            name='claim',
        ),
        migrations.RemoveField(
            model_name='response',
            name='stored_at',
        ),
        migrations.AlterField(
            model_name='claim',
            name='page',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='claims', to='hits.taskpage'),
        ),
        migrations.AlterField(
            model_name='response',
            name='status',
            field=models.CharField(choices=[('SUBMITTED', 'submitted: counts towards the task'), ('DISCARDED', 'discarded: kept, but not counted')], default='SUBMITTED', max_length=9),
        ),
        migrations.AlterField(
            model_name='response',
            name='submitted_at',
            field=models.DateTimeField(),
        ),
        migrations.AddIndex(
            model_name='task',
            index=models.Index(models.F('campaign'), models.OrderBy(models.F('places_left'), descending=True), models.F('number'), condition=models.Q(('answers_missing__gt', 0)), name='task_emptiest_first'),
        ),
        migrations.AddConstraint(
            model_name='claim',
            constraint=models.UniqueConstraint(fields=('page', 'task'), name='claim_once_per_page_and_task'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('places_left__lte', models.F('answers_missing')), ('answers_missing__lte', models.F('wanted'))), name='task_places_within_wanted'),
        ),
    ]
