import django.db.models.deletion
import marketplace.models.fields
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('marketplace', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='PanelStudy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='at_panel', to='marketplace.study')),
                ('reference', models.CharField(max_length=64, unique=True)),
                ('external_id', models.CharField(blank=True, default='', max_length=64)),
                ('status', models.CharField(blank=True, default='', max_length=20)),
                ('description', models.TextField()),
                ('reward', marketplace.models.fields.MoneyField()),
                ('screen_out_reward', marketplace.models.fields.MoneyField(default=Decimal('0.00'))),
                ('screen_out_places', models.PositiveIntegerField(default=0)),
                ('minutes', models.PositiveIntegerField()),
                ('places', models.PositiveIntegerField()),
                ('devices', models.JSONField(default=list)),
                ('filters', models.JSONField(default=list)),
                ('is_signed', models.BooleanField(default=False)),
                ('problem', models.CharField(blank=True, default='', max_length=500)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
                ('read_next_at', models.DateTimeField(db_index=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'panel studies',
                'constraints': [models.CheckConstraint(condition=models.Q(('minutes__gt', 0), ('places__gt', 0), ('reward__gt', 0)), name='panel_study_is_payable'), models.CheckConstraint(condition=models.Q(models.Q(('screen_out_places', 0), ('screen_out_reward', 0)), models.Q(('screen_out_places__gt', 0), ('screen_out_reward__gt', 0), ('screen_out_reward__lt', models.F('reward'))), _connector='OR'), name='panel_study_pays_screen_outs'), models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('external_id',), name='panel_study_id_once')],
            },
        ),
        migrations.CreateModel(
            name='BonusBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('panel_study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches', to='panels.panelstudy')),
                ('state', models.CharField(choices=[('planned', 'Planned'), ('set up', 'Set Up'), ('sending', 'Sending'), ('sent', 'Sent'), ('unclear', 'Unclear'), ('paid', 'Paid'), ('refused', 'Refused')], default='planned', max_length=10)),
                ('external_id', models.CharField(blank=True, default='', max_length=64)),
                ('fees', marketplace.models.fields.MoneyField(default=Decimal('0.00'))),
                ('tax', marketplace.models.fields.MoneyField(default=Decimal('0.00'))),
                ('problem', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField()),
                ('sending_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.CharField(blank=True, default='', max_length=150)),
            ],
            options={
                'verbose_name_plural': 'bonus batches',
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['planned', 'set up', 'refused']), ('sending_at__isnull', False), _connector='OR'), name='batch_is_sent_with_its_time')],
            },
        ),
        migrations.CreateModel(
            name='PanelSubmission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('panel_study', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='panels.panelstudy')),
                ('external_id', models.CharField(max_length=64)),
                ('participation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='panel_submissions', to='marketplace.participation')),
                ('status', models.CharField(max_length=20)),
                ('code', models.CharField(blank=True, default='', max_length=100)),
                ('started_at', models.DateTimeField()),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('return_requested_at', models.DateTimeField(blank=True, null=True)),
                ('approve_asked_at', models.DateTimeField(blank=True, null=True)),
                ('return_asked_at', models.DateTimeField(blank=True, null=True)),
                ('question', models.CharField(blank=True, default='', max_length=300)),
                ('bonuses_there', marketplace.models.fields.MoneyField(default=Decimal('0.00'))),
                ('known_since', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('panel_study', 'external_id'), name='panel_submission_once')],
            },
        ),
        migrations.CreateModel(
            name='PanelPayment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='panels.panelsubmission')),
                ('kind', models.CharField(choices=[('reward', 'Reward'), ('screen-out', 'Screen Out'), ('bonus', 'Bonus')], max_length=10)),
                ('amount', marketplace.models.fields.MoneyField()),
                ('batch', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='panels.bonusbatch')),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='panel_payment_is_positive'), models.CheckConstraint(condition=models.Q(models.Q(('batch', None), ('kind__in', ['reward', 'screen-out'])), models.Q(('batch__isnull', False), ('kind', 'bonus')), _connector='OR'), name='panel_bonus_has_batch'), models.UniqueConstraint(condition=models.Q(('kind__in', ['reward', 'screen-out'])), fields=('submission', 'kind'), name='panel_reward_once'), models.UniqueConstraint(fields=('submission', 'batch'), name='panel_bonus_once_per_batch')],
            },
        ),
        migrations.CreateModel(
            name='PanelTransfer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('transfer', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='at_panel', to='marketplace.transfer')),
                ('kind', models.CharField(max_length=16)),
                ('payment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='panels.panelpayment')),
                ('batch', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='panels.bonusbatch')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('batch', None), ('payment__isnull', False)), models.Q(('batch__isnull', False), ('payment', None)), _connector='OR'), name='panel_transfer_records_one_thing'), models.UniqueConstraint(fields=('payment', 'kind'), name='panel_payment_recorded_once'), models.UniqueConstraint(fields=('batch', 'kind'), name='panel_batch_charged_once')],
            },
        ),
    ]
