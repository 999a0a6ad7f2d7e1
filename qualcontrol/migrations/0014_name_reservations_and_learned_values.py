import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("qualcontrol", "0013_names_of_decisions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RenameModel("Hold", "Reservation"),
        migrations.RenameModel("Weights", "LearnedValues"),
        migrations.AlterModelOptions(
            name="learnedvalues", options={"verbose_name_plural": "learned values"}
        ),
        migrations.AlterField(
            model_name="learnedvalues",
            name="campaign",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="learned_values",
                serialize=False,
                to="annotate.campaign",
            ),
        ),
        migrations.AlterField(
            model_name="reservation",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reservations",
                to="annotate.campaign",
            ),
        ),
        migrations.AlterField(
            model_name="reservation",
            name="response",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reservation",
                to="annotate.response",
            ),
        ),
        migrations.AlterField(
            model_name="reservation",
            name="reviewer",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reservations",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
