"""The tables of all apps, as the replaced migrations make them.

Why: docs/decisions/0032-first-migration.md.
`tools/first_migration.py` printed the list of replaced migrations and the models.
"""

from django.conf import settings
from django.db import migrations, models
from django.utils import timezone
import annotate.models.notices
import annotate.models.responses
import annotate.models.tokens
import datetime
import django.db.models.deletion
import django.db.models.expressions
import hits.models.accounts
import uuid

from annotate.site.append_only import AppendOnly
from annotate.site.create_tables import CreateTables
from annotate.site.postgres_index import PostgresIndex
from qualcontrol.models.append_only import DECISIONS

HIDDEN_EXPORTS = AppendOnly(
    "annotate_hiddenexport",
    "hidden_export",
    "exports of hidden captions are only appended, never changed or deleted",
)
TEAM_CHANGES = AppendOnly(
    "annotate_teamchange",
    "team_change",
    "changes of teams are only appended, never changed or deleted",
)
CAPTION_WORDS = PostgresIndex(
    "caption_words", "annotate_caption", "gin (to_tsvector('simple', left(text, 10000)))"
)
ASSESSMENT_CODES = PostgresIndex(
    "assessment_codes", "qualcontrol_assessment", "gin (string_to_array(codes, ' '))"
)


