import annotate.models.responses
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from shared.database.triggers import AppendOnly, PostgresIndex

HIDDEN_EXPORTS = AppendOnly(
    "annotate_hiddenexport",
    "hidden_export",
    "exports of hidden captions are only appended, never changed or deleted",
)
CAPTION_WORDS = PostgresIndex(
    "caption_words", "annotate_caption", "gin (to_tsvector('simple', left(text, 10000)))"
)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_initial'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='images', to='accounts.team')),
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
                ('context', models.TextField(blank=True, db_default='', default='')),
                ('file_name', models.CharField(blank=True, db_default='', default='', help_text='original name, which exports have', max_length=500)),
                ('sha256', models.CharField(blank=True, db_default='', default='', max_length=64)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('team__isnull', False)), fields=['team', 'file'], name='image_of_a_team'), models.Index(condition=models.Q(('file', ''), _negated=True), fields=['file'], name='image_by_file')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('team', None)), fields=('source', 'key'), name='shared_image_key_once'), models.UniqueConstraint(condition=models.Q(('team__isnull', False)), fields=('team', 'source', 'key'), name='image_key_once_in_team'), models.UniqueConstraint(condition=models.Q(('source', 'OWN')), fields=('split', 'sha256'), name='own_image_content_once_in_split'), models.UniqueConstraint(condition=models.Q(('source', 'OWN')), fields=('split', 'file_name'), name='own_image_file_name_once_in_split'), models.CheckConstraint(condition=models.Q(('rotation', None), ('rotation__in', [0, 90, 180, 270]), _connector='OR'), name='image_rotation_is_a_quarter_turn')],
            },
        ),
        migrations.CreateModel(
            name='ImportedFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255)),
                ('sha256', models.CharField(max_length=64)),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='ObjectClass',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='object_classes', to='accounts.team')),
                ('label', models.CharField(help_text='/m/0199g, or coco:17', max_length=64)),
                ('name', models.CharField(db_index=True, max_length=100)),
            ],
            options={
                'verbose_name_plural': 'object classes',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('team', None)), fields=('label',), name='shared_class_label_once'), models.UniqueConstraint(condition=models.Q(('team__isnull', False)), fields=('team', 'label'), name='class_label_once_in_team')],
            },
        ),
        migrations.CreateModel(
            name='SplitPools',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.CharField(max_length=64, unique=True)),
                ('ignored_classes', models.JSONField()),
                ('by_classes', models.JSONField(help_text='numbers of images by number of classes')),
            ],
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pseudonym', models.CharField(default=annotate.models.responses.new_pseudonym, editable=False, max_length=10, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name='Box',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('image', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='boxes', to='annotate.image')),
                ('object_class', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='boxes', to='annotate.objectclass')),
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
            ],
            options={
                'verbose_name_plural': 'boxes',
                'constraints': [models.UniqueConstraint(fields=('image', 'object_class', 'x_min', 'x_max', 'y_min', 'y_max'), name='box_stated_once'), models.CheckConstraint(condition=models.Q(('x_max__lte', 1), ('x_min__gte', 0), ('x_min__lte', models.F('x_max')), ('y_max__lte', 1), ('y_min__gte', 0), ('y_min__lte', models.F('y_max'))), name='box_lies_in_the_image')],
            },
        ),
        migrations.CreateModel(
            name='ClassName',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('object_class', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='names', to='annotate.objectclass')),
                ('language', models.CharField(help_text='BCP 47 tag in lower case, such as de', max_length=35)),
                ('name', models.CharField(max_length=100)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('object_class', 'language'), name='class_has_one_name_in_a_language')],
            },
        ),
        migrations.CreateModel(
            name='ClassRelation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('parent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='relations_down', to='annotate.objectclass')),
                ('child', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='relations_up', to='annotate.objectclass')),
                ('kind', models.CharField(choices=[('SUBCATEGORY', 'Subcategory'), ('PART', 'Part')], max_length=11)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('parent', 'child', 'kind'), name='class_relation_stated_once'), models.CheckConstraint(condition=models.Q(('parent', models.F('child')), _negated=True), name='class_relation_joins_two_classes')],
            },
        ),
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='accounts.team')),
                ('slug', models.SlugField(max_length=100, unique=True)),
                ('kind', models.CharField(help_text='a name of annotate.kinds', max_length=20)),
                ('family', models.CharField(blank=True, default='', max_length=100)),
                ('status', models.CharField(choices=[('DRAFT', 'Draft'), ('RUNNING', 'Running'), ('PAUSED', 'Paused'), ('FINISHED', 'Finished')], db_index=True, default='DRAFT', max_length=8)),
                ('endpoint', models.CharField(max_length=300)),
                ('budget', models.DecimalField(decimal_places=2, help_text='US dollars, with fees', max_digits=10)),
                ('config_json', models.JSONField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [models.Index(models.F('team'), models.F('family'), condition=models.Q(('family', ''), _negated=True), name='campaigns_of_family')],
                'constraints': [models.CheckConstraint(condition=models.Q(('budget__gte', 0)), name='campaign_budget_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='CampaignDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='campaign_drafts', to='accounts.team')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='campaign_drafts', to=settings.AUTH_USER_MODEL)),
                ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='annotate.campaign')),
                ('begun_from', models.JSONField(blank=True, null=True)),
                ('file', models.JSONField(blank=True, default=dict)),
                ('unfinished', models.JSONField(blank=True, default=dict)),
                ('visited', models.JSONField(blank=True, default=list)),
                ('created_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-changed_at', '-pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('owner', 'campaign'), name='draft_once_per_campaign_and_owner')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=100, unique=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.campaign')),
                ('languages', models.JSONField(blank=True, default=list)),
                ('seed', models.BigIntegerField()),
                ('is_partial', models.BooleanField(default=False)),
                ('figures', models.JSONField(blank=True, default=dict)),
                ('context', models.JSONField()),
                ('hidden', models.JSONField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='CaptionSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='caption_sets', to='accounts.team')),
                ('name', models.SlugField(max_length=100, unique=True)),
                ('release', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='caption_set', to='annotate.release')),
                ('language', models.CharField(blank=True, db_default='', default='', max_length=20)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='HiddenExport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hidden_exports', to='annotate.release')),
                ('actor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hidden_exports', to=settings.AUTH_USER_MODEL)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ReleasedFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='files', to='annotate.release')),
                ('name', models.CharField(max_length=100)),
                ('text', models.TextField()),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['release', 'name'], name='released_file_by_name')],
            },
        ),
        migrations.CreateModel(
            name='GivenCaption',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('caption_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='annotate.captionset')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='given_captions', to='annotate.image')),
                ('number', models.PositiveIntegerField(help_text="the caption's place in its set, from 1")),
                ('annotation_id', models.PositiveBigIntegerField(help_text="its id in the file, or in the release's captions.json")),
                ('text', models.TextField()),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('caption_set', 'number'), name='given_caption_numbered_once'), models.UniqueConstraint(fields=('caption_set', 'annotation_id'), name='given_caption_id_once')],
            },
        ),
        migrations.CreateModel(
            name='Task',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='annotate.campaign')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='annotate.image')),
                ('subject', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='annotate.givencaption')),
                ('serial', models.PositiveIntegerField(default=0, help_text='0 if the image has one task')),
                ('number', models.PositiveIntegerField(help_text="place in the campaign's selection or set")),
                ('wanted', models.PositiveSmallIntegerField()),
                ('answers_missing', models.SmallIntegerField()),
                ('places_left', models.SmallIntegerField()),
                ('at_once', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('shows_keywords', models.BooleanField(default=True, null=True)),
                ('payload', models.JSONField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(models.F('campaign'), models.OrderBy(models.F('places_left'), descending=True), models.F('number'), condition=models.Q(('answers_missing__gt', 0)), name='task_emptiest_first')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('subject', None)), fields=('campaign', 'image', 'serial'), name='task_once_per_image'), models.UniqueConstraint(fields=('campaign', 'subject'), name='task_once_per_caption'), models.UniqueConstraint(fields=('campaign', 'number'), name='task_numbered_once'), models.CheckConstraint(condition=models.Q(('places_left__lte', models.F('answers_missing')), ('answers_missing__lte', models.F('wanted'))), name='task_places_within_wanted')],
            },
        ),
        migrations.CreateModel(
            name='WorkerPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('html', models.TextField()),
                ('text', models.TextField(help_text='the same as plain text')),
                ('sha256', models.CharField(help_text='of the plain text, in hexadecimal', max_length=64)),
                ('first_shown_at', models.DateTimeField()),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='worker_pages', to='annotate.campaign')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'sha256'), name='worker_page_once')],
            },
        ),
        migrations.CreateModel(
            name='ReleasedImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='annotate.release')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='released', to='annotate.task')),
                ('number', models.PositiveIntegerField(help_text='its id in exports')),
                ('record', models.JSONField()),
                ('details', models.JSONField()),
                ('is_hidden', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('release', 'task'), name='released_image_once'), models.UniqueConstraint(fields=('release', 'number'), name='released_image_numbered')],
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('lost_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Response',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.campaign')),
                ('task', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.task')),
                ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.worker')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('submission', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.submission')),
                ('imported_from', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='annotate.importedfile')),
                ('status', models.CharField(choices=[('SUBMITTED', 'submitted: counts towards the task'), ('DISCARDED', 'discarded: kept, but not counted')], default='SUBMITTED', max_length=9)),
                ('submitted_at', models.DateTimeField()),
                ('seconds', models.PositiveIntegerField(blank=True, null=True)),
                ('primed', models.BooleanField(blank=True, null=True)),
                ('cannot_describe', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('round', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('builds_on', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='later', to='annotate.response')),
            ],
            options={
                'indexes': [models.Index(fields=['campaign', 'status', 'submitted_at'], name='response_by_campaign'), models.Index(fields=['worker', 'campaign', 'status', 'submission'], name='response_by_worker'), models.Index(fields=['campaign', 'id'], name='response_in_order'), models.Index(condition=models.Q(('status', 'DISCARDED')), fields=['campaign', 'id', 'worker'], name='response_discarded'), models.Index(condition=models.Q(('builds_on__isnull', False)), fields=['builds_on'], name='response_built_on'), models.Index(condition=models.Q(('round__isnull', False)), fields=['worker', 'task'], name='response_in_a_chain')],
                'constraints': [models.UniqueConstraint(fields=('task', 'worker'), name='response_once_per_worker_and_task'), models.CheckConstraint(condition=models.Q(('withdrawn_at', None), ('status', 'DISCARDED'), _connector='OR'), name='response_withdrawn_is_discarded'), models.CheckConstraint(condition=models.Q(('imported_from', None), ('submission', None), _connector='OR'), name='response_imported_has_no_submission'), models.UniqueConstraint(condition=models.Q(('round__isnull', False), ('status', 'SUBMITTED')), fields=('task', 'round'), name='response_one_counts_in_a_round'), models.CheckConstraint(condition=models.Q(models.Q(('builds_on', None), ('round', None)), models.Q(('builds_on', None), ('round', 1)), models.Q(('builds_on__isnull', False), ('round__gt', 1)), _connector='OR'), name='response_builds_on_an_earlier_round')],
            },
        ),
        migrations.CreateModel(
            name='Answer',
            fields=[
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='answer', serialize=False, to='annotate.response')),
                ('content', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='Behaviour',
            fields=[
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='behaviour', serialize=False, to='annotate.response')),
                ('characters', models.JSONField(blank=True, null=True)),
                ('seconds_writing', models.FloatField(blank=True, null=True)),
                ('times_left', models.PositiveIntegerField(blank=True, null=True)),
                ('device', models.CharField(blank=True, choices=[('PHONE', 'Phone'), ('TABLET', 'Tablet'), ('COMPUTER', 'Computer')], max_length=8)),
            ],
            options={
                'verbose_name_plural': 'behaviours',
            },
        ),
        migrations.CreateModel(
            name='Caption',
            fields=[
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='caption', serialize=False, to='annotate.response')),
                ('text', models.TextField()),
                ('remark', models.TextField(blank=True, db_default='', default='')),
                ('ratings', models.JSONField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Correspondence',
            fields=[
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='correspondence', serialize=False, to='annotate.response')),
                ('words', models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name='ReleasedAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotate.releasedimage')),
                ('response', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='released_answers', to='annotate.response')),
                ('worker_number', models.PositiveIntegerField()),
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
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='captions', to='annotate.releasedimage')),
                ('response', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='released', to='annotate.response')),
                ('worker_number', models.PositiveIntegerField()),
                ('role', models.CharField(choices=[('REFERENCE', 'Reference'), ('BASELINE', 'human baseline'), ('REASON', 'why the image cannot be described, in place of a caption')], max_length=9)),
                ('text', models.TextField()),
                ('remark', models.TextField(blank=True, db_default='', default='')),
                ('ratings', models.JSONField(blank=True, null=True)),
                ('language', models.CharField(blank=True, db_default='', default='', max_length=20)),
                ('seconds', models.PositiveIntegerField(blank=True, null=True)),
                ('primed', models.BooleanField(blank=True, null=True)),
                ('import_number', models.PositiveIntegerField(blank=True, null=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('image', 'language', 'worker_number'), name='released_caption_by_different_workers'), models.UniqueConstraint(condition=models.Q(('role', 'BASELINE')), fields=('image', 'language'), name='released_one_baseline'), models.UniqueConstraint(fields=('image', 'response'), name='released_caption_once')],
            },
        ),
        migrations.CreateModel(
            name='SelectedImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='selected', to='annotate.image')),
                ('position', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='Selection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='selections', to='accounts.team')),
                ('name', models.SlugField(max_length=100, unique=True)),
                ('procedure', models.CharField(choices=[('nocaps', 'nocaps (Agrawal et al. 2019, section 3.1)'), ('all', 'all images of the split'), ('random', 'at random'), ('picked', 'picked by hand'), ('listed', 'by a list of image ids')], default='nocaps', max_length=6)),
                ('split', models.CharField(max_length=64)),
                ('count', models.PositiveIntegerField(help_text='images asked for')),
                ('sample', models.PositiveIntegerField(default=0, help_text='images drawn from a pool for each choice; 0 except for nocaps')),
                ('seed', models.BigIntegerField(default=0)),
                ('ignored_classes', models.JSONField(default=list, help_text='names left out of the count')),
                ('created_at', models.DateTimeField()),
                ('images', models.ManyToManyField(related_name='selections', through='annotate.SelectedImage', to='annotate.image')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.AddField(
            model_name='campaign',
            name='caption_set',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotate.captionset'),
        ),
        migrations.AddField(
            model_name='campaign',
            name='practice_images',
            field=models.ManyToManyField(blank=True, related_name='practised_in', to='annotate.image'),
        ),
        migrations.AddField(
            model_name='campaign',
            name='selection',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotate.selection'),
        ),
        migrations.AddField(
            model_name='selectedimage',
            name='selection',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='selected', to='annotate.selection'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('caption_set', None), ('selection__isnull', False)), models.Q(('caption_set__isnull', False), ('selection', None)), _connector='OR'), name='campaign_on_images_or_captions'),
        ),
        migrations.AddConstraint(
            model_name='selectedimage',
            constraint=models.UniqueConstraint(fields=('selection', 'image'), name='selected_once'),
        ),
        migrations.AddConstraint(
            model_name='selectedimage',
            constraint=models.UniqueConstraint(fields=('selection', 'position'), name='selected_in_one_order'),
        ),
        migrations.RunPython(CAPTION_WORDS.create, CAPTION_WORDS.drop),
        migrations.RunPython(HIDDEN_EXPORTS.install, HIDDEN_EXPORTS.remove),
    ]
