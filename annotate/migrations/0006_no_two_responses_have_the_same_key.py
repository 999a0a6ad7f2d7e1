from uuid import uuid4

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0005_every_response_has_a_key")]

    operations = [
        migrations.AlterField(
            model_name="response",
            name="key",
            field=models.UUIDField(default=uuid4, editable=False, unique=True),
        ),
    ]
