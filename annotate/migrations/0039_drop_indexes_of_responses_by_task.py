import django.db.models.deletion
from django.db import migrations, models

class Migration(migrations.Migration):
    """The indexes of the last migration serve what the dropped ones did."""

    dependencies = [("annotate", "0038_every_response_has_a_campaign")]

    operations = [
        migrations.RemoveIndex(model_name="response", name="response_by_moment"),
        migrations.RemoveIndex(model_name="response", name="response_by_worker"),
        migrations.RemoveIndex(model_name="response", name="response_discarded"),
        migrations.RenameIndex(
            model_name="response", old_name="response_by_worker_new", new_name="response_by_worker"
        ),
        migrations.RenameIndex(
            model_name="response", old_name="response_discarded_new", new_name="response_discarded"
        ),
        migrations.AlterField(
            model_name="response",
            name="task",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="responses",
                to="annotate.task",
            ),
        ),
    ]
