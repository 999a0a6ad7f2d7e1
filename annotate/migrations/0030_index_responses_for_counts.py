from django.db import migrations, models

from annotate.site.postgres_index import AddIndexWhileWriting


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("annotate", "0029_second_factors")]

    operations = [
        AddIndexWhileWriting(
            model_name="response",
            index=models.Index(
                fields=["status", "submitted_at", "task"], name="response_by_moment"
            ),
        ),
        AddIndexWhileWriting(
            model_name="response",
            index=models.Index(fields=["worker", "status", "task"], name="response_by_worker"),
        ),
        AddIndexWhileWriting(
            model_name="response",
            index=models.Index(
                condition=models.Q(("status", "DISCARDED")),
                fields=["worker", "task", "id"],
                name="response_discarded",
            ),
        ),
    ]
