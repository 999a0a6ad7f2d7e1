from django.db import migrations, models

from annotate.site.postgres_index import AddIndexWhileWriting


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("annotate", "0040_families_of_campaigns")]

    operations = [
        AddIndexWhileWriting(
            model_name="response",
            index=models.Index(fields=["campaign", "id"], name="response_in_order"),
        ),
    ]
