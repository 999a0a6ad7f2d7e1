# One new, empty table: no existing table is locked.

from datetime import timedelta

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("hits", "0017_drop_sync_requests")]

    operations = [
        migrations.CreateModel(
            name="CallPace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("endpoint", models.CharField(max_length=300, unique=True)),
                ("next_at", models.DateTimeField()),
                ("pause", models.DurationField(default=timedelta)),
            ],
        ),
    ]
