import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0035_failures")]

    operations = [
        migrations.AddField(
            model_name="response",
            name="campaign",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="responses",
                to="annotate.campaign",
            ),
        ),
    ]
