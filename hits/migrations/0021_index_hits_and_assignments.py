from django.db import migrations, models

from annotate.site.postgres_index import AddIndexWhileWriting


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("hits", "0020_count_paid_of_retired_hits")]

    operations = [
        AddIndexWhileWriting(
            model_name="hit",
            index=models.Index(
                condition=models.Q(("paid__isnull", True)),
                fields=["campaign"],
                name="hit_not_paid_yet",
            ),
        ),
        AddIndexWhileWriting(
            model_name="assignment",
            index=models.Index(fields=["account", "status", "hit"], name="assignment_by_account"),
        ),
    ]
