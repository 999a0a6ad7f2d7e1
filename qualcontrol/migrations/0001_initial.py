import django.db.models.deletion
import django.db.models.expressions
import uuid
from django.conf import settings
from django.db import migrations, models

from shared.database.triggers import AppendOnly, PostgresIndex

ASSESSMENT_CODES = PostgresIndex(
    "assessment_codes", "qualcontrol_assessment", "gin (string_to_array(codes, ' '))"
)
DECISIONS = AppendOnly(
    "qualcontrol_decision",
    "decision",
    "decisions are only appended, never changed or deleted",
)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotate', '0001_initial'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Assessment',
            fields=[
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='assessment', serialize=False, to='annotate.response')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='assessments', to='annotate.campaign')),
                ('worker', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assessments', to='annotate.worker')),
                ('position', models.PositiveIntegerField(help_text="place in the worker's work, from 1")),
                ('flags', models.JSONField(blank=True, default=list)),
                ('codes', models.CharField(blank=True, help_text="the flags' codes, in order", max_length=400)),
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
                ('original', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='copies', to='annotate.response')),
                ('similarity', models.FloatField(help_text='of the two texts, 0 to 1')),
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
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.campaign')),
                ('act', models.CharField(choices=[('JUDGE_GOOD', 'judged good'), ('JUDGE_BAD', 'judged bad'), ('TAKE_BACK', 'verdict taken back'), ('DISCARD', 'discarded'), ('RESTORE', 'restored'), ('EXCLUDE', 'excluded'), ('REINSTATE', 'reinstated'), ('REJECT', 'to be rejected'), ('PAY', 'to be paid'), ('PROPOSE', 'proposed for exclusion'), ('LEAVE', 'proposal dismissed'), ('PAUSE', 'paused'), ('LET_GO_ON', 'pause ended'), ('APPEAL', 'appealed'), ('ANSWER', 'appeal answered'), ('BUDGET', 'budget raised'), ('REWARD', 'reward changed'), ('SHARE', 'share of spot checks raised'), ('PUBLISH', 'campaign published'), ('HALT', 'campaign paused'), ('CONTINUE', 'campaign resumed'), ('FINISH', 'campaign finished')], max_length=10)),
                ('response', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.response')),
                ('worker', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.worker')),
                ('reason', models.CharField(blank=True, max_length=1024)),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['campaign', 'act'], name='decision_by_act')],
                'constraints': [models.CheckConstraint(condition=models.Q(('response__isnull', False), ('worker__isnull', False), ('act__in', ['BUDGET', 'REWARD', 'SHARE', 'PUBLISH', 'HALT', 'CONTINUE', 'FINISH']), _connector='OR'), name='decision_has_a_subject'), models.CheckConstraint(condition=models.Q(models.Q(('act__in', ['REJECT', 'EXCLUDE']), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='decision_against_a_worker_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=300)),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='annotate.campaign')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='annotate.worker')),
                ('excluded_at', models.DateTimeField()),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('campaign', 'worker'), name='exclusion_in_force_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='exclusion_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Gold',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold', to='annotate.campaign')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold', to='annotate.task')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('response', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='gold', to='annotate.response')),
                ('text', models.TextField(blank=True, help_text='the made-up caption')),
                ('verdict', models.CharField(choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='gold', to=settings.AUTH_USER_MODEL)),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'gold',
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('response__isnull', False), ('text', '')), models.Q(('response', None), ('verdict', 'BAD'), models.Q(('text', ''), _negated=True)), _connector='OR'), name='gold_is_a_response_or_made_up_and_bad')],
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
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pauses', to='annotate.campaign')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pauses', to='annotate.worker')),
                ('is_by_policy', models.BooleanField(default=False)),
                ('paused_at', models.DateTimeField()),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('campaign', 'worker'), name='pause_in_force_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='pause_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='proposals', to='annotate.campaign')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='proposals', to='annotate.worker')),
                ('reason', models.CharField(max_length=300)),
                ('proposed_at', models.DateTimeField()),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('answered_at', None)), fields=('campaign', 'worker'), name='proposal_open_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='proposal_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='annotate.campaign')),
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='reservation', to='annotate.response')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to=settings.AUTH_USER_MODEL)),
                ('until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='SecondOpinion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='second_opinions', to='annotate.campaign')),
                ('key', models.UUIDField()),
                ('response', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='second_opinions', to='annotate.response')),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='second_opinions', to=settings.AUTH_USER_MODEL)),
                ('asked_at', models.DateTimeField()),
                ('question', models.CharField(blank=True, max_length=300)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('response',), name='second_opinion_once_per_response'), models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('key', 'asked_by'), name='second_opinion_once_per_reviewer')],
            },
        ),
        migrations.CreateModel(
            name='SpotCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='spot_checks', to='annotate.campaign')),
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='spot_check', to='annotate.response')),
                ('is_random', models.BooleanField(default=False, help_text='in the random sample that the estimate is made from')),
                ('is_first', models.BooleanField(default=False, help_text="among its worker's first responses")),
                ('draw', models.FloatField(default=0, help_text="place in the campaign's random order, 0 to 1")),
                ('drawn_at', models.DateTimeField()),
                ('verdict', models.CharField(blank=True, choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('judged_at', models.DateTimeField(blank=True, null=True)),
                ('is_changed', models.BooleanField(default=False, help_text='a person has replaced the verdict of the judgements')),
            ],
            options={
                'indexes': [models.Index(fields=['campaign', 'verdict', 'draw'], name='spot_check_by_verdict')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('judged_at', None), ('verdict', '')), models.Q(('judged_at__isnull', False), ('verdict__in', ['GOOD', 'BAD'])), _connector='OR'), name='spot_check_judged_at_matches_verdict'), models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'BAD'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='spot_check_bad_has_a_reason'), models.CheckConstraint(condition=models.Q(('is_changed', False), models.Q(('verdict', ''), _negated=True), _connector='OR'), name='spot_check_changed_has_a_verdict')],
            },
        ),
        migrations.CreateModel(
            name='WorkerRisk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='worker_risks', to='annotate.campaign')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='worker_risks', to='annotate.worker')),
                ('tally', models.JSONField(blank=True, default=list)),
                ('responses', models.PositiveIntegerField(default=0)),
                ('good', models.PositiveIntegerField(default=0, help_text='Responses judged good.')),
                ('bad', models.PositiveIntegerField(default=0, help_text='Responses judged bad.')),
                ('risk', models.FloatField(default=0, help_text='Probability that the bad share is above the tolerated share.')),
                ('share', models.FloatField(default=0, help_text='Expected share of bad responses.')),
                ('low', models.FloatField(default=0, help_text="Lower end of the share's 90% interval.")),
                ('high', models.FloatField(default=1, help_text="Upper end of the share's 90% interval.")),
                ('expected_value', models.FloatField(default=0, help_text="Of the worker's next check: bad responses removed per check. Negative if no check is left.")),
                ('reasons', models.JSONField(blank=True, default=list)),
                ('forgiven', models.PositiveIntegerField(default=0)),
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
        migrations.CreateModel(
            name='Appeal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('exclusion', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='appeals', to='qualcontrol.exclusion')),
                ('text', models.TextField()),
                ('received_at', models.DateTimeField()),
                ('answer', models.TextField(blank=True)),
                ('is_granted', models.BooleanField(default=False)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('answered_at', None)), fields=('exclusion',), name='appeal_open_once'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='appeal_has_a_text'), models.CheckConstraint(condition=models.Q(models.Q(('answer', ''), ('answered_at', None), ('is_granted', False)), models.Q(('answered_at__isnull', False), models.Q(('answer', ''), _negated=True)), _connector='OR'), name='appeal_answered_at_matches_answer')],
            },
        ),
        migrations.CreateModel(
            name='GoldAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('gold', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='qualcontrol.gold')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_answers', to=settings.AUTH_USER_MODEL)),
                ('verdict', models.CharField(choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('gold', 'reviewer'), name='gold_answer_once_per_reviewer')],
            },
        ),
        migrations.CreateModel(
            name='HeldPayment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='held_payments', to='annotate.campaign')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='held_payments', to='annotate.worker')),
                ('submission', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='held_payment', to='annotate.submission')),
                ('cause', models.CharField(choices=[('NO_TASK', 'fits no task'), ('RULES', "breaks the campaign's rules")], max_length=7)),
                ('why', models.CharField(max_length=1000)),
                ('held_at', models.DateTimeField()),
                ('outcome', models.CharField(blank=True, choices=[('PAY', 'to be paid'), ('REJECT', 'to be rejected'), ('JUDGED', 'judged: paid as other work is'), ('LAPSED', 'decided at the marketplace before anybody decided here')], default='', max_length=6)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('decision', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='held_payment', to='qualcontrol.decision')),
                ('is_settled', models.BooleanField(default=False)),
                ('is_forgiven', models.BooleanField(default=False)),
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
                ('spot_check', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgements', to='qualcontrol.spotcheck')),
                ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judgements', to=settings.AUTH_USER_MODEL)),
                ('verdict', models.CharField(choices=[('GOOD', 'Good'), ('BAD', 'Bad')], max_length=4)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('spot_check', 'reviewer'), name='judgement_once_per_reviewer'), models.UniqueConstraint(condition=models.Q(('reviewer', None)), fields=('spot_check',), name='judgement_once_without_a_name'), models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'BAD'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='judgement_bad_has_a_reason')],
            },
        ),
        migrations.RunPython(ASSESSMENT_CODES.create, ASSESSMENT_CODES.drop),
        migrations.RunPython(DECISIONS.install, DECISIONS.remove),
    ]
