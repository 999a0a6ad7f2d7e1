import datetime
import django.db.models.deletion
import hits.models.syncs
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotate', '0001_initial'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='CallPace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('endpoint', models.CharField(max_length=300, unique=True)),
                ('next_at', models.DateTimeField()),
                ('pause', models.DurationField(default=datetime.timedelta)),
            ],
        ),
        migrations.CreateModel(
            name='HitType',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hit_types', to='annotate.campaign')),
                ('hit_type_id', models.CharField(max_length=64)),
                ('exclusion_type_id', models.CharField(max_length=64)),
                ('reward', models.DecimalField(blank=True, decimal_places=2, max_digits=8, null=True)),
                ('queue_url', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'hit_type_id'), name='hit_type_once_per_campaign')],
            },
        ),
        migrations.CreateModel(
            name='Installation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(default=hits.models.syncs.new_installation_name, editable=False, max_length=16)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='installation_is_one')],
            },
        ),
        migrations.CreateModel(
            name='ProcessedMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('document_id', models.CharField(max_length=100, unique=True)),
                ('received_at', models.DateTimeField()),
                ('problem', models.CharField(blank=True, max_length=300)),
                ('body', models.TextField(blank=True)),
            ],
            options={
                'indexes': [models.Index(fields=['received_at'], name='processed_message_by_age')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('problem', ''), _negated=True), ('body', ''), _connector='OR'), name='processed_message_body_kept_with_a_problem_only')],
            },
        ),
        migrations.CreateModel(
            name='Sync',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='syncs', to='annotate.campaign')),
                ('started_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('seen_at', models.DateTimeField(blank=True, null=True)),
                ('is_whole', models.BooleanField(default=True)),
                ('listing', models.CharField(blank=True, choices=[('', 'none, or not to its end because of an error'), ('CAMPAIGN', "as far as the campaign's own HITs go"), ('ACCOUNT', 'all of it')], default='', max_length=8)),
                ('api_calls', models.PositiveIntegerField(default=0)),
                ('ingested', models.PositiveIntegerField(default=0)),
                ('approved', models.PositiveIntegerField(default=0)),
                ('rejected', models.PositiveIntegerField(default=0)),
                ('hits_created', models.PositiveIntegerField(default=0)),
                ('hits_retired', models.PositiveIntegerField(default=0)),
                ('problems', models.PositiveIntegerField(default=0)),
                ('error', models.TextField(blank=True)),
                ('people_missing', models.PositiveIntegerField(blank=True, null=True)),
                ('notes', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='SyncProblem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sync_problems', to='annotate.campaign')),
                ('subject', models.CharField(max_length=200)),
                ('message', models.TextField()),
                ('times', models.PositiveIntegerField(default=1)),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-last_at', 'subject'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'subject'), name='sync_problem_once_per_subject')],
            },
        ),
        migrations.CreateModel(
            name='WorkerAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='account', to='annotate.worker')),
                ('endpoint', models.CharField(max_length=300)),
                ('marketplace_id', models.CharField(max_length=64)),
                ('id_deleted_at', models.DateTimeField(blank=True, null=True)),
                ('erased_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('endpoint', 'marketplace_id'), name='worker_account_once_per_endpoint')],
            },
        ),
        migrations.CreateModel(
            name='WorkerMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='worker_messages', to='annotate.campaign')),
                ('key', models.CharField(max_length=64, unique=True)),
                ('subject', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('sender', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='worker_messages', to=settings.AUTH_USER_MODEL)),
                ('planned_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('subject', ''), _negated=True), models.Q(('text', ''), _negated=True)), name='worker_message_says_something')],
            },
        ),
        migrations.CreateModel(
            name='Hit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='annotate.campaign')),
                ('hit_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='hits.hittype')),
                ('token', models.CharField(max_length=64, unique=True)),
                ('hit_id', models.CharField(blank=True, max_length=64, null=True, unique=True)),
                ('status', models.CharField(choices=[('PLANNED', 'planned: written down here, perhaps asked for already'), ('OPEN', 'open at the marketplace'), ('EXPIRED', 'expired: takes no new workers'), ('RETIRED', 'retired: deleted at the marketplace, all its work settled'), ('GONE', 'gone: the marketplace does not have it, and it was not deleted from here')], default='PLANNED', max_length=7)),
                ('slots', models.PositiveSmallIntegerField()),
                ('reward', models.DecimalField(decimal_places=2, max_digits=8)),
                ('fee', models.DecimalField(decimal_places=2, help_text='for one assignment', max_digits=8)),
                ('planned_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('available', models.PositiveSmallIntegerField(default=0)),
                ('pending', models.PositiveSmallIntegerField(default=0)),
                ('unread_since', models.DateTimeField(blank=True, null=True)),
                ('to_read', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('listed_at', models.DateTimeField(blank=True, null=True)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
                ('ingested', models.PositiveSmallIntegerField(default=0)),
                ('settled', models.PositiveSmallIntegerField(default=0)),
                ('paid', models.PositiveSmallIntegerField(blank=True, null=True)),
            ],
            options={
                'verbose_name': 'HIT',
                'verbose_name_plural': 'HITs',
                'indexes': [models.Index(fields=['campaign', 'status'], name='hit_by_status'), models.Index(condition=models.Q(('paid__isnull', True)), fields=['campaign'], name='hit_not_paid_yet'), models.Index(condition=models.Q(('to_read__isnull', False)), fields=['campaign'], name='hit_to_read')],
                'constraints': [models.CheckConstraint(condition=models.Q(('slots__gte', 1), ('slots__lte', 9)), name='hit_one_to_nine_slots'), models.CheckConstraint(condition=models.Q(('available__lte', models.F('slots')), ('pending__lte', models.F('slots'))), name='hit_counts_within_slots'), models.CheckConstraint(condition=models.Q(('settled__lte', models.F('ingested')), ('ingested__lte', models.F('slots'))), name='hit_settled_within_ingested'), models.CheckConstraint(condition=models.Q(models.Q(('hit_id', None), ('status', 'PLANNED')), models.Q(models.Q(('status', 'PLANNED'), _negated=True), ('hit_id__isnull', False)), _connector='OR'), name='hit_has_an_id_once_created'), models.CheckConstraint(condition=models.Q(('paid', None), ('status', 'RETIRED'), _connector='OR'), name='hit_paid_once_retired'), models.CheckConstraint(condition=models.Q(('to_read', None), ('unread_since__isnull', False), _connector='OR'), name='hit_to_read_is_unread')],
            },
        ),
        migrations.CreateModel(
            name='MessageRecipient',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='recipients', to='hits.workermessage')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='hits.workeraccount')),
                ('status', models.CharField(choices=[('PLANNED', 'waits for the next sync'), ('SENDING', 'sent, or not: the outcome is not known'), ('SENT', 'sent'), ('NOT_REACHED', 'the marketplace did not reach the worker')], default='PLANNED', max_length=11)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'PLANNED')), fields=['message'], name='message_recipient_planned')],
                'constraints': [models.UniqueConstraint(fields=('message', 'account'), name='message_recipient_once'), models.CheckConstraint(condition=models.Q(models.Q(('sent_at__isnull', False), ('status', 'SENT')), models.Q(models.Q(('status', 'SENT'), _negated=True), ('sent_at', None)), _connector='OR'), name='message_recipient_sent_at_matches_status')],
            },
        ),
        migrations.CreateModel(
            name='WorkerBarring',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='barrings', to='hits.hittype')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='barrings', to='hits.workeraccount')),
                ('is_wanted', models.BooleanField()),
                ('is_in_force', models.BooleanField(default=False, help_text='as the marketplace was told last')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('hit_type', 'account'), name='barring_once_per_worker')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('submission', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='assignment', serialize=False, to='annotate.submission')),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='hits.hit')),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='hits.workeraccount')),
                ('assignment_id', models.CharField(max_length=64)),
                ('status', models.CharField(choices=[('SUBMITTED', 'Submitted'), ('APPROVED', 'Approved'), ('REJECTED', 'Rejected'), ('LOST', 'lost: the marketplace does not have it any more')], default='SUBMITTED', max_length=9)),
                ('deciding', models.CharField(blank=True, choices=[('SUBMITTED', 'Submitted'), ('APPROVED', 'Approved'), ('REJECTED', 'Rejected'), ('LOST', 'lost: the marketplace does not have it any more')], default='', max_length=9)),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('submitted_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('feedback', models.CharField(blank=True, help_text='what the worker was told', max_length=1024)),
                ('practice', models.CharField(blank=True, default='', max_length=40)),
                ('unplaced_answer', models.TextField(blank=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'SUBMITTED')), fields=['submitted_at'], name='assignment_to_settle'), models.Index(fields=['account', 'status', 'hit'], name='assignment_by_account')],
                'constraints': [models.UniqueConstraint(fields=('assignment_id', 'account'), name='assignment_once_per_worker'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('status', 'SUBMITTED')), models.Q(('decided_at__isnull', False), ('status__in', ['APPROVED', 'REJECTED', 'LOST'])), _connector='OR'), name='assignment_decided_at_matches_status'), models.CheckConstraint(condition=models.Q(('deciding', ''), models.Q(('deciding__in', ['APPROVED', 'REJECTED']), ('status', 'SUBMITTED')), _connector='OR'), name='assignment_deciding_while_submitted')],
            },
        ),
        migrations.CreateModel(
            name='TaskPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pages', to='hits.hit')),
                ('assignment_id', models.CharField(max_length=64)),
                ('marketplace_id', models.CharField(max_length=64)),
                ('opened_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('fields', models.JSONField(blank=True, default=dict)),
                ('counts', models.JSONField(blank=True, default=dict)),
                ('primed', models.JSONField(blank=True, default=list)),
                ('device', models.CharField(blank=True, choices=[('PHONE', 'Phone'), ('TABLET', 'Tablet'), ('COMPUTER', 'Computer')], max_length=8)),
            ],
            options={
                'indexes': [models.Index(fields=['expires_at'], name='task_page_lapsing'), models.Index(fields=['marketplace_id'], name='task_page_by_worker')],
                'constraints': [models.UniqueConstraint(fields=('hit', 'assignment_id', 'marketplace_id'), name='task_page_once_per_worker'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('opened_at'))), name='task_page_lasts')],
            },
        ),
        migrations.CreateModel(
            name='Bonus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonuses', to='hits.assignment')),
                ('token', models.CharField(max_length=64, unique=True)),
                ('amount', models.DecimalField(decimal_places=2, max_digits=8)),
                ('fee', models.DecimalField(decimal_places=2, max_digits=8)),
                ('reason', models.CharField(max_length=1024)),
                ('planned_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('refusal', models.TextField(blank=True, default='')),
            ],
            options={
                'verbose_name_plural': 'bonuses',
                'constraints': [models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='bonus_is_positive'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='bonus_has_a_reason'), models.CheckConstraint(condition=models.Q(('refusal', ''), ('sent_at', None), _connector='OR'), name='bonus_refused_is_not_sent')],
            },
        ),
        migrations.CreateModel(
            name='Claim',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='claims', to='annotate.task')),
                ('page', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='claims', to='hits.taskpage')),
                ('takes_place', models.BooleanField(default=True)),
                ('primed', models.BooleanField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('page', 'task'), name='claim_once_per_page_and_task')],
            },
        ),
    ]
