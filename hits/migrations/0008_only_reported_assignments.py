from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('hits', '0007_move_claims_to_pages'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='assignment',
            name='assignment_submitted_at_matches_status',
        ),
        migrations.RemoveConstraint(
            model_name='assignment',
            name='assignment_decided_at_matches_status',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='claims',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='opened_at',
        ),
        migrations.AlterField(
            model_name='assignment',
            name='status',
            field=models.CharField(choices=[('SUBMITTED', 'Submitted'), ('APPROVED', 'Approved'), ('REJECTED', 'Rejected')], default='SUBMITTED', max_length=9),
        ),
        migrations.AlterField(
            model_name='assignment',
            name='submitted_at',
            field=models.DateTimeField(),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('decided_at', None), ('status', 'SUBMITTED')), models.Q(('decided_at__isnull', False), ('status__in', ['APPROVED', 'REJECTED'])), _connector='OR'), name='assignment_decided_at_matches_status'),
        ),
    ]
