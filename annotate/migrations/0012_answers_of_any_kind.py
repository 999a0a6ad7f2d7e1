import django.db.models.deletion
from django.db import migrations, models



class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0011_claim_takes_place'),
    ]

    operations = [
        migrations.AddField(
            model_name='task',
            name='payload',
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name='Answer',
            fields=[
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='answer', serialize=False, to='annotate.response')),
                ('content', models.JSONField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='releasedcorrespondence',
            name='released_correspondence_by_different_workers',
        ),
        migrations.RemoveConstraint(
            model_name='releasedcorrespondence',
            name='released_correspondence_once',
        ),
        migrations.RenameModel(
            old_name='ReleasedCorrespondence',
            new_name='ReleasedAnswer',
        ),
        migrations.AlterField(
            model_name='releasedanswer',
            name='image',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotate.releasedimage'),
        ),
        migrations.AlterField(
            model_name='releasedanswer',
            name='response',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='released_answers', to='annotate.response'),
        ),
        migrations.AddConstraint(
            model_name='releasedanswer',
            constraint=models.UniqueConstraint(fields=('image', 'worker_number'), name='released_answer_by_different_workers'),
        ),
        migrations.AddConstraint(
            model_name='releasedanswer',
            constraint=models.UniqueConstraint(fields=('image', 'response'), name='released_answer_once'),
        ),
    ]
