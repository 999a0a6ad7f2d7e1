import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """`assignment_by_account` serves the foreign key, too."""

    dependencies = [("hits", "0021_index_hits_and_assignments")]

    operations = [
        migrations.AlterField(
            model_name="assignment",
            name="account",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="assignments",
                to="hits.workeraccount",
            ),
        ),
    ]
