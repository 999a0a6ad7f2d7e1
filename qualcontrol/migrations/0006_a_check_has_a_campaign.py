import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("qualcontrol", "0005_judgements_of_earlier_verdicts")]

    operations = [
        migrations.RemoveField(model_name="spotcheck", name="reviewer"),
        migrations.AlterField(
            model_name="spotcheck",
            name="campaign",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="spot_checks",
                to="annotate.campaign",
            ),
        ),
    ]
