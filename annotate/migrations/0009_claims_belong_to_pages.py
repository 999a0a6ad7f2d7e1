import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Add what pages and reported assignments need. The columns that they replace may be empty from
    here on, so that 0010 can be reversed."""

    dependencies = [
        ('annotate', '0008_drop_tokens_without_an_end'),
        ('hits', '0006_task_pages'),
    ]

    operations = [
        migrations.AddField(
            model_name='task',
            name='answers_missing',
            field=models.SmallIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='claim',
            name='page',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='claims', to='hits.taskpage'),
        ),
        migrations.AlterField(
            model_name='claim',
            name='worker',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='claims', to='annotate.worker'),
        ),
        migrations.AlterField(
            model_name='claim',
            name='claimed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name='claim',
            name='expires_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='response',
            name='assignment',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='hits.assignment'),
        ),
        migrations.AlterField(
            model_name='response',
            name='stored_at',
            field=models.DateTimeField(null=True),
        ),
    ]
