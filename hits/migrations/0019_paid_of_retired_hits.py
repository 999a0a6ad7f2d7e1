from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hits", "0018_call_pace")]

    operations = [
        migrations.AddField(
            model_name="hit",
            name="paid",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.CheckConstraint(
                condition=models.Q(("paid", None), ("status", "RETIRED"), _connector="OR"),
                name="hit_paid_once_retired",
            ),
        ),
    ]
