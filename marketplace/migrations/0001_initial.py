import datetime
import django.db.models.deletion
import django.db.models.expressions
import marketplace.ids
import marketplace.models.fields
import uuid
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

from shared import user_names


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Activity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('happened_at', models.DateTimeField()),
                ('actor', models.CharField(max_length=160)),
                ('action', models.CharField(max_length=60)),
                ('about', models.CharField(blank=True, default='', max_length=200)),
                ('refusal', models.CharField(blank=True, default='', max_length=80)),
            ],
            options={
                'verbose_name_plural': 'activities',
                'indexes': [models.Index(fields=['happened_at'], name='activity_by_time')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['key', 'made_at'], name='attempt_by_key'), models.Index(fields=['made_at'], name='attempt_by_time')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uses_left', models.PositiveIntegerField()),
                ('expires_at', models.DateTimeField()),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='MailRefusal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.EmailField(max_length=254, unique=True)),
                ('refused_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Rehearsal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('clock_offset', models.DurationField(default=datetime.timedelta)),
                ('faults', models.JSONField(default=list)),
                ('settings', models.JSONField(default=dict)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='rehearsal_is_one')],
            },
        ),
        migrations.CreateModel(
            name='Requester',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('access_key', models.CharField(default=marketplace.ids.access_key, max_length=40, unique=True)),
                ('secret_key', models.CharField(default=marketplace.ids.secret_key, max_length=80)),
                ('available_balance', marketplace.models.fields.MoneyField(default=Decimal('0.00'))),
                ('held_balance', marketplace.models.fields.MoneyField(default=Decimal('0.00'))),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('available_balance__gte', 0), ('held_balance__gte', 0)), name='requester_never_overdraws')],
            },
        ),
        migrations.CreateModel(
            name='SentForm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(unique=True)),
                ('sent_at', models.DateTimeField()),
                ('location', models.CharField(blank=True, default='', max_length=500)),
            ],
            options={
                'indexes': [models.Index(fields=['sent_at'], name='sent_form_by_time')],
            },
        ),
        migrations.CreateModel(
            name='UsedLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('signature', models.CharField(max_length=64, unique=True)),
                ('expires_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=marketplace.ids.worker_id, max_length=64, unique=True)),
                ('name', models.CharField(max_length=100, unique=True)),
                ('country', models.CharField(blank=True, default='', max_length=2)),
                ('subdivision', models.CharField(blank=True, default='', max_length=2)),
                ('is_master', models.BooleanField(default=False)),
                ('is_adult', models.BooleanField(default=False)),
                ('is_member', models.BooleanField(default=False)),
                ('approved_count', models.PositiveIntegerField(default=0)),
                ('rejected_count', models.PositiveIntegerField(default=0)),
                ('password', models.CharField(blank=True, default='', max_length=128)),
                ('sign_in_number', models.PositiveIntegerField(default=0)),
                ('is_suspended', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
                ('erased_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='CallAllowance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='call_allowance', to='marketplace.requester')),
                ('remaining', models.FloatField()),
                ('counted_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('run', models.UUIDField(editable=False, null=True)),
                ('document_id', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='events', to='marketplace.requester')),
                ('destination', models.TextField()),
                ('transport', models.CharField(max_length=10)),
                ('version', models.CharField(max_length=20)),
                ('body', models.JSONField()),
                ('happened_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='event_still_due'), models.Index(fields=['happened_at'], name='event_by_time')],
            },
        ),
        migrations.CreateModel(
            name='ExternalIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='identities', to='marketplace.worker')),
                ('source', models.CharField(max_length=64)),
                ('identifier', models.CharField(max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'identifier'), name='external_identity_is_one_worker')],
            },
        ),
        migrations.CreateModel(
            name='HitLayout',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='layouts', to='marketplace.requester')),
                ('public_id', models.CharField(default=marketplace.ids.entity_id, max_length=64, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('template', models.TextField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('requester', 'name'), name='layout_named_once')],
            },
        ),
        migrations.CreateModel(
            name='HitType',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hit_types', to='marketplace.requester')),
                ('public_id', models.CharField(default=marketplace.ids.entity_id, max_length=64, unique=True)),
                ('group_id', models.CharField(default=marketplace.ids.entity_id, max_length=64, unique=True)),
                ('properties_digest', models.CharField(max_length=64)),
                ('title', models.CharField(max_length=128)),
                ('description', models.TextField()),
                ('keywords', models.CharField(blank=True, default='', max_length=1000)),
                ('reward', marketplace.models.fields.MoneyField()),
                ('assignment_duration', models.DurationField()),
                ('auto_approval_delay', models.DurationField()),
                ('qualification_requirements', models.JSONField(default=list)),
                ('campaign', models.CharField(blank=True, default='', max_length=100)),
                ('language', models.CharField(blank=True, default='', max_length=35)),
                ('campaign_url', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('requester', 'properties_digest'), name='hit_type_once_per_properties'), models.CheckConstraint(condition=models.Q(('reward__gte', 0)), name='hit_type_reward_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='marketplace.requester')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='marketplace.worker')),
                ('subject', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('sent_at', models.DateTimeField()),
                ('read_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['worker', '-id'], name='message_of_worker'), models.Index(fields=['sent_at'], name='message_by_time')],
            },
        ),
        migrations.CreateModel(
            name='PeopleGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('requester', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='people_groups', to='marketplace.requester')),
                ('organizer', models.CharField(max_length=200)),
                ('purpose', models.TextField()),
                ('contact', models.CharField(max_length=200)),
                ('language', models.CharField(default='en', max_length=10)),
                ('is_open', models.BooleanField(default=True)),
                ('link_number', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('requester', 'name'), name='people_group_named_once_by_requester'), models.UniqueConstraint(condition=models.Q(('requester', None)), fields=('name',), name='people_group_named_once_by_operators')],
            },
        ),
        migrations.CreateModel(
            name='QualificationType',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualification_types', to='marketplace.requester')),
                ('public_id', models.CharField(default=marketplace.ids.entity_id, max_length=64, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField()),
                ('keywords', models.CharField(blank=True, default='', max_length=1000)),
                ('is_active', models.BooleanField(default=True)),
                ('is_deleted', models.BooleanField(default=False)),
                ('retry_delay', models.DurationField(blank=True, null=True)),
                ('test', models.TextField(blank=True, default='')),
                ('test_duration', models.DurationField(blank=True, null=True)),
                ('answer_key', models.TextField(blank=True, default='')),
                ('is_auto_granted', models.BooleanField(default=False)),
                ('auto_granted_value', models.IntegerField(default=1)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_deleted', False)), fields=('requester', 'name'), name='qualification_type_named_once'), models.CheckConstraint(condition=models.Q(('is_auto_granted', False), ('test', ''), _connector='OR'), name='qualification_type_granted_or_tested')],
            },
        ),
        migrations.CreateModel(
            name='RequestToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='request_tokens', to='marketplace.requester')),
                ('operation', models.CharField(max_length=60)),
                ('token', models.CharField(max_length=64)),
                ('made', models.CharField(blank=True, default='', max_length=64)),
                ('used_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['operation', 'used_at'], name='request_token_by_time')],
                'constraints': [models.UniqueConstraint(fields=('requester', 'operation', 'token'), name='request_token_once')],
            },
        ),
        migrations.CreateModel(
            name='WorkerBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='worker_blocks', to='marketplace.requester')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='blocks', to='marketplace.worker')),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('requester', 'worker'), name='worker_blocked_once')],
            },
        ),
        migrations.CreateModel(
            name='SiteAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150, unique=True)),
                ('operator', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='site_account', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ConsentText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consent_texts', to='marketplace.peoplegroup')),
                ('version', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('shows_names', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('group', 'version'), name='consent_text_version_once')],
            },
        ),
        migrations.CreateModel(
            name='Hit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit_type', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='marketplace.hittype')),
                ('requester', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='marketplace.requester')),
                ('public_id', models.CharField(default=marketplace.ids.entity_id, max_length=64, unique=True)),
                ('question', models.TextField()),
                ('layout', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='marketplace.hitlayout')),
                ('requester_annotation', models.CharField(blank=True, default='', max_length=255)),
                ('assignment_review_policy', models.JSONField(null=True)),
                ('hit_review_policy', models.JSONField(null=True)),
                ('policy_due_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                ('status', models.CharField(choices=[('Assignable', 'Assignable'), ('Unassignable', 'Unassignable'), ('Reviewable', 'Reviewable'), ('Reviewing', 'Reviewing'), ('Disposed', 'Disposed')], default='Assignable', max_length=12)),
                ('max_assignments', models.PositiveIntegerField()),
                ('available', models.PositiveIntegerField()),
                ('pending', models.PositiveIntegerField(default=0)),
                ('completed', models.PositiveIntegerField(default=0)),
                ('unreviewed', models.PositiveIntegerField(default=0)),
                ('fee', marketplace.models.fields.MoneyField()),
                ('expires_at', models.DateTimeField()),
                ('is_expired', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['requester', 'id'], name='hit_of_requester'), models.Index(fields=['requester', 'status', 'id'], name='hit_of_requester_by_status'), models.Index(fields=['hit_type', 'status', 'id'], name='hit_of_type_by_status'), models.Index(fields=['is_expired', 'expires_at'], name='hit_by_expiry'), models.Index(fields=['status', 'expires_at'], name='hit_by_status_and_expiry')],
                'constraints': [models.CheckConstraint(condition=models.Q(('max_assignments', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('available'), '+', models.F('pending')), '+', models.F('completed')), '+', models.F('unreviewed')))), name='hit_counts_add_up'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'Disposed'), _negated=True), models.Q(('pending', 0), ('unreviewed', 0)), _connector='OR'), name='hit_disposed_with_nothing_open')],
            },
        ),
        migrations.CreateModel(
            name='MailInvitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('run', models.UUIDField(editable=False, null=True)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='mail_invitations', to='marketplace.peoplegroup')),
                ('address', models.EmailField(max_length=254)),
                ('created_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('problem', models.CharField(blank=True, default='', max_length=200)),
                ('worker', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='mail_invitations', to='marketplace.worker')),
                ('sign_in_number', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('group', 'address'), name='invited_once_per_group')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to='marketplace.peoplegroup')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to='marketplace.worker')),
                ('joined_at', models.DateTimeField()),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_by', models.CharField(blank=True, choices=[('person', 'Person'), ('operator', 'Operator')], default='', max_length=10)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('group', 'worker'), name='member_once_per_group'), models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at', None), ('withdrawn_by', '')), models.Q(('withdrawn_at__isnull', False), models.Q(('withdrawn_by', ''), _negated=True)), _connector='OR'), name='withdrawal_has_time_and_actor')],
            },
        ),
        migrations.CreateModel(
            name='NotificationSetting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit_type', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='notification_setting', to='marketplace.hittype')),
                ('destination', models.TextField(blank=True, default='')),
                ('transport', models.CharField(blank=True, default='', max_length=10)),
                ('version', models.CharField(blank=True, default='', max_length=20)),
                ('event_types', models.JSONField(default=list)),
                ('is_active', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='Offer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='offers', to='marketplace.peoplegroup')),
                ('hit_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='offers', to='marketplace.hittype')),
                ('share', models.PositiveIntegerField(blank=True, null=True)),
                ('is_open', models.BooleanField(default=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('group', 'hit_type'), name='offer_once_per_group'), models.CheckConstraint(condition=models.Q(('share', None), ('share__gt', 0), _connector='OR'), name='offer_share_is_positive')],
            },
        ),
        migrations.CreateModel(
            name='Qualification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualifications', to='marketplace.qualificationtype')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualifications', to='marketplace.worker')),
                ('value', models.IntegerField(blank=True, null=True)),
                ('status', models.CharField(choices=[('Granted', 'Granted'), ('Revoked', 'Revoked')], default='Granted', max_length=10)),
                ('granted_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['qualification_type', 'status', 'id'], name='qualification_of_type')],
                'constraints': [models.UniqueConstraint(fields=('qualification_type', 'worker'), name='qualification_once_per_worker')],
            },
        ),
        migrations.CreateModel(
            name='QualificationRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=marketplace.ids.entity_id, max_length=64, unique=True)),
                ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='requests', to='marketplace.qualificationtype')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='qualification_requests', to='marketplace.worker')),
                ('status', models.CharField(choices=[('Started', 'Started'), ('Pending', 'Pending'), ('Granted', 'Granted'), ('Rejected', 'Rejected')], max_length=10)),
                ('test', models.TextField(blank=True, default='')),
                ('test_duration', models.DurationField(blank=True, null=True)),
                ('answer_key', models.TextField(blank=True, default='')),
                ('answer', models.TextField(blank=True, default='')),
                ('started_at', models.DateTimeField()),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['Started', 'Pending'])), fields=('qualification_type', 'worker'), name='qualification_request_once_open')],
            },
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('hit_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='marketplace.hittype')),
                ('assignments', models.PositiveIntegerField()),
                ('id_parameter', models.CharField(default='PROLIFIC_PID', max_length=64)),
                ('return_url', models.CharField(max_length=1000)),
                ('completion_code', models.CharField(max_length=100)),
                ('no_work_code', models.CharField(blank=True, default='', max_length=100)),
                ('language', models.CharField(default='en', max_length=10)),
                ('is_open', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'studies',
                'constraints': [models.CheckConstraint(condition=models.Q(('assignments__gt', 0)), name='study_has_assignments')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='marketplace.hit')),
                ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='marketplace.worker')),
                ('offer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='marketplace.offer')),
                ('public_id', models.CharField(default=marketplace.ids.entity_id, max_length=64, unique=True)),
                ('status', models.CharField(choices=[('Accepted', 'Accepted'), ('Submitted', 'Submitted'), ('Approved', 'Approved'), ('Rejected', 'Rejected'), ('Returned', 'Returned'), ('Abandoned', 'Abandoned')], default='Accepted', max_length=10)),
                ('accepted_at', models.DateTimeField()),
                ('deadline', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('auto_approval_at', models.DateTimeField(blank=True, null=True)),
                ('approved_at', models.DateTimeField(blank=True, null=True)),
                ('rejected_at', models.DateTimeField(blank=True, null=True)),
                ('rejected_reward', marketplace.models.fields.MoneyField(blank=True, null=True)),
                ('answer', models.TextField(blank=True, default='')),
                ('requester_feedback', models.CharField(blank=True, default='', max_length=1024)),
            ],
            options={
                'indexes': [models.Index(fields=['hit', 'status', 'id'], name='assignment_of_hit'), models.Index(fields=['worker', 'id'], name='assignment_of_worker'), models.Index(fields=['worker', 'hit'], name='assignment_of_worker_at_hit'), models.Index(fields=['worker', 'status', 'deadline'], name='assignment_in_queue'), models.Index(fields=['status', 'deadline'], name='assignment_by_deadline'), models.Index(fields=['status', 'auto_approval_at'], name='assignment_by_auto_approval')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['Accepted', 'Submitted', 'Approved', 'Rejected'])), fields=('hit', 'worker'), name='assignment_once_per_worker'), models.CheckConstraint(condition=models.Q(models.Q(('approved_at', None), ('rejected_at', None), ('status__in', ['Accepted', 'Returned', 'Abandoned']), ('submitted_at', None)), models.Q(('approved_at', None), ('rejected_at', None), ('status', 'Submitted'), ('submitted_at__isnull', False)), models.Q(('approved_at__isnull', False), ('status', 'Approved'), ('submitted_at__isnull', False)), models.Q(('rejected_at__isnull', False), ('status', 'Rejected'), ('submitted_at__isnull', False)), _connector='OR'), name='assignment_times_match_status')],
            },
        ),
        migrations.CreateModel(
            name='AttentionCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attention_checks', to='marketplace.study')),
                ('after', models.PositiveIntegerField()),
                ('question', models.CharField(max_length=500)),
                ('choices', models.JSONField(default=list)),
                ('right_choice', models.CharField(max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'after'), name='attention_check_once_at')],
            },
        ),
        migrations.CreateModel(
            name='Consent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('membership', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='marketplace.membership')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='marketplace.consenttext')),
                ('given_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('membership', 'text'), name='consent_once_per_text')],
            },
        ),
        migrations.CreateModel(
            name='Participation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='participations', to='marketplace.study')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='participations', to='marketplace.worker')),
                ('started_at', models.DateTimeField()),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('consented_at', models.DateTimeField(blank=True, null=True)),
                ('refused_consent_at', models.DateTimeField(blank=True, null=True)),
                ('eligible_at', models.DateTimeField(blank=True, null=True)),
                ('screened_out_at', models.DateTimeField(blank=True, null=True)),
                ('wrong_answers', models.PositiveSmallIntegerField(default=0)),
                ('passed_check_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'worker'), name='participation_once_per_study')],
            },
        ),
        migrations.CreateModel(
            name='ReviewAction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='review_actions', to='marketplace.hit')),
                ('level', models.CharField(choices=[('Assignment', 'Assignment'), ('HIT', 'Hit')], max_length=10)),
                ('action_id', models.CharField(default=marketplace.ids.entity_id, max_length=64)),
                ('name', models.CharField(max_length=40)),
                ('target_id', models.CharField(max_length=64)),
                ('target_type', models.CharField(max_length=20)),
                ('status', models.CharField(max_length=12)),
                ('completed_at', models.DateTimeField()),
                ('result', models.TextField(blank=True, default='')),
                ('error_code', models.CharField(blank=True, default='', max_length=60)),
            ],
        ),
        migrations.CreateModel(
            name='ReviewResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='review_results', to='marketplace.hit')),
                ('level', models.CharField(choices=[('Assignment', 'Assignment'), ('HIT', 'Hit')], max_length=10)),
                ('action_id', models.CharField(default=marketplace.ids.entity_id, max_length=64)),
                ('subject_id', models.CharField(max_length=64)),
                ('subject_type', models.CharField(max_length=20)),
                ('question_id', models.CharField(blank=True, default='', max_length=255)),
                ('key', models.CharField(max_length=60)),
                ('value', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='Screening',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='screening', to='marketplace.study')),
                ('consent', models.TextField(blank=True, default='')),
                ('no_consent_code', models.CharField(blank=True, default='', max_length=100)),
                ('eligibility_question', models.CharField(blank=True, default='', max_length=500)),
                ('eligible_choices', models.JSONField(default=list)),
                ('ineligible_choices', models.JSONField(default=list)),
                ('screened_out_code', models.CharField(blank=True, default='', max_length=100)),
                ('question', models.CharField(blank=True, default='', max_length=500)),
                ('choices', models.JSONField(default=list)),
                ('right_choice', models.CharField(blank=True, default='', max_length=200)),
                ('failed_check_code', models.CharField(blank=True, default='', max_length=100)),
            ],
        ),
        migrations.CreateModel(
            name='AttentionAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('check_asked', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='answers', to='marketplace.attentioncheck')),
                ('participation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attention_answers', to='marketplace.participation')),
                ('is_right', models.BooleanField()),
                ('answered_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('check_asked', 'participation'), name='attention_answered_once')],
            },
        ),
        migrations.CreateModel(
            name='BonusPayment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonus_payments', to='marketplace.requester')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonus_payments', to='marketplace.worker')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonus_payments', to='marketplace.assignment')),
                ('hit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonus_payments', to='marketplace.hit')),
                ('amount', marketplace.models.fields.MoneyField()),
                ('reason', models.TextField()),
                ('granted_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='bonus_is_positive')],
            },
        ),
        migrations.CreateModel(
            name='Transfer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('deposit', 'Deposit'), ('hold', 'Hold'), ('release', 'Release'), ('reward', 'Reward'), ('fee', 'Fee'), ('bonus', 'Bonus'), ('bonus fee', 'Bonus Fee'), ('payout', 'Payout'), ('withdrawal', 'Withdrawal'), ('panel reward', 'Panel Reward'), ('panel screen-out', 'Panel Screen Out'), ('panel bonus', 'Panel Bonus'), ('panel fee', 'Panel Fee'), ('panel tax', 'Panel Tax')], max_length=16)),
                ('source', models.CharField(choices=[('outside', 'Outside'), ('available', 'Available'), ('held', 'Held'), ('worker', 'Worker'), ('fees', 'Fees'), ('panel', 'Panel')], max_length=10)),
                ('target', models.CharField(choices=[('outside', 'Outside'), ('available', 'Available'), ('held', 'Held'), ('worker', 'Worker'), ('fees', 'Fees'), ('panel', 'Panel')], max_length=10)),
                ('amount', marketplace.models.fields.MoneyField()),
                ('requester', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='marketplace.requester')),
                ('worker', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='marketplace.worker')),
                ('hit', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='marketplace.hit')),
                ('assignment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='marketplace.assignment')),
                ('bonus', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='marketplace.bonuspayment')),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='transfer_is_positive'), models.CheckConstraint(condition=models.Q(('source', models.F('target')), _negated=True), name='transfer_goes_somewhere'), models.UniqueConstraint(condition=models.Q(('kind', 'reward')), fields=('assignment',), name='assignment_paid_once'), models.UniqueConstraint(condition=models.Q(('kind', 'bonus')), fields=('bonus',), name='bonus_paid_once')],
            },
        ),
        user_names.ONCE,
    ]
