import background.models
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
    ]

    operations = [
        migrations.CreateModel(
            name='Failure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('about_type', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='contenttypes.contenttype')),
                ('about_id', models.PositiveBigIntegerField(editable=False, null=True)),
                ('source', models.CharField(choices=[('JOB', 'job'), ('TASK', 'background task'), ('SYNC', 'sync'), ('DELIVERY', 'notice')], max_length=8)),
                ('subject', models.CharField(max_length=200)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='failures', to='accounts.team')),
                ('title', models.CharField(max_length=200)),
                ('arguments', models.JSONField(blank=True, default=dict)),
                ('error', models.TextField(help_text='what went wrong, in words')),
                ('path', models.CharField(blank=True, help_text='a page with more about it', max_length=500)),
                ('times', models.PositiveIntegerField(default=1)),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('ended_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-last_at', '-pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('source', 'subject'), name='failure_open_once_per_subject'), models.CheckConstraint(condition=models.Q(('error', ''), _negated=True), name='failure_says_why')],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('run', models.UUIDField(editable=False, null=True)),
                ('about_type', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='contenttypes.contenttype')),
                ('about_id', models.PositiveBigIntegerField(editable=False, null=True)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='accounts.team')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.SlugField(help_text='a name in background.jobs.work', max_length=40)),
                ('title', models.CharField(max_length=200)),
                ('arguments', models.JSONField(blank=True, default=dict)),
                ('fingerprint', models.CharField(editable=False, max_length=64)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to=settings.AUTH_USER_MODEL)),
                ('repeats', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='repeated_by', to='background.job')),
                ('status', models.CharField(choices=[('WAITING', 'Waiting'), ('RUNNING', 'Running'), ('DONE', 'Done'), ('FAILED', 'Failed'), ('CANCELLED', 'Cancelled')], default='WAITING', max_length=9)),
                ('step', models.CharField(blank=True, help_text='what it does now, in words', max_length=200)),
                ('done', models.PositiveBigIntegerField(default=0)),
                ('total', models.PositiveBigIntegerField(null=True)),
                ('doubted_at', models.DateTimeField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
                ('asked_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('cancel_asked_at', models.DateTimeField(null=True)),
                ('cancel_asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('result_text', models.TextField(blank=True)),
                ('result_url', models.CharField(blank=True, max_length=500)),
                ('result_file', models.CharField(blank=True, max_length=500)),
                ('error', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['-asked_at', '-pk'],
                'indexes': [models.Index(condition=models.Q(('status', 'WAITING')), fields=['due_at'], name='job_to_start_by_turn'), models.Index(condition=models.Q(('status', 'RUNNING')), fields=['due_at'], name='job_running_by_lease'), models.Index(fields=['-asked_at', '-id'], name='job_latest_first'), models.Index(fields=['about_type', 'about_id'], name='job_by_subject')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['WAITING', 'RUNNING'])), fields=('kind', 'fingerprint'), name='job_once_at_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('due_at__isnull', False), ('run__isnull', False), ('status', 'RUNNING')), models.Q(models.Q(('status', 'RUNNING'), _negated=True), ('doubted_at', None), ('run', None)), _connector='OR'), name='job_lease_matches_status'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('status__in', ['WAITING', 'RUNNING'])), models.Q(('ended_at__isnull', False), ('status__in', ['DONE', 'FAILED', 'CANCELLED'])), _connector='OR'), name='job_end_matches_status'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'FAILED'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('status', 'FAILED'), _negated=True), ('error', '')), _connector='OR'), name='job_failed_says_why'), models.CheckConstraint(condition=models.Q(('total', None), ('done__lte', models.F('total')), _connector='OR'), name='job_done_within_total')],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('about_type', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='contenttypes.contenttype')),
                ('about_id', models.PositiveBigIntegerField(editable=False, null=True)),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.SlugField(help_text='a name in background.notices.registry', max_length=40)),
                ('subject', models.CharField(max_length=200)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='accounts.team')),
                ('is_personal', models.BooleanField(default=False)),
                ('title', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('path', models.CharField(help_text='the page to open', max_length=300)),
                ('noticed_at', models.DateTimeField()),
                ('over_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-noticed_at', '-pk'],
                'indexes': [models.Index(fields=['kind', 'subject', 'noticed_at'], name='notice_by_subject'), models.Index(fields=['about_type', 'about_id', '-noticed_at'], name='notice_by_topic')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('over_at', None)), fields=('kind', 'subject'), name='notice_open_once')],
            },
        ),
        migrations.CreateModel(
            name='NoticeChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='choices', to=settings.AUTH_USER_MODEL)),
                ('kind', models.SlugField(max_length=40)),
                ('is_on', models.BooleanField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='notice_choice_once')],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('about_type', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='contenttypes.contenttype')),
                ('about_id', models.PositiveBigIntegerField(editable=False, null=True)),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('url', models.CharField(max_length=500)),
                ('secret', models.CharField(default=background.models.new_secret, editable=False, max_length=100)),
                ('kinds', models.JSONField(default=list, help_text='names of the kinds of notices that it gets')),
                ('is_on', models.BooleanField(default=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField()),
                ('removed_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('about_type', 'about_id', 'url'), name='webhook_address_once_per_campaign')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('run', models.UUIDField(editable=False, null=True)),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('notice', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='background.notice')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to=settings.AUTH_USER_MODEL)),
                ('webhook', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='background.webhook')),
                ('status', models.CharField(choices=[('WAITING', 'Waiting'), ('SENT', 'Sent'), ('GIVEN_UP', 'given up')], default='WAITING', max_length=8)),
                ('ended_at', models.DateTimeField(null=True)),
                ('error', models.TextField(blank=True, help_text='why the last attempt failed')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(condition=models.Q(('status', 'WAITING')), fields=['due_at'], name='delivery_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('user', None), ('webhook__isnull', False)), models.Q(('user__isnull', False), ('webhook', None)), _connector='OR'), name='delivery_to_a_user_or_a_webhook'), models.UniqueConstraint(fields=('notice', 'user'), name='delivery_once_per_user'), models.UniqueConstraint(fields=('notice', 'webhook'), name='delivery_once_per_webhook'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('status', 'WAITING')), models.Q(models.Q(('status', 'WAITING'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='delivery_end_matches_status'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'GIVEN_UP'), _negated=True), models.Q(('error', ''), _negated=True), _connector='OR'), name='delivery_given_up_says_why')],
            },
        ),
        migrations.CreateModel(
            name='JobLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='background.job')),
                ('at', models.DateTimeField()),
                ('text', models.TextField()),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
    ]
