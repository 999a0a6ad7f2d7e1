import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0003_correspondences'),
        ('hits', '0005_hit_read_at'),
    ]

    operations = [
        migrations.CreateModel(
            name='TaskPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment_id', models.CharField(max_length=64)),
                ('marketplace_id', models.CharField(max_length=64)),
                ('opened_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('fields', models.JSONField(blank=True, default=dict)),
                ('counts', models.JSONField(blank=True, default=dict)),
                ('device', models.CharField(blank=True, choices=[('PHONE', 'Phone'), ('TABLET', 'Tablet'), ('COMPUTER', 'Computer')], max_length=8)),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='hits.hit')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['expires_at'], name='task_page_lapsing'),
                    models.Index(fields=['marketplace_id'], name='task_page_by_worker'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('hit', 'assignment_id', 'marketplace_id'), name='task_page_once_per_worker'),
                    models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('opened_at'))), name='task_page_lasts'),
                ],
            },
        ),
    ]