def make_the_first_team(apps, schema_editor):
    """A team for what belongs to no other; who has an account already is a member."""
    using = schema_editor.connection.alias
    now = timezone.now()
    team = apps.get_model("annotate", "Team").objects.using(using).create(
        slug="default", name="Default team", created_at=now
    )
    Membership = apps.get_model("annotate", "Membership")
    Membership.objects.using(using).bulk_create(
        Membership(team=team, user=user, role="RESEARCHER", joined_at=now)
        for user in apps.get_model("auth", "User").objects.using(using).order_by("pk")
    )


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    replaces = [
        ('annotate', '0001_initial'),
        ('annotate', '0002_behaviour'),
        ('annotate', '0003_correspondences'),
        ('annotate', '0004_a_response_may_have_a_key'),
        ('annotate', '0005_every_response_has_a_key'),
        ('annotate', '0006_no_two_responses_have_the_same_key'),
        ('annotate', '0007_api_tokens'),
        ('annotate', '0008_drop_tokens_without_an_end'),
        ('annotate', '0009_claims_belong_to_pages'),
        ('annotate', '0010_only_submitted_responses'),
        ('annotate', '0011_claim_takes_place'),
        ('annotate', '0012_answers_of_any_kind'),
        ('annotate', '0013_priming_by_response'),
        ('annotate', '0014_what_a_release_records'),
        ('annotate', '0015_seconds_of_released_answers'),
        ('annotate', '0016_hidden_exports'),
        ('annotate', '0017_hidden_exports_are_only_appended'),
        ('annotate', '0018_own_images_and_procedures'),
        ('annotate', '0019_index_words_of_captions'),
        ('annotate', '0020_jobs'),
        ('annotate', '0021_campaign_drafts'),
        ('annotate', '0022_idempotency_keys'),
        ('annotate', '0023_notices'),
        ('annotate', '0024_teams'),
        ('annotate', '0025_everything_into_the_first_team'),
        ('annotate', '0026_every_row_has_a_team'),
        ('annotate', '0027_invitations_and_changes_of_teams'),
        ('annotate', '0028_scopes_of_api_tokens'),
        ('annotate', '0029_second_factors'),
        ('annotate', '0030_index_responses_for_counts'),
        ('annotate', '0031_drop_indexes_of_responses'),
        ('annotate', '0032_class_names'),
        ('annotate', '0033_withdrawn_responses'),
        ('annotate', '0034_invitations_by_email'),
        ('annotate', '0035_failures'),
        ('annotate', '0036_campaign_of_responses'),
        ('annotate', '0037_give_responses_their_campaign'),
        ('annotate', '0038_every_response_has_a_campaign'),
        ('annotate', '0039_drop_indexes_of_responses_by_task'),
        ('annotate', '0040_families_of_campaigns'),
        ('hits', '0001_initial'),
        ('hits', '0002_events'),
        ('hits', '0003_unread_since'),
        ('hits', '0004_sync_wishes'),
        ('hits', '0005_hit_read_at'),
        ('hits', '0006_task_pages'),
        ('hits', '0007_move_claims_to_pages'),
        ('hits', '0008_only_reported_assignments'),
        ('hits', '0009_decisions_under_way_and_sync_problems'),
        ('hits', '0010_gone_hits_and_unknown_hits'),
        ('hits', '0011_hold_unplaced_answers'),
        ('hits', '0012_literal_model_names'),
        ('hits', '0013_slots'),
        ('hits', '0014_page_keeps_priming'),
        ('hits', '0015_messages_to_workers'),
        ('hits', '0016_reward_of_a_hit_type'),
        ('hits', '0017_drop_sync_requests'),
        ('hits', '0018_call_pace'),
        ('hits', '0019_paid_of_retired_hits'),
        ('hits', '0020_count_paid_of_retired_hits'),
        ('hits', '0021_index_hits_and_assignments'),
        ('hits', '0022_one_index_of_accounts'),
        ('qualcontrol', '0001_initial'),
        ('qualcontrol', '0002_decisions_are_only_appended'),
        ('qualcontrol', '0003_flags'),
        ('qualcontrol', '0004_standings_judgements_and_gold'),
        ('qualcontrol', '0005_judgements_of_earlier_verdicts'),
        ('qualcontrol', '0006_a_check_has_a_campaign'),
        ('qualcontrol', '0007_intervals_of_shares'),
        ('qualcontrol', '0008_a_gold_item_may_have_a_key'),
        ('qualcontrol', '0009_every_gold_item_has_a_key'),
        ('qualcontrol', '0010_no_two_gold_items_have_the_same_key'),
        ('qualcontrol', '0011_held_payments'),
        ('qualcontrol', '0012_worker_risks'),
        ('qualcontrol', '0013_names_of_decisions'),
        ('qualcontrol', '0014_name_reservations_and_learned_values'),
        ('qualcontrol', '0015_index_codes_of_flags'),
        ('qualcontrol', '0016_verdicts_can_be_taken_back'),
        ('qualcontrol', '0017_decisions_about_campaigns'),
        ('qualcontrol', '0018_publishing_and_pauses_are_decisions'),
        ('leaderboard', '0001_challenges_and_submissions'),
    ]
    operations = [
        CreateTables({
            'annotate': [
                migrations.CreateModel(
                    name='Answer',
                    fields=[
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='answer', serialize=False, to='annotate.response')),
                        ('content', models.JSONField()),
                    ],
                ),
                migrations.CreateModel(
                    name='ApiToken',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(blank=True, help_text='what the token is for', max_length=100)),
                        ('digest', models.CharField(max_length=64, unique=True)),
                        ('hint', models.CharField(help_text='how the token begins', max_length=6)),
                        ('created_at', models.DateTimeField()),
                        ('expires_at', models.DateTimeField()),
                        ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                        ('last_used_at', models.DateTimeField(blank=True, null=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                        ('scopes', models.JSONField(default=annotate.models.tokens.all_scopes, help_text='values of Scope, in their order')),
                    ],
                    options={
                        'verbose_name': 'API token',
                        'indexes': [models.Index(fields=['expires_at'], name='api_token_by_end')],
                        'constraints': [models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='api_token_ends_after_it_begins')],
                    },
                ),
                migrations.CreateModel(
                    name='Behaviour',
                    fields=[
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='behaviour', serialize=False, to='annotate.response')),
                        ('keystrokes', models.PositiveIntegerField(blank=True, null=True)),
                        ('pastes', models.PositiveIntegerField(blank=True, null=True)),
                        ('pasted_characters', models.PositiveIntegerField(blank=True, null=True)),
                        ('seconds_writing', models.FloatField(blank=True, null=True)),
                        ('times_left', models.PositiveIntegerField(blank=True, null=True)),
                        ('device', models.CharField(blank=True, choices=[('PHONE', 'Phone'), ('TABLET', 'Tablet'), ('COMPUTER', 'Computer')], max_length=8)),
                    ],
                    options={
                        'verbose_name_plural': 'behaviours',
                    },
                ),
                migrations.CreateModel(
                    name='Box',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('confidence', models.FloatField(default=1.0)),
                        ('x_min', models.FloatField()),
                        ('x_max', models.FloatField()),
                        ('y_min', models.FloatField()),
                        ('y_max', models.FloatField()),
                        ('is_occluded', models.BooleanField(blank=True, null=True)),
                        ('is_truncated', models.BooleanField(blank=True, null=True)),
                        ('is_group', models.BooleanField(blank=True, null=True)),
                        ('is_depiction', models.BooleanField(blank=True, null=True)),
                        ('is_inside', models.BooleanField(blank=True, null=True)),
                        ('image', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='boxes', to='annotate.image')),
                        ('object_class', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='boxes', to='annotate.objectclass')),
                    ],
                    options={
                        'verbose_name_plural': 'boxes',
                        'constraints': [models.UniqueConstraint(fields=('image', 'object_class', 'x_min', 'x_max', 'y_min', 'y_max'), name='box_stated_once'), models.CheckConstraint(condition=models.Q(('x_max__lte', 1), ('x_min__gte', 0), ('x_min__lte', models.F('x_max')), ('y_max__lte', 1), ('y_min__gte', 0), ('y_min__lte', models.F('y_max'))), name='box_lies_in_the_image')],
                    },
                ),
                migrations.CreateModel(
                    name='Campaign',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('slug', models.SlugField(max_length=100, unique=True)),
                        ('kind', models.CharField(help_text='a name of annotate.kinds', max_length=20)),
                        ('status', models.CharField(choices=[('DRAFT', 'Draft'), ('RUNNING', 'Running'), ('PAUSED', 'Paused'), ('FINISHED', 'Finished')], db_index=True, default='DRAFT', max_length=8)),
                        ('endpoint', models.CharField(max_length=300)),
                        ('budget', models.DecimalField(decimal_places=2, help_text='US dollars, with fees', max_digits=10)),
                        ('config_json', models.JSONField()),
                        ('created_at', models.DateTimeField()),
                        ('selection', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotate.selection')),
                        ('caption_set', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotate.captionset')),
                        ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotate.team')),
                        ('family', models.CharField(blank=True, default='', max_length=100)),
                    ],
                    options={
                        'ordering': ['-created_at'],
                        'indexes': [models.Index(models.F('team'), models.F('family'), condition=models.Q(('family', ''), _negated=True), name='campaigns_of_family')],
                        'constraints': [models.CheckConstraint(condition=models.Q(('budget__gte', 0)), name='campaign_budget_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('caption_set', None), ('selection__isnull', False)), models.Q(('caption_set__isnull', False), ('selection', None)), _connector='OR'), name='campaign_on_images_or_captions')],
                    },
                ),
                migrations.CreateModel(
                    name='CampaignDraft',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('begun_from', models.JSONField(blank=True, null=True)),
                        ('file', models.JSONField(blank=True, default=dict)),
                        ('unfinished', models.JSONField(blank=True, default=dict)),
                        ('visited', models.JSONField(blank=True, default=list)),
                        ('created_at', models.DateTimeField()),
                        ('changed_at', models.DateTimeField()),
                        ('ended_at', models.DateTimeField(blank=True, null=True)),
                        ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='annotate.campaign')),
                        ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='campaign_drafts', to=settings.AUTH_USER_MODEL)),
                        ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='campaign_drafts', to='annotate.team')),
                    ],
                    options={
                        'ordering': ['-changed_at', '-pk'],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('owner', 'campaign'), name='draft_once_per_campaign_and_owner')],
                    },
                ),
                migrations.CreateModel(
                    name='Caption',
                    fields=[
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='caption', serialize=False, to='annotate.response')),
                        ('text', models.TextField()),
                    ],
                ),
                migrations.CreateModel(
                    name='CaptionSet',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.SlugField(max_length=100, unique=True)),
                        ('created_at', models.DateTimeField()),
                        ('release', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='caption_set', to='annotate.release')),
                        ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='caption_sets', to='annotate.team')),
                    ],
                    options={
                        'ordering': ['-created_at'],
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
                migrations.CreateModel(
                    name='ClassName',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('language', models.CharField(help_text='BCP 47 tag in lower case, such as de', max_length=35)),
                        ('name', models.CharField(max_length=100)),
                        ('object_class', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='names', to='annotate.objectclass')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('object_class', 'language'), name='class_has_one_name_in_a_language')],
                    },
                ),
                migrations.CreateModel(
                    name='ClassRelation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('SUBCATEGORY', 'Subcategory'), ('PART', 'Part')], max_length=11)),
                        ('child', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='relations_up', to='annotate.objectclass')),
                        ('parent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='relations_down', to='annotate.objectclass')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('parent', 'child', 'kind'), name='class_relation_stated_once'), models.CheckConstraint(condition=models.Q(('parent', models.F('child')), _negated=True), name='class_relation_joins_two_classes')],
                    },
                ),
                migrations.CreateModel(
                    name='Correspondence',
                    fields=[
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='correspondence', serialize=False, to='annotate.response')),
                        ('words', models.JSONField()),
                    ],
                ),
                migrations.CreateModel(
                    name='Delivery',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('status', models.CharField(choices=[('WAITING', 'Waiting'), ('SENT', 'Sent'), ('GIVEN_UP', 'given up')], default='WAITING', max_length=8)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('due_at', models.DateTimeField()),
                        ('run', models.UUIDField(editable=False, null=True)),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('error', models.TextField(blank=True, help_text='why the last attempt failed')),
                        ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to=settings.AUTH_USER_MODEL)),
                        ('notice', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='annotate.notice')),
                        ('webhook', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='annotate.webhook')),
                    ],
                    options={
                        'ordering': ['-pk'],
                        'indexes': [models.Index(condition=models.Q(('status', 'WAITING')), fields=['due_at'], name='delivery_due')],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('user', None), ('webhook__isnull', False)), models.Q(('user__isnull', False), ('webhook', None)), _connector='OR'), name='delivery_to_a_user_or_a_webhook'), models.UniqueConstraint(fields=('notice', 'user'), name='delivery_once_per_user'), models.UniqueConstraint(fields=('notice', 'webhook'), name='delivery_once_per_webhook'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('status', 'WAITING')), models.Q(models.Q(('status', 'WAITING'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='delivery_end_matches_status'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'GIVEN_UP'), _negated=True), models.Q(('error', ''), _negated=True), _connector='OR'), name='delivery_given_up_says_why')],
                    },
                ),
                migrations.CreateModel(
                    name='Failure',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('source', models.CharField(choices=[('JOB', 'job'), ('TASK', 'background task'), ('SYNC', 'sync'), ('DELIVERY', 'notice')], max_length=8)),
                        ('subject', models.CharField(max_length=200)),
                        ('title', models.CharField(max_length=200)),
                        ('arguments', models.JSONField(blank=True, default=dict)),
                        ('error', models.TextField(help_text='what went wrong, in words')),
                        ('path', models.CharField(blank=True, help_text='a page with more about it', max_length=500)),
                        ('times', models.PositiveIntegerField(default=1)),
                        ('first_at', models.DateTimeField()),
                        ('last_at', models.DateTimeField()),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='failures', to='annotate.campaign')),
                        ('ended_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='failures', to='annotate.team')),
                    ],
                    options={
                        'ordering': ['-last_at', '-pk'],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('source', 'subject'), name='failure_open_once_per_subject'), models.CheckConstraint(condition=models.Q(('error', ''), _negated=True), name='failure_says_why')],
                    },
                ),
                migrations.CreateModel(
                    name='GivenCaption',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField(help_text="the caption's place in its set, from 1")),
                        ('annotation_id', models.PositiveBigIntegerField(help_text="its id in the file, or in the release's captions.json")),
                        ('text', models.TextField()),
                        ('caption_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='annotate.captionset')),
                        ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='given_captions', to='annotate.image')),
                    ],
                    options={
                        'ordering': ['number'],
                        'constraints': [models.UniqueConstraint(fields=('caption_set', 'number'), name='given_caption_numbered_once'), models.UniqueConstraint(fields=('caption_set', 'annotation_id'), name='given_caption_id_once')],
                    },
                ),
                migrations.CreateModel(
                    name='HiddenExport',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('at', models.DateTimeField()),
                        ('actor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hidden_exports', to=settings.AUTH_USER_MODEL)),
                        ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hidden_exports', to='annotate.release')),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='IdempotencyKey',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.CharField(max_length=255)),
                        ('digest', models.CharField(help_text="of the request's address and body", max_length=64)),
                        ('status', models.PositiveSmallIntegerField(null=True)),
                        ('body', models.TextField(blank=True)),
                        ('created_at', models.DateTimeField()),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='idempotency_keys', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['created_at'], name='idempotency_key_by_age')],
                        'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='idempotency_key_once_per_user')],
                    },
                ),
                migrations.CreateModel(
                    name='Image',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('source', models.CharField(choices=[('OPEN_IMAGES', 'Open Images'), ('COCO', 'COCO'), ('OWN', 'Own files')], max_length=11)),
                        ('key', models.CharField(help_text="the dataset's own id of the image", max_length=64)),
                        ('split', models.CharField(db_index=True, max_length=64)),
                        ('rotation', models.PositiveSmallIntegerField(blank=True, null=True)),
                        ('width', models.PositiveIntegerField(blank=True, null=True)),
                        ('height', models.PositiveIntegerField(blank=True, null=True)),
                        ('file', models.CharField(blank=True, help_text='path under MEDIA_ROOT', max_length=300)),
                        ('url', models.URLField(blank=True, help_text='where the image can be fetched', max_length=500)),
                        ('landing_url', models.URLField(blank=True, help_text="the image's source page", max_length=500)),
                        ('author', models.CharField(blank=True, max_length=300)),
                        ('author_url', models.URLField(blank=True, max_length=500)),
                        ('license_url', models.URLField(blank=True, max_length=500)),
                        ('title', models.CharField(blank=True, max_length=500)),
                        ('file_name', models.CharField(blank=True, db_default='', default='', help_text='original name, which exports have', max_length=500)),
                        ('sha256', models.CharField(blank=True, db_default='', default='', max_length=64)),
                        ('team', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='images', to='annotate.team')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('source', 'key'), name='image_key_unique_in_source'), models.CheckConstraint(condition=models.Q(('rotation', None), ('rotation__in', [0, 90, 180, 270]), _connector='OR'), name='image_rotation_is_a_quarter_turn'), models.UniqueConstraint(condition=models.Q(('source', 'OWN')), fields=('split', 'sha256'), name='own_image_content_once_in_split'), models.UniqueConstraint(condition=models.Q(('source', 'OWN')), fields=('split', 'file_name'), name='own_image_file_name_once_in_split')],
                        'indexes': [models.Index(condition=models.Q(('team__isnull', False)), fields=['team', 'file'], name='image_of_a_team')],
                    },
                ),
                migrations.CreateModel(
                    name='Invitation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('role', models.CharField(choices=[('RESEARCHER', 'researcher'), ('REVIEWER', 'reviewer'), ('VIEWER', 'viewer')], max_length=10)),
                        ('note', models.CharField(blank=True, help_text='whom it is for', max_length=100)),
                        ('digest', models.CharField(max_length=64, unique=True)),
                        ('created_at', models.DateTimeField()),
                        ('expires_at', models.DateTimeField()),
                        ('accepted_at', models.DateTimeField(blank=True, null=True)),
                        ('revoked_at', models.DateTimeField(blank=True, null=True)),
                        ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='annotate.team')),
                        ('email', models.EmailField(blank=True, help_text='where the link was sent, if by e-mail', max_length=254)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                        'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['RESEARCHER', 'REVIEWER', 'VIEWER'])), name='invitation_role_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('accepted_at', None), ('accepted_by', None)), models.Q(('accepted_at__isnull', False), ('accepted_by__isnull', False), ('revoked_at', None)), _connector='OR'), name='invitation_accepted_by_somebody')],
                    },
                ),
                migrations.CreateModel(
                    name='Job',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('kind', models.SlugField(help_text='a name in annotate.jobs.registry', max_length=40)),
                        ('title', models.CharField(max_length=200)),
                        ('arguments', models.JSONField(blank=True, default=dict)),
                        ('fingerprint', models.CharField(editable=False, max_length=64)),
                        ('status', models.CharField(choices=[('WAITING', 'Waiting'), ('RUNNING', 'Running'), ('DONE', 'Done'), ('FAILED', 'Failed'), ('CANCELLED', 'Cancelled')], default='WAITING', max_length=9)),
                        ('step', models.CharField(blank=True, help_text='what it does now, in words', max_length=200)),
                        ('done', models.PositiveBigIntegerField(default=0)),
                        ('total', models.PositiveBigIntegerField(null=True)),
                        ('attempt', models.PositiveSmallIntegerField(default=0)),
                        ('run', models.UUIDField(editable=False, null=True)),
                        ('lease_ends_at', models.DateTimeField(null=True)),
                        ('doubted_at', models.DateTimeField(null=True)),
                        ('heartbeat_at', models.DateTimeField(null=True)),
                        ('asked_at', models.DateTimeField()),
                        ('due_at', models.DateTimeField(help_text='no worker starts it before this time')),
                        ('started_at', models.DateTimeField(null=True)),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('cancel_asked_at', models.DateTimeField(null=True)),
                        ('result_text', models.TextField(blank=True)),
                        ('result_url', models.CharField(blank=True, max_length=500)),
                        ('result_file', models.CharField(blank=True, max_length=500)),
                        ('error', models.TextField(blank=True)),
                        ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to=settings.AUTH_USER_MODEL)),
                        ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='annotate.campaign')),
                        ('cancel_asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('release', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='annotate.release')),
                        ('repeats', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='repeated_by', to='annotate.job')),
                        ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='annotate.team')),
                    ],
                    options={
                        'ordering': ['-asked_at', '-pk'],
                        'indexes': [models.Index(condition=models.Q(('status', 'WAITING')), fields=['due_at'], name='job_to_start_by_turn'), models.Index(condition=models.Q(('status', 'RUNNING')), fields=['lease_ends_at'], name='job_running_by_lease'), models.Index(fields=['-asked_at', '-id'], name='job_latest_first')],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['WAITING', 'RUNNING'])), fields=('kind', 'fingerprint'), name='job_once_at_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('lease_ends_at__isnull', False), ('run__isnull', False), ('status', 'RUNNING')), models.Q(models.Q(('status', 'RUNNING'), _negated=True), ('doubted_at', None), ('lease_ends_at', None), ('run', None)), _connector='OR'), name='job_lease_matches_status'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('status__in', ['WAITING', 'RUNNING'])), models.Q(('ended_at__isnull', False), ('status__in', ['DONE', 'FAILED', 'CANCELLED'])), _connector='OR'), name='job_end_matches_status'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'FAILED'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('status', 'FAILED'), _negated=True), ('error', '')), _connector='OR'), name='job_failed_says_why'), models.CheckConstraint(condition=models.Q(('total', None), ('done__lte', models.F('total')), _connector='OR'), name='job_done_within_total')],
                    },
                ),
                migrations.CreateModel(
                    name='JobLine',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('at', models.DateTimeField()),
                        ('text', models.TextField()),
                        ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='annotate.job')),
                    ],
                    options={
                        'ordering': ['pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Membership',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('role', models.CharField(choices=[('RESEARCHER', 'researcher'), ('REVIEWER', 'reviewer'), ('VIEWER', 'viewer')], max_length=10)),
                        ('joined_at', models.DateTimeField()),
                        ('ended_at', models.DateTimeField(blank=True, null=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                        ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='annotate.team')),
                    ],
                    options={
                        'ordering': ['pk'],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('user', 'team'), name='member_of_a_team_once'), models.CheckConstraint(condition=models.Q(('role__in', ['RESEARCHER', 'REVIEWER', 'VIEWER'])), name='membership_role_is_known'), models.CheckConstraint(condition=models.Q(('ended_at', None), ('ended_at__gte', models.F('joined_at')), _connector='OR'), name='membership_ends_after_it_began')],
                    },
                ),
                migrations.CreateModel(
                    name='Notice',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('kind', models.SlugField(help_text='a name in annotate.notices.registry', max_length=40)),
                        ('subject', models.CharField(max_length=200)),
                        ('title', models.CharField(max_length=200)),
                        ('text', models.TextField()),
                        ('path', models.CharField(help_text='the page to open', max_length=300)),
                        ('noticed_at', models.DateTimeField()),
                        ('over_at', models.DateTimeField(null=True)),
                        ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='annotate.campaign')),
                    ],
                    options={
                        'ordering': ['-noticed_at', '-pk'],
                        'indexes': [models.Index(fields=['kind', 'subject', 'noticed_at'], name='notice_by_subject'), models.Index(fields=['campaign', '-noticed_at'], name='notice_of_campaign')],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('over_at', None)), fields=('kind', 'subject'), name='notice_open_once')],
                    },
                ),
                migrations.CreateModel(
                    name='NoticeChoice',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.SlugField(max_length=40)),
                        ('is_on', models.BooleanField()),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='choices', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='notice_choice_once')],
                    },
                ),
                migrations.CreateModel(
                    name='ObjectClass',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('label', models.CharField(help_text='/m/0199g, or coco:17', max_length=64, unique=True)),
                        ('name', models.CharField(db_index=True, max_length=100)),
                    ],
                    options={
                        'verbose_name_plural': 'object classes',
                        'ordering': ['name'],
                    },
                ),
                migrations.CreateModel(
                    name='RecoveryCode',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('digest', models.CharField(max_length=64)),
                        ('used_at', models.DateTimeField(blank=True, null=True)),
                        ('factor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to='annotate.secondfactor')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('factor', 'digest'), name='recovery_code_once')],
                    },
                ),
                migrations.CreateModel(
                    name='Release',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.SlugField(max_length=100, unique=True)),
                        ('seed', models.BigIntegerField()),
                        ('is_partial', models.BooleanField(default=False)),
                        ('created_at', models.DateTimeField()),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.campaign')),
                        ('figures', models.JSONField(blank=True, default=dict)),
                        ('context', models.JSONField(blank=True, null=True)),
                        ('hidden', models.JSONField(blank=True, null=True)),
                        ('languages', models.JSONField(blank=True, default=list)),
                    ],
                    options={
                        'ordering': ['-created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='ReleasedAnswer',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('worker_number', models.PositiveIntegerField()),
                        ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotate.releasedimage')),
                        ('response', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='released_answers', to='annotate.response')),
                        ('seconds', models.PositiveIntegerField(blank=True, null=True)),
                    ],
                    options={
                        'ordering': ['pk'],
                        'constraints': [models.UniqueConstraint(fields=('image', 'worker_number'), name='released_answer_by_different_workers'), models.UniqueConstraint(fields=('image', 'response'), name='released_answer_once')],
                    },
                ),
                migrations.CreateModel(
                    name='ReleasedCaption',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('worker_number', models.PositiveIntegerField()),
                        ('role', models.CharField(choices=[('REFERENCE', 'Reference'), ('BASELINE', 'human baseline')], max_length=9)),
                        ('text', models.TextField()),
                        ('response', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='released', to='annotate.response')),
                        ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='annotate.releasedimage')),
                        ('primed', models.BooleanField(blank=True, null=True)),
                        ('seconds', models.PositiveIntegerField(blank=True, null=True)),
                        ('language', models.CharField(blank=True, db_default='', default='', max_length=20)),
                    ],
                    options={
                        'ordering': ['pk'],
                        'constraints': [models.UniqueConstraint(fields=('image', 'response'), name='released_caption_once'), models.UniqueConstraint(fields=('image', 'language', 'worker_number'), name='released_caption_by_different_workers'), models.UniqueConstraint(condition=models.Q(('role', 'BASELINE')), fields=('image', 'language'), name='released_one_baseline')],
                    },
                ),
                migrations.CreateModel(
                    name='ReleasedFile',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=100)),
                        ('text', models.TextField()),
                        ('release', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='files', to='annotate.release')),
                    ],
                    options={
                        'ordering': ['pk'],
                        'indexes': [models.Index(fields=['release', 'name'], name='released_file_by_name')],
                    },
                ),
                migrations.CreateModel(
                    name='ReleasedImage',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField(help_text='its id in exports')),
                        ('record', models.JSONField()),
                        ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='annotate.release')),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='released', to='annotate.task')),
                        ('details', models.JSONField(blank=True, null=True)),
                        ('is_hidden', models.BooleanField(default=False)),
                    ],
                    options={
                        'ordering': ['number'],
                        'constraints': [models.UniqueConstraint(fields=('release', 'task'), name='released_image_once'), models.UniqueConstraint(fields=('release', 'number'), name='released_image_numbered')],
                    },
                ),
                migrations.CreateModel(
                    name='Response',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('status', models.CharField(choices=[('SUBMITTED', 'submitted: counts towards the task'), ('DISCARDED', 'discarded: kept, but not counted')], default='SUBMITTED', max_length=9)),
                        ('submitted_at', models.DateTimeField()),
                        ('seconds', models.PositiveIntegerField(blank=True, null=True)),
                        ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.task')),
                        ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.worker')),
                        ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('assignment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='hits.assignment')),
                        ('primed', models.BooleanField(blank=True, null=True)),
                        ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                        ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.campaign')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['campaign', 'status', 'submitted_at'], name='response_by_campaign'), models.Index(fields=['worker', 'campaign', 'status'], name='response_by_worker'), models.Index(condition=models.Q(('status', 'DISCARDED')), fields=['campaign', 'id', 'worker'], name='response_discarded')],
                        'constraints': [models.UniqueConstraint(fields=('task', 'worker'), name='response_once_per_worker_and_task'), models.CheckConstraint(condition=models.Q(('withdrawn_at', None), ('status', 'DISCARDED'), _connector='OR'), name='response_withdrawn_is_discarded')],
                    },
                ),
                migrations.CreateModel(
                    name='SecondFactor',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('secret', models.CharField(max_length=64)),
                        ('created_at', models.DateTimeField()),
                        ('last_step', models.PositiveBigIntegerField()),
                        ('wrong_codes', models.PositiveIntegerField(default=0)),
                        ('wrong_at', models.DateTimeField(blank=True, null=True)),
                        ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='second_factor', to=settings.AUTH_USER_MODEL)),
                    ],
                ),
                migrations.CreateModel(
                    name='SelectedImage',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('position', models.PositiveIntegerField()),
                        ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='selected', to='annotate.image')),
                        ('selection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='selected', to='annotate.selection')),
                    ],
                    options={
                        'ordering': ['position'],
                        'constraints': [models.UniqueConstraint(fields=('selection', 'image'), name='selected_once'), models.UniqueConstraint(fields=('selection', 'position'), name='selected_in_one_order')],
                    },
                ),
                migrations.CreateModel(
                    name='Selection',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.SlugField(max_length=100, unique=True)),
                        ('split', models.CharField(max_length=64)),
                        ('count', models.PositiveIntegerField(help_text='images asked for')),
                        ('sample', models.PositiveIntegerField(default=0, help_text='images drawn from a pool for each choice; 0 except for nocaps')),
                        ('seed', models.BigIntegerField(default=0)),
                        ('ignored_classes', models.JSONField(default=list, help_text='names left out of the count')),
                        ('created_at', models.DateTimeField()),
                        ('images', models.ManyToManyField(related_name='selections', through='annotate.SelectedImage', to='annotate.image')),
                        ('procedure', models.CharField(choices=[('nocaps', 'nocaps (Agrawal et al. 2019, section 3.1)'), ('all', 'all images of the split'), ('random', 'at random'), ('picked', 'picked by hand')], default='nocaps', max_length=6)),
                        ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='selections', to='annotate.team')),
                    ],
                    options={
                        'ordering': ['-created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='Task',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField(help_text="place in the campaign's selection or set")),
                        ('wanted', models.PositiveSmallIntegerField()),
                        ('places_left', models.SmallIntegerField()),
                        ('shows_keywords', models.BooleanField(default=True, null=True)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='annotate.campaign')),
                        ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='annotate.image')),
                        ('subject', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='annotate.givencaption')),
                        ('answers_missing', models.SmallIntegerField()),
                        ('payload', models.JSONField(blank=True, null=True)),
                    ],
                    options={
                        'indexes': [models.Index(models.F('campaign'), models.OrderBy(models.F('places_left'), descending=True), models.F('number'), condition=models.Q(('answers_missing__gt', 0)), name='task_emptiest_first')],
                        'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='task_numbered_once'), models.UniqueConstraint(condition=models.Q(('subject', None)), fields=('campaign', 'image'), name='task_once_per_image'), models.UniqueConstraint(fields=('campaign', 'subject'), name='task_once_per_caption'), models.CheckConstraint(condition=models.Q(('places_left__lte', models.F('answers_missing')), ('answers_missing__lte', models.F('wanted'))), name='task_places_within_wanted')],
                    },
                ),
                migrations.CreateModel(
                    name='Team',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('slug', models.SlugField(max_length=100, unique=True)),
                        ('name', models.CharField(max_length=100)),
                        ('created_at', models.DateTimeField()),
                    ],
                    options={
                        'ordering': ['name', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='TeamChange',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('at', models.DateTimeField()),
                        ('text', models.CharField(max_length=300)),
                        ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='team_changes', to=settings.AUTH_USER_MODEL)),
                        ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='annotate.team')),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Webhook',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('url', models.CharField(max_length=500)),
                        ('secret', models.CharField(default=annotate.models.notices.new_secret, editable=False, max_length=100)),
                        ('kinds', models.JSONField(default=list, help_text='names of the kinds of notices that it gets')),
                        ('is_on', models.BooleanField(default=True)),
                        ('created_at', models.DateTimeField()),
                        ('removed_at', models.DateTimeField(null=True)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='annotate.campaign')),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['pk'],
                        'constraints': [models.UniqueConstraint(condition=models.Q(('removed_at', None)), fields=('campaign', 'url'), name='webhook_address_once_per_campaign')],
                    },
                ),
                migrations.CreateModel(
                    name='Worker',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('pseudonym', models.CharField(default=annotate.models.responses.new_pseudonym, editable=False, max_length=10, unique=True)),
                    ],
                ),
            ],
            'hits': [
                migrations.CreateModel(
                    name='Assignment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('assignment_id', models.CharField(max_length=64)),
                        ('status', models.CharField(choices=[('SUBMITTED', 'Submitted'), ('APPROVED', 'Approved'), ('REJECTED', 'Rejected'), ('LOST', 'lost: the marketplace does not have it any more')], default='SUBMITTED', max_length=9)),
                        ('accepted_at', models.DateTimeField(blank=True, null=True)),
                        ('submitted_at', models.DateTimeField()),
                        ('decided_at', models.DateTimeField(blank=True, null=True)),
                        ('feedback', models.CharField(blank=True, help_text='what the worker was told', max_length=1024)),
                        ('unplaced_answer', models.TextField(blank=True)),
                        ('hit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='hits.hit')),
                        ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='hits.workeraccount')),
                        ('deciding', models.CharField(blank=True, choices=[('SUBMITTED', 'Submitted'), ('APPROVED', 'Approved'), ('REJECTED', 'Rejected'), ('LOST', 'lost: the marketplace does not have it any more')], default='', max_length=9)),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('status', 'SUBMITTED')), fields=['submitted_at'], name='assignment_to_settle'), models.Index(fields=['account', 'status', 'hit'], name='assignment_by_account')],
                        'constraints': [models.UniqueConstraint(fields=('assignment_id', 'account'), name='assignment_once_per_worker'), models.CheckConstraint(condition=models.Q(('deciding', ''), models.Q(('deciding__in', ['APPROVED', 'REJECTED']), ('status', 'SUBMITTED')), _connector='OR'), name='assignment_deciding_while_submitted'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('status', 'SUBMITTED')), models.Q(('decided_at__isnull', False), ('status__in', ['APPROVED', 'REJECTED', 'LOST'])), _connector='OR'), name='assignment_decided_at_matches_status')],
                    },
                ),
                migrations.CreateModel(
                    name='Bonus',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('token', models.CharField(max_length=64, unique=True)),
                        ('amount', models.DecimalField(decimal_places=2, max_digits=8)),
                        ('fee', models.DecimalField(decimal_places=2, max_digits=8)),
                        ('reason', models.CharField(max_length=1024)),
                        ('planned_at', models.DateTimeField()),
                        ('sent_at', models.DateTimeField(blank=True, null=True)),
                        ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonuses', to='hits.assignment')),
                    ],
                    options={
                        'verbose_name_plural': 'bonuses',
                        'constraints': [models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='bonus_is_positive'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='bonus_has_a_reason')],
                    },
                ),
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
                    name='Hit',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('token', models.CharField(max_length=64, unique=True)),
                        ('hit_id', models.CharField(blank=True, max_length=64, null=True, unique=True)),
                        ('status', models.CharField(choices=[('PLANNED', 'planned: written down here, perhaps asked for already'), ('OPEN', 'open at the marketplace'), ('EXPIRED', 'expired: takes no new workers'), ('RETIRED', 'retired: deleted at the marketplace, all its work settled'), ('GONE', 'gone: the marketplace does not have it, and it was not deleted from here')], default='PLANNED', max_length=7)),
                        ('reward', models.DecimalField(decimal_places=2, max_digits=8)),
                        ('fee', models.DecimalField(decimal_places=2, help_text='for one assignment', max_digits=8)),
                        ('planned_at', models.DateTimeField()),
                        ('expires_at', models.DateTimeField(blank=True, null=True)),
                        ('available', models.PositiveSmallIntegerField(default=0)),
                        ('pending', models.PositiveSmallIntegerField(default=0)),
                        ('ingested', models.PositiveSmallIntegerField(default=0)),
                        ('settled', models.PositiveSmallIntegerField(default=0)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='annotate.campaign')),
                        ('hit_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='hits.hittype')),
                        ('unread_since', models.DateTimeField(blank=True, null=True)),
                        ('read_at', models.DateTimeField(blank=True, null=True)),
                        ('listed_at', models.DateTimeField(blank=True, null=True)),
                        ('slots', models.PositiveSmallIntegerField()),
                        ('paid', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ],
                    options={
                        'verbose_name': 'HIT',
                        'verbose_name_plural': 'HITs',
                        'indexes': [models.Index(fields=['campaign', 'status'], name='hit_by_status'), models.Index(condition=models.Q(('paid__isnull', True)), fields=['campaign'], name='hit_not_paid_yet')],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('hit_id', None), ('status', 'PLANNED')), models.Q(models.Q(('status', 'PLANNED'), _negated=True), ('hit_id__isnull', False)), _connector='OR'), name='hit_has_an_id_once_created'), models.CheckConstraint(condition=models.Q(('slots__gte', 1), ('slots__lte', 9)), name='hit_one_to_nine_slots'), models.CheckConstraint(condition=models.Q(('available__lte', models.F('slots')), ('pending__lte', models.F('slots'))), name='hit_counts_within_slots'), models.CheckConstraint(condition=models.Q(('settled__lte', models.F('ingested')), ('ingested__lte', models.F('slots'))), name='hit_settled_within_ingested'), models.CheckConstraint(condition=models.Q(('paid', None), ('status', 'RETIRED'), _connector='OR'), name='hit_paid_once_retired')],
                    },
                ),
                migrations.CreateModel(
                    name='HitType',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('hit_type_id', models.CharField(max_length=64)),
                        ('exclusion_type_id', models.CharField(max_length=64)),
                        ('created_at', models.DateTimeField()),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hit_types', to='annotate.campaign')),
                        ('queue_url', models.CharField(blank=True, default='', max_length=500)),
                        ('reward', models.DecimalField(blank=True, decimal_places=2, max_digits=8, null=True)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('campaign', 'hit_type_id'), name='hit_type_once_per_campaign')],
                    },
                ),
                migrations.CreateModel(
                    name='Installation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(default=hits.models.accounts.new_installation_name, editable=False, max_length=16)),
                    ],
                    options={
                        'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='installation_is_one')],
                    },
                ),
                migrations.CreateModel(
                    name='MessageRecipient',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('status', models.CharField(choices=[('PLANNED', 'waits for the next sync'), ('SENDING', 'sent, or not: the outcome is not known'), ('SENT', 'sent'), ('NOT_REACHED', 'the marketplace did not reach the worker')], default='PLANNED', max_length=11)),
                        ('sent_at', models.DateTimeField(blank=True, null=True)),
                        ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='hits.workeraccount')),
                        ('message', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='recipients', to='hits.workermessage')),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('status', 'PLANNED')), fields=['message'], name='message_recipient_planned')],
                        'constraints': [models.UniqueConstraint(fields=('message', 'account'), name='message_recipient_once'), models.CheckConstraint(condition=models.Q(models.Q(('sent_at__isnull', False), ('status', 'SENT')), models.Q(models.Q(('status', 'SENT'), _negated=True), ('sent_at', None)), _connector='OR'), name='message_recipient_sent_at_matches_status')],
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
                        ('started_at', models.DateTimeField()),
                        ('finished_at', models.DateTimeField(blank=True, null=True)),
                        ('api_calls', models.PositiveIntegerField(default=0)),
                        ('ingested', models.PositiveIntegerField(default=0)),
                        ('approved', models.PositiveIntegerField(default=0)),
                        ('rejected', models.PositiveIntegerField(default=0)),
                        ('hits_created', models.PositiveIntegerField(default=0)),
                        ('hits_retired', models.PositiveIntegerField(default=0)),
                        ('error', models.TextField(blank=True)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='syncs', to='annotate.campaign')),
                        ('is_whole', models.BooleanField(default=True)),
                        ('seen_at', models.DateTimeField(blank=True, null=True)),
                        ('problems', models.PositiveIntegerField(default=0)),
                        ('listing', models.CharField(blank=True, choices=[('', 'none, or not to its end because of an error'), ('CAMPAIGN', "as far as the campaign's own HITs go"), ('ACCOUNT', 'all of it')], default='', max_length=8)),
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
                        ('subject', models.CharField(max_length=200)),
                        ('message', models.TextField()),
                        ('times', models.PositiveIntegerField(default=1)),
                        ('first_at', models.DateTimeField()),
                        ('last_at', models.DateTimeField()),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sync_problems', to='annotate.campaign')),
                    ],
                    options={
                        'ordering': ['-last_at', 'subject'],
                        'constraints': [models.UniqueConstraint(fields=('campaign', 'subject'), name='sync_problem_once_per_subject')],
                    },
                ),
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
                        ('primed', models.JSONField(blank=True, default=list)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['expires_at'], name='task_page_lapsing'), models.Index(fields=['marketplace_id'], name='task_page_by_worker')],
                        'constraints': [models.UniqueConstraint(fields=('hit', 'assignment_id', 'marketplace_id'), name='task_page_once_per_worker'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('opened_at'))), name='task_page_lasts')],
                    },
                ),
                migrations.CreateModel(
                    name='WorkerAccount',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('endpoint', models.CharField(max_length=300)),
                        ('marketplace_id', models.CharField(max_length=64)),
                        ('worker', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='account', to='annotate.worker')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('endpoint', 'marketplace_id'), name='worker_account_once_per_endpoint')],
                    },
                ),
                migrations.CreateModel(
                    name='WorkerBarring',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('is_wanted', models.BooleanField()),
                        ('is_in_force', models.BooleanField(default=False, help_text='as the marketplace was told last')),
                        ('hit_type', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='barrings', to='hits.hittype')),
                        ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='barrings', to='hits.workeraccount')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('hit_type', 'account'), name='barring_once_per_worker')],
                    },
                ),
                migrations.CreateModel(
                    name='WorkerMessage',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.CharField(max_length=64, unique=True)),
                        ('subject', models.CharField(max_length=200)),
                        ('text', models.TextField()),
                        ('planned_at', models.DateTimeField()),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='worker_messages', to='annotate.campaign')),
                        ('sender', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='worker_messages', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-pk'],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('subject', ''), _negated=True), models.Q(('text', ''), _negated=True)), name='worker_message_says_something')],
                    },
                ),
            ],
            'qualcontrol': [
                migrations.CreateModel(
                    name='Appeal',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('text', models.TextField()),
                        ('received_at', models.DateTimeField()),
                        ('answer', models.TextField(blank=True)),
                        ('is_granted', models.BooleanField(default=False)),
                        ('answered_at', models.DateTimeField(blank=True, null=True)),
                        ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('exclusion', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='appeals', to='qualcontrol.exclusion')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('answered_at', None)), fields=('exclusion',), name='appeal_open_once'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='appeal_has_a_text'), models.CheckConstraint(condition=models.Q(models.Q(('answer', ''), ('answered_at', None), ('is_granted', False)), models.Q(('answered_at__isnull', False), models.Q(('answer', ''), _negated=True)), _connector='OR'), name='appeal_answered_at_matches_answer')],
                    },
                ),
                migrations.CreateModel(
                    name='Assessment',
                    fields=[
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='assessment', serialize=False, to='annotate.response')),
                        ('position', models.PositiveIntegerField(help_text="place in the worker's work, from 1")),
                        ('flags', models.JSONField(blank=True, default=list)),
                        ('codes', models.CharField(blank=True, help_text="the flags' codes, in order", max_length=400)),
                        ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='assessments', to='annotate.campaign')),
                        ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assessments', to='annotate.worker')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['campaign', 'worker', 'codes', 'position'], name='assessment_by_codes')],
                        'constraints': [models.UniqueConstraint(fields=('campaign', 'worker', 'position'), name='assessment_position_once'), models.CheckConstraint(condition=models.Q(('position__gt', 0)), name='assessment_position_from_one')],
                    },
                ),
                migrations.CreateModel(
                    name='Copying',
                    fields=[
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='copying', serialize=False, to='annotate.response')),
                        ('similarity', models.FloatField(help_text='of the two texts, 0 to 1')),
                        ('original', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='copies', to='annotate.response')),
                    ],
                    options={
                        'constraints': [models.CheckConstraint(condition=models.Q(('response', models.F('original')), _negated=True), name='copying_of_another')],
                    },
                ),
                migrations.CreateModel(
                    name='CopyKey',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.BigIntegerField()),
                        ('response', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='copy_keys', to='annotate.response')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('key', 'response'), name='copy_key_once')],
                    },
                ),
                migrations.CreateModel(
                    name='Decision',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('act', models.CharField(choices=[('JUDGE_GOOD', 'judged good'), ('JUDGE_BAD', 'judged bad'), ('TAKE_BACK', 'verdict taken back'), ('DISCARD', 'discarded'), ('RESTORE', 'restored'), ('EXCLUDE', 'excluded'), ('REINSTATE', 'reinstated'), ('REJECT', 'to be rejected'), ('PAY', 'to be paid'), ('PROPOSE', 'proposed for exclusion'), ('LEAVE', 'proposal dismissed'), ('PAUSE', 'paused'), ('LET_GO_ON', 'pause ended'), ('APPEAL', 'appealed'), ('ANSWER', 'appeal answered'), ('BUDGET', 'budget raised'), ('REWARD', 'reward changed'), ('SHARE', 'share of spot checks raised'), ('PUBLISH', 'campaign published'), ('HALT', 'campaign paused'), ('CONTINUE', 'campaign resumed'), ('FINISH', 'campaign finished')], max_length=10)),
                        ('reason', models.CharField(blank=True, max_length=1024)),
                        ('at', models.DateTimeField()),
                        ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.campaign')),
                        ('response', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.response')),
                        ('worker', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.worker')),
                    ],
                    options={
                        'ordering': ['-pk'],
                        'indexes': [models.Index(fields=['campaign', 'act'], name='decision_by_act')],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('act__in', ['REJECT', 'EXCLUDE']), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='decision_against_a_worker_has_a_reason'), models.CheckConstraint(condition=models.Q(('response__isnull', False), ('worker__isnull', False), ('act__in', ['BUDGET', 'REWARD', 'SHARE', 'PUBLISH', 'HALT', 'CONTINUE', 'FINISH']), _connector='OR'), name='decision_has_a_subject')],
                    },
                ),
                migrations.CreateModel(
                    name='Exclusion',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('reason', models.CharField(max_length=300)),
                        ('excluded_at', models.DateTimeField()),
                        ('lifted_at', models.DateTimeField(blank=True, null=True)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='annotate.campaign')),
                        ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='annotate.worker')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('campaign', 'worker'), name='exclusion_in_force_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='exclusion_has_a_reason')],
                    },
                ),
                migrations.CreateModel(
                    name='Gold',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('text', models.TextField(blank=True, help_text='the made-up caption')),
                        ('verdict', models.CharField(choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                        ('reason', models.CharField(blank=True, max_length=300)),
                        ('made_at', models.DateTimeField()),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold', to='annotate.campaign')),
                        ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='gold', to=settings.AUTH_USER_MODEL)),
                        ('response', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='gold', to='annotate.response')),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold', to='annotate.task')),
                        ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ],
                    options={
                        'verbose_name_plural': 'gold',
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('response__isnull', False), ('text', '')), models.Q(('response', None), ('verdict', 'BAD'), models.Q(('text', ''), _negated=True)), _connector='OR'), name='gold_is_a_response_or_made_up_and_bad')],
                    },
                ),
                migrations.CreateModel(
                    name='GoldAnswer',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('verdict', models.CharField(choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                        ('at', models.DateTimeField()),
                        ('gold', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='qualcontrol.gold')),
                        ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_answers', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('gold', 'reviewer'), name='gold_answer_once_per_reviewer')],
                    },
                ),
                migrations.CreateModel(
                    name='HeldPayment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('cause', models.CharField(choices=[('NO_TASK', 'fits no task'), ('RULES', "breaks the campaign's rules")], max_length=7)),
                        ('why', models.CharField(max_length=1000)),
                        ('held_at', models.DateTimeField()),
                        ('outcome', models.CharField(blank=True, choices=[('PAY', 'to be paid'), ('REJECT', 'to be rejected'), ('JUDGED', 'judged: paid as other work is'), ('LAPSED', 'decided at the marketplace before anybody decided here')], default='', max_length=6)),
                        ('ended_at', models.DateTimeField(blank=True, null=True)),
                        ('is_forgiven', models.BooleanField(default=False)),
                        ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='held_payment', to='hits.assignment')),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='held_payments', to='annotate.campaign')),
                        ('decision', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='held_payment', to='qualcontrol.decision')),
                        ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='held_payments', to='annotate.worker')),
                    ],
                    options={
                        'ordering': ['pk'],
                        'indexes': [models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['campaign'], name='held_payment_open'), models.Index(fields=['campaign', 'worker'], name='held_payment_by_worker')],
                        'constraints': [models.CheckConstraint(condition=models.Q(('why', ''), _negated=True), name='held_payment_has_a_reason'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('outcome', '')), models.Q(('ended_at__isnull', False), ('outcome__in', ['PAY', 'REJECT', 'JUDGED', 'LAPSED'])), _connector='OR'), name='held_payment_ended_at_matches_outcome')],
                    },
                ),
                migrations.CreateModel(
                    name='Judgement',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('verdict', models.CharField(choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                        ('reason', models.CharField(blank=True, max_length=300)),
                        ('at', models.DateTimeField()),
                        ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judgements', to=settings.AUTH_USER_MODEL)),
                        ('spot_check', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgements', to='qualcontrol.spotcheck')),
                    ],
                    options={
                        'ordering': ['pk'],
                        'constraints': [models.UniqueConstraint(fields=('spot_check', 'reviewer'), name='judgement_once_per_reviewer'), models.UniqueConstraint(condition=models.Q(('reviewer', None)), fields=('spot_check',), name='judgement_once_without_a_name'), models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'BAD'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='judgement_bad_has_a_reason')],
                    },
                ),
                migrations.CreateModel(
                    name='LearnedValues',
                    fields=[
                        ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='learned_values', serialize=False, to='annotate.campaign')),
                        ('values', models.JSONField(help_text='Learned values, as in qualcontrol.risk; empty if nothing was learned yet.', null=True)),
                        ('revision', models.PositiveIntegerField(default=0)),
                        ('learned_at_revision', models.PositiveIntegerField(default=0)),
                    ],
                    options={
                        'verbose_name_plural': 'learned values',
                    },
                ),
                migrations.CreateModel(
                    name='Pause',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('reason', models.CharField(max_length=300)),
                        ('is_by_policy', models.BooleanField(default=False)),
                        ('paused_at', models.DateTimeField()),
                        ('lifted_at', models.DateTimeField(blank=True, null=True)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pauses', to='annotate.campaign')),
                        ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pauses', to='annotate.worker')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('campaign', 'worker'), name='pause_in_force_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='pause_has_a_reason')],
                    },
                ),
                migrations.CreateModel(
                    name='Proposal',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('reason', models.CharField(max_length=300)),
                        ('proposed_at', models.DateTimeField()),
                        ('answered_at', models.DateTimeField(blank=True, null=True)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='proposals', to='annotate.campaign')),
                        ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='proposals', to='annotate.worker')),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(condition=models.Q(('answered_at', None)), fields=('campaign', 'worker'), name='proposal_open_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='proposal_has_a_reason')],
                    },
                ),
                migrations.CreateModel(
                    name='Reservation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('until', models.DateTimeField()),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='annotate.campaign')),
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='reservation', to='annotate.response')),
                        ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to=settings.AUTH_USER_MODEL)),
                    ],
                ),
                migrations.CreateModel(
                    name='SpotCheck',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('drawn_at', models.DateTimeField()),
                        ('verdict', models.CharField(blank=True, choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                        ('reason', models.CharField(blank=True, max_length=300)),
                        ('judged_at', models.DateTimeField(blank=True, null=True)),
                        ('response', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='spot_check', to='annotate.response')),
                        ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='spot_checks', to='annotate.campaign')),
                        ('draw', models.FloatField(default=0, help_text="place in the campaign's random order, 0 to 1")),
                        ('is_first', models.BooleanField(default=False, help_text="among its worker's first responses")),
                        ('is_random', models.BooleanField(default=False, help_text='in the random sample that the estimate is made from')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['campaign', 'verdict', 'draw'], name='spot_check_by_verdict')],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('judged_at', None), ('verdict', '')), models.Q(('judged_at__isnull', False), ('verdict__in', ['GOOD', 'BAD'])), _connector='OR'), name='spot_check_judged_at_matches_verdict'), models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'BAD'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='spot_check_bad_has_a_reason')],
                    },
                ),
                migrations.CreateModel(
                    name='WorkerRisk',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('tally', models.JSONField(blank=True, default=list)),
                        ('responses', models.PositiveIntegerField(default=0)),
                        ('good', models.PositiveIntegerField(default=0, help_text='Responses judged good.')),
                        ('bad', models.PositiveIntegerField(default=0, help_text='Responses judged bad.')),
                        ('risk', models.FloatField(default=0, help_text='Probability that the bad share is above the tolerated share.')),
                        ('share', models.FloatField(default=0, help_text='Expected share of bad responses.')),
                        ('forgiven', models.PositiveIntegerField(default=0)),
                        ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='worker_risks', to='annotate.campaign')),
                        ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='worker_risks', to='annotate.worker')),
                        ('low', models.FloatField(default=0, help_text="Lower end of the share's 90% interval.")),
                        ('high', models.FloatField(default=1, help_text="Upper end of the share's 90% interval.")),
                        ('expected_value', models.FloatField(default=0, help_text="Of the worker's next check: bad responses removed per check. Negative if no check is left.")),
                        ('reasons', models.JSONField(blank=True, default=list)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['campaign', '-expected_value'], name='worker_risk_most_valuable')],
                        'constraints': [models.UniqueConstraint(fields=('campaign', 'worker'), name='worker_risk_once_per_worker'), models.CheckConstraint(condition=models.Q(('responses__gte', django.db.models.expressions.CombinedExpression(models.F('good'), '+', models.F('bad')))), name='worker_risk_verdicts_within_responses')],
                    },
                ),
                migrations.CreateModel(
                    name='WorkerRiskChange',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.campaign')),
                        ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.worker')),
                    ],
                ),
            ],
            'leaderboard': [
                migrations.CreateModel(
                    name='Challenge',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.SlugField(max_length=100, unique=True)),
                        ('title', models.CharField(max_length=200)),
                        ('description', models.TextField(blank=True)),
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
                        ('created_at', models.DateTimeField()),
                        ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='challenges', to=settings.AUTH_USER_MODEL)),
                        ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='challenges', to='annotate.release')),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                        'constraints': [models.CheckConstraint(condition=models.Q(('closes_at', None), ('closes_at__gte', models.F('opens_at')), _connector='OR'), name='challenge_closes_after_it_opens'), models.CheckConstraint(condition=models.Q(('per_day__gte', 1), ('per_day__lte', models.F('in_total'))), name='challenge_limits_allow_a_submission'), models.CheckConstraint(condition=models.Q(('megabytes__gte', 1), ('seconds__gte', 1)), name='challenge_scoring_has_time_and_memory')],
                    },
                ),
                migrations.CreateModel(
                    name='Submission',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('is_baseline', models.BooleanField(default=False)),
                        ('track', models.CharField(choices=[('PLAIN', 'Plain'), ('EXTRA', 'Extra data')], max_length=5)),
                        ('method', models.CharField(max_length=100)),
                        ('training_data', models.TextField(help_text='as the submitter declares it')),
                        ('sha256', models.CharField(max_length=64)),
                        ('status', models.CharField(choices=[('WAITING', 'Waiting'), ('RUNNING', 'Running'), ('SCORED', 'Scored'), ('FAILED', 'Failed'), ('WITHDRAWN', 'Withdrawn')], default='WAITING', max_length=9)),
                        ('day', models.DateField()),
                        ('day_number', models.PositiveSmallIntegerField(null=True)),
                        ('try_number', models.PositiveSmallIntegerField(null=True)),
                        ('run', models.UUIDField(editable=False, null=True)),
                        ('runs', models.PositiveSmallIntegerField(default=0)),
                        ('run_ends_at', models.DateTimeField(null=True)),
                        ('scores', models.JSONField(null=True)),
                        ('log', models.TextField(blank=True)),
                        ('withdrawn_because', models.CharField(blank=True, max_length=300)),
                        ('created_at', models.DateTimeField()),
                        ('queued_at', models.DateTimeField()),
                        ('ended_at', models.DateTimeField(null=True)),
                        ('challenge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='leaderboard.challenge')),
                        ('submitter', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to=settings.AUTH_USER_MODEL)),
                        ('withdrawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                        'indexes': [models.Index(condition=models.Q(('status__in', ['WAITING', 'RUNNING'])), fields=['queued_at'], name='submission_to_score')],
                        'constraints': [models.UniqueConstraint(fields=('challenge', 'submitter', 'try_number'), name='submission_try_once'), models.UniqueConstraint(fields=('challenge', 'submitter', 'day', 'day_number'), name='submission_try_of_day_once'), models.UniqueConstraint(condition=models.Q(('status', 'FAILED'), _negated=True), fields=('challenge', 'submitter', 'track', 'sha256'), name='submission_file_once'), models.UniqueConstraint(condition=models.Q(('is_baseline', True)), fields=('challenge',), name='submission_one_baseline'), models.CheckConstraint(condition=models.Q(models.Q(('is_baseline', True), ('submitter', None)), models.Q(('is_baseline', False), ('submitter__isnull', False)), _connector='OR'), name='submission_has_submitter_or_is_baseline'), models.CheckConstraint(condition=models.Q(models.Q(('day_number', None), ('try_number', None), models.Q(('status', 'FAILED'), ('is_baseline', True), _connector='OR')), models.Q(('day_number__gte', 1), ('is_baseline', False), ('try_number__gte', 1), models.Q(('status', 'FAILED'), _negated=True)), _connector='OR'), name='submission_counts_unless_failed'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'SCORED'), _negated=True), ('scores__isnull', False), _connector='OR'), name='submission_scored_has_scores'), models.CheckConstraint(condition=models.Q(models.Q(('run__isnull', False), ('run_ends_at__isnull', False), ('status', 'RUNNING')), models.Q(models.Q(('status', 'RUNNING'), _negated=True), ('run', None), ('run_ends_at', None)), _connector='OR'), name='submission_run_matches_status')],
                    },
                ),
                migrations.CreateModel(
                    name='SubmittedFile',
                    fields=[
                        ('submission', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='file', serialize=False, to='leaderboard.submission')),
                        ('content', models.BinaryField()),
                    ],
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
            ],
        }),
        migrations.RunPython(CAPTION_WORDS.create, CAPTION_WORDS.drop),
        migrations.RunPython(ASSESSMENT_CODES.create, ASSESSMENT_CODES.drop),
        migrations.RunPython(HIDDEN_EXPORTS.install, HIDDEN_EXPORTS.remove),
        migrations.RunPython(TEAM_CHANGES.install, TEAM_CHANGES.remove),
        migrations.RunPython(DECISIONS.install, DECISIONS.remove),
        migrations.RunPython(make_the_first_team, migrations.RunPython.noop),
    ]
