import django.db.models.deletion
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
            name='Challenge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=100, unique=True)),
                ('title', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='challenges', to='annotate.release')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='challenges', to=settings.AUTH_USER_MODEL)),
                ('plain_data', models.TextField(help_text='the training data that the plain track allows')),
                ('has_extra_track', models.BooleanField(default=True)),
                ('per_day', models.PositiveSmallIntegerField()),
                ('in_total', models.PositiveSmallIntegerField()),
                ('opens_at', models.DateTimeField()),
                ('closes_at', models.DateTimeField(blank=True, null=True)),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('metrics', models.JSONField(help_text='names of the metrics to compute')),
                ('tokeniser', models.CharField(max_length=20)),
                ('seconds', models.PositiveIntegerField(help_text='time limit for scoring one submission')),
                ('megabytes', models.PositiveIntegerField(help_text='memory limit of each scoring process')),
                ('people', models.JSONField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('closes_at', None), ('closes_at__gte', models.F('opens_at')), _connector='OR'), name='challenge_closes_after_it_opens'), models.CheckConstraint(condition=models.Q(('per_day__gte', 1), ('per_day__lte', models.F('in_total'))), name='challenge_limits_allow_a_submission'), models.CheckConstraint(condition=models.Q(('megabytes__gte', 1), ('seconds__gte', 1)), name='challenge_scoring_has_time_and_memory')],
            },
        ),
        migrations.CreateModel(
            name='Submitter',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='submitter', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('team', models.CharField(help_text='shown on boards', max_length=100)),
                ('address', models.CharField(blank=True, max_length=64)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['address', 'created_at'], name='submitter_by_address')],
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('run', models.UUIDField(editable=False, null=True)),
                ('challenge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='leaderboard.challenge')),
                ('submitter', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to=settings.AUTH_USER_MODEL)),
                ('is_baseline', models.BooleanField(default=False)),
                ('track', models.CharField(choices=[('PLAIN', 'Plain'), ('EXTRA', 'Extra data')], max_length=5)),
                ('method', models.CharField(max_length=100)),
                ('training_data', models.TextField(help_text='as the submitter declares it')),
                ('sha256', models.CharField(max_length=64)),
                ('status', models.CharField(choices=[('WAITING', 'Waiting'), ('RUNNING', 'Running'), ('SCORED', 'Scored'), ('FAILED', 'Failed'), ('WITHDRAWN', 'Withdrawn')], default='WAITING', max_length=9)),
                ('day', models.DateField()),
                ('day_number', models.PositiveSmallIntegerField(null=True)),
                ('try_number', models.PositiveSmallIntegerField(null=True)),
                ('scores', models.JSONField(null=True)),
                ('log', models.TextField(blank=True)),
                ('withdrawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('withdrawn_because', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'indexes': [models.Index(condition=models.Q(('status', 'WAITING')), fields=['due_at'], name='submission_to_score')],
                'constraints': [models.UniqueConstraint(fields=('challenge', 'submitter', 'try_number'), name='submission_try_once'), models.UniqueConstraint(fields=('challenge', 'submitter', 'day', 'day_number'), name='submission_try_of_day_once'), models.UniqueConstraint(condition=models.Q(('status', 'FAILED'), _negated=True), fields=('challenge', 'submitter', 'track', 'sha256'), name='submission_file_once'), models.UniqueConstraint(condition=models.Q(('is_baseline', True)), fields=('challenge',), name='submission_one_baseline'), models.CheckConstraint(condition=models.Q(models.Q(('is_baseline', True), ('submitter', None)), models.Q(('is_baseline', False), ('submitter__isnull', False)), _connector='OR'), name='submission_has_submitter_or_is_baseline'), models.CheckConstraint(condition=models.Q(models.Q(('day_number', None), ('try_number', None), models.Q(('status', 'FAILED'), ('is_baseline', True), _connector='OR')), models.Q(('day_number__gte', 1), ('is_baseline', False), ('try_number__gte', 1), models.Q(('status', 'FAILED'), _negated=True)), _connector='OR'), name='submission_counts_unless_failed'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'SCORED'), _negated=True), ('scores__isnull', False), _connector='OR'), name='submission_scored_has_scores'), models.CheckConstraint(condition=models.Q(models.Q(('due_at__isnull', False), ('run__isnull', False), ('status', 'RUNNING')), models.Q(models.Q(('status', 'RUNNING'), _negated=True), ('run', None)), _connector='OR'), name='submission_run_matches_status')],
            },
        ),
        migrations.CreateModel(
            name='SubmittedFile',
            fields=[
                ('submission', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='file', serialize=False, to='leaderboard.submission')),
                ('content', models.BinaryField()),
            ],
        ),
    ]
