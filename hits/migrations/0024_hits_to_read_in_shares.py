from django.db import migrations, models

from annotate.site.postgres_index import AddIndexWhileWriting


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("hits", "0023_worker_ids_can_be_deleted")]

    operations = [
        migrations.AddField(
            model_name="hit",
            name="to_read",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.CheckConstraint(
                condition=models.Q(("to_read", None), ("unread_since__isnull", False), _connector="OR"),
                name="hit_to_read_is_unread",
            ),
        ),
        AddIndexWhileWriting(
            model_name="hit",
            index=models.Index(
                condition=models.Q(("to_read__isnull", False)),
                fields=["campaign"],
                name="hit_to_read",
            ),
        ),
    ]
