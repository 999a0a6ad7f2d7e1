import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """The indexes of the last migration serve what these did."""

    dependencies = [("annotate", "0030_index_responses_for_counts")]

    operations = [
        migrations.RemoveIndex(model_name="response", name="response_by_time"),
        migrations.AlterField(
            model_name="response",
            name="worker",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="responses",
                to="annotate.worker",
            ),
        ),
    ]
