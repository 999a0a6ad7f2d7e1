from uuid import uuid4

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("qualcontrol", "0009_every_gold_item_has_a_key")]

    operations = [
        migrations.AlterField(
            model_name="gold",
            name="key",
            field=models.UUIDField(default=uuid4, editable=False, unique=True),
        ),
    ]
