from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0010_only_submitted_responses'),
    ]

    operations = [
        migrations.AddField(
            model_name='claim',
            name='takes_place',
            field=models.BooleanField(default=True),
        ),
    ]
